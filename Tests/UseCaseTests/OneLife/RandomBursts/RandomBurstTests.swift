import TestSupport
import Testing
import UseCase

/// Random bursts against a queue that knows only the rule.
@Suite(.serialized, .mustEnd) @MainActor
struct RandomBurstTests {
  typealias Policy = ReferenceQueue.Policy

  private nonisolated static let policies: [Policy] = [
    Policy(policy: .unlimited),
    Policy(policy: .serial, limit: 1),
    Policy(policy: .limit(2), limit: 2),
    Policy(policy: .limit(1, waiting: 2), limit: 1, places: 2),
    Policy(policy: .limit(2, waiting: 0), limit: 2, places: 0),
    Policy(policy: .dropWhileBusy, limit: 1, whenBusy: .drop),
    Policy(policy: .init(limit: 2, whenBusy: .drop), limit: 2, whenBusy: .drop),
    Policy(policy: .keepLatest, limit: 1, whenBusy: .keepLatest),
    Policy(policy: .init(limit: 2, whenBusy: .keepLatest), limit: 2, whenBusy: .keepLatest),
    Policy(policy: .cancelPrevious, limit: 1, whenBusy: .cancelPrevious),
    Policy(
      policy: .init(limit: 2, whenBusy: .cancelPrevious), limit: 2, whenBusy: .cancelPrevious),
    Policy(policy: .cancelPreviousAndWait, limit: 1, whenBusy: .cancelPreviousAndWait),
    Policy(
      policy: .cancelPrevious(debounce: .seconds(2)), limit: 1, whenBusy: .cancelPrevious,
      pause: 2),
    Policy(
      policy: .keepLatest.debounced(by: .seconds(2), atMost: .seconds(5)), limit: 1,
      whenBusy: .keepLatest, pause: 2, longestPause: 5),
    Policy(
      policy: .cancelPreviousAndWait.debounced(by: .seconds(1)), limit: 1,
      whenBusy: .cancelPreviousAndWait, pause: 1),
    Policy(
      policy: .throttle(.seconds(3)), limit: 1, whenBusy: .keepLatest, starts: 1, interval: 3),
    Policy(
      policy: .serial.rate(2, per: .seconds(3)), limit: 1, starts: 2, interval: 3),
    Policy(
      policy: .limit(2).rate(1, per: .seconds(2)), limit: 2, starts: 1, interval: 2),
    Policy(
      policy: .dropWhileBusy.spaced(by: .seconds(2)), limit: 1, whenBusy: .drop, starts: 1,
      interval: 2),
    Policy(
      policy: .cancelPrevious.spaced(by: .seconds(2)), limit: 1, whenBusy: .cancelPrevious,
      starts: 1, interval: 2),
  ]

  /// A step is an execution, an answer, a cancellation, a second, a turn of the main actor …
  @Test(arguments: 0..<20)
  func `a queue does what the rule says, in every burst`(number: Int) async {
    let policy = Self.policies[number]
    let (steps, first) = (tries("BURST_STEPS", or: 8_000) / 20, tries("BURST_SEED", or: 1))
    let session = 80
    for seed in first..<first + max(1, steps / session) {
      let burst = Burst(policy, seed: UInt64(seed))
      await burst.run(steps: session)
      if let failure = burst.failure {
        Issue.record("\(failure)")
        return
      }
    }
  }
}
