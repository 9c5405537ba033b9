import UseCaseInternals

/// The life of one operation, from its admission until it leaves its queue.
///
///     assumed → running → over → leaving → left
///     assumed → waiting → granted → running → over → leaving → left
///
/// The operation has a verdict, which is concluded once: early, or when its body returns. From then
/// on the handlers of the outcome run. Each `finally` runs when the body is over too. The end is one
/// moment: no body runs, and every handler attached so far has run. The operation then leaves its
/// queue, and everything that waits for the end is resumed.
///
/// One task at a time delivers: it asks ``next(mayDeliver:)`` for its next step until nothing is left.
///
/// A `cancel()`, or an incoming operation that alone may deliver, *silences* the handlers that have
/// not begun: they are treated as those of a cancelled operation.
///
/// The machine decides, and its owner acts once the lock is released. `Waiter` waits for a moment of
/// the operation, `Job` is the task of the body, and `Callback` is a handler or an update on its way.
struct OperationMachine<Waiter: Sendable, Job: Sendable, Callback: Sendable>: Sendable {
  typealias Step = DeliveryStep<Callback, Waiter>

  /// A moment that something waits for.
  enum Moment {
    /// The early outcome, or else the end.
    case value
    /// The handlers of an outcome have run that is early or silenced, or behind which a body goes on; or
    /// else the end.
    case delivered
    /// The operation has left its queue, and the handlers attached by then have run.
    case end
  }

  typealias Listener = (key: Int32, moment: Moment, waiter: Waiter)

  private enum Stage {
    /// The operation is assumed to have a slot. If the queue starts it at once, next is `running`
    /// or `over`. Otherwise `admit` or `grant` is about to follow.
    case assumed
    /// The operation has no slot. Its task may have parked. Next is `granted`, or `over`.
    case waiting(parked: Waiter?)
    /// The operation has a slot after a wait. Next is `running`, or `over`.
    case granted
    /// This many bodies run in the slot: its own, the attempts of interceptors, and guests. Next is
    /// `over`.
    case running(bodies: Int32)
    /// No body runs any more, and none will. Handlers may run. Next is `leaving`.
    case over
    /// All handlers have run, and the queue is about to let the operation go. Next is `left`.
    case leaving
    /// The operation has left its queue. Handlers that come now hold nothing. Final.
    case left
  }

  /// The notice of a failure that nobody handles, for `UseCaseQueue.unhandledFailure`.
  ///
  ///     none → due ⇄ sending → over
  ///
  /// If somebody handles the failure, `over` follows each state.
  private enum Notice {
    /// The operation has not failed, or nobody wants to know of failures.
    case none
    /// The notice is to be sent when everything has run.
    case due
    /// A task is about to send it.
    case sending
    /// The failure is handled, or the notice is sent. Final.
    case over
  }

  // In order of size, which saves memory.

  private(set) var verdict: Verdict?
  private var stage = Stage.assumed
  /// The task of the body, from when it is kept until the end.
  private var job: Job?
  /// Another task that delivers.
  private var deliverer: Job?
  private var listeners = Few<Listener>.none
  /// Updates, and handlers of the start, that have not been received.
  private var updates: [Callback] = []
  private var handlers = Handlers<Callback>()
  /// Why the handlers that have not begun are treated as those of a cancelled operation.
  private var silence: UseCaseCancellation?
  /// Why an operation that the body has called was cancelled, most recently.
  private var callReason: UseCaseCancellation?
  /// Whether an operation that the body has called was cancelled or timed out while its body ran.
  private(set) var hasInterruptedCall = false
  private var events: EventLine
  private var notice = Notice.none
  /// Whether the verdict came before the body had returned.
  private var isEarly = false
  /// Whether the early outcome has come while the body ran, and so has cancelled its task.
  private(set) var isJobCancelled = false
  private var isDelivering = false
  /// Whether a handler that a silence would change has begun.
  private var hasBegun = false

  init(isObserved: Bool) {
    events = EventLine(isObserved: isObserved)
  }

  var state: UseCaseOperationState {
    if verdict != nil { return .finished }
    if case .waiting = stage { return .waiting }
    return .running
  }

