/// The delivery of all that one operation has to tell: its updates, its handlers and its end. One
/// task at a time delivers.
///
///     idle ⇄ delivering ⇄ telling → ended
///     idle → ended → delivering
///
/// There are two moments. The handlers of the outcome run as soon as it is decided and no body
/// holds back its delivery. Each `finally` runs when the slot is free, and after the handlers of
/// the outcome. The end is when every handler attached so far has run. The task that delivers then
/// tells the listeners, which wait for it. If there is nothing to deliver, the end comes at once. A
/// handler that is attached later begins another delivery.
///
/// A `cancel()` or an incoming operation that comes when the operation has a verdict *silences* the
/// handlers that have not begun: they are treated as those of a cancelled operation.
struct Delivery<Callback: Sendable, Listener: Sendable>: Sendable {
  private enum Phase {
    case idle, delivering, telling, ended
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

  /// An update, a handler of the start, which is kept as an update, or a listener. Few operations
  /// have any. A list of each kind would cost every operation forty instructions.
  private enum Extra: Sendable {
    case update(Callback)
    case listener(Listener)
  }

  private var extras: [Extra] = []
  private var handlers = Handlers<Callback>()
  /// How many handlers have not begun that run after a success, and how many after a failure.
  /// `common` counts in both, `finally` in neither.
  private var left: (success: Int32, failure: Int32) = (0, 0)
  /// How often the queue was told that a `then`, `catch` or `common` is left.
  private var listings: Int32 = 0
  /// Whether a handler that a silence would keep back has begun.
  private var hasBegun = false
  /// Whether the task that delivers has taken updates that it may not have received yet.
  private var isReceiving = false
  /// How many riders share the outcome, and have handlers of their own that may not have begun.
  private var riders: Int32 = 0
  private var phase = Phase.idle
  /// Why the handlers that have not begun are treated as those of a cancelled operation.
  private(set) var silence: UseCaseCancellation?
  private var notice = Notice.none

  // MARK: - The task that delivers

  private var isDelivering: Bool {
    switch phase {
    case .delivering, .telling: true
    case .idle, .ended: false
    }
  }

  /// Whether every handler attached so far has run.
  private var hasEnded: Bool {
    switch phase {
    case .telling, .ended: true
    case .idle, .delivering: false
    }
  }

  /// Returns whether the caller is the one to deliver from now on.
  @inline(__always) mutating func claim() -> Bool {
    guard !isDelivering else { return false }
    phase = .delivering
    return true
  }

  /// Returns whether the caller is the one to deliver from now on, because there are handlers of
  /// this outcome.
  mutating func claim(for kind: Verdict.Kind) -> Bool { hasNext(for: kind) && claim() }

  /// Decides what the task that delivers does next.
  ///
  /// - Parameters:
  ///   - verdict: The verdict of the operation; nil as long as its handlers may not run.
  ///   - isOver: Whether the slot is free, so that each `finally` may run.
  ///   - events: Takes the event of the end.
  /// - Returns: The next step.
  @inline(__always)
  mutating func next(
    for verdict: Verdict?, isOver: Bool, events: inout EventLine
  ) -> DeliveryStep<Callback, Listener> {
    isReceiving = false
    if !extras.isEmpty, case let updates = takeUpdates(), !updates.isEmpty {
      isReceiving = true
      return .updates(updates)
    }
    guard let verdict else {
      pause()
      return .done
    }
    if handlers.count > 0 {
      let told = silence.map(Verdict.cancelled) ?? verdict
      if let handler = handlers.takeNext(for: told.kind) { return step(handler, told) }
      if isOver, let handler = handlers.takeLast() { return step(handler, told) }
    }
    guard isOver else {
      pause()
      return .done
    }
    markEnded()
    if handlers.count > 0 { return .forget(handlers.removeAll()) }
    // The observer hears of the end when the handlers that were passed over are forgotten, and before
    // those who wait for it.
    if events.announce(.ended) || !extras.isEmpty { return .listeners(takeListeners()) }
    pause()
    guard notice == .due else { return .done }
    notice = .sending
    return .unhandledFailure
  }

