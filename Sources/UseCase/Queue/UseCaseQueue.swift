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

  /// Lets a rider board a shared run when its task is about to be made, on the thread that executes:
  /// an operation that was admitted, the raw value of the priority of its body, 0 for that of the
  /// running code, and whether it is executed by the call form.
  typealias Boarding =
    @Sendable (
      _ rider: any QueueMember, _ urgency: UInt8, _ isCall: Bool
    ) -> Void

  /// The policy of the queue.
  public let policy: Policy

  package let clock: any Clock<Duration>
  /// Measures the pauses of the policy, if it has any.
  private let timer: PauseTimer?
  let interceptors: [any UseCaseInterceptor]
  let observer: (@Sendable (UseCaseEvent) -> Void)?
  /// Whether it has interceptors. To ask the array costs more.
  package let hasInterceptors: Bool
  let delegate: (any QueueDelegate)?
  let boards: Boarding?
  let reactions: UseCaseReactions?
  /// Ends with the queue, if that is a lane.
  private let lane: (any AnyObject & Sendable)?
  /// Whether a delegate may ask an operation for its title until the body has returned.
  var hasDelegate: Bool { delegate != nil }
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
  ///     their events before they return, on the caller's thread, with one exception: if another
  ///     thread is still delivering an earlier event of the operation, that thread delivers them,
  ///     too.
  public convenience init(
    _ policy: Policy = .unlimited, clock: any Clock<Duration> = ContinuousClock(),
    interceptors: [any UseCaseInterceptor] = [], reactions: UseCaseReactions? = nil,
    observer: (@Sendable (UseCaseEvent) -> Void)? = nil
  ) {
    self.init(
      policy, lane: nil, clock: clock, interceptors: interceptors, reactions: reactions,
      observer: observer)
  }

  /// Creates a serial queue that `delegate` follows. The delegate is not told of superseded operations,
  /// of which a serial queue has none.
  package convenience init(delegate: any QueueDelegate, clock: any Clock<Duration>) {
    self.init(.serial, delegate: delegate, clock: clock)
  }

  /// Creates a queue that keeps the objects that follow it, and one that ends with it.
  init(
    _ policy: Policy, lane: (any AnyObject & Sendable)? = nil, timer: PauseTimer? = nil,
    delegate: (any QueueDelegate)? = nil,
    boards: Boarding? = nil, clock: any Clock<Duration> = ContinuousClock(),
    interceptors: [any UseCaseInterceptor] = [], reactions: UseCaseReactions? = nil,
    observer: (@Sendable (UseCaseEvent) -> Void)? = nil
  ) {
    self.policy = policy
    self.clock = clock
    self.timer = timer ?? (policy.pauses ? PauseTimer(clock) : nil)
    self.interceptors = interceptors
    self.observer = observer
    self.delegate = delegate
    self.boards = boards
    self.lane = lane
    self.reactions = reactions
    hasInterceptors = !interceptors.isEmpty
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

  /// Ends the pauses of the operations that wait now: no debounce, interval or rate holds them back
  /// any more.
  ///
  /// Call it when the app goes to the background, to save at once what an autosave still holds back:
  ///
  /// ```swift
  /// .onChange(of: scenePhase) { _, phase in
  ///   if phase == .background { save.queue.flush() }
  /// }
  /// ```
  ///
  /// The operations still wait for slots, and for ``resume()`` if the queue is suspended. Their
  /// starts count, and later operations pause again. To wait until everything is done, await
  /// ``idle()``.
  ///
  /// - Complexity: O(*n*) in the number of operations that start.
  public func flush() { act(on: decide { $0.flush() }) }

  /// Cancels all operations that run or wait, for the reason ``UseCaseCancellation/requested``.
  ///
  /// An operation that has left the queue with a response or an error isn't affected: its handlers
  /// still run.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func cancelAll() {
    let (members, release) = machine.withLock { machine in
      let (members, release) = machine.cancelAll()
      if let delegate {
        for member in members where !machine.holds(member.id) {
          delegate.left(member.id, hasSucceeded: false)
        }
      }
      return (members, release)
    }
    delegate?.unlocked()
    changes.poke()
    setTimer()
    for member in members {
      member.cancelFromQueue(.requested)
      member.dependents?.ride?.leave(member.id)
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
    await withUnsafeContinuation { idler in
      machine.withLock { $0.awaitIdle(idler) }?.resume()
    }
  }

  /// Whether the current task runs inside a slot of this queue.
  ///
  /// The value is true in a body, and in the use cases that the body calls in the call form, as in
  /// `try await useCase(request)`. It is also true in a child task or a `Task { }` that this code
  /// starts, as long as the slot is held. The value is false in handlers and in detached tasks.
  ///
  /// - Complexity: O(*n*), where *n* is the depth of nested calls of use cases.
  public var isHeldHere: Bool { HeldSlots.holder(in: ObjectIdentifier(self)) != nil }
}

// MARK: - Members

