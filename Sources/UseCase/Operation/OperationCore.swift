import Synchronization
import UseCaseInternals

/// The part of an operation that does not depend on the types of its request and response: the
/// source of its slot, and its machine behind a lock.
///
/// The core stands inside the operation and not beside it, so an operation costs one allocation. It
/// is not generic, and `Guarded` wraps the machine, so its way through the library costs no look-up
/// of metadata.
@usableFromInline
struct OperationCore: ~Copyable, Sendable {
  typealias Machine = OperationMachine<
    UnsafeContinuation<Bool, Never>, Task<Void, any Error>, Callback, @Sendable () -> Void
  >

  struct Guarded: Sendable {
    var machine: Machine
  }

  let useCaseType: any Any.Type
  let source: SlotSource
  private let lastWait = Atomic<Int32>(0)
  private let urgencyValue = Atomic<UInt8>(0)
  private let guarded: Lock<Guarded>

  // Small values are last, which saves sixteen bytes an operation.

  /// The operation in whose body this one was executed or called, if somebody wants to know.
  let parent: UseCaseOperationID?
  let isObserved: Bool

  @usableFromInline
  init(queue: UseCaseQueue, useCaseType: any Any.Type, isCall: Bool) {
    self.init(queue: queue, useCaseType: useCaseType, isCall: isCall, run: nil)
  }

  /// Creates the core of an operation, which may be a shared `run`.
  init(queue: UseCaseQueue, useCaseType: any Any.Type, isCall: Bool, run: (any SharedRunning)?) {
    self.useCaseType = useCaseType
    isObserved = queue.observer != nil
    // On the lane of a history, it may be asked for by interceptors of other queues.
    let hasParent = isObserved || queue.hasInterceptors || queue.hasDelegate
    parent = hasParent && HeldSlots.hasHolder ? HeldSlots.holder()?.id : nil
    guarded = Lock(Guarded(machine: Machine(isObserved: isObserved)))
    source = SlotSource(queue: queue, isCall: isCall, run: run)
  }

  var queue: UseCaseQueue { source.queue }

  // The queue is retained for each answer that inlined code asks itself.

  /// Whether the queue has interceptors, which run around the body.
  @usableFromInline var hasInterceptors: Bool { queue.hasInterceptors }

  /// Whether a delegate may ask the operation for its title until the body has returned.
  @usableFromInline var hasDelegate: Bool { queue.hasDelegate }

  /// Whether the operation is a run, which its riders share.
  @usableFromInline var isRun: Bool { source.isRun }

  /// Whether nothing waits for the operation but its clients.
  @usableFromInline var isAlone: Bool { source.dependents == nil }

  @inline(__always)
  private func withMachine<Result: Sendable>(_ body: (inout Machine) -> Result) -> Result {
    guarded.withLock { body(&$0.machine) }
  }

  var state: UseCaseOperationState { withMachine { $0.state } }
  @usableFromInline var verdict: Verdict? { withMachine { $0.verdict } }
  var isOccupied: Bool { withMachine { $0.isOccupied } }

  // MARK: - Slot and body

  /// Asks for a slot for `member`, with the priority of the running task if the urgency is 0. The
  /// observer hears of the decision before this returns.
  func submit(_ member: any QueueMember, urgency: UInt8) -> Admission {
    // A call may be raised already.
    urgencyValue.max(
      urgency == 0 ? Task.currentPriority.rawValue : urgency, ordering: .sequentiallyConsistent)
    let admission = source.admit(member)
    // The machine assumes a start, so an unobserved one changes nothing.
    if isObserved || admission != .start {
      change(isTelling: true) { $0.admit(as: admission) }
    }
    return admission
  }

  func grant() { withMachine { $0.grant() }?.resume(returning: true) }

  /// Keeps the task of the body, to be cancelled by an early outcome.
  @usableFromInline
  func keep(_ job: consuming Task<Void, any Error>) {
    var job = Optional(job)
    switch withMachine({ $0.keep(&job) }) {
    case .nothing: break
    case .cancel: job?.cancel()
    case .escalate: escalateJob()
    }
  }

  /// The raw value of the priority.
  var urgency: UInt8 { urgencyValue.load(ordering: .sequentiallyConsistent) }

  /// Raises the priority, if it is lower: that of the task, that in the line of the queue, and that of
  /// the run that the operation rides.
  func raise(to urgency: UInt8) {
    let (old, _) = urgencyValue.max(urgency, ordering: .sequentiallyConsistent)
    guard old < urgency else { return }
    escalateJob()
    source.raise(to: urgency)
  }

  /// The running task awaits the operation, which is as urgent from now on.
  @usableFromInline
  func raiseToCurrent() {
    let current = Task.currentPriority.rawValue
    if current > urgency { raise(to: current) }
  }

