/// The time at which to wake a queue in place of the old time. Nil if it need not be woken.
typealias QueueAlarm = (old: Duration?, time: Duration?)

/// The pauses of one queue: a debounce, and the window of a rate.
///
/// A member that waits pauses until both are over, unless it was there at a flush. Where a policy
/// debounces, one member waits at most, so the debounce is that of the queue.
struct QueuePauses: Sendable {
  /// The latest time that the queue has seen, on its clock.
  var time = Duration.zero
  /// The members up to this one pause no more.
  var flushed = UseCaseOperationID(number: 0)

  /// The arrival of the first member since the last start, as long as one waits.
  private var beginOfBurst: Duration?
  private var endOfDebounce = Duration.zero

  /// The newest starts, as many as the rate allows: from `oldest` on, and then from the beginning.
  private var starts: [Duration] = []
  private var oldest = 0

  private var alarm: Duration?

  /// Whether a member that was there at a flush need not pause.
  func maySkip(_ id: UseCaseOperationID) -> Bool { id <= flushed }

  /// Whether a member that waits pauses still.
  func isPausing(_ policy: UseCaseQueue.Policy) -> Bool { end(policy) > time }

  /// Whether a member that comes now pauses first.
  func holdNewcomer(by policy: UseCaseQueue.Policy) -> Bool {
    policy.debounce > .zero || endOfWindow(policy) > time
  }

  private func end(_ policy: UseCaseQueue.Policy) -> Duration {
    max(endOfDebounce, endOfWindow(policy))
  }

  /// The time from which the rate allows another start.
  private func endOfWindow(_ policy: UseCaseQueue.Policy) -> Duration {
    starts.isEmpty || starts.count < policy.starts ? .zero : starts[oldest] + policy.interval
  }

  private var newest: Duration? {
    starts.isEmpty ? nil : starts[(oldest + starts.count - 1) % starts.count]
  }

  /// A member has come, and waits.
  mutating func noteArrival(_ policy: UseCaseQueue.Policy) {
    guard policy.debounce > .zero else { return }
    let begin = beginOfBurst ?? time
    beginOfBurst = begin
    endOfDebounce = min(time + policy.debounce, begin + policy.longestDebounce)
  }

  /// Nobody waits any more.
  mutating func nobodyWaits() { beginOfBurst = nil }

  /// A member starts.
  mutating func noteStart(_ policy: UseCaseQueue.Policy) {
    beginOfBurst = nil
    guard policy.interval > .zero else { return }
    if let newest, newest + policy.interval <= time { (starts, oldest) = ([], 0) }
    if starts.count < policy.starts {
      starts.append(time)
    } else {
      starts[oldest] = time
      oldest = (oldest + 1) % starts.count
    }
  }

  /// Returns the alarm to set, if it is another one than before.
  mutating func nextAlarm(
    isNeeded: Bool, keepsWindow: Bool, _ policy: UseCaseQueue.Policy
  ) -> QueueAlarm? {
    var next: Duration?
    if isNeeded, isPausing(policy) {
      next = end(policy)
    } else if keepsWindow, let newest, newest + policy.interval > time {
      next = newest + policy.interval
    }
    guard next != alarm else { return nil }
    defer { alarm = next }
    return (alarm, next)
  }
}