extension UseCaseQueue {
  /// Admits the member, gives it its identity, and supersedes the members that give way to it.
  @inline(__always)
  func admit(_ member: any QueueMember) -> Admission {
    // The pause is counted from before the operations that give way have to hear of it.
    if let timer { wake(at: timer.now) }
    let arrival = machine.withLock { machine in
      let id = UseCaseOperationID.next()
      member.receive(id)
      let arrival = machine.admit(
        member, id: id, priority: policy.usesPriority ? member.urgency : 0)
      if let delegate {
        delegate.admitted(member)
        if arrival.admission == .start { delegate.started(id) }
      }
      return arrival
    }
    delegate?.unlocked()
    changes.poke()
    setTimer()
    arrival.superseded.forEach { $0.cancelFromQueue(.superseded) }
    if let urged = arrival.urged { urged.member.raise(to: urged.priority) }
    return arrival.admission
  }

  /// The priority of the member has grown. Its identity is read under the lock: if it has none yet, its
  /// admission follows, and finds the new priority.
  func raise(_ id: @autoclosure () -> UseCaseOperationID, to urgency: UInt8) {
    guard policy.usesPriority, let urged = machine.withLock({ $0.raise(id(), to: urgency) })
    else { return }
    urged.member.raise(to: urged.priority)
  }

  /// Makes the timer follow the pauses.
  func setTimer() {
    timer?.set(self) { keepsWindow in machine.withLock { $0.nextAlarm(keepsWindow: keepsWindow) } }
  }

  /// The time of an alarm has come.
  func wake(at time: Duration) { act(on: decide(at: time) { $0.wake() }) }

  /// The member has an early outcome. Returns whether it is listed until its handlers have begun.
  func concludedEarly(_ id: UseCaseOperationID, as kind: Verdict.Kind) -> Bool {
    act(on: decide(about: id, as: kind) { $0.concludedEarly(id, as: kind) })
    return policy.deliversOnlyNewest && kind != .cancelled
  }

  /// Lists a member with an outcome, because a handler for it is left.
  func list(_ member: any QueueMember, _ id: UseCaseOperationID) {
    machine.withLock { $0.list(member, id) }
  }

  /// Takes back so many listings of a member.
  func unlist(_ id: UseCaseOperationID, _ count: Int32) {
    _ = machine.withLock { $0.unlist(id, count) }
  }

  /// The member gives its slot back.
  @inline(__always)
  func giveBack(_ id: UseCaseOperationID, as kind: Verdict.Kind) {
    act(on: decide(about: id, as: kind) { $0.giveBack(id, as: kind) })
  }

  /// Runs one event of the machine, and tells the delegate, under the same lock, of its effects.
  @inline(__always)
  private func decide(
    about id: UseCaseOperationID? = nil, as kind: Verdict.Kind? = nil, at time: Duration = .zero,
    _ event: (inout Machine) -> Machine.Release?
  ) -> Machine.Release? {
    let now = timer.map { max($0.now, time) }
    let release = machine.withLock { machine in
      guard let delegate else { return machine.change(at: now, event) }
      let wasThere = id.map { machine.holds($0) } ?? false
      let release = machine.change(at: now, event)
      if let id, wasThere, !machine.holds(id) {
        delegate.left(id, hasSucceeded: kind == .success)
      }
      release?.started.forEach { delegate.started($0.id) }
      return release
    }
    delegate?.unlocked()
    changes.poke()
    setTimer()
    return release
  }

  @inline(__always)
  private func act(on release: consuming Machine.Release?) {
    guard let release = consume release else { return }
    // Raised first, it has its priority when its body begins.
    if let urged = release.urged { urged.member.raise(to: urged.priority) }
    release.started.forEach { $0.grant() }
    release.idle.forEach { $0.resume() }
  }
}

// MARK: - The running code

extension UseCaseQueue {
  /// The innermost operation around the running code, of any queue.
  package static var operationHere: UseCaseOperationID? { HeldSlots.innermost?.id }

  /// Whether that operation has failed already, by a timeout, although its body runs.
  package static var hasFailedHere: Bool { HeldSlots.innermost?.verdict?.kind == .failure }

  /// That operation, if it holds a slot of this queue, and executes a use case of this type, itself or
  /// erased.
  package func operationHere(executing type: any Any.Type) -> UseCaseOperationID? {
    guard let innermost = HeldSlots.innermost, innermost.queueID == ObjectIdentifier(self),
      innermost.isOccupied, innermost.useCaseType == type || innermost.baseType == type
    else { return nil }
    return innermost.id
  }

  /// Whether the running code has had its turn in this line.
  package var isLineHeldHere: Bool { HeldSlots.isHeld(inLine: self) }

  /// Runs the body of the innermost operation, or a step of it, with the interceptors of this queue
  /// around it, all of it under the timeout. The operation may be on another queue. The interceptors
  /// are told that it executes a use case of this type.
  package func run<Request: Sendable, Response: Sendable>(
    _ request: Request, of useCaseType: any Any.Type, timeout: Duration = UseCaseTimeout.never,
    body: @escaping @Sendable (Request) async throws -> Response
  ) async throws -> Response {
    guard let operation = HeldSlots.innermost else {
      preconditionFailure("A body runs in an operation.")
    }
    let timer = operation.timer(timeout)
    defer { timer?.cancel() }
    guard let first = interceptors.first else { return try await body(request) }
    let execution = UseCaseExecution(
      id: operation.id, parent: operation.parent, type: useCaseType, clock: clock)
    let next = execution.next(interceptors.dropFirst(), UseCaseNext(body))
    return try await first.intercept(request, of: execution, next: next)
  }
}
