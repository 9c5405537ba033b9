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
    var sleeps: [Instant] = []
    var nextSleeper = 0
  }

  private let state = Watched(State())

  /// Creates a clock that shows zero.
  public init() {}

  /// The time that the clock shows.
  public var now: Instant { state.value.now }

  /// Nothing is too short for this clock.
  public var minimumResolution: Duration { .zero }

  /// The deadline of each sleep that ever began, in order.
  public var sleeps: [Instant] { state.value.sleeps }

  /// How many tasks sleep now.
  public var sleepers: Int { state.value.sleepers.count }

  /// Returns once that many tasks sleep at the same time.
  public func sleepers(atLeast count: Int) async {
    await state.wait { $0.sleepers.count >= count }
  }

  /// Returns once that many sleeps have begun.
  public func sleeps(atLeast count: Int) async {
    await state.wait { $0.sleeps.count >= count }
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
      return state.nextSleeper
    }
    try await withTaskCancellationHandler {
      state.update { state in
        // A cancellation that came before has found no sleeper to forget.
        guard !Task.isCancelled else { return }
        state.sleeps.append(deadline)
        if state.now < deadline { state.sleepers[id] = deadline }
      }
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
