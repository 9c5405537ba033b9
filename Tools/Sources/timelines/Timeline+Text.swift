import UseCase

extension Timeline {
  /// The same as the picture, a column for each tick, for a terminal or a failed test.
  func text(in language: Language) -> String {
    var rows = ["\(scenario.code)  \(scenario.sentence[language])", ""]
    if let suspension {
      let room = String(repeating: " ", count: 7 + suspension.lowerBound)
      let word = Words.suspended[language]
      rows.append(room + word.padded(to: suspension.count, with: "-") + "|")
    }
    rows += lanes.map { lane in "\(lane.text.padded(to: 6))\(text(of: lane, in: language))" }
    rows += ["", "\(Words.shown[language]): \(shown.joined(separator: " "))"]
    return rows.joined(separator: "\n").replacing("`", with: "") + "\n"
  }

  /// Returns the meanings of the letters in the rows.
  static func textLegend(in language: Language) -> String {
    let states = [
      (">", Phrase("execute", "execute")), (".", Words.waits), (":", Words.pauses),
      ("=", Words.runs), ("~", Words.unwinds),
    ]
    return states.map { "\($0) \($1[language])" }.joined(separator: "   ") + "\n"
  }

  /// The mark of the outcome stands at its time, and its name behind the end.
  private func text(of lane: Lane, in language: Language) -> String {
    var columns = Array(
      repeating: Character(" "), count: max(lane.ended, lane.outcome.tick + 1) + 1)
    columns[lane.executed] = ">"
    for tick in lane.waiting { columns[tick + 1] = lane.pauses ? ":" : "." }
    for tick in lane.running { columns[tick + 1] = "=" }
    for tick in lane.unwinding { columns[tick + 1] = "~" }
    columns[lane.outcome.tick + 1] = lane.outcome.mark.letter
    let superseder = lane.superseder.map { " < \(lanes[$0].text)" } ?? ""
    return "\(String(columns)) \(lane.outcome.mark.name[language])\(superseder)"
  }
}

extension Timeline.Lane.Mark {
  var letter: Character {
    switch self {
    case .succeeded: "+"
    case .failed: "#"
    case .cancelled(.superseded): "x"
    case .cancelled(.dropped), .cancelled(.closed): "v"
    case .cancelled(.requested), .cancelled(.scopeEnded), .cancelled(.thrown): "!"
    }
  }
}

extension String {
  func padded(to count: Int, with character: Character = " ") -> String {
    self + String(repeating: character, count: Swift.max(0, count - self.count))
  }
}
