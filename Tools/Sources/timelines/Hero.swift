import UseCase
import UseCaseTesting

/// The first picture that a reader sees: the same keystrokes with a task for each and with a policy,
/// and what the search field shows in the end.
struct Hero {
  let panels: [Timeline]
  let language: Language

  static let name = "hero"

  private static let margin = 10.0
  private static let room = SVG.halfWidth - 2 * margin
  private static let panelHeight = 114.0
  private static let fieldWidth = 116.0
  private static let pitch = 9.0

  private static let title = Phrase(
    "Type “swift” quickly. Which titles stay?", "Escribe «swift» deprisa. ¿Qué títulos quedan?")
  private static let searching = Phrase("searching…", "buscando…")
  private static let request = Phrase("a request", "una petición")
  private static let wrong = Phrase("✗ stale", "✗ obsoletos")
  private static let right = Phrase("✓ newest", "✓ actuales")

  private static func found(_ text: String) -> Phrase {
    Phrase("Titles for “\(text)”", "Títulos de «\(text)»")
  }

  /// Runs the same keystrokes in both ways.
  static func run() async throws -> [Timeline] {
    [try await tasks(), await Scenario.cancelPrevious.run()]
  }

  /// A task for each keystroke, and no library.
  private static func tasks() async throws -> Timeline {
    let clock = ManualClock()
    let calls = Scenario.typing.compactMap { step in
      if case .execute(let call) = step.action { (executed: step.tick, call) } else { nil }
    }
    var tasks: [(end: Int, task: Task<Int, any Error>)] = []
    var ends: [Int] = []
    for tick in 0...(calls.map { $0.executed + $0.1.work }.max() ?? 0) {
      for (executed, call) in calls where executed == tick {
        let work = Timeline.tickLength * call.work
        let task = Task {
          try await clock.sleep(for: work)
          return Timeline.tick(at: clock.now.offset)
        }
        tasks.append((executed + call.work, task))
        try await clock.sleeping(for: work)
      }
      for (end, task) in tasks where end == tick { _ = try await task.value }
      await clock.advance(by: Timeline.tickLength)
    }
    for (_, task) in tasks { ends.append(try await task.value) }
    let lanes = zip(calls, ends).map { call, end in
      Timeline.Lane(
        text: call.1.text,
        moments: [
          Timeline.Moment(tick: call.executed, kind: .running),
          Timeline.Moment(tick: end, kind: .succeeded), Timeline.Moment(tick: end, kind: .ended),
        ])
    }
    return Timeline(
      scenario: Scenario.Caption(
        code: "Task { titles = try await ask(text) }",
        sentence: Phrase("A task for each keystroke", "Una tarea por pulsación"),
        gist: Phrase("a task for each", "una tarea por pulsación")),
      lanes: lanes, shown: zip(lanes, ends).sorted { $0.1 < $1.1 }.map(\.0.text))
  }

  func svg(isAnimated: Bool = true) -> String {
    let end = panels.map(\.end).max() ?? 0
    var svg = SVG(
      width: SVG.halfWidth, title: Self.title[language],
      animation: isAnimated ? Animation(end: end) : nil)
    for (index, panel) in panels.enumerated() {
      draw(
        panel, in: &svg, 8 + Double(index) * Self.panelHeight, unit: Self.room / Double(end))
    }
    let bottom = 14 + Double(panels.count) * Self.panelHeight
    svg.box(Self.margin, bottom - 4, 26, 8, "running")
    svg.text(Self.request[language], Self.margin + 34, bottom + 5, "faint")
    svg.box(Self.margin + 156, bottom - 4, 26, 8, "unwinding")
    svg.text(Words.unwinds[language], Self.margin + 190, bottom + 5, "faint")
    return svg.source(height: bottom + 16)
  }

  private func draw(_ timeline: Timeline, in svg: inout SVG, _ top: Double, unit: Double) {
    let isStale = timeline.staleLane != nil
    let code = isStale ? timeline.scenario.code : "UseCaseQueue(\(timeline.scenario.code))"
    svg.text(code, Self.margin, top + 16, "code " + (isStale ? "wrong" : "right"))
    svg.box(Self.margin, top + 25, Self.room, 34, "card")
    drawField(of: timeline, in: &svg, Self.margin + 4, top + 29)
    drawTitles(of: timeline, in: &svg, Self.margin + Self.fieldWidth + 16, top + 47)
    let lanes = Lanes(
      timeline: timeline, language: language, left: Self.margin, unit: unit, top: top + 63,
      pitch: Self.pitch, barHeight: 7, hasNotes: false, hasSigns: false)
    lanes.draw(in: &svg)
  }

  /// The text field, which is typed into letter by letter.
  private func drawField(
    of timeline: Timeline, in svg: inout SVG, _ left: Double, _ top: Double
  ) {
    svg.box(left, top, Self.fieldWidth, 26, "band")
    svg.circle(left + 14, top + 12, 5, "lens")
    svg.path("M\((left + 18).short) \((top + 16).short)l4 4", "lens")
    var written = 0
    for lane in timeline.lanes {
      svg.moment = lane.executed
      for letter in lane.text.dropFirst(written) {
        svg.text(String(letter), left + 32 + Double(written) * 11, top + 19, "typed")
        written += 1
      }
    }
    let caret = left + 33 + Double(written) * 11
    svg.line(caret, top + 5, caret, top + 21, "cursor")
    svg.moment = nil
  }

  /// The titles beside it, of the newest response that has come. The verdict is there from the
  /// start, so that nobody has to wait for it.
  private func drawTitles(
    of timeline: Timeline, in svg: inout SVG, _ left: Double, _ baseline: Double
  ) {
    let comings = timeline.shown.compactMap { text in
      timeline.lanes.first { $0.text == text }.map { (text, $0.outcome.tick) }
    }
    if let first = comings.first {
      svg.passing = 0..<first.1
      svg.text(Self.searching[language], left, baseline, "faint")
    }
    for (coming, next) in zip(comings, comings.dropFirst()) {
      svg.passing = coming.1..<next.1
      svg.text(Self.found(coming.0)[language], left, baseline)
    }
    svg.passing = nil
    guard let (last, tick) = comings.last else { return }
    let isStale = timeline.staleLane != nil
    svg.moment = tick
    svg.text(Self.found(last)[language], left, baseline, isStale ? "wrong" : "")
    svg.moment = nil
    let verdict = (isStale ? Self.wrong : Self.right)[language]
    // Its letters are bold, and so wider than others.
    let chip = verdict.width + 20
    let edge = Self.margin + Self.room
    svg.box(edge - chip - 5, baseline - 17, chip, 24, isStale ? "stale" : "fresh")
    svg.text(verdict, edge - chip + 2, baseline, "onColor")
  }
}
