/// The life of one operation: its slot, its verdict, and the delivery of what it has to tell.
///
/// Small machines do the work: ``SlotLife``, ``HandlerDelivery``, ``FailureNotice`` and
/// ``EventLine``. This one joins them with the verdict, which is given once. The delivery of the
/// handlers begins when the body has returned and the slot is free.
///
/// The machine decides, and its owner acts once the lock is released. `Waiter` is a suspended task,
/// `Job` the task of the body, `Update` an update on its way, and `Listener` waits for the end.
struct OperationMachine<
  Waiter: Sendable, Job: Sendable, Update: Sendable, Listener: Sendable
>: Sendable {
  private enum Conclusion {
    /// There is no verdict yet.
    case open
    /// The body has returned or thrown, or the queue has dropped the operation. Final.
    case settled(Verdict)
    /// The outcome came early, before the body had returned. Final.
    case early(Verdict, isJobCancelled: Bool)
  }

  /// An update or a listener: few operations have any.
  private enum Extra: Sendable {
    case update(Update)
    case listener(Listener)
  }

  /// The consequences of an early outcome.
  struct EarlyEnd: Sendable {
    /// Resume these, which await the value.
    var waiters = WaiterLine<Waiter>()
    /// Resume this one, which waits to start.
    var parked: Waiter?
    /// Let this go, and cancel it first if `isJobCancelled`.
    var job: Job?
    var isJobCancelled = false
    /// Let these go, which would have run when the body begins.
    var dropped: [Update] = []
  }

  /// The fate of a handler of the start.
  enum StartHandler {
    /// The body has not begun. The handler runs when it does.
    case kept
    /// The body has begun. The caller delivers, unless a task does already.
    case deliver
    /// The body has returned: the handler runs in its turn.
    case late
  }

  // In order of size, which saves forty bytes an operation.

  private var conclusion = Conclusion.open
  private var slot = SlotLife<Waiter>()
  private var waiters = WaiterLine<Waiter>()
  private var job: Job?
  private var extras: [Extra] = []
  private var delivery = HandlerDelivery()
  private var events: EventLine
  private var notice = FailureNotice()
  /// Why an operation that the body has called was cancelled, most recently.
  private var callReason: UseCaseCancellation?

  init(isObserved: Bool) {
    events = EventLine(isObserved: isObserved)
  }

  // Queries are inlined: the compiler calls one that is not with a copy of the whole machine.

  @inline(__always) var verdict: Verdict? {
    switch conclusion {
    case .open: nil
    case .settled(let verdict), .early(let verdict, _): verdict
    }
  }

  @inline(__always) private var kind: Verdict.Kind? {
    switch conclusion {
    case .open: nil
    case .settled(let verdict), .early(let verdict, _): verdict.kind
    }
  }

  @inline(__always) private var isOpen: Bool {
    if case .open = conclusion { true } else { false }
  }

  @inline(__always) var state: UseCaseOperationState {
    guard isOpen else { return .finished }
    return slot.isWaiting ? .waiting : .running
  }

  /// Whether code runs in the slot.
  @inline(__always) var isOccupied: Bool { slot.isOccupied }
}

// MARK: - Slot and body

extension OperationMachine {
  /// The queue lets the operation wait. Another operation may have superseded it already.
  mutating func wait() {
    slot.wait()
    events.announce(.waiting)
  }

  /// The queue drops the operation.
  mutating func drop() {
    slot.drop()
    conclusion = .settled(.cancelled(.dropped))
    delivery.end()
    events.announce(.outcome)
    events.announce(.ended)
  }

  /// The operation has a slot. Returns the task to resume, which has waited for it.
  mutating func grant() -> Waiter? { slot.grant() }

  /// The task of the body exists. Returns it if it is to be cancelled.
  mutating func spawn(_ job: Job) -> Job? {
    switch conclusion {
    case .open: self.job = job
    case .settled: break
    case .early(_, let isJobCancelled): return isJobCancelled ? job : nil
    }
    return nil
  }

