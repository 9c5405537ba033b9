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

  /// Delivers, one step after the other, until nothing is left.
  ///
  /// - Parameter response: The response of the body, if it is at hand. Reading the stored one takes
  ///   longer.
  @inlinable @inline(__always)
  nonisolated(nonsending) func deliverHere(_ response: Response? = nil) async {
    var handler = Handler<Response>.none
    while true {
      switch core.next(take: { handlers.take(&handler, for: $0, isLast: $1) }) {
      case .updates(let updates):
        await receive(updates)
      case .handler(let kind, let isIsolated, let isLast):
        let outcome: UseCaseOutcome<Response>
        if kind == .success, let response {
          outcome = .success(response)
        } else {
          outcome = self.outcome(of: kind)
        }
        // At the end of this scope the handler is released, before the end can be seen.
        do {
          let handler = handler.take()
          if isIsolated, let isolation = handler.isolation, let branch = handler.branch {
            await callHandler(handler, branch, with: outcome, on: isolation)
          } else if await handler.call(with: outcome) {
            core.failureIsHandled()
          }
        }
        if isLast, core.endIfDone() { return }
      case .forget:
        forgetHandlers()
      case .unhandledFailure:
        reportFailure()
        return
      case .listeners(let listeners):
        for listener in listeners { listener.tell(id) }
      case .done:
        return
      }
    }
  }

  @inlinable @inline(never)
  func outcome(of kind: Verdict.Kind) -> UseCaseOutcome<Response> {
    let verdict = kind == .success ? .success : core.verdict(of: kind)
    guard let verdict, let outcome = outcome(of: verdict) else {
      preconditionFailure("A handler is taken when there is an outcome.")
    }
    return outcome
  }

  /// Forgets the handlers that were passed over, and releases them outside of the lock.
  @inlinable @inline(never)
  func forgetHandlers() {
    var passed = Handlers<Response>()
    core.underLock { passed = handlers.forget() }
    withExtendedLifetime(passed) {}
  }

  /// Tells of a failure that nobody has handled, after a while. A body that fails at once may
  /// return before `execute` does, and its handlers are attached after that.
  @usableFromInline @inline(never)
  func reportFailure() {
    Task {
      try? await ContinuousClock().sleep(for: .milliseconds(100))
      guard case .failure(let error)? = core.unhandledVerdict else { return }
      let failure = UseCaseUnhandledFailure(id: id, type: core.useCaseType, error: error)
      UseCaseQueue.unhandledFailure?(failure)
    }
  }

  /// Asks on the isolation of the handler whether it may begin, and calls it. No other code of this
  /// isolation comes in between.
  @inlinable
  func callHandler(
    _ handler: Handler<Response>, _ branch: HandlerBranch,
    with outcome: UseCaseOutcome<Response>, on isolation: isolated any Actor
  ) async {
    // A handler that was taken for a cancellation is not silenced by one.
    let asked: HandlerBranch = if case .cancelled = outcome { .cancellation } else { branch }
    guard core.handlerBegins(asked) else {
      if branch == .always { putBack(handler) }
      return
    }
    if await handler.call(with: outcome) { core.failureIsHandled() }
  }

  /// Not inlined, because its closure would take room in the frame of the task.
  @usableFromInline @inline(never)
  func putBack(_ handler: Handler<Response>) { core.putBack { handlers.putBack(handler) } }

  /// The body reports an update.
  func report(_ update: OperationUpdate) {
    if core.report(update) { Task { await deliver() } }
  }

  /// Receives the updates, until a cancellation keeps one back.
  @usableFromInline @inline(never)
  nonisolated(nonsending) func receive(_ updates: [OperationUpdate]) async {
    for update in updates {
      guard await receive(update, on: update.isolation) else { break }
    }
  }

  private func receive(
    _ update: OperationUpdate, on isolation: isolated (any Actor)?
  ) async -> Bool {
    guard core.mayReceive else { return false }
    await update.receive()
    return true
  }
}
