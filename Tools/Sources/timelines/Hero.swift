/// The first picture that a reader sees: a search field under two policies, the same keystrokes,
/// and what the field shows in the end.
struct Hero {
  let panels: [Panel]
  let language: Language

  /// How many stand side by side.
  let columns: Int

  /// A run, and the words around it.
  struct Panel: Sendable {
    let title: Phrase
    let timeline: Timeline
  }

  static let name = "hero"
  static let widths = [1: SVG.width, 2: 840.0]

  private static let margin = 10.0
  private static let gap = 20.0
  private static let headerHeight = 96.0
  private static let panelHeight = 312.0
  private static let pitch = 22.0

  private static let title = Phrase(
    "Type “swift” quickly. Which titles stay?", "Escribe «swift» deprisa. ¿Qué títulos quedan?")
  private static let key = [
    Phrase(
      "The answer to “swif” is slow in both.", "La respuesta a «swif» tarda en los dos casos."),
    Phrase("Hatched: cancelled, still unwinding.", "Rayado: cancelada, aún sin terminar."),
  ]
  private static let searching = Phrase("searching…", "buscando…")
  private static let source = Phrase(
    "drawn from two runs of the library", "dibujado a partir de dos ejecuciones")
  private static let wrong = Phrase("✗ not what was typed", "✗ no es lo tecleado")
  private static let right = Phrase("✓ the newest search", "✓ la última búsqueda")

  private static func found(_ text: String) -> Phrase {
    Phrase("Titles for “\(text)”", "Títulos de «\(text)»")
  }

  /// Runs the same keystrokes under both policies.
  static func run() async -> [Panel] {
    [
      Panel(
        title: Phrase("A task for each keystroke", "Una tarea por pulsación"),
        timeline: await Scenario.unlimited.run()),
      Panel(
        title: Phrase("One policy", "Una política"),
        timeline: await Scenario.cancelPrevious.run()),
    ]
  }

  func svg(isAnimated: Bool = true) -> String {
    let width = Self.widths[columns, default: SVG.width]
    let room =
      (width - 2 * Self.margin - Double(columns - 1) * Self.gap) / Double(columns)
    let end = panels.map(\.timeline.end).max() ?? 0
    var svg = SVG(
      width: width, title: Self.title[language], animation: isAnimated ? Animation(end: end) : nil)
    svg.text(Self.title[language], Self.margin, 30, "heading")
    for (row, phrase) in Self.key.enumerated() {
      svg.text(phrase[language], Self.margin, 52 + Double(row) * 20, "faint")
    }
    var bottom = Self.headerHeight
    for (index, panel) in panels.enumerated() {
      let (row, column) = index.quotientAndRemainder(dividingBy: columns)
      let top = Self.headerHeight + Double(row) * Self.panelHeight
      draw(
        panel, in: &svg, Self.margin + Double(column) * (room + Self.gap), top, room,
        unit: (room - 20) / Double(end))
      bottom = top + Self.panelHeight
    }
    svg.text(Self.source[language], width - Self.margin, bottom - 6, "faint ending")
    return svg.source(height: bottom + 6)
  }

  private func draw(
    _ panel: Panel, in svg: inout SVG, _ left: Double, _ top: Double, _ room: Double, unit: Double
  ) {
    let timeline = panel.timeline
    let isStale = timeline.staleLane != nil
    let code = "UseCaseQueue(\(timeline.scenario.code))"
    svg.text(panel.title[language], left, top + 6, "heading")
    svg.text(code, left, top + 28, "code " + (isStale ? "wrong" : "right"))
    svg.box(left, top + 40, room, 112, "card")
    drawField(of: timeline, in: &svg, left + 12, top + 52, room - 24)
    drawTitles(of: timeline, in: &svg, left + 12, top + 112, room - 24)
    let lanes = Lanes(
      timeline: timeline, language: language, left: left, unit: unit, top: top + 162,
      pitch: Self.pitch, barHeight: 18, hasNotes: false)
    lanes.draw(in: &svg)
  }

  /// The text field, which is typed into letter by letter.
  private func drawField(
    of timeline: Timeline, in svg: inout SVG, _ left: Double, _ top: Double, _ width: Double
  ) {
    svg.box(left, top, width, 34, "band")
    svg.circle(left + 18, top + 15, 5.5, "lens")
    svg.path("M\((left + 22).short) \((top + 19).short)l5 5", "lens")
    var written = 0
    for lane in timeline.lanes {
      svg.moment = lane.executed
      for letter in lane.text.dropFirst(written) {
        svg.text(String(letter), left + 36 + Double(written) * 11, top + 23, "typed")
        written += 1
      }
    }
    let caret = left + 37 + Double(written) * 11
    svg.line(caret, top + 8, caret, top + 26, "cursor")
    svg.moment = nil
  }

  /// The list below it, which shows the newest response that has come.
  private func drawTitles(
    of timeline: Timeline, in svg: inout SVG, _ left: Double, _ baseline: Double, _ width: Double
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
    svg.moment = tick
    svg.text(Self.found(last)[language], left, baseline)
    let isStale = timeline.staleLane != nil
    let verdict = (isStale ? Self.wrong : Self.right)[language]
    let chip = verdict.width + 16
    svg.box(left + width - chip, baseline - 17, chip, 24, isStale ? "stale" : "fresh")
    svg.text(verdict, left + width - chip + 8, baseline, "onColor")
    svg.moment = nil
    for (index, share) in [0.42, 0.3].enumerated() {
      svg.box(left, baseline + 12 + Double(index) * 14, width * share, 6, "band")
    }
  }
}
