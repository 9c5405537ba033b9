/// A consistent snapshot of what a queue is doing and has done.
///
/// Each operation that was submitted to the queue, even one that was dropped, is in exactly one of
/// the five counts: running, waiting, succeeded, failed or cancelled. An operation counts as running
/// as long as it holds its slot: until its body has returned, and its handlers have run. In its own
/// handlers, it counts as done. A call that runs inside the slot of another operation isn't counted.
///
/// ```swift
/// let activity = search.queue.activity
/// print("\(activity.running) run, \(activity.waiting) wait")  // 1 run, 0 wait
/// ```
public struct UseCaseActivity: Hashable, Sendable {
  /// How many operations hold a slot.
  public var running: Int

  /// How many operations wait for a slot.
  public var waiting: Int

  /// How many operations have succeeded.
  public var succeeded: Int

  /// How many operations have failed, timeouts included.
  public var failed: Int

  /// How many operations were cancelled, for whatever reason: see ``UseCaseCancellation``.
  public var cancelled: Int

  /// How many operations were submitted to the queue, including dropped operations: the sum of the
  /// five counts.
  public var executed: Int { running + waiting + succeeded + failed + cancelled }

  /// Whether no operation runs or waits.
  public var isIdle: Bool { running == 0 && waiting == 0 }

  /// Creates a snapshot, for a preview or a test.
  ///
  /// - Parameters:
  ///   - running: How many operations hold a slot.
  ///   - waiting: How many operations wait for a slot.
  ///   - succeeded: How many have succeeded.
  ///   - failed: How many have failed.
  ///   - cancelled: How many were cancelled.
  public init(
    running: Int = 0, waiting: Int = 0, succeeded: Int = 0, failed: Int = 0, cancelled: Int = 0
  ) {
    self.running = running
    self.waiting = waiting
    self.succeeded = succeeded
    self.failed = failed
    self.cancelled = cancelled
  }

  /// One more operation is done.
  mutating func count(_ kind: Verdict.Kind) {
    switch kind {
    case .success: succeeded += 1
    case .failure: failed += 1
    case .cancelled: cancelled += 1
    }
  }

  static func + (lhs: Self, rhs: Self) -> Self {
    UseCaseActivity(
      running: lhs.running + rhs.running, waiting: lhs.waiting + rhs.waiting,
      succeeded: lhs.succeeded + rhs.succeeded, failed: lhs.failed + rhs.failed,
      cancelled: lhs.cancelled + rhs.cancelled)
  }
}
