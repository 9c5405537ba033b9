import UseCase

extension Timeline {
  /// The same as the picture, a column for each tick, for a terminal or a failed test.
  var text: String {
    var rows = ["\(code)  \(sentence)", "", "     0 s" + scale]
    if let suspension {
      let room = String(repeating: " ", count: 5 + suspension.lowerBound)
      rows.append(room + "suspended".padded(to: suspension.count, with: "-") + "|")
    }
    rows += zip(1..., lanes).map { number, lane in "\(number)   \(lane.text)" }
    return rows.joined(separator: "\n") + "\n\n" + legend + "\n"
  }

  private var legend: String {
    let marks = marks.map { "\($0.letter) \($0.meaning)" }.joined(separator: "   ")
    return """
          > execute   . waits   = runs   ~ unwinds: cancelled, and not back yet
          \(marks)
      """
  }

  private var scale: String {
    (1...3).map { String(repeating: " ", count: 17) + "\($0) s" }.joined()
  }
}

extension Timeline.Lane {
  /// The mark of the outcome stands at its time, and its name behind the end.
  var text: String {
    var columns = Array(repeating: Character(" "), count: max(ended, outcome.tick + 1) + 1)
    columns[executed] = ">"
    for tick in waiting { columns[tick + 1] = "." }
    for tick in running { columns[tick + 1] = "=" }
    for tick in unwinding { columns[tick + 1] = "~" }
    columns[outcome.tick + 1] = outcome.mark.letter
    return "\(String(columns)) \(outcome.mark.name)"
  }
}

extension Timeline.Lane.Mark {
  var letter: Character {
    switch self {
    case .succeeded: "+"
    case .failed: "#"
    case .cancelled(.superseded): "x"
    case .cancelled(.dropped): "v"
    case .cancelled(.requested): "!"
    case .cancelled(.scopeEnded), .cancelled(.thrown): "?"
    }
  }
}

extension String {
  func padded(to count: Int, with character: Character = " ") -> String {
    self + String(repeating: character, count: Swift.max(0, count - self.count))
  }
}
