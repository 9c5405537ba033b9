public import Synchronization
import UseCaseInternals

/// What every operation has, whatever the types of its request and response: its place in a
/// queue, its machine, its waiters.
///
/// It stands inside the operation, not beside it, and knows nothing of generic types: the long
/// way of an operation costs one allocation and no generic metadata.
@usableFromInline
struct OperationCore: ~Copyable, Sendable {
  typealias Machine = OperationMachine<
    UnsafeContinuation<Bool, Never>, Task<Void, any Error>, OperationUpdate, OperationMark
  >
  @usableFromInline typealias Branch = OperationBranch
  @usableFromInline typealias Delivery = OperationDelivery<OperationUpdate, OperationMark>

  @usableFromInline let queue: UseCaseQueue
  @usableFromInline let useCase: any Any.Type

  /// The way to the operation that awaits this one in the call form.
  @usableFromInline let link: Caller?

  /// These two are written once, before anybody else sees the operation.
  private let number = Atomic<UInt64>(0)
  private let seat = Atomic<Int32>(-1)

  /// Whether the body runs in the slot of a caller. Else the operation has a slot of its own.
  let isGuest: Bool

  private let isObserved: Bool

  /// Whether the use case is asked what to tell the keeper of the queue.
  @usableFromInline var isAsked: Bool { queue.keeper != nil && !isGuest }

  /// A struct that is not generic: when an operation goes, a generic machine would be taken apart
  /// by way of its metadata.
  struct Guarded: Sendable {
    var machine: Machine
  }

  let guarded: Lock<Guarded>

  @usableFromInline
  init(queue: UseCaseQueue, useCase: any Any.Type, isCall: Bool) {
    self.useCase = useCase
    link = isCall ? Slot.holder().map(Caller.init) : nil
    isGuest = isCall && Slot.join(queue)
    isObserved = queue.isObserved
    guarded = Lock(Guarded(machine: Machine(isObserved: isObserved)))
    self.queue = queue
  }

  /// The nearest of its callers that holds a slot.
  var caller: (any AnyOperation)? { link?.holder }

  var id: UseCaseOperationID { UseCaseOperationID(number: number.load(ordering: .relaxed)) }

  var ticket: UseCaseQueue.Machine.Ticket {
    get { .init(seat: Int(seat.load(ordering: .relaxed)), id: number.load(ordering: .relaxed)) }
    nonmutating set {
      seat.store(Int32(newValue.seat), ordering: .relaxed)
      number.store(newValue.id, ordering: .relaxed)
    }
  }

  @inline(__always)
  private func withMachine<Result: Sendable>(_ body: (inout Machine) -> Result) -> Result {
    guarded.withLock { body(&$0.machine) }
  }

  var state: UseCaseOperationState { withMachine { $0.state } }
  @usableFromInline var verdict: Verdict? { withMachine { $0.verdict } }
  var holdsSlot: Bool { withMachine { $0.holdsSlot } }
}

// MARK: - Slot and body

extension OperationCore {
  /// Asks for a slot for `operation`, unless the body runs in that of a caller. Returns what the
  /// caller does about a task.
  @usableFromInline
  func submit(
    _ operation: any AnyOperation, _ question: (any Sendable)?
  ) -> UseCaseQueue.Admission {
    guard !isGuest else {
      ticket.id = UseCaseQueue.nextID()
      if isObserved { grant(isAdmission: true) }
      return .run
    }
    if queue.policy.debounce != nil { return sleepFirst(operation, question) }
    switch queue.admit(operation, self, question) {
    case .start:
      // Only an observer wants to know.
      if isObserved { grant(isAdmission: true) }
      return .run
    case .wait:
      wait()
      return .wait
    case .refuse:
      refuse()
      return .refuse
    }
  }

  /// The debounce is counted from before those give way, and who hears of it, that have to.
  @inline(never)
  private func sleepFirst(
    _ operation: any AnyOperation, _ question: (any Sendable)?
  ) -> UseCaseQueue.Admission {
    let sleep = queue.sleep()
    if case .wait = queue.admit(operation, self, question) { wait() }
    return .debounce(sleep)
  }

  /// The queue lets the operation wait.
  func wait() { change(goesOn: true) { $0.wait() } }

  func refuse() { change(goesOn: true) { $0.refuse() } }

  func grant(isAdmission: Bool = false) {
    change(goesOn: isAdmission) { $0.grant() }?.resume(returning: true)
  }

  @usableFromInline
  func spawn(_ job: consuming Task<Void, any Error>) {
    withMachine { $0.spawn(job) }?.cancel()
  }

  @usableFromInline
  func start() -> Bool { withMachine { $0.start() } }

  /// Returns when the debounce is over.
  @usableFromInline
  func pass(_ debounce: @Sendable () async -> Void) async {
    await debounce()
    queue.ready(ticket)
  }

  @usableFromInline var mustPark: Bool { withMachine { $0.mustPark } }

  /// Returns when there is a slot, or an end without one.
  @usableFromInline
  func park() async {
    _ = await withUnsafeContinuation { waiter in
      withMachine { $0.park(waiter) }?.resume(returning: true)
    }
  }

  func join() -> Bool { withMachine { $0.join() } }

  /// No body is to run, or one in the slot has returned. Returns what `giveBack` is to have.
  @usableFromInline
  func leave() -> Verdict.Kind? { withMachine { $0.leave() } }