  /// Whether the task of the body has to wait for the slot.
  @inline(__always) var mustPark: Bool { slot.isWaiting && isOpen }

  /// The task of the body waits for the slot. Returns it if it need not wait any longer.
  mutating func park(_ waiter: Waiter) -> Waiter? { isOpen ? slot.park(waiter) : waiter }

  /// The body is about to begin.
  mutating func announceRunning() {
    if isOpen { events.announce(.running) }
  }

  /// The body begins, unless there is an outcome already.
  mutating func start() -> BodyStart {
    guard isOpen else { return .skip }
    slot.start()
    if extras.isEmpty { return .run }
    return hasUpdates && delivery.begin() ? .runAndDeliver : .run
  }

  /// A guest enters the slot. Returns false if no body runs in it any more.
  mutating func admitGuest() -> Bool { slot.admitGuest() }

  /// A guest has returned, or the own body will never begin. Returns the slot if it is free.
  mutating func leave() -> FreeSlot? {
    guard slot.leave() else { return nil }
    guard let kind else { preconditionFailure("The last body leaves a slot with a verdict.") }
    return FreeSlot(kind: kind)
  }

  /// The queue has the slot back. Returns the tasks that await the value, and what the caller does.
  @inline(__always)
  mutating func giveBack() -> (waiters: WaiterLine<Waiter>, next: AfterBody) {
    slot.giveBack()
    return (waiters.removeAll(), afterBody())
  }

  @inline(__always)
  private mutating func afterBody() -> AfterBody {
    // Most often a task awaits the value, and there is nothing to deliver.
    if !delivery.hasHandlers, extras.isEmpty, !events.isObserved, !delivery.isDelivering,
      !notice.isDue
    {
      delivery.end()
      return .nothing
    }
    guard delivery.begin() else { return .nothing }
    if case .early(_, isJobCancelled: true) = conclusion { return .deliverInAnotherTask }
    return .deliver
  }
}

// MARK: - Verdict

extension OperationMachine {
  /// The body has returned or thrown. Returns whether its verdict counts, the job, which is to be
  /// released outside of the lock, and the slot if it is free.
  @inline(__always)
  mutating func settle(
    _ verdict: Verdict, tellsFailure: Bool = false
  ) -> (isNew: Bool, job: Job?, freed: FreeSlot?) {
    guard isOpen else { return (false, job.take(), leave()) }
    let freed = slot.leave() ? FreeSlot(kind: verdict.kind) : nil
    conclude(.settled(verdict), tellsFailure: tellsFailure)
    return (true, job.take(), freed)
  }

  /// Gives the operation an early outcome: it is cancelled, its time has passed, or the call that
  /// awaits it would deadlock.
  ///
  /// - Parameters:
  ///   - verdict: Why.
  ///   - sleeps: Whether the task sleeps before the body begins. Its cancellation wakes it. Any
  ///     other task whose body has not begun is not cancelled, because it ends by itself and may
  ///     deliver.
  ///   - tellsFailure: Whether a failure is told if nobody handles it.
  /// - Returns: The consequences; nil if there was a verdict already.
  mutating func endEarly(
    _ verdict: Verdict, sleeps: Bool, tellsFailure: Bool = false
  ) -> EarlyEnd? {
    switch conclusion {
    case .open: break
    case .settled(let earlier), .early(let earlier, _):
      // A superseded operation that has a verdict was done in time: its handlers run.
      if case .cancelled(let reason) = verdict, reason != .superseded {
        delivery.silence(reason, after: earlier.kind)
      }
      return nil
    }
    let isJobCancelled = slot.isOccupied || sleeps
    let dropped = slot.hasBegun || extras.isEmpty ? [] : takeUpdates()
    conclude(.early(verdict, isJobCancelled: isJobCancelled), tellsFailure: tellsFailure)
    return EarlyEnd(
      waiters: waiters.removeAll(), parked: slot.takeParked(), job: job.take(),
      isJobCancelled: isJobCancelled, dropped: dropped)
  }

