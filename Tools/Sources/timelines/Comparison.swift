/// Several policies under the same calls, with one axis and one legend.
struct Comparison {
  let timelines: [Timeline]
  let language: Language

  /// How many stand side by side.
  let columns: Int

  private static let margin = 10.0
  private static let headerHeight = 92.0
  private static let titleHeight = 28.0
  private static let pitch = 25.0
  private static let shownHeight = 36.0
  private static let gap = 22.0

  private static let title = Phrase(
    "The same keystrokes, another policy", "Las mismas pulsaciones con otra política")

  private var end: Int { timelines.map(\.end).max() ?? 0 }
  private var room: Double { SVG.width - 2 * Self.margin }
  private var panelHeight: Double {
    let lanes = timelines.map(\.lanes.count).max() ?? 0
    return Self.titleHeight + Double(lanes) * Self.pitch + Self.shownHeight + Self.gap
  }

  var svg: String {
    let width = SVG.width * Double(columns)
    let unit = Lanes.unit(for: timelines, in: language, width: room, atMost: room)
    var svg = SVG(width: width, title: Self.title[language])
    svg.text(Self.title[language], Self.margin, 26, "heading")
    var rows = 0
    for (index, timeline) in timelines.enumerated() {
      let (row, column) = index.quotientAndRemainder(dividingBy: columns)
      rows = row + 1
      let left = Self.margin + Double(column) * SVG.width
      let top = Self.headerHeight + Double(row) * panelHeight
      let lanes = Lanes(
        timeline: timeline, language: language, left: left, unit: unit, top: top + Self.titleHeight,
        pitch: Self.pitch, barHeight: 18)
      if row == 0 {
        svg.text(timeline.scenario.calls[language], left, 52, "faint")
        lanes.drawKeys(in: &svg, 76)
      }
      drawTitle(of: timeline, in: &svg, left, top)
      lanes.drawGuides(in: &svg, from: lanes.top)
      lanes.draw(in: &svg)
      lanes.drawShown(in: &svg, lanes.bottom + 4, width: room)
    }
    let bottom = Self.headerHeight + Double(rows) * panelHeight
    for column in 0..<columns {
      let lanes = Lanes(
        timeline: timelines[0], language: language, left: Self.margin + Double(column) * SVG.width,
        unit: unit, top: bottom)
      lanes.drawAxis(in: &svg, bottom - 8, until: end, width: room)
    }
    let legend = Legend(of: timelines, in: language)
      .draw(in: &svg, Self.margin, bottom + 22, width: width - 2 * Self.margin)
    return svg.source(height: legend + 8)
  }

  private func drawTitle(
    of timeline: Timeline, in svg: inout SVG, _ left: Double, _ top: Double
  ) {
    let code = timeline.scenario.code.replacing(".milliseconds(300)", with: "…")
    svg.line(left, top - 6, left + room, top - 6, "rule")
    svg.text(code, left, top + 16, "label")
    svg.text(timeline.scenario.gist[language], left + code.width + 12, top + 16, "faint")
  }
}
