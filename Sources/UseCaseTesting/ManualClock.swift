public import UseCase
import UseCaseInternals

/// A clock whose time moves only when a test advances it.
///
/// Pass the clock to a queue or to a `RetryInterceptor`. Debounce, timeouts and delays then take no
/// real time, and end when the test advances the clock. Wait until a task sleeps, then advance:
///
/// ```swift
/// let clock = ManualClock()
/// let queue = UseCaseQueue(
///   .cancelPrevious(debounce: .milliseconds(300)), clock: clock)
/// let search = AnyUseCase<String, [String]>(queue: queue) { text in [text] }
/// let operation = search.execute("swift")
/// try await clock.sleeping()
/// print(operation.state)  // waiting
///
/// await clock.advance(by: .milliseconds(300))
/// print(try await operation.value)  // ["swift"]
/// ```
///
/// All members can be called from any isolation.
public final class ManualClock: Clock, SteppingClock, Sendable {
  /// A point in time, counted from the creation of the clock.
  public struct Instant: InstantProtocol {
    /// The time since the creation of the clock.
    public let offset: Duration

    /// Creates the instant at `offset` after the creation of the clock.
    ///
    /// - Parameter offset: The time since the creation of the clock.
    public init(offset: Duration) {
      self.offset = offset
    }

    /// Returns the instant that is `duration` later.
    ///
    /// - Parameter duration: The time between the two.
    /// - Returns: The later instant, or an earlier one if the duration is negative.
    public func advanced(by duration: Duration) -> Instant {
      Instant(offset: offset + duration)
    }

    /// Returns the time from this instant to another instant.
    ///
    /// - Parameter other: The instant to measure to.
    /// - Returns: The time between the two instants, negative if `other` is earlier.
    public func duration(to other: Instant) -> Duration {
      other.offset - offset
    }

    /// Returns whether the left instant is earlier than the right one.
    ///
    /// - Parameters:
    ///   - left: An instant.
    ///   - right: Another instant.
    /// - Returns: Whether `left` is the earlier one.
    public static func < (left: Instant, right: Instant) -> Bool {
      left.offset < right.offset
    }
  }

  private let machine = Lock(ClockMachine())

  /// Creates a clock that shows zero.
  public init() {}

  /// The time that the clock shows.
  public var now: Instant { Instant(offset: machine.withLock { $0.now }) }

  /// Zero: the clock tells any two instants apart.
  public var minimumResolution: Duration { .zero }

  /// The number of tasks that sleep now.
  ///
  /// A task isn't counted if it was cancelled, or if the clock has reached its deadline.
  public var sleepers: Int { machine.withLock { $0.asleep.count } }

  /// Waits until at least `count` tasks sleep on the clock.
  ///
  /// Timeouts sleep, too. If another task may sleep already, wait for a certain sleep, with
  /// ``sleeping(for:)``.
  ///
  /// - Parameter count: The number of tasks, zero or more. The default is 1.
  /// - Throws: `CancellationError`, promptly, when the calling task is cancelled.
  public func sleeping(_ count: Int = 1) async throws {
    guard count >= 0 else { fatalError("Wait for zero sleepers or more, not for \(count).") }
    try await wait(for: .sleepers(count))
  }

  /// Waits until a task sleeps that is due in exactly `duration` from now.
  ///
  /// An advance by `duration` then resumes this task. Among several tasks that sleep, such as a
  /// timeout and a retry, the duration tells which one to wait for:
  ///
  /// ```swift
  /// let clock = ManualClock()
  /// let retry = RetryInterceptor(attempts: 2, delay: .constant(.seconds(1)))
  /// let queue = UseCaseQueue(clock: clock, interceptors: [retry])
  /// let server = ControlledUseCase<String, [String]>()
  /// let search = AnyUseCase<String, [String]>(
  ///   queue: queue, timeout: .seconds(5)
  /// ) { text in try await server(text) }
  /// let operation = search.execute("swift")
  /// try await server.next().fail(Offline())
  ///
  /// try await clock.sleeping(for: .seconds(1))  // the timeout sleeps, too, for five
  /// await clock.advance(by: .seconds(1))
  /// try await server.next().succeed(["Swift"])
  /// print(try await operation.value)  // ["Swift"]
  /// ```
  ///
  /// *Now* is the time that the clock shows when the task sleeps, or when an advance has brought
  /// its deadline near enough.
  ///
  /// - Parameter duration: The time until the task is due, more than zero.
  /// - Throws: `CancellationError`, promptly, when the calling task is cancelled.
  /// - Complexity: O(*n*), where *n* is the number of tasks that sleep.
  public func sleeping(for duration: Duration) async throws {
    guard duration > .zero else {
      fatalError("Wait for a sleep of more than zero, not of \(duration).")
    }
    try await wait(for: .sleep(duration))
  }

