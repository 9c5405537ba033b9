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
/// and holds it until it has ended: its body has returned, and its handlers have run. The queue
/// decides on the thread that calls `execute`, before `execute` returns, and admits operations in the
/// order of these calls.
///
/// A queue is a reference type: copies of a use case share one queue, and you can give the same
/// queue to several use cases.
public final class UseCaseQueue: Sendable {
  typealias Machine = QueueMachine<
    any QueueMember, UnsafeContinuation<Void, Never>, UnsafeContinuation<Bool, Never>
  >

  /// An unlimited queue for the whole process. Use cases without a queue of their own run on it.
  public static let `default` = UseCaseQueue()

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
  /// The queue around this one: code in a slot of this queue is in a slot of that one, too.
  private let outer: UseCaseQueue?
  /// Lets a rider board a shared run before its body begins, on the thread that executes.
  let boards: (@Sendable (_ rider: any AnyObject & Sendable) -> Void)?
  let reactions: UseCaseReactions?
  /// The lanes that the queue is one of.
  private let lane: (any QueueLane)?
  /// Whether nothing follows the queue: no delegate, no lanes, no timer. To ask each costs more.
  private let isPlain: Bool
  private let changes = ChangeSignal()
  /// The pauses of retries, which `flush(retries:)` ends.
  let retries = RetryPauses()
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

  /// Creates a queue that `delegate` follows. The delegate is not told of superseded operations.
  ///
  /// - Parameters:
  ///   - policy: The policy, which supersedes no operation.
  ///   - delegate: Follows the queue, which keeps it. Nil if nobody does.
  ///   - outer: A queue whose slot everything here runs in: a slot here counts as one of it.
  ///   - clock: Measures timeouts.
  ///   - observer: Receives every event.
  package convenience init(
    _ policy: Policy = .serial, delegate: (any QueueDelegate)?, inside outer: UseCaseQueue? = nil,
    clock: any Clock<Duration>, observer: (@Sendable (UseCaseEvent) -> Void)? = nil
  ) {
    self.init(
      policy, lane: nil, delegate: delegate, inside: outer, clock: clock, observer: observer)
  }

  /// Creates a queue that keeps the objects that follow it.
  init(
    _ policy: Policy, lane: (any QueueLane)? = nil, timer: PauseTimer? = nil,
    delegate: (any QueueDelegate)? = nil, inside outer: UseCaseQueue? = nil,
    boards: (@Sendable (_ rider: any AnyObject & Sendable) -> Void)? = nil,
    clock: any Clock<Duration> = ContinuousClock(),
    interceptors: [any UseCaseInterceptor] = [], reactions: UseCaseReactions? = nil,
    observer: (@Sendable (UseCaseEvent) -> Void)? = nil
  ) {
    self.policy = policy
    self.clock = clock
    self.timer = timer ?? (policy.pauses ? PauseTimer(clock) : nil)
    self.interceptors = interceptors
    self.observer = observer
    self.delegate = delegate
    self.outer = outer
    self.boards = boards
    self.lane = lane
    self.reactions = reactions
    hasInterceptors = !interceptors.isEmpty
    isPlain = self.timer == nil && delegate == nil && lane == nil
    machine = Lock(Machine(policy: policy, hasInterceptors: !interceptors.isEmpty))
  }

  deinit { lane?.end() }

  /// A consistent snapshot of what the queue is doing and has done. In a handler, the operation that
  /// the handler belongs to is done.
  public var activity: UseCaseActivity {
    let handled = handledHere
    return machine.withLock { $0.activity(without: handled) }
  }

  /// The operation of this queue whose handler the running code is: for this code it is over, if it
  /// has its outcome and holds a slot.
  var handledHere: (id: UseCaseOperationID, kind: Verdict.Kind)? {
    guard let id = HeldSlots.handled, let member = machine.withLock({ $0.holder(id) }),
      let verdict = member.verdict
    else { return nil }
    return (id, verdict.kind)
  }

