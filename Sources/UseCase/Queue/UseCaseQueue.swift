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
/// A queue is a reference: copies of a use case share it, and several use cases may share one on
/// purpose. `execute` decides on the caller's thread, before it returns, and the order of calls
/// is the order of admission.
public final class UseCaseQueue: Sendable {
  typealias Machine = QueueMachine<any QueueMember, UnsafeContinuation<Void, Never>>

  /// An unlimited queue for the whole process, where use cases without one of their own run.
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
  /// Whether operations are announced to a keeper or to reactions before their bodies begin.
  @usableFromInline let isFollowed: Bool
  /// Whether nobody follows the slots, and nothing is measured.
  private let isDirect: Bool
  private let changes = ChangeSignal()
  private let machine: Lock<Machine>

  /// Creates a queue.
  ///
  /// - Parameters:
  ///   - policy: How many operations run at a time, and what happens to the others.
  ///   - clock: Measures debounce, throttle and timeouts. Give your own in a test.
  ///   - interceptors: Wrapped around every body of the queue, the first outermost.
  ///   - reactions: Attach handlers to the operations of the queue, whichever code executes them.
  ///   - observer: Receives every event, on any thread and outside of any lock. The events of one
  ///     operation arrive in order. An event that `execute` or `cancel()` decides arrives on the
  ///     caller's thread before the call returns. The exception: while another thread delivers an
  ///     earlier event of the operation, that thread delivers this one, too.
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
    isFollowed = keeper != nil || reactions != nil
    isObserved = observer != nil
    isPlain = interceptors.isEmpty
    isDirect = keeper == nil && policy.pause == nil
    machine = Lock(Machine(policy: policy))
  }

  /// A consistent snapshot of what the queue is doing and has done.
  public var activity: UseCaseActivity { machine.withLock { $0.activity } }

  /// Whether something runs or waits: the state of an indicator, right for every policy.
  public var isBusy: Bool { !activity.isIdle }

  /// Returns the present activity, and then one for each change. A slow reader sees the newest.
  ///
  /// ```swift
  /// for await activity in search.queue.activities() {
  ///   spinner.isAnimating = !activity.isIdle
  /// }
  /// ```
  ///
  /// - Returns: The activities. They end when the queue goes away.
  public func activities() -> AsyncStream<UseCaseActivity> {
    changes.values { [weak self] in self?.activity }
  }

  /// Whether the queue admits operations but starts none.
  public var isSuspended: Bool { machine.withLock { $0.isSuspended } }

  /// Starts no waiting operation until ``resume()``. Running ones go on, and the policy holds:
  /// incoming operations wait, are dropped, or supersede others. Operations that wait in a queue
  /// which is never resumed wait for ever: cancel them.
  public func suspend() { machine.withLock { $0.suspend() } }

  /// Starts the waiting operations that may start, in order.
  ///
  /// - Complexity: O(*n*) in the number of operations that start.
  public func resume() { act(on: decide { $0.resume() }) }

  /// Cancels all operations that run or wait, as ``UseCaseCancellation/requested``. The handlers of
  /// an operation that has succeeded or failed and is no longer in the queue still run.
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

  /// Returns when nothing runs and nothing waits, at once if that is so now. The cancellation of
  /// the awaiting task changes nothing.
  ///
  /// A body of this queue that awaits this waits for ever.
  nonisolated(nonsending) public func idle() async {
    await withUnsafeContinuation { waiter in
      machine.withLock { $0.wait(waiter) }?.resume()
    }
  }

  /// Whether the running code holds a slot of this queue: in a body, in what the body calls with
  /// `try await useCase(request)`, and in their child tasks and `Task { }`, as long as the slot is
  /// held. Handlers run outside.
  ///
  /// - Complexity: O(*n*) in the depth of calls.
  public var isHeldHere: Bool { Slot.holder(in: ObjectIdentifier(self)) != nil }
}

// MARK: - Failures that nobody handles

extension UseCaseQueue {
  private static let failureHook = Lock<(@Sendable (UseCaseUnhandledFailure) -> Void)?>(nil)
  private static let hasFailureHook = Atomic(false)

  /// Whether an operation that fails has to find out whether somebody handles it.
  static var tellsFailures: Bool { hasFailureHook.load(ordering: .relaxed) }

  /// Receives each failure that nothing handles: no `catch` that matches, no `finally` with the
  /// outcome, no task that awaits `value` or `ended()`, no model. `common`, and a
  /// `finally` without the outcome, don't count.
  ///
  /// ```swift
  /// UseCaseQueue.unhandledFailure = { failure in log.error("\(failure)") }
  /// ```
  ///
  /// It is called once for each of them, on no actor and outside of any lock, a tenth of a second
  /// after the end: a body that fails at once may end before its `catch` is attached.
  /// Nil, the default, costs nothing.
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
        try? await stopwatch.sleep(end)
        act(on: decide { $0.ready(ticket) })
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
    // A keeper follows a serial queue, which supersedes and drops nothing.
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
    let release = machine.withLock { machine in
      let wasThere = ticket.map { machine.holds($0) } ?? false
      let release = event(&machine)
      if let ticket, wasThere, !machine.holds(ticket) { keeper.left(ticket.id) }
      if let release { for member in release.started { keeper.started(member.ticket.id) } }
      return release
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
