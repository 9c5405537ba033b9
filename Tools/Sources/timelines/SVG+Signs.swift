import UseCase

extension SVG {
  /// A shape for each, so that nobody needs the colours: a check in a disc, an exclamation mark in
  /// a triangle, a cross in a ring, an arrow down, a stop sign.
  mutating func mark(_ mark: Timeline.Lane.Mark, _ x: Double, _ y: Double) {
    func from(_ dx: Double, _ dy: Double) -> String { "M\((x + dx).short) \((y + dy).short)" }
    switch mark {
    case .succeeded:
      circle(x, y, 6.5, "succeeded")
      path(from(-3, 0) + "l2 3l4 -6", "check")
    case .failed:
      path(from(0, -7) + "l7.5 13h-15z", "failed")
      path(from(0, -3.5) + "v4.5m0 1.5v1.5", "exclamation")
    case .cancelled(.superseded):
      circle(x, y, 6.5, "cancelled")
      path(from(-2.5, -2.5) + "l5 5m0 -5l-5 5", "stroke")
    case .cancelled(.dropped), .cancelled(.closed):
      path(from(-3, -7) + "h6v6h4l-7 8l-7 -8h4z", "cancelled")
    case .cancelled(.requested), .cancelled(.scopeEnded), .cancelled(.thrown):
      box(x - 6.5, y - 6.5, 13, 13, "cancelled")
      path(from(-3, -3) + "h6v6h-6z", "stop")
    }
  }

  /// An arrow that leaves to the left and points up.
  mutating func arrow(from x: Double, _ y: Double, to target: Double) {
    let turn = x - 10
    path("M\(x.short) \(y.short)H\((turn + 4).short)q-4 0 -4 -4V\((target + 6).short)", "arrow")
    path("M\(turn.short) \(target.short)l-4.5 7h9z", "head")
  }

  mutating func pause(_ x: Double, _ y: Double, _ width: Double) {
    line(x + 2, y, x + width - 2, y, "pausing")
  }

  /// A row of what the screen shows. The last response, which comes at a time, stays there,
  /// and is the wrong one if a later call had its response before.
  mutating func shown(
    _ responses: [String], in language: Language, _ left: Double, _ top: Double, width: Double,
    last moment: Int? = nil, isStale: Bool = false
  ) {
    let words = Words.shown[language]
    box(left, top, width, 28, "shown")
    text(words, left + 10, top + 19)
    guard let last = responses.last else { return }
    let others = responses.dropLast().map { $0 + ", " }.joined()
    let (x, baseline) = (left + 10 + words.width + 8, top + 19)
    if !others.isEmpty { text(others, x, baseline, "code") }
    self.moment = moment
    box(x + others.width, baseline - 14, last.width + 12, 19, isStale ? "stale" : "last")
    text(last, x + others.width + 6, baseline, "inBar")
    if isStale {
      text(Words.stale[language], x + others.width + last.width + 20, baseline, "wrong")
    }
    self.moment = nil
  }

  /// The place between what is applied and what is undone.
  mutating func cursor(_ x: Double, _ y: Double) {
    line(x, y - 14, x, y + 14, "cursor")
    path("M\((x - 4).short) \((y - 17).short)h8l-4 6z", "ink")
  }
}