  /// Whether code runs in the slot.
  var isOccupied: Bool {
    if case .running = stage { true } else { false }
  }

  /// Whether no body runs any more, and none will.
  private var isOver: Bool {
    switch stage {
    case .over, .leaving, .left: true
    case .assumed, .waiting, .granted, .running: false
    }
  }

  private var hasLeft: Bool {
    if case .left = stage { true } else { false }
  }
}

// MARK: - Slot and body

extension OperationMachine {
  /// The queue has decided. Another operation may have superseded this one already.
  mutating func admit(as admission: Admission) {
    switch (admission, stage) {
    case (.start, _): if verdict == nil { events.announce(.running) }
    case (.wait, .assumed):
      stage = .waiting(parked: nil)
      events.announce(.waiting)
    // Another thread has let it start meanwhile.
    case (.wait, _): events.announce(.waiting)
    case (.refuse(let reason), _):
      verdict = .cancelled(reason)
      isEarly = true
      events.announce(.outcome)
    }
  }

  /// The operation has a slot. Returns the task to resume, which has waited for it.
  mutating func grant() -> Waiter? {
    switch stage {
    case .assumed, .waiting:
      let parked = takeParked()
      stage = .granted
      return parked
    case .over, .leaving, .left: return nil  // A cancellation has come at the same moment.
    case .granted, .running:
      preconditionFailure("The queue grants a slot to an operation that is \(stage).")
    }
  }

  private mutating func takeParked() -> Waiter? {
    guard case .waiting(let parked?) = stage else { return nil }
    stage = .waiting(parked: nil)
    return parked
  }

  /// The task of the body exists. Returns whether it is to be cancelled.
  mutating func keep(_ job: Job) -> Bool {
    if hasLeft { return false }
    self.job = job
    return isJobCancelled
  }

  /// Another task delivers. It is kept until the end, to be escalated.
  mutating func keepDeliverer(_ job: Job) -> Job? {
    defer { if !hasLeft { deliverer = job } }
    return deliverer
  }

  /// The tasks of the operation, if they exist.
  var jobs: (Job?, Job?) { (job, deliverer) }

  /// The task of the body waits for the slot. Returns it if it need not wait any longer.
  mutating func park(_ waiter: Waiter) -> Waiter? {
    guard verdict == nil, case .waiting(nil) = stage else { return waiter }
    stage = .waiting(parked: waiter)
    return nil
  }

  /// The task of an operation that has waited goes on. Returns false if it is to wait still, and
  /// true if `start` is next.
  mutating func stopWaiting() -> Bool {
    guard verdict == nil else { return true }
    if case .waiting = stage { return false }
    events.announce(.running)
    return true
  }

  /// The body begins. Returns whether another task is to deliver handlers of the start; nil if the
  /// body does not begin, because there is an outcome already.
  mutating func start() -> Bool? {
    guard verdict == nil else { return nil }
    switch stage {
    case .assumed, .granted: stage = .running(bodies: 1)
    case .waiting, .running, .over, .leaving, .left:
      preconditionFailure("The body begins of an operation that is \(stage).")
    }
    return !updates.isEmpty && claim()
  }

  /// Another body enters the slot: a guest, or an attempt of an interceptor. Returns false if no body
  /// runs in it any more.
  mutating func enter() -> Bool {
    guard case .running(let bodies) = stage else { return false }
    stage = .running(bodies: bodies + 1)
    return true
  }

  /// A body exits the slot: it has returned, or it is the own one and will never begin. Returns what
  /// the caller delivers.
  mutating func exit(mayDeliver: Bool) -> Step {
    switch stage {
    case .running(let bodies) where bodies > 1: stage = .running(bodies: bodies - 1)
    case .running, .assumed, .waiting, .granted:
      guard verdict != nil else {
        preconditionFailure("The last body exits without an outcome.")
      }
      stage = .over
    case .over, .leaving, .left: preconditionFailure("A body exits a slot that is \(stage).")
    }
    return deliverIfNeeded(mayDeliver: mayDeliver)
  }
}

// MARK: - Verdict

extension OperationMachine {
  /// The consequences of an early outcome.
  struct EarlyOutcome: Sendable {
    enum Effect {
      /// The operation has its outcome.
      case concluded
      /// The operation had an outcome, and the handlers that have not begun are silenced.
      case silenced
      case nothing
    }

