/// A run without words but the name of its policy: small enough for a sheet of all policies, and for
/// two beside each other on a phone.
struct Thumbnail {
  let scenario: Scenario
  let timeline: Timeline

  static let width = 168.0
  private static let margin = 6.0
  /// The sign of an operation that is short reaches to the left of its bar.
  private static let left = 12.0
  private static let pitch = 14.0
  private static let lineHeight = 17.0

  /// The names that are not just the code of their scenario.
  private static let names = [
    "limit-waiting": ["limit(1,", "waiting: 1)"],
    "cancel-previous-and-wait": ["cancelPrevious", "AndWait"],
    "debounce": ["cancelPrevious", "(debounce:)"],
    "throttle": ["throttle"],
    "keep-latest-debounced": ["debounced(by:)"],
    "serial-rate": ["rate(_:per:)"],
    "drop-while-busy-spaced": ["spaced(by:)"],
    "limit-by-priority": ["byPriority"],
    "suspension": ["suspend()"],
  ]

  /// The name of the policy, in one line or two.
  var name: [String] {
    Self.names[scenario.name] ?? [scenario.caption.code.replacing(#/^\./#, with: "")]
  }

  var svg: String {
    var svg = SVG(width: Self.width, title: scenario.caption.code)
    let lanes = Lanes(
      timeline: timeline, language: .english, left: Self.left,
      unit: (Self.width - Self.left - Self.margin - 14) / Double(timeline.end), top: Self.margin,
      pitch: Self.pitch, barHeight: 10, hasNotes: false, hasWords: false)
    if let suspension = timeline.suspension {
      let start = lanes.x(suspension.lowerBound)
      svg.box(
        start, lanes.top - 2, lanes.x(suspension.upperBound) - start,
        lanes.bottom - lanes.top + 4, "band")
    }
    lanes.draw(in: &svg)
    for (line, words) in name.enumerated() {
      svg.text(words, Self.left, lanes.bottom + 18 + Double(line) * Self.lineHeight, "label")
    }
    return svg.source(height: lanes.bottom + 2 * Self.lineHeight + 8)
  }
}