  @inline(__always)
  private mutating func conclude(_ conclusion: Conclusion, tellsFailure: Bool) {
    self.conclusion = conclusion
    if tellsFailure { notice.fail() }
    events.announce(.outcome)
  }

  /// An operation that the body has called was cancelled for a reason of its own.
  mutating func noteCancellation(ofCall reason: UseCaseCancellation) { callReason = reason }

  /// The verdict of a body that has thrown `CancellationError`: the reason of the call that the
  /// error comes from, if there was one.
  var thrownCancellation: Verdict { .cancelled(callReason ?? .thrown) }

  /// A task awaits the value. Returns it if it need not wait.
  mutating func await(_ waiter: Waiter, key: Int32) -> Waiter? {
    notice.settle()
    if case .early = conclusion { return waiter }
    if slot.isReturned { return waiter }
    waiters.append(waiter, key: key)
    return nil
  }

  /// Returns the task that is not to await the value any longer, if it still does.
  mutating func abandon(_ key: Int32) -> Waiter? { waiters.remove(key) }
}

// MARK: - Delivery

extension OperationMachine {
  /// A handler was attached. Returns whether the caller is to deliver.
  mutating func attach(_ branch: HandlerBranch) -> Bool {
    delivery.attach(branch)
    return slot.isReturned && delivery.begin()
  }

  /// A handler of the start was attached.
  mutating func attachStart(_ handler: Update) -> StartHandler {
    if slot.isReturned { return .late }
    guard isOpen || slot.hasBegun else { return .kept }
    extras.append(.update(handler))
    return slot.hasBegun && delivery.begin() ? .deliver : .kept
  }

  /// The body reports. Returns whether the caller is to deliver.
  mutating func report(_ update: Update) -> Bool {
    guard isOpen else { return false }
    extras.append(.update(update))
    return delivery.begin()
  }

  /// Something waits for the end. Returns it if there is nothing to wait for. `handles` says
  /// whether a failure is handled with that.
  mutating func listen(_ listener: Listener, handles: Bool) -> Listener? {
    if handles { notice.settle() }
    guard !delivery.hasEnded || delivery.isDelivering else { return listener }
    extras.append(.listener(listener))
    return nil
  }

  /// Decides what the task that delivers does next.
  ///
  /// - Parameter take: Takes the next handler for a verdict.
  /// - Returns: The next step.
  mutating func next(
    take: (Verdict.Kind, _ isLast: Bool) -> TakenHandler
  ) -> DeliveryStep<Update, Listener> {
    if !extras.isEmpty, case let updates = takeUpdates(), !updates.isEmpty {
      return .updates(updates)
    }
    guard slot.isReturned, let kind else {
      delivery.pause()
      return .done
    }
    if let (kind, isIsolated) = delivery.next(for: kind, take: take) {
      return .handler(kind, isIsolated: isIsolated, isLast: !delivery.hasHandlers)
    }
    delivery.end()
    if delivery.hasHandlers {
      delivery.forget()
      return .forget
    }
    // The observer hears of the end when the handlers that were passed over are forgotten.
    events.announce(.ended)
    if !extras.isEmpty { return .listeners(takeListeners()) }
    delivery.pause()
    return notice.beginSending() ? .unhandledFailure : .done
  }

  /// The last handler has run. Returns whether that was all: else `next` says what is left to do.
  mutating func endAfterLast() -> Bool {
    guard !delivery.hasHandlers, extras.isEmpty, !events.isObserved, !notice.isDue
    else { return false }
    delivery.end()
    delivery.pause()
    return true
  }

  /// The failure is handled.
  mutating func failureIsHandled() { notice.settle() }

