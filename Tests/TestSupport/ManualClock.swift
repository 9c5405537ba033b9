/// A clock that stands still until the test advances it.
public final class ManualClock: Clock {
  /// A point in time, counted from the creation of the clock.
  public struct Instant: InstantProtocol {
    /// The time since the creation of the clock.
    public let offset: Duration

    /// Creates the instant that long after the creation of the clock.
    public init(offset: Duration) {
      self.offset = offset
    }

    /// Returns the instant that much later.
    public func advanced(by duration: Duration) -> Instant {
      Instant(offset: offset + duration)
    }

    /// Returns the time from here to there.
    public func duration(to other: Instant) -> Duration {
      other.offset - offset
    }

    /// Whether the one comes before the other.
    public static func < (left: Instant, right: Instant) -> Bool {
      left.offset < right.offset
    }
  }

  private struct State {
    var now = Instant(offset: .zero)
    var sleepers: [Int: Instant] = [:]
    var nextSleeper = 0
  }

  private let state = Watched(State())

  /// The deadline of each sleep that ever began, in order.
  public let sleeps = Log<Instant>()

  /// Creates a clock that shows zero.
  public init() {}

  /// The time that the clock shows.
  public var now: Instant { state.value.now }

  /// Nothing is too short for this clock.
  public var minimumResolution: Duration { .zero }

  /// How many tasks sleep now.
  public var sleepers: Int { state.value.sleepers.count }

  /// Returns once that many tasks sleep at the same time.
  public func sleepers(atLeast count: Int) async {
    await state.wait { $0.sleepers.count >= count }
  }

  /// Sets the clock forward and wakes those whose time has come, the earliest deadline first.
  ///
  /// Who is woken, or cancelled, no longer counts as a sleeper when the call returns.
  public func advance(by duration: Duration) {
    let end = state.value.now.advanced(by: duration)
    while let next = state.value.sleepers.values.min(), next <= end { wake(at: next) }
    wake(at: end)
  }

  /// Sleeps until the clock shows that time.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    let id = state.update { state in
      state.nextSleeper += 1
      if state.now < deadline { state.sleepers[state.nextSleeper] = deadline }
      return state.nextSleeper
    }
    sleeps.append(deadline)
    try await withTaskCancellationHandler {
      try await state.waitUnlessCancelled { $0.now >= deadline }
    } onCancel: {
      state.update { $0.sleepers[id] = nil }
    }
  }

  private func wake(at instant: Instant) {
    state.update { state in
      state.now = max(state.now, instant)
      state.sleepers = state.sleepers.filter { $0.value > instant }
    }
  }
}
