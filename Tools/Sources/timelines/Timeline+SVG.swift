extension Timeline {
  private static let margin = 10.0
  private static let room = SVG.width - 2 * margin

  /// The widest that a tick may be: a short run need not fill the picture.
  private static let widest = 9.2

  /// The picture of it: the calls, a lane for each, the time, and what `then` received.
  func svg(in language: Language, showsBusy: Bool = false) -> String {
    let code = scenario.code
    let sentence = scenario.sentence[language]
    var svg = SVG(title: "\(code). \(sentence)")
    svg.text(code, Self.margin, 26, "heading code")
    svg.text(sentence, Self.margin, 48)
    svg.text(scenario.calls[language], Self.margin, 78, "faint")
    let bottom = drawRun(in: &svg, from: 100, language, showsBusy: showsBusy)
    let legend = Legend(of: [self], in: language)
      .draw(in: &svg, Self.margin, bottom + 10, width: Self.room)
    return svg.source(height: legend + 8)
  }

  /// The run, without the words around it.
  var card: String {
    var svg = SVG(title: scenario.code)
    _ = drawRun(in: &svg, from: 22, .english)
    return svg.source(height: SVG.cardHeight)
  }

  /// Draws the calls, with the baseline of the keystrokes, and returns where it ends.
  private func drawRun(
    in svg: inout SVG, from baseline: Double, _ language: Language, showsBusy: Bool = false
  ) -> Double {
    let lanes = Lanes(
      timeline: self, language: language, left: Self.margin,
      unit: Lanes.unit(for: [self], in: language, width: Self.room, atMost: Self.widest),
      top: baseline + 12)
    if let suspension { draw(suspension, of: lanes, in: &svg, language) }
    lanes.drawKeys(in: &svg, baseline)
    lanes.drawGuides(in: &svg, from: baseline + 6)
    lanes.draw(in: &svg)
    if showsBusy { drawBusy(of: lanes, in: &svg) }
    let bottom = lanes.bottom + (showsBusy || suspension != nil ? 24 : 0)
    lanes.drawAxis(in: &svg, bottom + 4, until: end, width: Self.room)
    lanes.drawShown(in: &svg, bottom + 36, width: Self.room)
    return bottom + 64
  }

  private func drawBusy(of lanes: Lanes, in svg: inout SVG) {
    for ticks in busy {
      let (start, end) = (lanes.x(ticks.lowerBound), lanes.x(ticks.upperBound))
      svg.box(start, lanes.bottom + 2, end - start, 20, "last")
      svg.text("isBusy", start + 6, lanes.bottom + 17, "inBar")
    }
  }

  private func draw(
    _ suspension: Range<Int>, of lanes: Lanes, in svg: inout SVG, _ language: Language
  ) {
    let (start, end) = (lanes.x(suspension.lowerBound), lanes.x(suspension.upperBound))
    let top = lanes.top - 4
    svg.box(start, top, end - start, lanes.bottom - top, "band")
    for (x, code) in [(start, "suspend()"), (end, "resume()")] {
      svg.line(x, top, x, lanes.bottom + 20, "cursor")
      svg.text(code, x + 6, lanes.bottom + 16, "code")
    }
    svg.text(Words.suspended[language], end - 8, lanes.y(0) + 5, "ending")
  }
}
