/// Shows a run as it happened: an element appears at its tick, and a bar grows while it lasts.
///
/// It moves only for readers who have not asked for less motion. All others, and those whose
/// software knows nothing of it, see the complete picture. It begins with the first keystroke, ends
/// with the complete picture, and plays a few times.
struct Animation {
  /// When the run is over.
  let end: Int

  /// How long a tick takes to watch: much longer than in the run.
  private static let millisecondsPerTick = 55

  /// How long the complete picture stands at the end, before the next play or for good.
  private static let ticksAtEnd = 68

  private static let plays = 3

  private var appearances: Set<Int> = []
  private var passages: Set<Range<Int>> = []
  private var growths: Set<Range<Int>> = []

  init(end: Int) {
    self.end = end
  }

  mutating func appearing(at tick: Int) -> String {
    appearances.insert(tick)
    return "moves at\(tick)"
  }

  mutating func showing(during ticks: Range<Int>) -> String {
    passages.insert(ticks)
    return "moves while\(ticks.lowerBound)-\(ticks.upperBound)"
  }

  mutating func growing(over ticks: Range<Int>) -> String {
    growths.insert(ticks)
    return "moves over\(ticks.lowerBound)-\(ticks.upperBound)"
  }

  var style: String {
    let seconds = Double(ticks * Self.millisecondsPerTick) / 1_000
    let rules =
      appearances.sorted().map { tick in
        """
        .at\(tick) { animation-name: at\(tick); }
        @keyframes at\(tick) { 0%, \(share(tick)) { opacity: 0; } \
        \(share(tick + 1)), 100% { opacity: 1; } }
        """
      }
      + Self.sorted(passages).map { ticks in
        let name = "while\(ticks.lowerBound)-\(ticks.upperBound)"
        return """
          .\(name) { animation-name: \(name); visibility: visible; }
          @keyframes \(name) { 0%, \(share(ticks.lowerBound)) { opacity: 0; } \
          \(share(ticks.lowerBound + 1)), \(share(ticks.upperBound)) { opacity: 1; } \
          \(share(ticks.upperBound + 1)), 100% { opacity: 0; } }
          """
      }
      + Self.sorted(growths).map { ticks in
        let name = "over\(ticks.lowerBound)-\(ticks.upperBound)"
        return """
          .\(name) { animation-name: \(name); }
          @keyframes \(name) { 0%, \(share(ticks.lowerBound)) { transform: scaleX(0); } \
          \(share(ticks.upperBound)), 100% { transform: scaleX(1); } }
          """
      }
    return """

      @media (prefers-reduced-motion: no-preference) {
      .moves { animation: \(seconds.short)s linear \(Self.plays) both;
        transform-box: fill-box; transform-origin: left; }
      \(rules.joined(separator: "\n"))
      }
      """
  }

  private static func sorted(_ spans: Set<Range<Int>>) -> [Range<Int>] {
    spans.sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
  }

  private var ticks: Int { end + Self.ticksAtEnd }

  private func share(_ tick: Int) -> String {
    "\((100 * Double(tick) / Double(ticks)).short)%"
  }
}
