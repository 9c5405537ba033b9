import UseCaseInternals

/// The life of one operation: its slot, its verdict, and the delivery of what it has to tell.
///
/// It has a verdict, which is concluded once, and three parts: ``SlotLife``, ``Delivery`` and
/// ``EventLine``. The delivery of the handlers begins when the queue has the slot back, or at once
/// after an early outcome.
///
/// The machine decides, and its owner acts once the lock is released. `Waiter` is a suspended task,
/// `Job` the task of the body, `Callback` a handler or an update on its way, and `Listener` waits
/// for the end.
struct OperationMachine<
  Waiter: Sendable, Job: Sendable, Callback: Sendable, Listener: Sendable
>: Sendable {
  /// The consequences of an early outcome.
  struct EarlyOutcome: Sendable {
    /// Whether there was no verdict before.
    var isNew = false
    /// Resume these, which await the value.
    var waiters = Few<ValueWaiter>.none
    /// Resume this one, which waits to start.
    var parked: Waiter?
    /// Let this go, and cancel it first if `isJobCancelled`.
    var job: Job?
    var isJobCancelled = false
    /// Let these go: handlers of a start that never comes.
    var startHandlers: [Callback] = []
    /// Deliver: there are handlers for the outcome.
    var delivers = false
  }

  /// A task that awaits the value. The key of a later one is higher.
  typealias ValueWaiter = (key: Int32, waiter: Waiter)

  /// The fate of the task of the body, once it exists.
  enum Keeping {
    case nothing, cancel, escalate
  }

  private enum Conclusion {
    /// There is no verdict yet. The job is nil until the task exists. Next is any of the others.
    case open(job: Job?)
    /// The body has returned or thrown, or the queue has dropped the operation. Final.
    case concluded(Verdict)
    /// The outcome came early, before the body had returned. The job of a body that has begun is
    /// kept until then, to be escalated. Final.
    case concludedEarly(Verdict, job: Job?, isJobCancelled: Bool)
  }

  // In order of size, which saves forty bytes an operation.

  private var conclusion = Conclusion.open(job: nil)
  private var slot = SlotLife<Waiter>()
  private var waiters = Few<ValueWaiter>.none
  private var delivery = Delivery<Callback, Listener>()
  private var events: EventLine
  /// Whether the priority has grown before there was a job.
  private var isRaised = false
  /// Why an operation that the body has called was cancelled, most recently.
  private var callReason: UseCaseCancellation?

  init(isObserved: Bool) {
    events = EventLine(isObserved: isObserved)
  }

  // The frequent ones are inlined: else the compiler calls them with a copy of the machine.

  @inline(__always) var verdict: Verdict? {
    switch conclusion {
    case .open: nil
    case .concluded(let verdict), .concludedEarly(let verdict, _, _): verdict
    }
  }

  @inline(__always) private var isOpen: Bool {
    if case .open = conclusion { true } else { false }
  }

  @inline(__always) private var isEarly: Bool {
    if case .concludedEarly = conclusion { true } else { false }
  }

  /// Whether an early outcome has cancelled the job.
  @inline(__always) private var isJobCancelled: Bool {
    if case .concludedEarly(_, _, isJobCancelled: true) = conclusion { true } else { false }
  }

  @inline(__always) var state: UseCaseOperationState {
    guard isOpen else { return .finished }
    return slot.isWaiting ? .waiting : .running
  }

  /// Whether code runs in the slot.
  var isOccupied: Bool { slot.isOccupied }
}

// MARK: - Slot and body

extension OperationMachine {
  /// The queue has decided. Another operation may have superseded this one already.
  mutating func admit(as admission: Admission) {
    switch admission {
    case .start: if isOpen { events.announce(.running) }
    case .wait:
      slot.wait()
      events.announce(.waiting)
    case .drop:
      slot.drop()
      _ = conclude(.concluded(.cancelled(.dropped)))
      events.announce(.outcome)
      delivery.markEnded()
      events.announce(.ended)
    }
  }

  /// The operation has a slot. Returns the task to resume, which has waited for it.
  mutating func grant() -> Waiter? { slot.grant() }

  /// The task of the body exists. Takes it as long as there is no verdict: the caller still has it
  /// otherwise, and may have to cancel it.
  mutating func keep(_ job: inout Job?) -> Keeping {
    guard isOpen else { return isJobCancelled ? .cancel : .nothing }
    conclusion = .open(job: job.take())
    return isRaised ? .escalate : .nothing
  }

  /// The priority has grown. Returns the task of the body, if it exists and has not returned.
  mutating func jobToEscalate() -> Job? {
    switch conclusion {
    case .open(let job):
      isRaised = job == nil
      return job
    case .concluded: return nil
    case .concludedEarly(_, let job, _): return job
    }
  }

  /// The task of the body waits for the slot. Returns it if it need not wait any longer.
  mutating func park(_ waiter: Waiter) -> Waiter? {
    isOpen ? slot.park(waiter) : waiter
  }