  /// Whether an operation runs or waits. A progress indicator can show it, whatever the policy is.
  ///
  /// An operation runs until its handlers have run. In its own handlers, it doesn't count.
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
    changes.values { [weak self] in self?.machine.withLock { $0.activity() } }
  }

  /// Whether the queue admits operations but starts none. A lane is suspended, too, if all lanes
  /// are.
  public var isSuspended: Bool { change { $0.isSuspended } }

  /// Keeps operations from starting until ``resume()``.
  ///
  /// Running operations go on, and the policy still applies: an incoming operation waits, is
  /// dropped, or supersedes another operation. Operations wait forever in a queue that is never
  /// resumed: cancel them.
  public func suspend() { act(on: decide { $0.suspend() }) }

  /// Starts the waiting operations that may start, in order.
  ///
  /// - Complexity: O(*n*) in the number of operations that start.
  public func resume() { act(on: decide { $0.resume() }) }

  /// Whether the queue refuses all operations that come. A lane is closed, too, if all lanes are.
  public var isClosed: Bool { change { $0.isClosed } }

  /// Refuses all operations that come from now on: each is cancelled as
  /// ``UseCaseCancellation/closed`` before `execute` returns.
  ///
  /// Operations in the queue go on, and so do calls inside a slot, and the parts of a group that a
  /// history runs. Closing ends a program gracefully:
  ///
  /// ```swift
  /// save.queue.close()
  /// save.queue.flush()
  /// await save.queue.idle()  // the last handler has run
  /// ```
  ///
  /// A closed queue stays closed. To empty a suspended queue for good, call ``cancelAll()``, too.
  public func close() { machine.withLock { $0.close() } }

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
  /// - Parameter retries: Whether the pauses of each ``RetryInterceptor`` of this queue end, too, as
  ///   when the app is online again. By default, they go on: a server may have asked for them.
  /// - Complexity: O(*n*) in the number of operations that start.
  public func flush(retries: Bool = false) {
    if retries { self.retries.end() }
    act(on: decide { $0.flush() })
  }

  /// Cancels all operations that run or wait, for the reason ``UseCaseCancellation/requested``.
  ///
  /// An operation that has its outcome is cancelled late: handlers of the outcome that haven't begun
  /// are left out, as after ``UseCaseOperation/cancel()``.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func cancelAll() {
    let (members, release) = change { machine in
      let (members, release) = machine.cancelAll()
      if let delegate {
        for member in members where !machine.holds(member.id) {
          delegate.left(member.id, hasSucceeded: false)
        }
      }
      return (members, release)
    }
    hasChanged()
    for member in members { member.concludeEarly(.cancelled(.requested), isFromQueue: true) }
    act(on: release)
  }

  /// Waits until nothing is in the queue any more: no operation runs or waits, and all handlers have
  /// run.
  ///
  /// The operations that wait in a suspended queue are not waited for. Returns at once if there is
  /// nothing to wait for. The cancellation of the awaiting task changes nothing.
  ///
  /// Don't await `idle()` in the body of an operation on this queue: it would never return. Called by
  /// the body itself, it traps in a debug build.
  nonisolated(nonsending) public func idle() async {
    assert(
      !HeldSlots.isBodyHere || !isHeldHere,
      """
      A body awaits `idle()` of a queue whose slot it holds, so the queue is never idle. Await it in \
      other code, or in a `Task.detached`.
      """)
    await withUnsafeContinuation { idler in
      change { $0.awaitIdle(idler) }?.resume()
    }
  }

  /// Whether the current task runs inside a slot of this queue.
  ///
  /// The value is true in a body, and in the use cases that the body calls in the call form, as in
  /// `try await useCase(request)`. It is also true in a child task or a `Task { }` that this code
  /// starts, as long as the slot is held. The value is false in handlers and in detached tasks.
  ///
  /// - Complexity: O(*n*), where *n* is the depth of nested calls of use cases.
  public var isHeldHere: Bool { HeldSlots.holder(in: self) != nil }
}

// MARK: - Members

