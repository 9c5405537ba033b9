extension Timeline {
  private static let margin = 10.0

  /// The widest that a tick may be: a short run need not fill the picture.
  private static let widest = 9.2

  /// The picture of it: the calls, a lane for each, the time, and what `then` received.
  func svg(in language: Language, isAnimated: Bool = false) -> String {
    let room = SVG.width - 2 * Self.margin
    let code = scenario.code
    let sentence = scenario.sentence[language]
    var svg = SVG(
      title: "\(code). \(sentence)", animation: isAnimated ? Animation(end: end) : nil)
    let lanes = Lanes(
      timeline: self, language: language, left: Self.margin,
      unit: Lanes.unit(for: [self], in: language, width: room, atMost: Self.widest), top: 112)

    svg.text(code, Self.margin, 26, "heading code")
    svg.text(sentence, Self.margin, 48)
    svg.text(scenario.calls[language], Self.margin, 78, "faint")
    if let suspension { draw(suspension, of: lanes, in: &svg, language) }
    lanes.drawKeys(in: &svg, 100)
    lanes.drawGuides(in: &svg, from: 106)
    lanes.draw(in: &svg)
    lanes.drawAxis(in: &svg, lanes.bottom + 4, until: end, width: room)
    lanes.drawShown(in: &svg, lanes.bottom + 36, width: room)
    let bottom = Legend(of: [self], in: language)
      .draw(in: &svg, Self.margin, lanes.bottom + 74, width: room)
    return svg.source(height: bottom + 8)
  }

  private func draw(
    _ suspension: Range<Int>, of lanes: Lanes, in svg: inout SVG, _ language: Language
  ) {
    let (start, end) = (lanes.x(suspension.lowerBound), lanes.x(suspension.upperBound))
    let top = lanes.top - 4
    svg.box(start, top, end - start, lanes.bottom - top, "band")
    for x in [start, end] { svg.line(x, top, x, lanes.bottom, "cursor") }
    svg.text(Words.suspended[language], end - 8, lanes.y(0) + 5, "ending")
  }
}