    var effect = Effect.nothing
    /// Resume these, which await the value.
    var waiters: [Waiter] = []
    /// Resume this one, which waits to start.
    var parked: Waiter?
    /// Cancel this.
    var job: Job?
    /// Let these go: handlers of a start that never comes.
    var startHandlers: [Callback] = []
    /// Deliver: there are handlers for the outcome.
    var delivers = false
  }

  /// The own body has returned or thrown. Returns whether its verdict counts, and what the caller
  /// delivers.
  mutating func conclude(
    _ verdict: Verdict, mayDeliver: Bool, tellsFailure: Bool = false
  ) -> (isNew: Bool, step: Step) {
    let isNew = self.verdict == nil
    if isNew { decide(verdict, tellsFailure: tellsFailure) }
    return (isNew, exit(mayDeliver: mayDeliver))
  }

  private mutating func decide(_ verdict: Verdict, tellsFailure: Bool) {
    self.verdict = verdict
    if tellsFailure, notice == .none { notice = .due }
    events.announce(.outcome)
  }

  /// Gives the operation an early outcome: it is cancelled, its time has passed, or the call that
  /// awaits it would deadlock.
  mutating func concludeEarly(_ verdict: Verdict, tellsFailure: Bool = false) -> EarlyOutcome {
    if self.verdict != nil {
      guard case .cancelled(let reason) = verdict, silence(reason) else { return EarlyOutcome() }
      // An `onCancel` that a time-out has left out is due now.
      return EarlyOutcome(
        effect: .silenced, delivers: handlers.hasNext(for: .cancelled) && claim())
    }
    decide(verdict, tellsFailure: tellsFailure)
    isEarly = true
    // A task whose body has not begun ends by itself, and may deliver.
    isJobCancelled = isOccupied
    let startHandlers = isOccupied ? [] : takeUpdates()
    let delivers = handlers.hasNext(for: verdict.kind) || hasListener(for: .delivered)
    return EarlyOutcome(
      effect: .concluded, waiters: takeListeners { $0 == .value }, parked: takeParked(),
      job: isJobCancelled ? job : nil, startHandlers: startHandlers,
      delivers: delivers && claim())
  }

  /// Silences the handlers that have not begun, unless all of them have. Returns whether it did.
  private mutating func silence(_ reason: UseCaseCancellation) -> Bool {
    guard silence == nil, let kind = verdict?.kind, kind != .cancelled else { return false }
    // Once everything has run, a handler that comes later is kept back by a newer operation only.
    let mayComeLater = !hasBegun && (reason == .superseded || !hasLeft || isDelivering)
    guard handlers.isLeft(for: kind) || mayComeLater else { return false }
    silence = reason
    handlers.rewind()
    if notice != .none { notice = .over }
    return true
  }

  /// The verdict as the handlers that have not begun are told of it.
  private mutating func told(mayDeliver: Bool) -> Verdict? {
    if !mayDeliver { _ = silence(.superseded) }
    return silence.map(Verdict.cancelled) ?? verdict
  }

  /// An operation that the body has called was cancelled for a reason of its own.
  mutating func noteCancellation(ofCall reason: UseCaseCancellation) { callReason = reason }

  mutating func noteInterruption() { hasInterruptedCall = true }

  /// The verdict of a body that has thrown `CancellationError`: the reason of the call that the
  /// error comes from, if there was one.
  var thrownCancellation: Verdict { .cancelled(callReason ?? .thrown) }
}

// MARK: - Listeners

extension OperationMachine {
  /// Something waits for a moment. Returns it if there is nothing to wait for. `handles` says
  /// whether a failure is handled with that.
  mutating func listen(
    _ waiter: Waiter, for moment: Moment, key: Int32 = 0, handles: Bool
  ) -> Waiter? {
    if handles { failureIsHandled() }
    // The end waits for handlers that come late, too.
    if hasLeft, moment != .end || !isDelivering { return waiter }
    if moment == .value, isEarly { return waiter }
    listeners.append((key, moment, waiter))
    return nil
  }