extension UseCaseQueue {
  /// Admits the member, gives it its identity, and supersedes the members that give way to it.
  func admit(_ member: any QueueMember) -> Admission {
    // The pause counts from here, before the operations that give way are cancelled.
    if !isPlain, timer != nil { wake() }
    let arrival = change { machine in
      let id = UseCaseOperationID.next()
      member.receive(id)
      let arrival = machine.admit(
        member, id: id, priority: policy.usesPriority ? member.urgency : 0, in: member.handled)
      if !isPlain, let delegate, arrival.isAdmitted {
        delegate.admitted(member)
        if arrival.admission == .start { delegate.started(id) }
      }
      return arrival
    }
    hasChanged()
    arrival.superseded.forEach { $0.concludeEarly(.cancelled(.superseded), isFromQueue: true) }
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

  /// Whether no newer member has been admitted that alone may deliver.
  func mayDeliver(_ id: UseCaseOperationID) -> Bool { machine.withLock { $0.floor <= id } }

  /// Whether `idle()` would return at once.
  var isAtRest: Bool { change { $0.isIdle } }

  /// Makes the timer follow the pauses.
  func setTimer() {
    timer?.set(self) { keepsWindow in machine.withLock { $0.nextAlarm(keepsWindow: keepsWindow) } }
  }

  /// The time of an alarm has come, or all lanes are suspended, resumed or closed.
  func wake(at time: Duration = .zero) { act(on: decide(at: time) { $0.wake() }) }

  /// The member has an early outcome, or, if it is not `isNew`, a cancellation after its outcome.
  func concludedEarly(_ id: UseCaseOperationID, as kind: Verdict.Kind, isNew: Bool) {
    guard isNew || policy.deliversOnlyNewest else { return }
    act(on: decide(about: id, as: kind) { $0.concludedEarly(id, as: kind, isNew: isNew) })
  }

  /// The member leaves the queue.
  @inline(__always)
  func leave(_ id: UseCaseOperationID, as kind: Verdict.Kind) {
    act(on: decide(about: id, as: kind) { $0.leave(id, as: kind) })
  }

  /// Returns when the rate allows a member to call `main`.
  nonisolated(nonsending) func awaitStart(of id: UseCaseOperationID) async throws {
    guard policy.countsStarts else { return }
    wake()
    let place = Atomic(0)
    let mayStart = await withTaskCancellationHandler {
      await withUnsafeContinuation { attempt in
        let (attempt, number) = change { $0.awaitStart(of: id, attempt) }
        place.store(number, ordering: .sequentiallyConsistent)
        attempt?.resume(returning: true)
        setTimer()
        if Task.isCancelled { abandonStart(number) }
      }
    } onCancel: {
      abandonStart(place.load(ordering: .sequentiallyConsistent))
    }
    if !mayStart { throw CancellationError() }
  }

  private func abandonStart(_ place: Int) {
    machine.withLock { $0.abandon(place) }?.resume(returning: false)
  }

  /// Runs `body` under the lock of the machine, which follows the lanes.
  @inline(__always)
  private func change<Result: Sendable>(_ body: (inout Machine) -> Result) -> Result {
    guard !isPlain, let lane else { return machine.withLock(body) }
    return machine.withLock { machine in
      machine.follow(isSuspended: lane.isSuspended, isClosed: lane.isClosed)
      defer { if machine.isEmpty { lane.rest(machine.activity()) } }
      return body(&machine)
    }
  }

  /// Runs one event of the machine, and tells the delegate, under the same lock, of its effects.
  @inline(__always)
  private func decide(
    about id: UseCaseOperationID? = nil, as kind: Verdict.Kind? = nil, at time: Duration = .zero,
    _ event: (inout Machine) -> Machine.Release?
  ) -> Machine.Release? {
    let now = isPlain ? nil : timer.map { max($0.now, time) }
    let release = change { machine in
      guard !isPlain, let delegate else { return machine.change(at: now, event) }
      let wasThere = id.map { machine.holds($0) } ?? false
      let release = machine.change(at: now, event)
      if let id, wasThere, !machine.holds(id) {
        delegate.left(id, hasSucceeded: kind == .success)
      }
      release?.started.forEach { delegate.started($0.id) }
      return release
    }
    hasChanged()
    return release
  }

  /// Tells of a change, outside of the lock.
  @inline(__always)
  private func hasChanged() {
    changes.poke()
    if isPlain { return }
    delegate?.unlocked()
    setTimer()
  }

  @inline(__always)
  private func act(on release: consuming Machine.Release?) {
    guard let release = consume release else { return }
    // Raised first, it has its priority when its body begins.
    if let urged = release.urged { urged.member.raise(to: urged.priority) }
    release.attempts.forEach { $0.resume(returning: true) }
    release.started.forEach { $0.grant() }
    release.idle.forEach { $0.resume() }
  }
}

// MARK: - The running code

extension UseCaseQueue {
  /// The innermost operation around the running code, of any queue.
  package static var operationHere: UseCaseOperationID? { HeldSlots.innermost?.id }

