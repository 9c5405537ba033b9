import Synchronization
import UseCaseInternals

/// Decides which operations run, wait, or are cancelled.
///
/// ```swift
/// struct Search: UseCase {
///   let queue = UseCaseQueue(.cancelPrevious)
///   func main(_ text: String) async throws -> [String] { ["\(text)!"] }
/// }
/// ```
///
/// A queue has as many *slots* as the limit of its ``Policy``. An operation needs a slot to run,
/// and holds it until its body has returned. The queue decides on the thread that calls `execute`,
/// before `execute` returns, and admits operations in the order of these calls.
///
/// A queue is a reference type: copies of a use case share one queue, and you can give the same
/// queue to several use cases.
public final class UseCaseQueue: Sendable {
  typealias Machine = QueueMachine<any QueueMember, UnsafeContinuation<Void, Never>>

  /// An unlimited queue for the whole process. Use cases without a queue of their own run on it.
  public static let `default` = UseCaseQueue()

  /// The limit on concurrent operations, and the rule for operations that arrive at that limit.
  public let policy: Policy

  let clock: any Clock<Duration>
  /// Measures the pause of the policy, if it has one.
  let stopwatch: Stopwatch?
  let interceptors: [any UseCaseInterceptor]
  let observer: (@Sendable (UseCaseEvent) -> Void)?
  let isObserved: Bool
  /// Whether bodies run as they are, with nothing around them.
  @usableFromInline let isPlain: Bool
  let keeper: (any QueueKeeper)?
  let reactions: UseCaseReactions?
  /// The key of the queue, if it has one. It goes with the queue.
  @usableFromInline let lane: (any AnyObject & Sendable)?
  /// Whether operations are announced to reactions or to the keeper before their bodies begin.
  @usableFromInline let announces: Bool
  /// Whether a keeper may ask an operation for its title until the body has returned.
  @usableFromInline let hasKeeper: Bool
  /// Whether nobody follows the slots, and nothing is measured.
  private let isDirect: Bool
  private let changes = ChangeSignal()
  private let machine: Lock<Machine>

  /// Creates a queue that follows a policy.
  ///
  /// - Parameters:
  ///   - policy: How many operations run at a time, and what happens to further operations.
  ///   - clock: Measures debounce, throttle and timeouts. Give your own in a test.
  ///   - interceptors: Wrapped around every body of the queue, the first outermost.
  ///   - reactions: Attach handlers to the operations of the queue, whichever code executes them.
  ///   - observer: Receives every event, on any thread. The queue holds no lock while it calls the
  ///     observer. The events of one operation arrive in order. `execute` and `cancel()` deliver
  ///     the events that they cause on the caller's thread, before they return. If another thread
  ///     is still delivering an earlier event of the operation, that thread delivers the later one,
  ///     too.
  public convenience init(
    _ policy: Policy = .unlimited, clock: any Clock<Duration> = ContinuousClock(),
    interceptors: [any UseCaseInterceptor] = [], reactions: UseCaseReactions? = nil,
    observer: (@Sendable (UseCaseEvent) -> Void)? = nil
  ) {
    self.init(
      policy, clock: clock, interceptors: interceptors, reactions: reactions, observer: observer,
      lane: nil)
  }

  /// Creates a queue that `keeper` follows. The queue keeps it, and `lane`.
  package convenience init(
    _ policy: Policy = .serial, keeper: any QueueKeeper,
    clock: any Clock<Duration> = ContinuousClock(), lane: (any AnyObject & Sendable)? = nil
  ) {
    self.init(
      policy, clock: clock, interceptors: [], reactions: nil, observer: nil, lane: lane,
      keeper: keeper)
  }

  /// Creates a queue that keeps `lane` and `keeper`.
  init(
    _ policy: Policy, clock: any Clock<Duration>, interceptors: [any UseCaseInterceptor],
    reactions: UseCaseReactions?, observer: (@Sendable (UseCaseEvent) -> Void)?,
    lane: (any AnyObject & Sendable)?, keeper: (any QueueKeeper)? = nil
  ) {
    self.policy = policy
    self.clock = clock
    stopwatch = policy.pause.map { _ in Stopwatch(clock) }
    self.interceptors = interceptors
    self.observer = observer
    self.keeper = keeper
    self.lane = lane
    self.reactions = reactions
    announces = reactions != nil || keeper?.hearsOfTasks ?? false
    hasKeeper = keeper != nil
    isObserved = observer != nil
    isPlain = interceptors.isEmpty
    isDirect = keeper == nil && policy.pause == nil
    machine = Lock(Machine(policy: policy))
  }