  /// The body begins. Returns whether handlers of the start are to be delivered, nil if the body
  /// does not begin because there is an outcome already.
  mutating func start() -> DeliveryCall? {
    guard isOpen else { return nil }
    slot.start()
    return delivery.hasUpdates && delivery.claim() ? .deliverInAnotherTask : .nothing
  }

  /// The task of an operation that has waited goes on. Returns false if it is to wait still, and
  /// true if `start` is next.
  mutating func stopWaiting() -> Bool {
    guard isOpen else { return true }
    if slot.isWaiting { return false }
    events.announce(.running)
    return true
  }

  /// A guest enters the slot. Returns false if no body runs in it any more.
  mutating func enter() -> Bool { slot.enter() }

  /// A body exits the slot: a guest has returned, or the own body will never begin. Returns the kind
  /// of the verdict if the slot is free, so that the queue gets it back.
  mutating func exit() -> Verdict.Kind? {
    guard slot.exit() else { return nil }
    guard let verdict else { preconditionFailure("A slot is free without a verdict: \(slot).") }
    return verdict.kind
  }

  /// The queue has the slot back.
  ///
  /// - Parameter isListed: Whether the queue lists the operation until its handlers have begun.
  /// - Returns: The tasks that await the value, what the caller does, and how many listings the
  ///   queue takes back.
  @inline(__always)
  mutating func wasGivenBack(
    isListed: Bool
  ) -> (waiters: Few<ValueWaiter>, next: DeliveryCall, unlisted: Int32) {
    slot.wasGivenBack()
    // After an early outcome it is listed already.
    if isListed, !isEarly { delivery.noteListing() }
    return (takeWaiters(), afterBody(), takeListings())
  }

  @inline(__always)
  private mutating func afterBody() -> DeliveryCall {
    guard delivery.claim(), !endIfDone() else { return .nothing }
    return isJobCancelled ? .deliverInAnotherTask : .deliver
  }

  /// Returns the tasks that await the value, in the order in which they came, and keeps none.
  @inline(__always)
  private mutating func takeWaiters() -> Few<ValueWaiter> {
    defer { waiters = .none }
    return waiters
  }
}

// MARK: - Verdict

extension OperationMachine {
  /// The body has returned or thrown, and exits the slot. Returns whether its verdict counts, the
  /// job, which is to be released outside of the lock, and the slot if it is free.
  @inline(__always)
  mutating func conclude(
    _ verdict: Verdict, tellsFailure: Bool = false
  ) -> (isNew: Bool, job: Job?, freed: Verdict.Kind?) {
    if case .concludedEarly(let verdict, let job, let isJobCancelled) = conclusion {
      conclusion = .concludedEarly(verdict, job: nil, isJobCancelled: isJobCancelled)
      return (false, job, exit())
    }
    let job = conclude(.concluded(verdict))
    announceOutcome(tellsFailure: tellsFailure)
    return (true, job, slot.exit() ? verdict.kind : nil)
  }

  /// Gives the operation, which is open, its verdict. Returns the job.
  @inline(__always)
  private mutating func conclude(_ conclusion: Conclusion) -> Job? {
    guard case .open(let job) = self.conclusion else {
      preconditionFailure("An operation concludes once: \(self.conclusion), then \(conclusion).")
    }
    self.conclusion = conclusion
    return job
  }

  /// Gives the operation an early outcome: it is cancelled, its time has passed, or the call that
  /// awaits it would deadlock.
  ///
  /// - Parameters:
  ///   - verdict: Why.
  ///   - tellsFailure: Whether a failure is told if nobody handles it.
  /// - Returns: The consequences.
  @inline(__always) mutating func concludeEarly(
    _ verdict: Verdict, tellsFailure: Bool = false
  ) -> EarlyOutcome {
    if let earlier = self.verdict {
      if case .cancelled(let reason) = verdict {
        delivery.silence(reason, after: earlier.kind, mayDeliver: isDeliverable)
      }
      return EarlyOutcome()
    }
    // A task whose body has not begun ends by itself, and may deliver.
    let isJobCancelled = slot.isOccupied
    let job = conclude(.concludedEarly(verdict, job: nil, isJobCancelled: isJobCancelled))
    if isJobCancelled {
      conclusion = .concludedEarly(verdict, job: job, isJobCancelled: true)
    }
    announceOutcome(tellsFailure: tellsFailure)
    let startHandlers = slot.hasBegun ? [] : delivery.takeUpdates()
    return EarlyOutcome(
      isNew: true, waiters: takeWaiters(), parked: slot.takeParked(), job: job,
      isJobCancelled: isJobCancelled, startHandlers: startHandlers,
      delivers: delivery.claim(for: verdict.kind))
  }

  private mutating func announceOutcome(tellsFailure: Bool) {
    if tellsFailure { delivery.fail() }
    events.announce(.outcome)
  }

  /// An operation that the body has called was cancelled for a reason of its own.
  mutating func noteCancellation(ofCall reason: UseCaseCancellation) { callReason = reason }