  /// Whether that operation is cancelled already, although its body runs.
  package static var isCancelledHere: Bool { HeldSlots.innermost?.verdict?.kind == .cancelled }

  /// Whether that operation has failed already, by a timeout, although its body runs.
  package static var hasFailedHere: Bool { HeldSlots.innermost?.verdict?.kind == .failure }

  /// That operation, if it holds a slot of this queue, and executes a use case of this type, itself or
  /// erased.
  package func operationHere(executing type: any Any.Type) -> UseCaseOperationID? {
    guard let innermost = HeldSlots.innermost, innermost.queue === self, innermost.isOccupied,
      innermost.useCaseType == type || innermost.description?.baseType == type
    else { return nil }
    return innermost.id
  }

  /// Whether the innermost operation is a guest in a slot of this queue, or of one inside of it.
  package var hasGuestHere: Bool {
    HeldSlots.innermost?.context?.host?.queue.isInside(self) ?? false
  }

  /// Whether a slot of this queue counts as one of the other.
  func isInside(_ other: UseCaseQueue) -> Bool {
    self === other || outer?.isInside(other) ?? false
  }

  /// Runs the body of the innermost operation, or a step of it, with the interceptors of this queue
  /// around it, all of it under the timeout. The operation may be on another queue. The interceptors
  /// are told that it executes the use case of this name.
  package func run<Request: Sendable, Response: Sendable>(
    _ request: Request, of useCase: @autoclosure @escaping @Sendable () -> String,
    purpose: UseCaseExecution.Purpose = .main, timeout: Duration,
    body: @escaping @Sendable (Request) async throws -> Response
  ) async throws -> Response {
    guard let operation = HeldSlots.innermost else {
      preconditionFailure("A body runs in an operation.")
    }
    let timer = timer(timeout, of: operation)
    defer { timer?.cancel() }
    guard let first = interceptors.first else { return try await body(request) }
    let execution = UseCaseExecution(
      id: operation.id, parent: operation.parent, purpose: purpose, name: useCase
    ) { [self] in try await retries.pause(for: $0, on: $1 ?? clock) }
    let isStart = operation.queue === self && operation.context?.host == nil
    let main = UseCaseNext { request in
      try await operation.attempt(request, isStart: isStart, body)
    }
    let next = next(interceptors.dropFirst(), main, of: execution, in: operation)
    return try await first.intercept(request, of: execution, next: next)
  }

  /// Returns the body with these interceptors around it, the first one outermost. An attempt that one
  /// around them leaves behind holds the slot with all that is in it.
  private func next<Request: Sendable, Response: Sendable>(
    _ interceptors: ArraySlice<any UseCaseInterceptor>, _ body: UseCaseNext<Request, Response>,
    of execution: UseCaseExecution, in operation: any QueueMember
  ) -> UseCaseNext<Request, Response> {
    guard let first = interceptors.first else { return body }
    let rest = next(interceptors.dropFirst(), body, of: execution, in: operation)
    return UseCaseNext { request in
      try await operation.attempt(request, isStart: false) {
        try await first.intercept($0, of: execution, next: rest)
      }
    }
  }

  /// Returns a task that gives the operation the outcome of a timeout when the time has passed, nil if
  /// there is no limit.
  private func timer(_ duration: Duration, of operation: any QueueMember) -> Task<Void, Never>? {
    guard UseCaseTimeout.limits(duration) else { return nil }
    let sleep = operation.queue.clock.sleeper(for: duration)
    // A task made inside the slot would hold the operation, as a task-local value.
    return HeldSlots.local.withValue(HeldSlots.Holder.nobody) {
      Task { [weak operation] in
        try? await sleep {
          operation?.concludeEarly(.failure(UseCaseTimeout(duration: duration)), isFromQueue: false)
        }
      }
    }
  }
}

/// The lanes that a queue is one of, as the queue sees them. The queue holds its lock when it calls
/// them, but not for `end`.
protocol QueueLane: AnyObject, Sendable {
  var isSuspended: Bool { get }
  var isClosed: Bool { get }

  /// The queue is empty now, after this activity.
  func rest(_ activity: UseCaseActivity)

  /// The queue has gone.
  func end()
}