  /// Returns the task that is not to await the value any longer, if it still does.
  mutating func abandon(_ key: Int32) -> Waiter? {
    listeners.firstIndex { $0.key == key }.map { listeners.remove(at: $0).waiter }
  }

  private func hasListener(for moment: Moment) -> Bool {
    listeners.contains { $0.moment == moment }
  }

  /// Returns the listeners for these moments, in the order in which they came, and keeps the others.
  private mutating func takeListeners(_ isDue: (Moment) -> Bool) -> [Waiter] {
    if case .none = listeners { return [] }
    let all = listeners
    listeners = .none
    var due: [Waiter] = []
    for listener in all {
      if isDue(listener.moment) { due.append(listener.waiter) } else { listeners.append(listener) }
    }
    return due
  }
}

// MARK: - Delivery

extension OperationMachine {
  /// A handler is attached. Returns whether the caller is to deliver.
  mutating func attach(_ handler: consuming Handler<Callback>) -> Bool {
    let branch = handler.branch
    handlers.append(handler)
    guard let verdict, !isDelivering else { return false }
    guard isOver || (silence.map(Verdict.cancelled) ?? verdict).kind.takes(branch) else {
      return false
    }
    return claim()
  }

  /// A handler is attached that hears of the outcome before all others. Returns false if there is an
  /// outcome already.
  mutating func attachFirst(_ handler: consuming Handler<Callback>) -> Bool {
    guard verdict == nil else { return false }
    handlers.append(handler)
    return true
  }

  /// A handler of the start is attached. If the body is over, it comes in its turn, as a handler
  /// of `common`. An operation that ended before its body began runs none. Returns
  /// whether the caller is to deliver.
  mutating func attachStart(_ handler: consuming Handler<Callback>) -> Bool {
    if isEarly, !isJobCancelled { return false }
    if isOver { return attach(handler) }
    guard verdict == nil || isOccupied else { return false }
    updates.append(handler.callback)
    return isOccupied && claim()
  }

  /// The body reports. Returns whether the caller is to deliver.
  mutating func report(_ update: Callback) -> Bool {
    guard verdict == nil else { return false }
    updates.append(update)
    return claim()
  }

  private mutating func takeUpdates() -> [Callback] {
    defer { updates = [] }
    return updates
  }

  /// Whether an update that is about to be received may be.
  func mayReceive(mayDeliver: Bool) -> Bool {
    if case .cancelled? = verdict { return false }
    return silence == nil && mayDeliver
  }

  /// Returns whether the caller is the one to deliver from now on.
  private mutating func claim() -> Bool {
    if isDelivering { return false }
    isDelivering = true
    return true
  }

  /// Returns the first step of the caller, if it is the one to deliver what there is.
  mutating func deliverIfNeeded(mayDeliver: Bool) -> Step {
    guard verdict != nil, claim() else { return .done }
    return isJobCancelled && handlers.count > 0 ? .handOver : next(mayDeliver: mayDeliver)
  }

  /// Decides what the task that delivers does next.
  ///
  /// - Parameter mayDeliver: Whether the operation is one of those that may deliver.
  /// - Returns: The step.
  mutating func next(mayDeliver: Bool) -> Step {
    if !updates.isEmpty { return .updates(takeUpdates()) }
    guard let told = told(mayDeliver: mayDeliver) else {
      isDelivering = false
      return .done
    }
    if handlers.count > 0,
      let handler = handlers.takeFirst() ?? handlers.takeNext(for: told.kind)
    {
      return step(handler, told)
    }
    // Nothing of the outcome is left: a body that goes on, and a `finally` behind it, hold up no model.
    if isEarly || silence != nil || !isOver, hasListener(for: .delivered) {
      return .tell(takeListeners { $0 == .delivered })
    }
    if isOver, handlers.count > 0, let handler = handlers.takeLast() { return step(handler, told) }
    switch stage {
    case .over:
      stage = .leaving
      return .leave(handlers.removeAll(), verdict?.kind ?? told.kind)
    case .left where handlers.count > 0: return .forget(handlers.removeAll())
    case .left where hasListener(for: .end): return .tell(takeListeners { _ in true })
    case .left where notice == .due:
      isDelivering = false
      notice = .sending
      return .unhandledFailure
    case .left, .assumed, .waiting, .granted, .running:
      isDelivering = false
      return .done
    case .leaving: preconditionFailure("The task that delivers lets the operation leave.")
    }
  }

