extension ControlledSearch {
  private static let margin = 10.0
  private static let model = 60.0
  private static let test = 312.0
  private static let stepHeight = 66.0
  private static let callWidth = 34.0

  /// The picture of it: what the model and the test tell each other, and each call from its
  /// beginning to its end.
  func svg() -> String {
    var svg = SVG(title: "\(Self.title). \(Self.sentence)")
    svg.text(Self.title, Self.margin, 26, "heading code")
    svg.text(Self.sentence, Self.margin, 48)
    let bottom = draw(in: &svg, from: 64)
    return svg.source(height: bottom + 10)
  }

  var card: String {
    var svg = SVG(title: Self.title)
    _ = draw(in: &svg, from: 10)
    return svg.source(height: SVG.cardHeight)
  }

  /// Returns where it ends.
  private func draw(in svg: inout SVG, from top: Double) -> Double {
    let first = top + 52
    let last = first + Double(calls.count) * Self.stepHeight
    svg.text("the model", Self.model, top + 16, "faint centred")
    svg.text("the test", Self.test, top + 16, "faint centred")
    for x in [Self.model, Self.test] { svg.line(x, top + 24, x, last + 6, "guide") }
    for (index, call) in calls.enumerated() {
      let y = first + Double(index) * Self.stepHeight
      arrow("execute(\"\(call.request)\")", from: Self.model, to: Self.test, in: &svg, y)
      svg.text("await next()", Self.test + 26, y + 17, "code")
      draw(call, in: &svg, y)
    }
    arrow("succeed(\(answer))", from: Self.test, to: Self.model, in: &svg, last)
    svg.shown(shown, in: .english, Self.margin, last + 18, width: SVG.width - 2 * Self.margin)
    return last + 46
  }

  private func draw(_ call: Call, in svg: inout SVG, _ y: Double) {
    let end = y + Self.stepHeight
    let left = Self.test - Self.callWidth / 2
    if call.mark == .succeeded {
      svg.box(left, y - 10, Self.callWidth, Self.stepHeight + 20, "running")
      svg.mark(call.mark, Self.test, end - 20)
    } else {
      svg.box(left, y - 10, Self.callWidth, Self.stepHeight - 22, "running")
      svg.mark(call.mark, Self.test, end - 22)
      svg.text(call.mark.name[.english], Self.test + 26, end - 17, "faint")
    }
    svg.text(call.request, Self.test, y + 17, "inBar centred")
  }

  private func arrow(
    _ code: String, from start: Double, to end: Double, in svg: inout SVG, _ y: Double
  ) {
    let way = start < end ? 1.0 : -1
    // The call stands on the line of the test.
    let (tail, tip) =
      way > 0 ? (start, end - Self.callWidth / 2) : (start - Self.callWidth / 2, end)
    svg.line(tail, y, tip - 8 * way, y, "cursor")
    svg.path("M\(tip.short) \(y.short)l\((-10 * way).short) -5v10z", "ink")
    svg.text(code, (Self.model + Self.test - Self.callWidth / 2) / 2, y - 8, "code centred")
  }
}