  /// A consistent snapshot of what the queue is doing and has done.
  public var activity: UseCaseActivity { machine.withLock { $0.activity } }

  /// Whether an operation runs or waits. A progress indicator can show it, whatever the policy is.
  public var isBusy: Bool { !activity.isIdle }

  /// Returns the present activity, and then the new activity after each change. A slow reader skips
  /// to the newest activity.
  ///
  /// ```swift
  /// for await activity in search.queue.activities() {
  ///   spinner.isAnimating = !activity.isIdle
  /// }
  /// ```
  ///
  /// - Returns: A stream that ends when the queue is deallocated.
  public func activities() -> AsyncStream<UseCaseActivity> {
    changes.values { [weak self] in self?.activity }
  }

  /// Whether the queue admits operations but starts none.
  public var isSuspended: Bool { machine.withLock { $0.isSuspended } }

  /// Keeps operations from starting until ``resume()``.
  ///
  /// Running operations go on, and the policy still applies: an incoming operation waits, is
  /// dropped, or supersedes another operation. Operations wait forever in a queue that is never
  /// resumed: cancel them.
  public func suspend() { machine.withLock { $0.suspend() } }

  /// Starts the waiting operations that may start, in order.
  ///
  /// - Complexity: O(*n*) in the number of operations that start.
  public func resume() { act(on: decide { $0.resume() }) }

  /// Cancels all operations that run or wait, for the reason ``UseCaseCancellation/requested``.
  ///
  /// An operation that has left the queue with a response or an error isn't affected: its handlers
  /// still run.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func cancelAll() {
    let (members, release) = machine.withLock { machine in
      let (members, release) = machine.cancelAll()
      if let keeper {
        for member in members where !machine.holds(member.ticket) { keeper.left(member.ticket.id) }
      }
      return (members, release)
    }
    keeper?.unlocked()
    changes.poke()
    for member in members {
      member.cancelFromQueue(.requested)
      keeper?.cancelled(member.ticket.id)
    }
    act(on: release)
  }

  /// Waits until no operation runs or waits.
  ///
  /// Returns at once if the queue is idle already. The cancellation of the awaiting task changes
  /// nothing.
  ///
  /// Don't await `idle()` in the body of an operation on this queue: it would never return.
  nonisolated(nonsending) public func idle() async {
    await withUnsafeContinuation { waiter in
      machine.withLock { $0.wait(waiter) }?.resume()
    }
  }

  /// Whether the current task runs inside a slot of this queue.
  ///
  /// The value is true in a body, and in the use cases that the body calls in the call form, as in
  /// `try await useCase(request)`. It is also true in a child task or a `Task { }` that this code
  /// starts, as long as the slot is held. The value is false in handlers and in detached tasks.
  ///
  /// - Complexity: O(*n*), where *n* is the depth of nested calls of use cases.
  public var isHeldHere: Bool { Slot.holder(in: ObjectIdentifier(self)) != nil }
}

// MARK: - Failures that nobody handles

extension UseCaseQueue {
  private static let failureHook = Lock<(@Sendable (UseCaseUnhandledFailure) -> Void)?>(nil)
  private static let hasFailureHook = Atomic(false)

  /// Whether an operation that fails has to find out whether somebody handles it.
  static var tellsFailures: Bool { hasFailureHook.load(ordering: .relaxed) }

  /// Receives each failure that nothing handles.
  ///
  /// A failure is unhandled if it has no `catch` that matches, no `finally` with the outcome, no
  /// task that awaits `value` or `ended()`, and no model. `common`, and a `finally` without the
  /// outcome, don't count.
  ///
  /// ```swift
  /// UseCaseQueue.unhandledFailure = { failure in log.error("\(failure)") }
  /// ```
  ///
  /// The closure is called once for each failure, on no actor and with no lock held. The call comes
  /// a tenth of a second after the operation has ended, which leaves time to attach a `catch` to an
  /// operation that fails at once. `nil`, the default, costs nothing.
  public static var unhandledFailure: (@Sendable (UseCaseUnhandledFailure) -> Void)? {
    get { failureHook.withLock { $0 } }
    set {
      // The old closure is returned, so that it is released outside of the lock.
      _ = failureHook.withLock { hook in
        defer { hook = newValue }
        return hook
      }
      hasFailureHook.store(newValue != nil, ordering: .relaxed)
    }
  }
}