  /// The verdict of a body that has thrown `CancellationError`: the reason of the call that the
  /// error comes from, if there was one.
  var thrownCancellation: Verdict { .cancelled(callReason ?? .thrown) }

  /// A task awaits the value. Returns it if it need not wait.
  mutating func awaitValue(_ waiter: Waiter, key: Int32) -> Waiter? {
    delivery.failureIsHandled()
    if isEarly || slot.isGivenBack { return waiter }
    waiters.append((key, waiter))
    return nil
  }

  /// Returns the task that is not to await the value any longer, if it still does.
  mutating func abandon(_ key: Int32) -> Waiter? {
    waiters.firstIndex { $0.key == key }.map { waiters.remove(at: $0).waiter }
  }
}

// MARK: - Delivery

extension OperationMachine {
  /// Whether the handlers for the verdict may run.
  @inline(__always)
  private var isDeliverable: Bool { slot.isGivenBack || isEarly }

  /// The queue lists the operation until its handlers have begun.
  mutating func noteListing() { delivery.noteListing() }

  /// A rider shares the outcome. Returns whether the queue is to list the operation for it: there is
  /// an outcome, and no other rider.
  mutating func riderComes() -> Bool { delivery.riderComes() && !isOpen }

  /// A rider that shares the outcome has ended.
  mutating func riderHasEnded() { delivery.riderHasEnded() }

  /// Returns how often the queue lists the operation in vain: no handler of the outcome is left.
  mutating func takeListings() -> Int32 {
    verdict.map { delivery.takeListings(for: $0.kind) } ?? 0
  }

  /// A handler is attached.
  ///
  /// - Parameters:
  ///   - handler: The handler. The machine takes it, unless the queue is to list the operation first.
  ///   - isListed: Whether the queue has listed the operation for it, or lists none.
  /// - Returns: The next step of the caller.
  mutating func attach(_ handler: inout Handler<Callback>?, isListed: Bool) -> DeliveryCall {
    guard isDeliverable, let kind = verdict?.kind else {
      delivery.attach(handler.take())
      return .nothing
    }
    guard isListed || !delivery.isToBeListed(handler?.branch, for: kind) else { return .list }
    delivery.attach(handler.take())
    return (slot.isGivenBack ? delivery.claim() : delivery.claim(for: kind)) ? .deliver : .nothing
  }

  /// A handler of the start is attached. If the body has returned, it comes in its turn, as the one
  /// of `common` that it is given as: an operation that was cancelled before its body began runs
  /// neither.
  mutating func attachStart(_ handler: inout Handler<Callback>?, isListed: Bool) -> DeliveryCall {
    if slot.isGivenBack { return attach(&handler, isListed: isListed) }
    guard isOpen || slot.hasBegun, let start = handler.take() else { return .nothing }
    delivery.add(start.callback)
    return slot.hasBegun && delivery.claim() ? .deliver : .nothing
  }

  /// The body reports. Returns whether the caller is to deliver.
  mutating func report(_ update: Callback) -> Bool {
    guard isOpen else { return false }
    delivery.add(update)
    return delivery.claim()
  }

  /// Something waits for the end. Returns it if there is nothing to wait for. `handles` says
  /// whether a failure is handled with that.
  mutating func listen(_ listener: Listener, handles: Bool) -> Listener? {
    if handles { delivery.failureIsHandled() }
    return delivery.listen(listener)
  }

  /// Decides what the task that delivers does next.
  mutating func next() -> DeliveryStep<Callback, Listener> {
    if slot.isGivenBack, endIfDone() { return .done }
    return delivery.next(
      for: isDeliverable ? verdict : nil, isOver: slot.isGivenBack, events: &events)
  }

  @inline(__always)
  private mutating func endIfDone() -> Bool { !events.isObserved && delivery.endIfDone() }

  /// The failure is handled.
  mutating func failureIsHandled() { delivery.failureIsHandled() }

  /// Returns the verdict, once, if it is a failure that nobody has handled.
  mutating func takeUnhandled() -> Verdict? { delivery.sendNotice() ? verdict : nil }

  /// A handler is about to begin on its isolation. Returns the verdict that it is given, nil if it
  /// may not begin.
  mutating func begin(_ handler: Handler<Callback>) -> Verdict? {
    guard let verdict, delivery.begin(handler, for: verdict.kind) else { return nil }
    return delivery.silence.map(Verdict.cancelled) ?? verdict
  }

  /// Whether an update that is about to be received may be.
  var mayReceive: Bool {
    if case .cancelled? = verdict { return false }
    return delivery.silence == nil
  }
}

// MARK: - Events

extension OperationMachine {
  /// Returns the event to tell, if there is one and no other thread tells.
  mutating func beginTelling() -> EventLine.Event? { events.begin() }

  /// Returns the next event for the thread that tells.
  mutating func goOnTelling() -> EventLine.Event? { events.next() }
}
