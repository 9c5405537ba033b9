extension UseCaseOperation {
  /// Delivers in a new task, which nobody cancels.
  ///
  /// Not inlined: code that makes a task needs room for its priority, and asks the runtime for the
  /// size. Each body would ask.
  @usableFromInline @inline(never)
  func deliverInAnotherTask() {
    Task { Slot.hasHolder ? await deliver() : await deliverHere() }
  }

  /// Runs the handlers, outside of any slot.
  @usableFromInline
  nonisolated(nonsending) func deliver() async {
    await Slot.local.withValue(Slot.Holder.nobody) { await deliverHere() }
  }

  /// Delivers where the caller runs, and suspends only for what runs on an actor.
  @inlinable @inline(__always)
  nonisolated(nonsending) func deliverHere() async {
    let step = core.deliverAtOnce()
    if case .done = step { return }
    if await core.deliver(from: consume step) { reportFailure() }
  }

  /// Tells of a failure that nobody has handled, after a while. A body that fails at once may
  /// return before `execute` does, and its handlers are attached after that.
  @usableFromInline
  func reportFailure() {
    Task {
      try? await ContinuousClock().sleep(for: .milliseconds(100))
      guard case .failure(let error)? = core.unhandledVerdict else { return }
      let failure = UseCaseUnhandledFailure(id: id, type: core.useCaseType, error: error)
      UseCaseQueue.unhandledFailure?(failure)
    }
  }

  /// Gives the operation an early outcome, before its body has returned.
  @usableFromInline
  func concludeEarly(_ verdict: Verdict, isFromQueue: Bool = false) {
    if core.concludeEarly(verdict, isFromQueue: isFromQueue) { deliverInAnotherTask() }
  }

  /// The body reports an update.
  func report(_ update: Callback) {
    if core.report(update) { Task { await deliver() } }
  }
}

extension OperationCore {
  /// Delivers what needs no actor. Returns the first step that needs one, or the last of all.
  @usableFromInline
  func deliverAtOnce() -> DeliveryStep<Callback, @Sendable () -> Void> {
    while true {
      let step = next()
      switch step {
      // The handler is released with this step, before the end can be seen.
      case .call(let handler, let verdict):
        if handler.callback.call(verdict) { failureIsHandled() }
      case .forget(let handlers): withExtendedLifetime(handlers) {}
      case .listeners(let listeners):
        for listener in listeners { listener() }
      case .ask, .updates, .unhandledFailure, .done: return step
      }
    }
  }

  /// Delivers from this step on, until nothing is left. Returns whether a failure is left that
  /// nobody has handled yet.
  ///
  /// What a step calls is released with it, before the end can be seen.
  @usableFromInline
  nonisolated(nonsending) func deliver(
    from step: consuming DeliveryStep<Callback, @Sendable () -> Void>
  ) async -> Bool {
    while true {
      switch consume step {
      case .ask(let handler):
        if let isolation = handler.callback.isolation { await run(handler, on: isolation) }
      case .updates(let updates): await receive(updates)
      case .unhandledFailure: return true
      case .call, .forget, .listeners, .done: return false
      }
      step = deliverAtOnce()
    }
  }

  /// Asks on the isolation of the handler whether it may begin, and calls it. No other code of this
  /// isolation comes in between.
  @inline(never)
  private func run(_ handler: Handler<Callback>, on isolation: isolated any Actor) async {
    guard let verdict = begin(handler) else { return }
    if handler.callback.call(verdict) { failureIsHandled() }
  }

  /// Receives the updates, each on its isolation, until a cancellation keeps one back.
  @inline(never)
  private nonisolated(nonsending) func receive(_ updates: [Callback]) async {
    for update in updates {
      guard await receive(update, on: update.isolation) else { return }
    }
  }

  private func receive(_ update: Callback, on isolation: isolated (any Actor)?) async -> Bool {
    guard mayReceive else { return false }
    _ = update.call(nil)
    return true
  }
}
