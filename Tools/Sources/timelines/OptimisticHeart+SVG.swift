extension OptimisticHeart {
  private static let margin = 10.0
  private static let unit = 8.8
  private static let bandHeight = 34.0

  /// The picture of it: the taps, what the screen shows, the requests, and what the server has.
  func svg() -> String {
    var svg = SVG(title: "\(Self.title). \(Self.sentence)")
    svg.text(Self.title, Self.margin, 26, "heading code")
    svg.text(Self.sentence, Self.margin, 48)
    svg.text(timeline.scenario.calls[.english], Self.margin, 78, "faint")
    let lanes = Lanes(
      timeline: timeline, language: .english, left: Self.margin, unit: Self.unit, top: 182)
    lanes.drawKeys(in: &svg, 102)

    let below = lanes.bottom + 26
    svg.text("the screen shows", Self.margin, 128, "heading")
    draw(screen, in: &svg, 136, lanes)
    lanes.drawGuides(in: &svg, from: 136 + Self.bandHeight)
    drawEffects(in: &svg, from: 136 + Self.bandHeight, to: below + 8, lanes)
    lanes.draw(in: &svg)
    svg.text("the server has", Self.margin, below, "heading")
    draw(server, in: &svg, below + 8, lanes)

    let legend = Legend(of: [timeline], in: .english)
      .draw(
        in: &svg, Self.margin, below + Self.bandHeight + 16, width: SVG.width - 2 * Self.margin)
    return svg.source(height: legend + 8)
  }

  /// A box for each span of time, with the heart as it is then.
  private func draw(_ moments: [Moment], in svg: inout SVG, _ top: Double, _ lanes: Lanes) {
    for (index, moment) in moments.enumerated() {
      let start = lanes.x(moment.tick)
      let end =
        index + 1 < moments.count ? lanes.x(moments[index + 1].tick) : SVG.width - Self.margin
      svg.box(start, top, end - start, Self.bandHeight, "shown")
      svg.path(
        "M\((start + 22).short) \((top + 27).short)c-18 -11 -12 -20 -6 -20q4 0 6 4q2 -4 6 -4"
          + "c6 0 12 9 -6 20z", moment.isLiked ? "liked" : "notLiked")
    }
  }

  /// A line from each success down to the server, and from each failure up to the screen.
  private func drawEffects(
    in svg: inout SVG, from top: Double, to bottom: Double, _ lanes: Lanes
  ) {
    for (index, lane) in timeline.lanes.enumerated() {
      let x = lanes.x(lane.outcome.tick)
      let end = lane.outcome.mark == .succeeded ? bottom : top
      svg.line(x, lanes.y(index), x, end, "guide")
    }
  }
}