  private func wait(for wanted: ClockMachine.Wanted) async throws {
    try await machine.wait(enter: { $0.watch(for: wanted, $1) }, leave: { $0.remove($1) })
  }

  /// Sets the clock forward and resumes every task whose deadline has come, in order.
  ///
  /// When the call returns, all tasks that are due have been resumed: the earliest deadline first,
  /// and of equal deadlines the earliest sleep first. Each task runs again before the next one is
  /// resumed. The queues that use the clock have reacted, too: if the debounce or throttle pause of
  /// an operation is over, the operation runs, unless it still waits for a slot; if the timeout of
  /// an operation has passed, the operation has its outcome. Other tasks may still be busy after
  /// their sleep. Wait for them, for example with `operation.ended()`.
  ///
  /// The clock shows the new time before any task is resumed. A resumed task that sleeps again
  /// counts from the new time. If its new deadline is not in the future, the task isn't suspended.
  /// Otherwise, it sleeps until another advance. To follow a task that sleeps repeatedly, advance
  /// by one sleep at a time:
  ///
  /// ```swift
  /// let clock = ManualClock()
  /// let ticking = Task {
  ///   for tick in 1...3 {
  ///     try await clock.sleep(for: .seconds(1))
  ///     print("tick \(tick) at \(clock.now.offset)")  // tick 1 at 1.0 seconds
  ///   }
  /// }
  /// for _ in 1...3 {
  ///   try await clock.sleeping()
  ///   await clock.advance(by: .seconds(1))
  /// }
  /// try await ticking.value
  /// ```
  ///
  /// Advances from several tasks add up. Each call returns when the tasks whose deadlines it has
  /// reached have been resumed. Cancelling the calling task doesn't end an advance.
  ///
  /// - Parameter duration: The time to add, zero or more.
  /// - Complexity: O(*n*), where *n* is the number of tasks that sleep or are resumed.
  public func advance(by duration: Duration) async {
    await beginAdvance(by: duration).value
  }

  /// Suspends the calling task until the clock shows the deadline.
  ///
  /// If the deadline is not in the future, `sleep` returns at once.
  ///
  /// - Parameters:
  ///   - deadline: The time to sleep until.
  ///   - tolerance: Ignored: the clock is exact.
  /// - Throws: `CancellationError`, promptly, when the calling task is cancelled before the clock
  ///   shows the deadline. A task that is already cancelled throws even if the deadline is not in
  ///   the future.
  /// - Complexity: O(*n*), where *n* is the number of tasks that sleep.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try await sleep(until: deadline) {}
  }

  /// Does the same, and then takes the step. An advance waits for this step.
  package func sleep(until deadline: Instant, then step: Step) async throws {
    let alarm = Promise<Bool>()
    let isDue = await withTaskCancellationHandler {
      let (isDue, reached) = machine.withLock { machine in
        Task.isCancelled ? (false, .init()) : machine.sleep(until: deadline.offset, alarm)
      }
      act(on: reached)
      guard isDue == nil else {
        if isDue == true { step() }
        return isDue == true
      }
      // An alarm that goes off stands at the head of the line until the task has taken its step.
      guard await alarm.value else { return false }
      step()
      act(on: machine.withLock { $0.awake() })
      return true
    } onCancel: {
      if machine.withLock({ $0.cancel(alarm) }) { alarm.fulfill(false) }
    }
    guard isDue else { throw CancellationError() }
  }

  /// Advances the clock and resumes the first task that is due, for tests that cannot wait.
  ///
  /// - Returns: Fulfilled when everything due has been resumed.
  @discardableResult
  package func beginAdvance(by duration: Duration) -> Promise<Void> {
    guard duration >= .zero else {
      fatalError("Advance a clock by zero or more, not by \(duration): it never goes back.")
    }
    let end = Promise<Void>()
    act(on: machine.withLock { $0.advance(by: duration, end) })
    return end
  }

  /// The deadlines of the tasks that sleep now, in order, for the package's own tests.
  package var deadlines: [Instant] {
    machine.withLock { $0.asleep.map { Instant(offset: $0.deadline) } }
  }

  /// The number of sleeps that had to wait, ended or not, for the package's own tests.
  package var sleepsBegun: Int { machine.withLock { $0.sleepsBegun } }

  private func act(on reached: ClockMachine.Reached) {
    for watcher in reached.watchers { watcher.fulfill(()) }
    for end in reached.ends { end.fulfill(()) }
    reached.alarm?.fulfill(true)
  }
}