// MARK: - Members

extension UseCaseQueue {
  /// Admits the member, gives it its ticket, and supersedes the members that give way to it.
  ///
  /// - Returns: Whether it starts, waits, or is dropped.
  @inline(__always)
  func admit(_ member: any QueueMember) -> Policy.Decision.Entry {
    if let keeper { return admit(member, telling: keeper) }
    let admission = machine.withLock { machine in
      let admission = machine.admit(member, id: .next())
      member.ticket = admission.ticket
      return admission
    }
    return entry(admission)
  }

  /// Does the same where the policy has a pause, and returns the sleep until that is over, nil if
  /// there is none now.
  func admitWithPause(
    _ member: any QueueMember
  ) -> (Policy.Decision.Entry, sleep: (@Sendable () async -> Void)?) {
    guard let stopwatch else { preconditionFailure("A policy with a pause has a stopwatch.") }
    // The pause is counted from before the operations that give way have to hear of it.
    let now = stopwatch.elapsed()
    let (admission, endOfPause) = machine.withLock { machine in
      let admitted = machine.admit(member, id: .next(), at: now)
      member.ticket = admitted.admission.ticket
      return admitted
    }
    let sleep = endOfPause.map { [ticket = admission.ticket] end in
      { @Sendable [self] in
        let ready: Step = { [self] in act(on: decide { $0.ready(ticket) }) }
        do { try await stopwatch.sleep(end, ready) } catch { ready() }
      }
    }
    return (entry(admission), sleep)
  }

  @inline(__always)
  private func entry(_ admission: consuming Machine.Admission) -> Policy.Decision.Entry {
    changes.poke()
    admission.superseded.forEach { $0.cancelFromQueue(.superseded) }
    return admission.entry
  }

  /// Does the same, and tells the keeper under the same lock.
  private func admit(
    _ member: any QueueMember, telling keeper: any QueueKeeper
  ) -> Policy.Decision.Entry {
    let admission = machine.withLock { machine in
      let admission = machine.admit(member, id: .next())
      member.ticket = admission.ticket
      keeper.admitted(member)
      if admission.entry == .start { keeper.started(admission.ticket.id) }
      return admission
    }
    keeper.unlocked()
    changes.poke()
    // A keeper follows a serial queue or an unlimited one: they supersede and drop nothing.
    return admission.entry
  }

  /// The member has an outcome before its body has returned.
  func cancel(_ ticket: QueueTicket) {
    act(on: decide(leaving: ticket) { $0.cancel(ticket) })
    keeper?.cancelled(ticket.id)
  }

  /// The member gives its slot back.
  @inline(__always)
  func giveBack(_ ticket: QueueTicket, as kind: Verdict.Kind) {
    if isDirect {
      let release = machine.withLock { $0.giveBack(ticket, as: kind) }
      changes.poke()
      act(on: release)
    } else {
      act(on: decide(leaving: ticket) { $0.giveBack(ticket, as: kind) })
    }
  }

  /// Runs one event of the machine, and tells the keeper, under the same lock, of what it changed.
  private func decide(
    leaving ticket: QueueTicket? = nil, _ event: (inout Machine) -> Machine.Release?
  ) -> Machine.Release? {
    defer { changes.poke() }
    if let stopwatch {
      let now = stopwatch.elapsed()
      return machine.withLock { $0.change(at: now, event) }
    }
    guard let keeper else { return machine.withLock { event(&$0) } }
    var release: Machine.Release?
    machine.withLock { machine in
      let wasThere = ticket.map { machine.holds($0) } ?? false
      release = event(&machine)
      if let ticket, wasThere, !machine.holds(ticket) { keeper.left(ticket.id) }
      release?.started.forEach { keeper.started($0.ticket.id) }
    }
    keeper.unlocked()
    return release
  }

  @inline(__always)
  private func act(on release: consuming Machine.Release?) {
    guard let release = consume release else { return }
    release.started.forEach { $0.grant() }
    release.idle.forEach { $0.resume() }
  }
}
