/// The time at which to wake a queue in place of the old time. Nil if it need not be woken.
typealias QueueAlarm = (old: Duration?, time: Duration?)

/// The pauses of one queue: a debounce, and the window of a rate.
///
/// A member that waits pauses until both are over, unless it was there at a flush. Where a policy
/// debounces, one member waits at most, so the debounce is that of the queue. Another one that a handler
/// executes then waits, too: the pause of the first is over.
///
/// A start is a call of `main`. A member with a slot that has not called it yet counts as a start,
/// too, and gives its place in the window back if it leaves without.
struct QueuePauses: Sendable {
  typealias ID = UseCaseOperationID

  /// The latest time that the queue has seen, on its clock.
  var time = Duration.zero
  /// The members up to this one pause no more.
  var flushed = ID(number: 0)
  /// Whether interceptors run around each `main`, and may call it late, never, or more than once.
  var hasInterceptors = false

  /// The arrival of the first member since the last start, as long as one waits.
  private var beginOfBurst: Duration?
  private var endOfDebounce = Duration.zero

  /// The starts in the window, the oldest first, and the members that have a start ahead of them.
  private var starts: [Duration] = []
  private var reserved: Set<ID> = []

  private var alarm: Duration?

  /// Whether a member need not pause any more: it was there at a flush, or its pause was over when a
  /// handler executed the next one.
  func maySkip(_ id: ID) -> Bool { id <= flushed }

  /// Whether a member that waits pauses still.
  func isPausing(_ policy: UseCaseQueue.Policy) -> Bool { end(policy) > time }

  /// Whether a member that comes now pauses first.
  func holdNewcomer(by policy: UseCaseQueue.Policy) -> Bool {
    policy.debounce > .zero || !mayStart(policy)
  }

  /// Whether the rate allows another start now.
  func mayStart(_ policy: UseCaseQueue.Policy) -> Bool { endOfWindow(policy) <= time }

  private func end(_ policy: UseCaseQueue.Policy) -> Duration {
    max(endOfDebounce, endOfWindow(policy))
  }

  /// The time from which the rate allows another start.
  private func endOfWindow(_ policy: UseCaseQueue.Policy) -> Duration {
    let free = policy.starts - reserved.count
    if starts.count < free || policy.interval == .zero { return .zero }
    return free > 0 ? starts[starts.count - free] + policy.interval : UseCaseTimeout.never
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

  /// A member gets its slot, and calls `main` at once if there are no interceptors.
  mutating func noteStart(of id: ID, _ policy: UseCaseQueue.Policy) {
    beginOfBurst = nil
    guard policy.interval > .zero else { return }
    if hasInterceptors { reserved.insert(id) } else { noteAttempt(policy) }
  }

  /// A member calls `main` for the first time. Returns false if it has done so before.
  mutating func useStart(of id: ID, _ policy: UseCaseQueue.Policy) -> Bool {
    guard reserved.remove(id) != nil else { return false }
    noteAttempt(policy)
    return true
  }

  /// A member leaves, perhaps without a call of `main`.
  mutating func giveBack(_ id: ID) { reserved.remove(id) }

  /// `main` is called.
  mutating func noteAttempt(_ policy: UseCaseQueue.Policy) {
    guard policy.interval > .zero else { return }
    let expired = starts.prefix { $0 + policy.interval <= time }.count
    starts.removeFirst(max(expired, starts.count - policy.starts + 1, 0))
    starts.append(time)
  }

  /// Returns the alarm to set, if it is another one than before. An attempt of an interceptor waits
  /// for the window alone, a member for the debounce, too.
  mutating func nextAlarm(
    forMember: Bool, forAttempt: Bool, keepsWindow: Bool, _ policy: UseCaseQueue.Policy
  ) -> QueueAlarm? {
    var next: Duration?
    let end = forAttempt ? endOfWindow(policy) : forMember ? end(policy) : .zero
    if end > time, end < UseCaseTimeout.never {
      next = end
    } else if keepsWindow, let newest = starts.last, newest + policy.interval > time {
      next = newest + policy.interval
    }
    guard next != alarm else { return nil }
    defer { alarm = next }
    return (alarm, next)
  }
}
