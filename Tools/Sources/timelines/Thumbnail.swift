/// A run without a word, as a sign of its policy: small enough for a sheet of all policies.
struct Thumbnail {
  let timeline: Timeline

  static let width = 144.0
  private static let margin = 6.0
  /// The sign of an operation that is short reaches to the left of its bar.
  private static let left = 12.0
  private static let pitch = 14.0

  var svg: String {
    let caption = timeline.scenario
    var svg = SVG(width: Self.width, title: caption.code)
    let room = Self.width - Self.left - Self.margin
    let lanes = Lanes(
      timeline: timeline, language: .english, left: Self.left,
      unit: (room - 14) / Double(timeline.end), top: Self.margin, pitch: Self.pitch, barHeight: 10,
      hasNotes: false, hasWords: false)
    if let suspension = timeline.suspension {
      let start = lanes.x(suspension.lowerBound)
      svg.box(
        start, lanes.top - 2, lanes.x(suspension.upperBound) - start,
        lanes.bottom - lanes.top + 4, "band")
    }
    lanes.draw(in: &svg)
    return svg.source(height: lanes.bottom + Self.margin)
  }
}
