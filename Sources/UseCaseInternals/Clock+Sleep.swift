extension Clock where Duration == Swift.Duration {
  /// Returns a function that sleeps for `duration`, counted from now, but of no more than a hundred years: the
  /// clocks of the standard library trap at three hundred.
  package func sleeper(for duration: Duration) -> @Sendable () async throws -> Void {
    let deadline = now.advanced(by: min(duration, .seconds(100 * 365 * 86_400)))
    return { try await self.sleep(until: deadline, tolerance: nil) }
  }
}