  /// A handler is taken. One on no actor begins at once: nothing can come in between that keeps it
  /// back.
  @inline(__always)
  private mutating func step(
    _ handler: consuming Handler<Callback>, _ verdict: Verdict
  ) -> DeliveryStep<Callback, Listener> {
    if handler.isIsolated { return .ask(handler) }
    hasBegun = true
    count(handler.branch, -1)
    return .call(handler, verdict)
  }

  /// Ends the delivery if it has begun and nothing is left to deliver. Returns whether it did: else
  /// `next` says what is left.
  @inline(__always) mutating func endIfDone() -> Bool {
    guard handlers.count == 0, extras.isEmpty, notice != .due else { return false }
    markEnded()
    pause()
    return true
  }

  /// Every handler attached so far has run, or there never was one to run.
  mutating func markEnded() {
    switch phase {
    case .idle: phase = .ended
    case .delivering: phase = .telling
    case .telling, .ended: break
    }
  }

  private mutating func pause() {
    isReceiving = false
    switch phase {
    case .delivering: phase = .idle
    case .telling: phase = .ended
    case .idle, .ended: preconditionFailure("Only a delivery that has begun can pause: \(phase).")
    }
  }

  // MARK: - Handlers

  mutating func attach(_ handler: consuming Handler<Callback>?) {
    guard let handler = consume handler else { return }
    if case .telling = phase { phase = .delivering }
    count(handler.branch, 1)
    handlers.append(handler)
  }

  private mutating func count(_ branch: HandlerBranch, _ number: Int32) {
    switch branch {
    case .success: left.success += number
    case .failure: left.failure += number
    case .common:
      left.success += number
      left.failure += number
    case .cancellation, .always: break
    }
  }

  /// A handler is about to begin on its isolation. Returns whether it may.
  ///
  /// A `finally` that may not goes back to its place: an `onCancel` that was passed over, or a
  /// handler that was attached meanwhile, goes first.
  mutating func begin(_ handler: Handler<Callback>, for kind: Verdict.Kind) -> Bool {
    switch handler.branch {
    case .success, .failure, .common:
      guard silence == nil else { return false }
      count(handler.branch, -1)
      hasBegun = true
    case .cancellation: break
    case .always:
      guard !hasNext(for: kind) else {
        handlers.putBack(handler)
        return false
      }
      if silence == nil { hasBegun = true }
    }
    return true
  }

  // MARK: - Silence

  /// The kind of the verdict as the handlers that have not begun are told of it.
  private func silenced(_ kind: Verdict.Kind) -> Verdict.Kind { silence == nil ? kind : .cancelled }

  /// Whether a handler of the outcome is left to take.
  private mutating func hasNext(for kind: Verdict.Kind) -> Bool {
    handlers.hasNext(for: silenced(kind))
  }

  /// The number of handlers for the verdict that have not begun.
  private func left(for kind: Verdict.Kind) -> Int32 {
    switch kind {
    case .success: left.success
    case .failure: left.failure
    case .cancelled: 0
    }
  }

  /// Whether the isolation of a client has yet to hear of a success or a failure.
  private func isPending(for kind: Verdict.Kind) -> Bool {
    silence == nil && (left(for: kind) > 0 || isReceiving || hasUpdates || riders > 0)
  }

  /// The operation is cancelled or superseded though it has a verdict: silences the handlers that
  /// have not begun, unless all of them have. An operation with nothing to deliver is not
  /// superseded. But a success is, before handlers may run: its queue would not find a `then` that
  /// is attached later. A failure is not, so that somebody hears of it.
  mutating func silence(
    _ reason: UseCaseCancellation, after kind: Verdict.Kind, mayDeliver: Bool
  ) {
    guard silence == nil, kind != .cancelled, !hasEnded else { return }
    let hasLeft =
      reason == .superseded
      ? isPending(for: kind) || (kind == .success && !mayDeliver)
      : left(for: kind) > 0 || !hasBegun
    guard hasLeft else { return }
    silence = reason
    handlers.rewind()
  }