  /// Returns the verdict, once, if it is a failure that nobody has handled.
  mutating func takeUnhandled() -> Verdict? {
    guard notice.send(isDelivering: delivery.isDelivering), delivery.silence == nil else {
      return nil
    }
    return verdict
  }

  private var hasUpdates: Bool { extras.contains { if case .update = $0 { true } else { false } } }

  private mutating func takeUpdates() -> [Update] {
    let updates = extras.compactMap { if case .update(let update) = $0 { update } else { nil } }
    if updates.isEmpty { return [] }
    extras.removeAll { if case .update = $0 { true } else { false } }
    return updates
  }

  private mutating func takeListeners() -> [Listener] {
    defer { extras = [] }
    return extras.compactMap { if case .listener(let listener) = $0 { listener } else { nil } }
  }

  /// Returns the verdict that a handler is given.
  @inline(__always)
  func verdict(of kind: Verdict.Kind) -> Verdict? {
    if kind == .cancelled, let silence = delivery.silence { return .cancelled(silence) }
    return verdict
  }

  /// A handler is about to begin on its isolation. Returns whether it may.
  mutating func begin(_ branch: HandlerBranch) -> Bool { delivery.begin(branch) }

  /// Whether an update that is about to be received may be.
  @inline(__always) var mayReceive: Bool {
    if case .cancelled? = verdict { return false }
    return delivery.silence == nil
  }
}

// MARK: - Events

extension OperationMachine {
  /// Returns the event to tell, if there is one and no other thread tells.
  @inline(__always)
  mutating func beginTelling() -> UseCaseEvent.Kind? {
    guard let event = events.begin() else { return nil }
    return kind(of: event)
  }

  /// Returns the next event for the thread that tells.
  mutating func goOnTelling() -> UseCaseEvent.Kind? {
    guard let event = events.next() else { return nil }
    return kind(of: event)
  }

  private func kind(of event: EventLine.Event) -> UseCaseEvent.Kind {
    switch event {
    case .waiting: return .waiting
    case .running: return .running
    case .ended: return .ended
    case .outcome:
      switch verdict {
      case .success: return .succeeded
      case .failure: return .failed
      case .cancelled(let reason): return .cancelled(reason)
      case nil: preconditionFailure("An outcome is announced with its verdict.")
      }
    }
  }
}

/// A slot in which no body runs any more, and which the queue gets back as this.
@usableFromInline
struct FreeSlot: Sendable {
  @usableFromInline let kind: Verdict.Kind
}

/// The first step of the task of the body.
@usableFromInline
enum BodyStart: Sendable {
  /// Nothing: there is an outcome already.
  case skip
  /// Run the body.
  case run
  /// Run the body, and make another task that delivers the handlers of the start.
  case runAndDeliver
}

/// The last step of the task of the body.
@usableFromInline
enum AfterBody: Sendable {
  /// Deliver.
  case deliver
  /// Make another task that delivers: this one is cancelled.
  case deliverInAnotherTask
  /// Nothing is to be delivered, another task delivers already, or the slot is still occupied.
  case nothing
}

/// The next step of the task that delivers.
@usableFromInline
enum DeliveryStep<Update: Sendable, Listener: Sendable>: Sendable {
  /// Receive these, each if `mayReceive` says so.
  case updates([Update])
  /// Run the handler that was taken, with the verdict of this kind, on its isolation if it has one.
  /// After the last one, ask `endAfterLast` before anything else.
  case handler(Verdict.Kind, isIsolated: Bool, isLast: Bool)
  /// Everything has run. Forget the handlers that were passed over.
  case forget
  /// Nothing is left at present, as for `done`. Tell of the failure, unless somebody still handles
  /// it.
  case unhandledFailure
  /// Everything has run and is forgotten: tell these.
  case listeners([Listener])
  /// Nothing is left at present. The next delivery is begun by the call that brings something.
  case done
}
