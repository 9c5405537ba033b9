/// Shows a run as it happened: an element appears at its tick, and a bar grows while it lasts.
///
/// It moves only for readers who have not asked for less motion. All others, and those whose
/// software knows nothing of it, see the complete picture. It begins and ends with that, and plays
/// a few times.
struct Animation {
  /// When the run is over.
  let end: Int

  /// How long a tick takes to watch: much longer than in the run.
  private static let millisecondsPerTick = 110

  /// How long the complete picture stands before the run begins.
  private static let ticksAtRest = 30

  /// How long it stands at the end, before the next play or for good.
  private static let ticksAtEnd = 4

  private static let plays = 3

  private var appearances: Set<Int> = []
  private var growths: Set<Range<Int>> = []

  init(end: Int) {
    self.end = end
  }

  mutating func appearing(at tick: Int) -> String {
    appearances.insert(tick)
    return "moves at\(tick)"
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
        @keyframes at\(tick) { 0%, \(atRest) { opacity: 1; } \
        \(share(0)), \(share(tick)) { opacity: 0; } \(share(tick + 1)), 100% { opacity: 1; } }
        """
      }
      + growths.sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }
      .map { ticks in
        let name = "over\(ticks.lowerBound)-\(ticks.upperBound)"
        return """
          .\(name) { animation-name: \(name); }
          @keyframes \(name) { 0%, \(atRest) { transform: scaleX(1); } \
          \(share(0)), \(share(ticks.lowerBound)) { transform: scaleX(0); } \
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

  private var ticks: Int { Self.ticksAtRest + end + Self.ticksAtEnd }

  private var atRest: String { share(-1) }

  private func share(_ tick: Int) -> String {
    "\((100 * Double(Self.ticksAtRest + tick) / Double(ticks)).short)%"
  }
}