  private func escalateJob() {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *),
      let job = withMachine({ $0.jobToEscalate() })
    else { return }
    job.escalatePriority(to: TaskPriority(rawValue: urgency))
  }

  /// The body begins, unless there is an outcome already.
  @usableFromInline func start() -> DeliveryCall? { withMachine { $0.start() } }

  /// Starts an operation that waits, as soon as there is a slot, or an outcome without one.
  @usableFromInline
  nonisolated(nonsending) func startInTurn() async -> DeliveryCall? {
    while !change({ $0.stopWaiting() }) {
      _ = await withUnsafeContinuation { waiter in
        withMachine { $0.park(waiter) }?.resume(returning: true)
      }
    }
    return start()
  }

  func enter() -> Bool { withMachine { $0.enter() } }

  /// A guest has returned, or the own body will never begin. Returns the slot if it is free.
  func exit() -> Verdict.Kind? { withMachine { $0.exit() } }

  /// Gives the slot back if it is free, and then releases the rest. Returns what the caller does.
  @usableFromInline
  func giveBack(_ freed: Verdict.Kind?, releasing rest: () -> Void = {}) -> DeliveryCall {
    guard let freed else { return .nothing }
    let isListed = source.giveBack(as: freed)
    rest()
    let (waiters, next, unlisted) = withMachine { $0.wasGivenBack(isListed: isListed) }
    // First: a waiter may execute the next operation, which needs the room.
    if unlisted > 0 { source.unlist(unlisted) }
    waiters.forEach { $0.waiter.resume(returning: true) }
    return next
  }

  // MARK: - Verdict

  /// The body has returned. Returns whether there was no verdict before, and the slot if it is
  /// free.
  @usableFromInline
  func succeed() -> (isNew: Bool, freed: Verdict.Kind?) {
    let concluded = change { $0.conclude(.success) }
    return (concluded.isNew, concluded.freed)
  }

  /// The body has thrown. Returns the slot if it is free.
  @usableFromInline
  func fail(_ error: any Error) -> Verdict.Kind? {
    if error is CancellationError { return change { $0.conclude($0.thrownCancellation) }.freed }
    let reports = UseCaseQueue.tellsFailures
    return change { $0.conclude(.failure(error), tellsFailure: reports) }.freed
  }

  /// Gives the operation an early outcome, before its body has returned.
  ///
  /// - Parameters:
  ///   - verdict: The verdict of this outcome.
  ///   - isFromQueue: Whether the queue cancels the operation, and so knows of the outcome already.
  /// - Returns: Whether the caller is to deliver.
  func concludeEarly(_ verdict: Verdict, isFromQueue: Bool = false) -> Bool {
    let tellsFailure = verdict.kind == .failure && UseCaseQueue.tellsFailures
    let (outcome, event) = withMachine { machine in
      let outcome = machine.concludeEarly(verdict, tellsFailure: tellsFailure)
      return (outcome, machine.beginTelling())
    }
    guard outcome.isNew else {
      unlistIfDelivered()
      return false
    }
    // The queue hears of it first, so an observer that is told here finds that it has left.
    if !isFromQueue, source.concludedEarly(as: verdict.kind) { listed() }
    if let event { tell(event) }
    if outcome.isJobCancelled { outcome.job?.cancel() }
    outcome.waiters.forEach { $0.waiter.resume(returning: true) }
    outcome.parked?.resume(returning: true)
    return outcome.delivers
  }

  // MARK: - Value and end

  @usableFromInline var isDeadlock: Bool { source.isDeadlock(isWaiting: state == .waiting) }

  @usableFromInline
  func nextWait() -> ValueWait { ValueWait(key: lastWait.add(1, ordering: .relaxed).newValue) }

  /// Resumes the waiter with true once there is an outcome and, unless that came early, the slot is
  /// given back; with false if the awaiting task is cancelled first.
  @usableFromInline
  func awaitValue(_ waiter: UnsafeContinuation<Bool, Never>, _ wait: borrowing ValueWait) {
    if let waiter = withMachine({ $0.awaitValue(waiter, key: wait.key) }) {
      waiter.resume(returning: true)
    } else if wait.isAbandoned {
      abandon(wait.key)
    }
  }

  /// The task that awaits the value is cancelled.
  @usableFromInline
  func abandon(_ wait: borrowing ValueWait) {
    wait.abandon()
    abandon(wait.key)
  }

  private func abandon(_ key: Int32) {
    withMachine { $0.abandon(key) }?.resume(returning: false)
  }

  @usableFromInline
  nonisolated(nonsending) func ended() async {
    await withUnsafeContinuation { waiter in listen(handles: true) { waiter.resume() } }
  }

  /// Calls the listener when the operation has ended. `handles` says whether a failure is handled
  /// with that.
  func listen(handles: Bool, _ listener: @escaping @Sendable () -> Void) {
    withMachine { $0.listen(listener, handles: handles) }?()
  }

  // MARK: - Delivery

  /// Attaches a handler to `member`. Returns whether the caller is to deliver.
  func attach(
    to member: any QueueMember, _ attach: (inout Machine, _ isListed: Bool) -> DeliveryCall
  ) -> Bool {
    var next = withMachine { attach(&$0, !source.isToBeFound) }
    if next == .list {
      // Listed first, so that an operation that is executed after this call finds the handler.
      source.list(member)
      let ride = source.dependents?.ride
      next = withMachine { machine in
        if ride == nil { machine.noteListing() }
        return attach(&machine, true)
      }
      if let ride { release(from: ride) }
      unlistIfDelivered()
    }
    return next == .deliver
  }

  /// The queue has listed the operation until its handlers have begun.
  private func listed() {
    withMachine { $0.noteListing() }
    unlistIfDelivered()
  }

  /// Lets the ride keep the operation no longer when it has ended.
  func release(from ride: any SharedRunning) {
    listen(handles: false) { [id = source.id] in ride.release(id) }
  }

  /// A rider shares the outcome of `member`.
  func riderComes(to member: any QueueMember) {
    guard withMachine({ $0.riderComes() }), queue.policy.deliversOnlyNewest else { return }
    source.list(member)
    listed()
  }

  /// A rider that shares the outcome has ended.
  func riderHasEnded() {
    withMachine { $0.riderHasEnded() }
    unlistIfDelivered()
  }

  /// The queue unlists the operation if none of its handlers is left.
  private func unlistIfDelivered() {
    guard queue.policy.deliversOnlyNewest else { return }
    let unlisted = withMachine { $0.takeListings() }
    if unlisted > 0 { source.unlist(unlisted) }
  }

  func failureIsHandled() { withMachine { $0.failureIsHandled() } }

  /// A task is about to await the value of this call.
  @usableFromInline
  func callIsAwaited() { if UseCaseQueue.tellsFailures { failureIsHandled() } }

  func noteCancellation(ofCall reason: UseCaseCancellation) {
    withMachine { $0.noteCancellation(ofCall: reason) }
  }

  /// The verdict, once, if it is a failure that nobody has handled.
  var unhandledVerdict: Verdict? { withMachine { $0.takeUnhandled() } }

  func report(_ update: Callback) -> Bool { withMachine { $0.report(update) } }

  func next() -> DeliveryStep<Callback, @Sendable () -> Void> {
    defer { unlistIfDelivered() }
    return change { $0.next() }
  }

  /// A handler is about to begin on its isolation. Returns the verdict that it is given, nil if it
  /// may not begin.
  func begin(_ handler: Handler<Callback>) -> Verdict? {
    let verdict = withMachine { $0.begin(handler) }
    unlistIfDelivered()
    return verdict
  }

  var mayReceive: Bool { withMachine { $0.mayReceive } }

  /// Runs `body` under the lock of the machine. It reads or takes the use case.
  @usableFromInline
  func underLock(_ body: () -> Void) { withMachine { _ in body() } }

  // MARK: - Events

  /// Changes the machine, and tells the observer of it. At its admission, the operation `isTelling`
  /// already: the observer hears of the decision first of all.
  @inline(__always)
  private func change<Result: Sendable>(
    isTelling: Bool = false, _ body: (inout Machine) -> Result
  ) -> Result {
    guard isObserved else { return withMachine { body(&$0) } }
    let (result, event) = withMachine { machine in
      let result = body(&machine)
      return (result, isTelling ? machine.goOnTelling() : machine.beginTelling())
    }
    if let event { tell(event) }
    return result
  }

  /// Tells the observer, and goes on until there is nothing left to tell.
  private func tell(_ first: EventLine.Event) {
    var next = Optional(first)
    while let event = next {
      let verdict = verdict
      let error: (any Error)? =
        if event == .outcome, case .failure(let error)? = verdict { error } else { nil }
      queue.observer?(
        UseCaseEvent(
          id: source.id, type: useCaseType, kind: event.kind(for: verdict),
          parent: parent, error: error))
      next = withMachine { $0.goOnTelling() }
    }
  }
}

/// The wait of one task for the value of an operation.
@usableFromInline
struct ValueWait: ~Copyable, Sendable {
  let key: Int32
  private let abandoned = Atomic(false)

  init(key: Int32) {
    self.key = key
  }

  /// Whether the awaiting task was cancelled, perhaps when there was no waiter to abandon. To ask
  /// the task costs more than this flag.
  @usableFromInline var isAbandoned: Bool { abandoned.load(ordering: .sequentiallyConsistent) }

  /// The awaiting task is cancelled.
  func abandon() { abandoned.store(true, ordering: .sequentiallyConsistent) }
}
