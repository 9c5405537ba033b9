extension Clock where Duration == Swift.Duration {
  /// Returns a function that sleeps for `duration`, counted from now, but of no more than a hundred years.
  package func sleeper(for duration: Duration) -> @Sendable () async throws -> Void {
    let deadline = now.advanced(by: min(duration, .century))
    return { try await self.sleep(until: deadline, tolerance: nil) }
  }
}

extension Duration {
  /// A hundred years: the clocks of the standard library trap at three hundred.
  package static let century = Duration.seconds(100 * 365 * 86_400)
}

/// A clock that shows the time since the creation of the stopwatch.
package struct Stopwatch: Sendable {
  /// Returns the time.
  package let elapsed: @Sendable () -> Duration
  /// Returns at that time.
  package let sleep: @Sendable (_ until: Duration) async throws -> Void

  package init(_ clock: some Clock<Duration>) {
    let start = clock.now
    elapsed = { start.duration(to: clock.now) }
    sleep = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
  }
}
