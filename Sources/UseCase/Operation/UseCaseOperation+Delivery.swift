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

  @usableFromInline
  nonisolated(nonsending) func deliverHere() async {
    if await core.deliver() { reportFailure() }
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
  /// Delivers, one step after the other, until nothing is left. Returns whether a failure is left
  /// that nobody has handled yet.
  @usableFromInline
  nonisolated(nonsending) func deliver() async -> Bool {
    while true {
      switch next() {
      // The handler is released with this step, before the end can be seen.
      case .handler(let handler, let verdict):
        if case .some = verdict {
          if await handler.callback.call(verdict) { failureIsHandled() }
        } else if let isolation = handler.callback.isolation {
          await run(handler, on: isolation)
        }
      case .updates(let updates): await receive(updates)
      case .forget(let handlers): withExtendedLifetime(handlers) {}
      case .unhandledFailure: return true
      case .listeners(let listeners):
        for listener in listeners { listener() }
      case .done: return false
      }
    }
  }

  /// Asks on the isolation of the handler whether it may begin, and calls it. No other code of this
  /// isolation comes in between.
  @inline(never)
  private func run(_ handler: Handler<Callback>, on isolation: isolated any Actor) async {
    guard let verdict = begin(handler) else { return }
    if await handler.callback.call(verdict) { failureIsHandled() }
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
    _ = await update.call(nil)
    return true
  }
}
