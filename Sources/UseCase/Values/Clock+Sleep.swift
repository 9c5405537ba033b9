/// A step to take at once after a sleep.
package typealias Step = @Sendable () -> Void

/// A clock whose advance waits until each task that it resumes has taken its step.
package protocol SteppingClock<Instant>: Clock {
  func sleep(until deadline: Instant, then step: Step) async throws
}

extension Clock where Duration == Swift.Duration {
  /// Returns a function that sleeps for `duration`, counted from now, but of no more than a hundred
  /// years, and then takes a step.
  package func sleeper(for duration: Duration) -> @Sendable (_ step: Step) async throws -> Void {
    let deadline = now.advanced(by: min(duration, .century))
    return { try await self.sleep(until: deadline, taking: $0) }
  }

  fileprivate func sleep(until deadline: Instant, taking step: Step) async throws {
    if let clock = self as? any SteppingClock<Instant> {
      try await clock.sleep(until: deadline, then: step)
    } else {
      try await sleep(until: deadline, tolerance: nil)
      step()
    }
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
  /// Takes the step at that time.
  package let sleep: @Sendable (_ until: Duration, _ step: Step) async throws -> Void

  package init(_ clock: some Clock<Duration>) {
    let start = clock.now
    // Most clocks are this one, which is read without the protocol.
    if clock is ContinuousClock, let start = start as? ContinuousClock.Instant {
      elapsed = { start.duration(to: .now) }
    } else {
      elapsed = { start.duration(to: clock.now) }
    }
    sleep = { try await clock.sleep(until: start.advanced(by: $0), taking: $1) }
  }
}