  /// A handler is taken. One on no actor begins at once: nothing can come in between that keeps it
  /// back.
  private mutating func step(_ handler: consuming Handler<Callback>, _ told: Verdict) -> Step {
    if handler.isIsolated { return .ask(handler) }
    noteBegin(of: handler.branch)
    return .call(handler, told)
  }

  private mutating func noteBegin(of branch: HandlerBranch) {
    if branch != .cancellation, silence == nil || branch == .settlement {
      hasBegun = true
    }
    handlers.noteBegin(branch)
  }

  /// A handler is about to begin on its isolation. Returns the verdict that it is given, nil if it
  /// may not begin.
  ///
  /// If a `finally` may not begin, it returns to its place: an `onCancel` that was passed over, or a
  /// handler that was attached meanwhile, goes first.
  mutating func begin(_ handler: Handler<Callback>, mayDeliver: Bool) -> Verdict? {
    guard let told = told(mayDeliver: mayDeliver) else { return nil }
    switch handler.branch {
    case .settlement, .cancellation: break
    case .success, .failure, .common: if silence != nil { return nil }
    case .always:
      guard !handlers.hasNext(for: told.kind) else {
        handlers.putBack(handler)
        return nil
      }
    }
    noteBegin(of: handler.branch)
    return told
  }

  /// The queue has let the operation go. Returns what waited for the end, the tasks to let go, and
  /// whether nothing is left to deliver.
  mutating func left() -> (waiters: Few<Listener>, jobs: (Job?, Job?), isDone: Bool) {
    stage = .left
    events.announce(.ended)
    let isDone = handlers.count == 0 && updates.isEmpty && notice != .due
    if isDone { isDelivering = false }
    var due = listeners
    listeners = .none
    if handlers.count > 0 {
      // A handler was attached while the queue let the operation go, perhaps by code that awaits the
      // end next: it hears of the end when that handler has run.
      let all = due
      due = .none
      for listener in all {
        if listener.moment == .end { listeners.append(listener) } else { due.append(listener) }
      }
    }
    defer { (job, deliverer) = (nil, nil) }
    return (due, (job, deliverer), isDone)
  }
}

// MARK: - Failures and events

extension OperationMachine {
  /// Somebody handles the failure, if there is one.
  mutating func failureIsHandled() { notice = .over }

  /// Returns the verdict, once, if it is a failure that nobody has handled. If handlers run again,
  /// one of them may handle it. So the notice is due once more when they have run.
  mutating func takeUnhandled() -> Verdict? {
    guard notice == .sending else { return nil }
    notice = isDelivering ? .due : .over
    return notice == .over ? verdict : nil
  }

  /// Returns the event to tell, if there is one and no other thread tells.
  mutating func beginTelling() -> EventLine.Event? { events.begin() }

  /// Returns the next event for the thread that tells.
  mutating func goOnTelling() -> EventLine.Event? { events.next() }
}

/// The next step of the task that delivers.
@usableFromInline
enum DeliveryStep<Callback: Sendable, Waiter: Sendable>: Sendable {
  /// Receive these, each if `mayReceive` says so.
  case updates([Callback])
  /// Call this one, which has begun, with the verdict.
  case call(Handler<Callback>, Verdict)
  /// Ask on the isolation of this one, by `begin`, whether it may begin.
  case ask(Handler<Callback>)
  /// Tell these that the handlers have run.
  case tell([Waiter])
  /// Everything has run. Let go of these, which were passed over, and let the operation leave its
  /// queue.
  case leave([Handler<Callback>], Verdict.Kind)
  /// The operation has left. Let go of these, which were passed over.
  case forget([Handler<Callback>])
  /// Another task is to deliver: this one is cancelled, and the handlers would find that it is.
  case handOver
  /// Nothing is left at present, as for `done`. Tell of the failure, unless somebody still handles
  /// it.
  case unhandledFailure
  /// Nothing is left at present. The next delivery is begun by the call that brings something.
  case done
}
