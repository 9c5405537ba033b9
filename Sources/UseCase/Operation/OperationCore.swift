import Synchronization
import UseCaseInternals

/// The part of an operation that does not depend on the types of its request and response: its
/// place in a queue, and its machine behind a lock.
///
/// It stands inside the operation and not beside it, and is not generic: so an operation costs one
/// allocation, and its long way through the library no generic metadata. The runtime looks up the
/// metadata of a generic type wherever a value of it is copied, moved or destroyed by code that is
/// not specialized. For the same reason `Guarded` wraps the machine, the functions marked
/// `@inlinable` are compiled into the client, where the types are known, and some that are called
/// rarely are marked `@inline(never)`, so that what they need takes no room in the frame of a task.
@usableFromInline
struct OperationCore: ~Copyable, Sendable {
  typealias Machine = OperationMachine<
    UnsafeContinuation<Bool, Never>, Task<Void, any Error>, OperationUpdate, EndListener
  >

  struct Guarded: Sendable {
    var machine: Machine
  }

  @usableFromInline let queue: UseCaseQueue
  @usableFromInline let useCaseType: any Any.Type

  /// The way to the operation that awaits this one in the call form.
  @usableFromInline let caller: CallerLink?

  // The ticket is written once, before any other thread sees the operation.
  private let number = Atomic<UInt64>(0)
  private let seat = Atomic<Int32>(0)
  private let lastWait = Atomic<Int32>(0)

  private let guarded: Lock<Guarded>

  // Small values are last, which saves sixteen bytes an operation.

  /// The operation in whose body this one was executed or called, if somebody wants to know.
  let parent: UseCaseOperationID?

  /// Whether the body runs in the slot of a caller.
  let isGuest: Bool
  @usableFromInline let isObserved: Bool

  @usableFromInline
  init(queue: UseCaseQueue, useCaseType: any Any.Type, isCall: Bool) {
    let caller = isCall ? Slot.holder().map { CallerLink($0) } : nil
    self.init(queue: queue, useCaseType: useCaseType, isCall: isCall, caller: caller)
  }

  init(queue: UseCaseQueue, useCaseType: any Any.Type, isCall: Bool, caller: CallerLink?) {
    self.useCaseType = useCaseType
    self.caller = caller
    isGuest = isCall && Slot.enter(ObjectIdentifier(queue))
    isObserved = queue.isObserved
    parent = isObserved || !queue.isPlain ? Slot.holder()?.ticket.id : nil
    guarded = Lock(Guarded(machine: Machine(isObserved: isObserved)))
    self.queue = queue
  }

  var ticket: QueueTicket {
    get {
      let id = UseCaseOperationID(number: number.load(ordering: .relaxed))
      return QueueTicket(seat: seat.load(ordering: .relaxed), id: id)
    }
    nonmutating set {
      seat.store(newValue.seat, ordering: .relaxed)
      number.store(newValue.id.number, ordering: .relaxed)
    }
  }

  @inline(__always)
  private func withMachine<Result: Sendable>(_ body: (inout Machine) -> Result) -> Result {
    guarded.withLock { body(&$0.machine) }
  }

  var state: UseCaseOperationState { withMachine { $0.state } }
  @usableFromInline var verdict: Verdict? { withMachine { $0.verdict } }
  var isOccupied: Bool { withMachine { $0.isOccupied } }
}

// MARK: - Slot and body

extension OperationCore {
  /// Asks the queue for a slot for `member`, unless the body is a guest in the slot of a caller.
  @usableFromInline
  func submit(_ member: any QueueMember) -> TaskPlan {
    if isGuest { return enterAsGuest() }
    if queue.policy.pause == nil { return plan(for: queue.admit(member)) }
    let (entry, sleep) = queue.admitWithPause(member)
    let plan = plan(for: entry)
    return sleep.map(TaskPlan.sleep) ?? plan
  }

  private func enterAsGuest() -> TaskPlan {
    ticket = QueueTicket(seat: 0, id: .next())
    return plan(for: .start)
  }

  /// The queue has decided. The observer hears of it before this returns.
  @inline(__always)
  private func plan(for entry: UseCaseQueue.Policy.Decision.Entry) -> TaskPlan {
    switch entry {
    case .start:
      if isObserved { tellFirst { $0.announceRunning() } }
      return .run
    case .wait:
      tellFirst { $0.wait() }
      return .wait
    case .drop:
      tellFirst { $0.drop() }
      return .nothing
    }
  }

  func grant() { withMachine { $0.grant() }?.resume(returning: true) }

  @usableFromInline
  func spawn(_ job: consuming Task<Void, any Error>) {
    withMachine { $0.spawn(job) }?.cancel()
  }

  /// Returns when there is a slot, or an outcome without one.
  @inlinable
  nonisolated(nonsending) func awaitSlot() async {
    if mustPark { await park() }
    if isObserved { announceRunning() }
  }