  /// A rider shares the outcome. Returns whether it is the only one.
  mutating func riderComes() -> Bool {
    riders += 1
    return riders == 1
  }

  /// A rider that shares the outcome has ended.
  mutating func riderHasEnded() { riders -= 1 }

  /// Whether the queue is to be told of a handler that is attached when the verdict is there.
  func isToBeListed(_ branch: HandlerBranch?, for kind: Verdict.Kind) -> Bool {
    silence == nil && kind != .cancelled && branch.map(kind.takes) ?? false
  }

  /// The queue was told that handlers are left.
  mutating func noteListing() { listings += 1 }

  /// Returns how often the queue was told of handlers of which none is left.
  mutating func takeListings(for kind: Verdict.Kind) -> Int32 {
    guard listings > 0, !isPending(for: kind) else { return 0 }
    defer { listings = 0 }
    return listings
  }

  // MARK: - Updates and listeners

  /// Before the body begins, these can only be handlers of the start.
  var hasUpdates: Bool { extras.contains { if case .update = $0 { true } else { false } } }

  mutating func add(_ update: Callback) { extras.append(.update(update)) }

  /// Returns the updates that have not been delivered, and keeps none.
  mutating func takeUpdates() -> [Callback] {
    if extras.isEmpty { return [] }
    let updates = extras.compactMap { if case .update(let update) = $0 { update } else { nil } }
    if !updates.isEmpty { extras.removeAll { if case .update = $0 { true } else { false } } }
    return updates
  }

  /// Something waits for the end. Returns it if there is nothing to wait for.
  mutating func listen(_ listener: Listener) -> Listener? {
    if case .ended = phase { return listener }
    extras.append(.listener(listener))
    return nil
  }

  private mutating func takeListeners() -> [Listener] {
    defer { extras = [] }
    return extras.compactMap { if case .listener(let listener) = $0 { listener } else { nil } }
  }

  // MARK: - The notice of a failure

  /// The operation has failed, and somebody wants to know if nobody handles the failure.
  mutating func fail() {
    if notice == .none { notice = .due }
  }

  /// Somebody handles the failure, if there is one.
  mutating func failureIsHandled() { notice = .over }

  /// Returns whether the notice of the failure is to be sent now. If handlers run again, one of them
  /// may handle the failure. So the notice is due once more when they have run.
  mutating func sendNotice() -> Bool {
    guard notice == .sending else { return false }
    notice = isDelivering ? .due : .over
    return notice == .over && silence == nil
  }
}

/// The next step of the caller after an event that may have brought something to deliver.
@usableFromInline
enum DeliveryCall: Sendable {
  /// Nothing: it is delivered later, or another task delivers already.
  case nothing
  /// Deliver.
  case deliver
  /// Make another task that delivers: this one is cancelled, or has something else to do.
  case deliverInAnotherTask
  /// Let the queue list the operation, and attach the handler then.
  case list
}

/// The next step of the task that delivers.
@usableFromInline
enum DeliveryStep<Callback: Sendable, Listener: Sendable>: Sendable {
  /// Receive these, each if `mayReceive` says so.
  case updates([Callback])
  /// Call this one, which has begun, with the verdict.
  case call(Handler<Callback>, Verdict)
  /// Ask on the isolation of this one, by `begin`, whether it may begin.
  case ask(Handler<Callback>)
  /// Everything has run. Let go of these, which were passed over.
  case forget([Handler<Callback>])
  /// Nothing is left at present, as for `done`. Tell of the failure, unless somebody still handles
  /// it.
  case unhandledFailure
  /// Everything has run and is forgotten: tell these.
  case listeners([Listener])
  /// Nothing is left at present. The next delivery is begun by the call that brings something.
  case done
}
