extension Timeline {
  private static let tickWidth = 9
  private static let left = 44
  private static let top = 62
  private static let laneHeight = 30
  private static let width = 690

  /// The picture of it: a lane for each operation, and below them what the shapes mean.
  var svg: String {
    let bottom = Self.top + lanes.count * Self.laneHeight
    var svg = SVG(
      width: Self.width, height: bottom + 62, title: "Timeline of \(code). \(sentence)")
    svg.text(code, 14, 24, "code")
    svg.text(sentence, 14 + 8 * code.count + 14, 24, "faint")
    draw(scaleIn: &svg, to: bottom)
    if let suspension { draw(suspension, in: &svg, to: bottom) }
    for (number, lane) in zip(1..., lanes) {
      draw(lane, number, in: &svg, Self.top + (number - 1) * Self.laneHeight + 17)
    }
    svg.line(14, bottom + 6, Self.width - 14, bottom + 6, "rule")
    Self.drawLegend(in: &svg, bottom + 23)
    svg.legend(marks, Self.left - 4, bottom + 46)
    return svg.source
  }

  private static func x(_ tick: Int) -> Int { left + tick * tickWidth }

  private func draw(scaleIn svg: inout SVG, to bottom: Int) {
    for half in 0...6 {
      let x = Self.x(half * 10)
      svg.line(x, Self.top - 8, x, bottom, "rule")
      if half.isMultiple(of: 2) { svg.text("\(half / 2) s", x, Self.top - 13, "faint centred") }
    }
  }

  private func draw(_ suspension: Range<Int>, in svg: inout SVG, to bottom: Int) {
    let (start, end) = (Self.x(suspension.lowerBound), Self.x(suspension.upperBound))
    svg.box(start, Self.top - 8, end - start, bottom - Self.top + 8, "band")
    svg.text("suspended", start, Self.top - 13)
  }

  private func draw(_ lane: Lane, _ number: Int, in svg: inout SVG, _ y: Int) {
    let (start, outcome) = (Self.x(lane.executed), lane.outcome)
    svg.text("\(number)", 18, y + 4, "centred")
    if !lane.waiting.isEmpty { svg.line(start, y, Self.x(lane.waiting.upperBound), y, "waiting") }
    Self.drawBar(lane.running, "running", in: &svg, y)
    Self.drawBar(lane.unwinding, "unwinding", in: &svg, y)
    Self.drawExecute(in: &svg, start, y)

    // One that was refused has no time between its execute and its end: the sign stands behind.
    let sign = max(Self.x(outcome.tick), start + 10)
    if let cancelled = lane.cancelled { Self.drawCancel(in: &svg, Self.x(cancelled), y) }
    svg.mark(outcome.mark, sign, y)
    svg.text(outcome.mark.name, max(Self.x(lane.ended), sign + 8) + 6, y + 4, "faint")
  }

  private static func drawBar(_ ticks: Range<Int>, _ style: String, in svg: inout SVG, _ y: Int) {
    guard !ticks.isEmpty else { return }
    let height = style == "running" ? 12 : 8
    svg.box(x(ticks.lowerBound), y - height / 2, ticks.count * tickWidth, height, style)
  }

  private static func drawExecute(in svg: inout SVG, _ x: Int, _ y: Int) {
    svg.path("M\(x) \(y)l-8 -6v12z", "ink")
  }

  private static func drawCancel(in svg: inout SVG, _ x: Int, _ y: Int) {
    svg.path("M\(x) \(y - 7)l-5 -8h10z", "call")
  }

  private static func drawLegend(in svg: inout SVG, _ y: Int) {
    func name(_ text: String, _ x: Int) { svg.text(text, x, y + 4, "faint") }
    drawExecute(in: &svg, left, y)
    name("execute", left + 6)
    svg.line(left + 72, y, left + 96, y, "waiting")
    name("waits", left + 102)
    svg.box(left + 154, y - 6, 24, 12, "running")
    name("runs", left + 184)
    svg.box(left + 229, y - 4, 24, 8, "unwinding")
    name("unwinds: cancelled, and not back yet", left + 259)
    drawCancel(in: &svg, left + 532, y + 11)
    name("cancel()", left + 542)
  }
}