  @usableFromInline var mustPark: Bool { withMachine { $0.mustPark } }

  @usableFromInline
  nonisolated(nonsending) func park() async {
    _ = await withUnsafeContinuation { waiter in
      withMachine { $0.park(waiter) }?.resume(returning: true)
    }
  }

  @usableFromInline
  func announceRunning() { change { $0.announceRunning() } }

  @usableFromInline
  func start() -> BodyStart { withMachine { $0.start() } }

  func admitGuest() -> Bool { withMachine { $0.admitGuest() } }

  /// A guest has returned, or the own body will never begin. Returns the slot if it is free.
  @usableFromInline
  func leave() -> FreeSlot? { withMachine { $0.leave() } }

  /// Gives the slot, if it is free, back to the queue, or to the caller whose slot it is.
  @usableFromInline
  func giveBack(_ slot: FreeSlot?) -> AfterBody {
    guard let slot else { return .nothing }
    if isGuest {
      guard let host = Slot.holder(in: ObjectIdentifier(queue), from: caller?.holder) else {
        preconditionFailure("The slot of a host is occupied until its guests have returned.")
      }
      host.releaseGuest()
    } else {
      queue.giveBack(ticket, as: slot.kind)
    }
    let (waiters, next) = withMachine { $0.giveBack() }
    waiters.forEach { $0.resume(returning: true) }
    return next
  }
}

/// The task that an operation needs after its admission.
@usableFromInline
enum TaskPlan {
  /// A task that runs the body.
  case run
  /// A task that waits for the slot, and then runs the body.
  case wait
  /// A task that sleeps until the pause is over, waits for the slot, and then runs the body.
  case sleep(@Sendable () async -> Void)
  /// None: the operation was dropped.
  case nothing
}

// MARK: - Verdict

extension OperationCore {
  /// The body has returned. Returns whether there was no verdict before, and the slot if it is
  /// free.
  @usableFromInline
  func succeed() -> (isNew: Bool, freed: FreeSlot?) {
    let settled = change { $0.settle(.success) }
    return (settled.isNew, settled.freed)
  }

  /// The body has thrown. Returns the slot if it is free.
  @usableFromInline
  func fail(_ error: any Error) -> FreeSlot? {
    if error is CancellationError { return change { $0.settle($0.thrownCancellation) }.freed }
    let reports = UseCaseQueue.tellsFailures
    return change { $0.settle(.failure(error), tellsFailure: reports) }.freed
  }

  /// Gives the operation an early outcome, before its body has returned.
  ///
  /// - Parameters:
  ///   - verdict: The verdict of this outcome.
  ///   - isFromQueue: Whether the queue cancels the operation, and so knows of the outcome already.
  func endEarly(_ verdict: Verdict, isFromQueue: Bool = false) {
    let tellsFailure = verdict.kind == .failure && UseCaseQueue.tellsFailures
    // It is told after the queue: whoever hears of it finds that it has left.
    let (end, event) = withMachine { machine in
      let end = machine.endEarly(
        verdict, sleeps: queue.policy.pause != nil, tellsFailure: tellsFailure)
      return (end, machine.beginTelling())
    }
    guard let end else { return }
    if !isGuest, !isFromQueue { queue.cancel(ticket) }
    if let event { tell(event) }
    if end.isJobCancelled { end.job?.cancel() }
    end.waiters.forEach { $0.resume(returning: true) }
    end.parked?.resume(returning: true)
  }
}

// MARK: - Value and end

extension OperationCore {
  /// Whether to await the value here can never end.
  var isDeadlock: Bool {
    queue.policy.isSerial
      ? state == .waiting && queue.isHeldHere : queue.keeper?.waitsForCodeHere(ticket.id) ?? false
  }

  /// Whether to await the value here can never end. Then a call fails.
  @usableFromInline
  func endIfDeadlock(isCall: Bool) -> Bool {
    // Most queues are neither, and pay for no more than this.
    guard queue.policy.isSerial || queue.keeper != nil, isDeadlock else { return false }
    if isCall { endEarly(.failure(UseCaseDeadlock())) }
    return true
  }

  /// Waits for the outcome, and for the slot to be free unless the outcome came early.
  nonisolated(nonsending) func settled() async {
    let wait = nextWait()
    _ = await withUnsafeContinuation { self.await($0, wait) }
  }

  @usableFromInline
  func nextWait() -> ValueWait {
    ValueWait(key: lastWait.add(1, ordering: .relaxed).newValue)
  }

  /// Resumes the waiter with true once there is an outcome and, unless that came before the body
  /// has returned, the slot is free; with false if the awaiting task is cancelled first.
  @usableFromInline
  func await(_ waiter: UnsafeContinuation<Bool, Never>, _ wait: borrowing ValueWait) {
    if let waiter = withMachine({ $0.await(waiter, key: wait.key) }) {
      waiter.resume(returning: true)
    } else if wait.isAbandoned.load(ordering: .sequentiallyConsistent) {
      // The cancellation came before there was a waiter to abandon.
      abandon(wait.key)
    }
  }