  /// Gives the slot back if it is free.
  @usableFromInline
  func giveBack(_ kind: Verdict.Kind?) -> OperationReturn {
    guard let kind else { return .leave }
    if let host = isGuest ? Slot.holder(in: queue, from: caller) : nil {
      host.withCore { $0.leaveAsGuest(of: host) }
    } else {
      queue.finish(ticket, as: kind)
    }
    let (waiters, next) = withMachine { $0.giveBack() }
    waiters.forEach { $0.resume(returning: true) }
    return next
  }

  /// A body that was called in the slot of `host` has returned.
  private func leaveAsGuest(of host: any AnyOperation) {
    if giveBack(leave()) != .leave { Task { await host.deliver() } }
  }
}

// MARK: - Verdict

extension OperationCore {
  /// The body has returned. Returns whether there was no verdict before, and what `giveBack` is to
  /// have once the caller has let go of the response.
  @usableFromInline
  func succeed() -> (isNew: Bool, freed: Verdict.Kind?) {
    let settlement = change { $0.settle(.success) }
    return (settlement.isNew, settlement.freed)
  }

  /// The body has thrown. Returns what `giveBack` is to have.
  @usableFromInline
  func fail(_ error: any Error) -> Verdict.Kind? {
    let verdict: Verdict = error is CancellationError ? .cancelled(.thrown) : .failure(error)
    return change { $0.settle(verdict) }.freed
  }

  /// Ends the operation before its time.
  ///
  /// - Parameters:
  ///   - verdict: Why.
  ///   - isFromQueue: Whether it is the queue that ends it, and knows of it already.
  func end(_ verdict: Verdict, isFromQueue: Bool = false) {
    // It is told from here, and later: whoever hears of it finds that it has left the queue.
    let (ending, event) = withMachine { machine in
      let ending = machine.end(verdict, sleeps: queue.policy.debounce != nil)
      return (ending, machine.tell(goesOn: false).event)
    }
    guard ending.isNew else { return }
    if !isGuest, !isFromQueue { queue.cancel(ticket) }
    if let event { tell(event) }
    if ending.isJobCancelled { ending.job?.cancel() }
    ending.waiters.forEach { $0.resume(returning: true) }
    ending.parked?.resume(returning: true)
  }

  /// Whether to wait for the value here can never end.
  @usableFromInline var isDeadlock: Bool {
    queue.isSerial && state == .waiting && queue.isHeldHere
  }

  /// Resumes the waiter with true once there is an outcome and, unless it came before its time, the
  /// slot is free; with false if `abandon` comes first.
  ///
  /// At `place` is the key of the waiter, 0 before there is one, and -1 once it is to leave.
  @usableFromInline
  func hold(_ waiter: UnsafeContinuation<Bool, Never>, at place: borrowing Atomic<Int32>) {
    guard let key = withMachine({ $0.hold(waiter) }) else {
      return waiter.resume(returning: true)
    }
    if place.exchange(key, ordering: .sequentiallyConsistent) < 0 { abandon(key) }
  }

  /// The task that waits at `place` is cancelled, and in the call form the operation with it.
  @usableFromInline
  func abandon(_ place: borrowing Atomic<Int32>, isCall: Bool) {
    if isCall { end(.cancelled(.requested)) }
    let key = place.exchange(-1, ordering: .sequentiallyConsistent)
    if key > 0 { abandon(key) }
  }

  private func abandon(_ key: Int32) {
    withMachine { $0.abandon(key) }?.resume(returning: false)
  }
}

// MARK: - Delivery

extension OperationCore {
  @usableFromInline
  func attach(_ branch: Branch, store: () -> Void) -> Bool {
    withMachine { machine in
      store()
      return machine.attach(branch)
    }
  }

  func report(_ update: OperationUpdate) -> Bool { withMachine { $0.report(update) } }

  @usableFromInline
  func begin(_ branch: Branch) -> Bool { withMachine { $0.begin(branch) } }

  @usableFromInline
  func next(take: (Verdict.Kind, _ isLast: Bool) -> OperationHandler) -> Delivery {
    change { $0.next(take: take) }
  }

  /// The last handler has run. Returns whether that was all.
  @usableFromInline
  func finish() -> Bool { withMachine { $0.finish() } }

  /// The verdict of this kind that a handler is given.
  @usableFromInline
  func verdict(of kind: Verdict.Kind) -> Verdict? { withMachine { $0.verdict(of: kind) } }

  /// Forgets the handlers that were passed over. `forget` returns how many are left.
  @usableFromInline
  func tidy(_ forget: () -> Int) { withMachine { $0.forgot(left: forget()) } }

  func mark(_ mark: OperationMark) {
    withMachine { $0.mark(mark) }?.tell(id)
  }

  @usableFromInline
  func ended() async {
    await withUnsafeContinuation { mark(.task($0)) }
  }

  /// Changes the machine, and tells the observer what has changed.
  @inline(__always)
  private func change<Result: Sendable>(
    goesOn: Bool = false, _ body: (inout Machine) -> Result
  ) -> Result {
    guard isObserved else { return withMachine { body(&$0) } }
    let (result, event) = withMachine { machine in
      let result = body(&machine)
      return (result, machine.tell(goesOn: goesOn).event)
    }
    if let event { tell(event) }
    return result
  }

  /// Tells the observer, and goes on until there is nothing left to tell.
  private func tell(_ first: UseCaseEvent.Kind) {
    var event = Optional(first)
    while let kind = event {
      queue.observer?(UseCaseEvent(id: id, type: useCase, kind: kind))
      let next = withMachine { $0.tell(goesOn: true) }
      next.ready?.resume(returning: true)
      event = next.event
    }
  }
}
