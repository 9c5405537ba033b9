/// The delivery of all that one operation has to tell: its updates, its handlers and its end. One
/// task at a time delivers.
///
///     idle ⇄ delivering ⇄ telling → ended
///     idle → ended → delivering
///
/// The end is when every handler attached so far has run. The task that delivers then tells the
/// listeners, which wait for it. If there is nothing to deliver, the end comes at once. A handler
/// that is attached later begins another delivery.
///
/// The handlers of the outcome stand in a list of their own, because they know the type of the
/// response. This machine counts them. A `cancel()` that comes when the operation has a verdict
/// *silences* the handlers that have not begun: they are treated as those of a cancelled operation.
struct Delivery<Update: Sendable, Listener: Sendable>: Sendable {
  private enum Phase {
    case idle, delivering, telling, ended
  }

  /// An update, a handler of the start, which is kept as an update, or a listener. Few operations
  /// have any. A list of each kind would cost every operation forty instructions.
  private enum Extra: Sendable {
    case update(Update)
    case listener(Listener)
  }

  private var extras: [Extra] = []
  /// How many handlers have been neither taken nor forgotten.
  private var remaining: Int32 = 0
  /// How many handlers run after a success, and how many after a failure. `common` counts in both,
  /// `finally` in neither.
  private var outcomeHandlers: (success: Int32, failure: Int32) = (0, 0)
  /// How many of those for the verdict have begun.
  private var begun: Int32 = 0
  /// Whether a `finally` has begun that is not silenced.
  private var finallyHasBegun = false
  private var phase = Phase.idle
  /// Why the handlers that have not begun are treated as those of a cancelled operation.
  private(set) var silence: UseCaseCancellation?
  private var notice = FailureNotice()

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

  /// Decides what the task that delivers does next.
  ///
  /// - Parameters:
  ///   - kind: The verdict of the operation; nil as long as it has its slot.
  ///   - events: Takes the event of the end.
  ///   - take: Takes the next handler for a verdict from the list.
  /// - Returns: The next step.
  @inline(__always)
  mutating func next(
    for kind: Verdict.Kind?, events: inout EventLine,
    take: (Verdict.Kind, _ isLast: Bool) -> TakenHandler
  ) -> DeliveryStep<Update, Listener> {
    if !extras.isEmpty, case let updates = takeUpdates(), !updates.isEmpty {
      return .updates(updates)
    }
    guard let kind else {
      pause()
      return .done
    }
    if remaining > 0 {
      let kind = silence == nil ? kind : .cancelled
      let handler = take(kind, remaining == 1)
      if handler != .none { remaining -= 1 }
      switch handler {
      case .free(let branch):
        _ = handlerBegins(branch)
        return .handler(kind, isIsolated: false, isLast: remaining == 0)
      case .isolated: return .handler(kind, isIsolated: true, isLast: remaining == 0)
      case .none: break
      }
    }
    markEnded()
    if remaining > 0 {
      remaining = 0
      return .forget
    }
    // The observer hears of the end when the handlers that were passed over are forgotten.
    events.announce(.ended)
    if !extras.isEmpty { return .listeners(takeListeners()) }
    pause()
    return notice.beginSending() ? .unhandledFailure : .done
  }

  /// Ends the delivery if it has begun and nothing is left to deliver. Returns whether it did: else
  /// `next` says what is left.
  @inline(__always) mutating func endIfDone() -> Bool {
    guard remaining == 0, extras.isEmpty, !notice.isDue else { return false }
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
    switch phase {
    case .delivering: phase = .idle
    case .telling: phase = .ended
    case .idle, .ended: preconditionFailure("Only a delivery that has begun can pause.")
    }
  }

  // MARK: - Handlers

  /// A handler was added to the list.
  mutating func attach(_ branch: HandlerBranch) {
    if case .telling = phase { phase = .delivering }
    remaining += 1
    switch branch {
    case .success: outcomeHandlers.success += 1
    case .failure: outcomeHandlers.failure += 1
    case .common:
      outcomeHandlers.success += 1
      outcomeHandlers.failure += 1
    case .cancellation, .always: break
    }
  }

  /// A handler is about to begin on its isolation. Returns whether it may.
  mutating func handlerBegins(_ branch: HandlerBranch) -> Bool {
    switch branch {
    case .success, .failure, .common:
      begun += 1
      return silence == nil
    case .always:
      finallyHasBegun = silence == nil
      return finallyHasBegun
    case .cancellation: return true
    }
  }

  /// A `finally` that was silenced on its way goes back to its place in the list, because an
  /// `onCancel` that was passed over may be before it.
  mutating func putBack() { remaining += 1 }

  /// The operation is cancelled though it has a verdict: silences the handlers that have not begun,
  /// unless all of them have.
  mutating func silence(_ reason: UseCaseCancellation, after verdict: Verdict.Kind) {
    let expected: Int32
    switch verdict {
    case .success: expected = outcomeHandlers.success
    case .failure: expected = outcomeHandlers.failure
    case .cancelled: return
    }
    let lastHasBegun = begun == expected && (expected > 0 || finallyHasBegun)
    guard silence == nil, !lastHasBegun, !hasEnded else { return }
    silence = reason
  }

  // MARK: - Updates and listeners

  /// Before the body begins, these can only be handlers of the start.
  var hasUpdates: Bool { extras.contains { if case .update = $0 { true } else { false } } }

  mutating func add(_ update: Update) { extras.append(.update(update)) }

  /// Returns the updates that have not been delivered, and keeps none.
  mutating func takeUpdates() -> [Update] {
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
  mutating func fail() { notice.fail() }

  /// Somebody handles the failure, if there is one.
  mutating func failureIsHandled() { notice.handle() }

  /// Returns whether the notice of the failure is to be sent now.
  mutating func sendNotice() -> Bool { notice.send(isDelivering: isDelivering) && silence == nil }
}

/// The next step of the task that delivers.
@usableFromInline
enum DeliveryStep<Update: Sendable, Listener: Sendable>: Sendable {
  /// Receive these, each if `mayReceive` says so.
  case updates([Update])
  /// Run the handler that was taken, with the verdict of this kind, on its isolation if it has one.
  /// After the last one, ask `endIfDone` before anything else.
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