  /// The task that awaits the value is cancelled, and in the call form the operation with it.
  @usableFromInline
  func abandon(_ wait: borrowing ValueWait, isCall: Bool) {
    if isCall { endEarly(.cancelled(.requested)) }
    wait.isAbandoned.store(true, ordering: .sequentiallyConsistent)
    abandon(wait.key)
  }

  private func abandon(_ key: Int32) {
    withMachine { $0.abandon(key) }?.resume(returning: false)
  }

  @usableFromInline
  nonisolated(nonsending) func ended() async {
    await withUnsafeContinuation { listen(.task($0), handles: true) }
  }

  func listen(_ listener: EndListener, handles: Bool) {
    withMachine { $0.listen(listener, handles: handles) }?.tell(ticket.id)
  }
}

/// The wait of one task for the value.
@usableFromInline
struct ValueWait: ~Copyable, Sendable {
  fileprivate let key: Int32
  fileprivate let isAbandoned = Atomic(false)
}

// MARK: - Delivery

extension OperationCore {
  @usableFromInline
  func attach(_ branch: HandlerBranch, store: () -> Void) -> Bool {
    withMachine { machine in
      store()
      return machine.attach(branch)
    }
  }

  func attachStart(_ handler: OperationUpdate) -> Machine.StartHandler {
    withMachine { $0.attachStart(handler) }
  }

  @usableFromInline
  func failureIsHandled() { withMachine { $0.failureIsHandled() } }

  /// A task is about to await the value of this call.
  @usableFromInline
  func callIsAwaited() { if UseCaseQueue.tellsFailures { failureIsHandled() } }

  /// Tells the operation that calls this one here why this one was cancelled: if its body ends with
  /// `CancellationError`, it is cancelled for the reason of the last call that was.
  @usableFromInline @inline(never)
  func noteInCaller(_ reason: UseCaseCancellation) {
    Slot.innermost?.noteCancellation(ofCall: reason)
  }

  /// The verdict, once, if it is a failure that nobody has handled.
  var unhandledVerdict: Verdict? { withMachine { $0.takeUnhandled() } }

  func noteCancellation(ofCall reason: UseCaseCancellation) {
    withMachine { $0.noteCancellation(ofCall: reason) }
  }

  func report(_ update: OperationUpdate) -> Bool { withMachine { $0.report(update) } }

  @usableFromInline
  func next(take: (Verdict.Kind, _ isLast: Bool) -> TakenHandler) -> Delivery {
    change { $0.next(take: take) }
  }

  /// The last handler has run. Returns whether that was all.
  @usableFromInline
  func endAfterLast() -> Bool { withMachine { $0.endAfterLast() } }

  @usableFromInline typealias Delivery = DeliveryStep<OperationUpdate, EndListener>

  @usableFromInline
  func begin(_ branch: HandlerBranch) -> Bool { withMachine { $0.begin(branch) } }

  var mayReceive: Bool { withMachine { $0.mayReceive } }

  @usableFromInline
  func verdict(of kind: Verdict.Kind) -> Verdict? { withMachine { $0.verdict(of: kind) } }

  /// Runs `body`, which changes the list of handlers, under the lock of the machine.
  @usableFromInline
  func withHandlers(_ body: () -> Void) { withMachine { _ in body() } }
}

// MARK: - Events

extension OperationCore {
  /// Changes the machine, and tells the observer of it.
  @inline(__always)
  private func change<Result: Sendable>(_ body: (inout Machine) -> Result) -> Result {
    guard isObserved else { return withMachine { body(&$0) } }
    let (result, event) = withMachine { machine in
      let result = body(&machine)
      return (result, machine.beginTelling())
    }
    if let event { tell(event) }
    return result
  }

  /// Changes the machine as the queue has decided, and tells the observer of it first of all.
  private func tellFirst(_ body: (inout Machine) -> Void) {
    guard isObserved else { return withMachine { body(&$0) } }
    let event = withMachine { machine in
      body(&machine)
      return machine.goOnTelling()
    }
    if let event { tell(event) }
  }

  private func error(of kind: UseCaseEvent.Kind) -> (any Error)? {
    switch kind {
    case .failed:
      if case .failure(let error)? = verdict { error } else { nil }
    case .waiting, .running, .succeeded, .cancelled, .ended: nil
    }
  }

  /// Tells the observer, and goes on until there is nothing left to tell.
  private func tell(_ first: UseCaseEvent.Kind) {
    var event = Optional(first)
    while let kind = event {
      queue.observer?(
        UseCaseEvent(
          id: ticket.id, type: useCaseType, kind: kind, parent: parent, error: error(of: kind)))
      event = withMachine { $0.goOnTelling() }
    }
  }
}
