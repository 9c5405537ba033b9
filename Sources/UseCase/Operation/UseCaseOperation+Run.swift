import UseCaseInternals

extension UseCaseOperation {
  /// Asks the queue for a slot and makes the task of the body. The urgency is the raw value of its
  /// priority, 0 for that of the current task.
  @inlinable
  func submit(urgency: UInt8 = 0, isCall: Bool) {
    let admission = admit(urgency: urgency, isCall: isCall)
    // A run outlives the call that began it, if others ride it, too.
    if isCall && !core.isRun || !HeldSlots.hasHolder {
      spawn(admission, urgency)
    } else {
      spawnOutsideOfSlot(admission, urgency)
    }
  }

  /// Asks for a slot, and announces the operation to the reactions of its queue, and to the run that it
  /// is going to ride.
  @usableFromInline
  func admit(urgency: UInt8, isCall: Bool) -> Admission {
    let admission = core.submit(self, urgency: urgency)
    core.queue.reactions?.react(to: self, of: baseType)
    core.queue.boards?(self, urgency, isCall)
    return admission
  }

  /// Releases the use case: taken under the lock, if a delegate may be asking it for a title.
  ///
  /// Specialized for a client, because to swap takes the metadata of the types.
  @inlinable @inline(never)
  func forgetUseCase() {
    guard core.hasDelegate else { return useCase = nil }
    var old: (any UseCase<Request, Response>)?
    core.underLock { swap(&old, &useCase) }
  }

  /// An operation that a body executes is independent: its task does not inherit the slot.
  @inlinable @inline(never)
  func spawnOutsideOfSlot(_ admission: Admission, _ urgency: UInt8) {
    HeldSlots.local.withValue(HeldSlots.Holder.nobody) { spawn(admission, urgency) }
  }

  /// Makes the task of the body: one that runs it at once, or waits for its slot first.
  ///
  /// The tasks may throw, though none does. Around a closure that may not throw, a task makes one
  /// that may, which costs an allocation.
  @inlinable
  func spawn(_ admission: Admission, _ urgency: UInt8) {
    if urgency > 0 { return spawn(admission, TaskPriority(rawValue: urgency)) }
    switch admission {
    case .start: core.keep(Task<Void, any Error> { await run(core.start()) })
    case .wait: core.keep(Task<Void, any Error> { await run(core.startInTurn()) })
    case .drop: useCase = nil
    }
  }

  /// Makes a task of this priority. Few clients need it.
  @usableFromInline
  func spawn(_ admission: Admission, _ priority: TaskPriority) {
    switch admission {
    case .start: core.keep(Task(priority: priority) { await run(core.start()) })
    case .wait: core.keep(Task(priority: priority) { await run(core.startInTurn()) })
    case .drop: useCase = nil
    }
  }

  @concurrent @inlinable @inline(__always)
  func run(_ start: DeliveryCall?) async {
    // The remains of the body are released before the end can be seen.
    let next: DeliveryCall
    if let start {
      if start == .deliverInAnotherTask { deliverInAnotherTask() }
      let freed: Verdict.Kind?
      do {
        freed = succeed(with: try await body())
      } catch {
        freed = core.fail(error)
      }
      next = core.giveBack(freed)
    } else {
      next = skipBody()
    }
    switch next {
    case .deliver where core.isAlone:
      await deliverHere()
    // The task of a call has inherited the slot of its caller.
    case .deliver: await deliver()
    case .deliverInAnotherTask: deliverInAnotherTask()
    case .nothing, .list: break
    }
  }

  /// Runs the body. The use case is released when this returns.
  @concurrent @inlinable @inline(__always)
  func body() async throws -> Response {
    // A delegate may ask for its title until the body has returned.
    let hasDelegate = core.hasDelegate
    guard let useCase = hasDelegate ? useCase : useCase.take() else {
      preconditionFailure("The body of an operation runs once.")
    }
    defer { if hasDelegate { forgetUseCase() } }
    return try await HeldSlots.local.withValue(HeldSlots.Holder(self)) {
      core.hasInterceptors || UseCaseTimeout.limits(useCase.timeout)
        ? try await runIntercepted(useCase) : try await useCase.main(request)
    }
  }

  /// The body never begins. A delegate may ask for the title as long as the operation is in its
  /// queue.
  @usableFromInline @inline(never)
  func skipBody() -> DeliveryCall {
    // A guest is not in the queue, so nobody asks for its title.
    let hasTitle = core.hasDelegate && core.source.dependents?.host == nil
    if !hasTitle { forgetUseCase() }
    return core.giveBack(core.exit()) { if hasTitle { forgetUseCase() } }
  }

  @inlinable @inline(never)
  func succeed(with response: Response) -> Verdict.Kind? {
    self.response = SomeResponse(response)
    let (isNew, freed) = core.succeed()
    if !isNew { self.response = nil }
    return freed
  }

  func timer(_ duration: Duration) -> Task<Void, Never>? {
    guard UseCaseTimeout.limits(duration) else { return nil }
    let sleep = core.queue.clock.sleeper(for: duration)
    // A task made inside the slot would hold the operation, as a task-local value.
    return HeldSlots.local.withValue(HeldSlots.Holder.nobody) {
      Task { [weak self] in
        try? await sleep { self?.concludeEarly(.failure(UseCaseTimeout(duration: duration))) }
      }
    }
  }

  /// Runs the body with the interceptors of the queue around it, all of it under the timeout.
  @usableFromInline
  func runIntercepted(_ useCase: any UseCase<Request, Response>) async throws -> Response {
    try await core.queue.run(request, of: core.useCaseType, timeout: useCase.timeout) {
      try await useCase.main($0)
    }
  }
}

// MARK: - Delivery

extension UseCaseOperation {
  /// Delivers in a new task, which nobody cancels.
  ///
  /// Not inlined: code that makes a task needs room for its priority, and asks the runtime for the
  /// size. Each body would ask.
  @usableFromInline @inline(never)
  func deliverInAnotherTask() {
    Task { HeldSlots.hasHolder ? await deliver() : await deliverHere() }
  }

  /// Runs the handlers, outside of any slot.
  @usableFromInline
  nonisolated(nonsending) func deliver() async {
    await HeldSlots.local.withValue(HeldSlots.Holder.nobody) { await deliverHere() }
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
  /// A step releases the code that it calls, before the end can be seen.
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
  private func run(_ handler: Handler<Callback>, on isolation: isolated any Actor) async {
    guard let verdict = begin(handler) else { return }
    if handler.callback.call(verdict) { failureIsHandled() }
  }

  /// Receives the updates, each on its isolation, until a cancellation keeps one back.
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
