extension UseCaseOperation {
  /// Asks the queue for a slot and makes the task of the body.
  ///
  /// The tasks may throw, though none does. A task always runs a closure that may: for a task that
  /// may not, a second closure is made around the first, one allocation more.
  @inlinable
  func submit(
    _ useCase: some UseCase<Request, Response>, priority: TaskPriority? = nil, isCall: Bool
  ) {
    self.useCase = useCase
    let question = core.isAsked ? (useCase as? any AskingUseCase)?.question(about: request) : nil
    let admission = core.submit(self, question)
    guard !isCall, Slot.isHeld else { return spawn(admission, priority: priority) }
    // What a body executes is no part of it, and its task does not inherit the slot.
    Slot.local.withValue(Slot.Holder.nobody) { spawn(admission, priority: priority) }
  }

  @inlinable
  func spawn(_ admission: UseCaseQueue.Admission, priority: TaskPriority?) {
    switch admission {
    case .run:
      core.spawn(Task<Void, any Error>(priority: priority) { await run() })
    case .wait:
      core.spawn(
        Task<Void, any Error>(priority: priority) {
          if core.mustPark { await core.park() }
          await run()
        })
    case .debounce(let sleep):
      core.spawn(
        Task<Void, any Error>(priority: priority) {
          await core.pass(sleep)
          await runInTurn()
        })
    case .refuse:
      useCase = nil
    }
  }

  /// For a task that has slept, where another copy of `run` does not pay.
  @inlinable @inline(never)
  func runInTurn() async {
    await core.park()
    await run()
  }

  @concurrent @inlinable @inline(__always)
  func run() async {
    // What the body leaves is let go before anybody can see the end.
    let freed: Verdict.Kind?
    var returned: Response?
    if core.start() {
      do {
        let response = try await body()
        freed = succeed(with: response)
        // One that comes too late goes with the body.
        if freed == .success { returned = response }
      } catch {
        freed = core.fail(error)
      }
    } else {
      useCase = nil
      freed = core.leave()
    }
    switch core.giveBack(freed) {
    case .deliver where core.link == nil: await deliverHere(returned)
    // The task of a call has inherited the slot of its caller.
    case .deliver: await deliver()
    case .deliverApart: deliverApart()
    case .leave: break
    }
  }

  /// Runs the body. What it needs is let go when this returns.
  @concurrent @inlinable @inline(__always)
  func body() async throws -> Response {
    guard let useCase = useCase.take() else { fatalError("The body of an operation runs once.") }
    return try await Slot.local.withValue(Slot.Holder.operation(self)) {
      core.queue.isPlain && useCase.timeout == nil
        ? try await useCase.main(request) : try await workAround(useCase)
    }
  }

  /// Not inlined, so that what it needs for a moment takes no room in the frame of the task.
  @inlinable @inline(never)
  func succeed(with response: Response) -> Verdict.Kind? {
    self.response = SomeResponse(response)
    let (isNew, freed) = core.succeed()
    if !isNew { self.response = nil }
    return freed
  }

  /// Runs the body with the interceptors of the queue around it, all of it under the time-out.
  @usableFromInline
  func workAround(_ useCase: any UseCase<Request, Response>) async throws -> Response {
    let timer = useCase.timeout.map { duration in
      let sleep = core.queue.clock.sleep(for: duration)
      // A task made inside the slot would hold the operation, as a task-local value.
      return Slot.local.withValue(Slot.Holder.nobody) {
        Task { [weak self] in
          guard (try? await sleep()) != nil else { return }
          self?.core.end(.failure(UseCaseTimeout(duration: duration)))
        }
      }
    }
    defer { timer?.cancel() }
    let execution = UseCaseExecution(id: id, type: core.useCase, clock: core.queue.clock)
    return try await execution.run(request, through: core.queue.interceptors[...]) { request in
      try await useCase.main(request)
    }
  }
}

// MARK: - Delivery

extension UseCaseOperation: AnyOperation {
  @usableFromInline
  func withCore<Result>(_ body: (borrowing OperationCore) -> Result) -> Result { body(core) }

  /// Not inlined: where a task is made there is room for a priority, of which only the runtime
  /// knows the size, and each body would ask it.
  @usableFromInline
  func deliverApart() {
    Task { Slot.isHeld ? await deliver() : await deliverHere() }
  }

  /// Runs the handlers, outside of any slot.
  @usableFromInline
  func deliver() async {
    await Slot.local.withValue(Slot.Holder.nobody) { await deliverHere() }
  }

  /// - Parameter response: What the body has returned, if it is at hand: to read it again from where
  ///   it is kept takes longer.
  @inlinable @inline(__always)
  func deliverHere(_ response: Response? = nil) async {
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
        // A scope of its own: the handler is let go of before anybody can see the end.
        do {
          let handler = handler.take()
          if isIsolated, let isolation = handler.isolation {
            await run(handler, with: outcome, on: isolation)
          } else {
            await handler.call(with: outcome)
          }
        }
        if isLast, core.finish() { return }
      case .tidy:
        tidy()
      case .marks(let marks):
        for mark in marks { mark.tell(id) }
      case .end, .pause:
        return
      }
    }
  }

  /// Not inlined, for the same reason as `succeed`.
  @inlinable @inline(never)
  func outcome(of kind: Verdict.Kind) -> UseCaseOutcome<Response> {
    let verdict = kind == .success ? .success : core.verdict(of: kind)
    guard let verdict, let outcome = outcome(of: verdict) else {
      fatalError("A handler is taken when there is an outcome.")
    }
    return outcome
  }

  /// Not inlined, for the same reason as `succeed`.
  @inlinable @inline(never)
  func tidy() {
    var passed = Handlers<Response>()
    core.tidy {
      passed = handlers.forget()
      return handlers.count
    }
    // They are not to go under the lock.
    withExtendedLifetime(passed) {}
  }

  /// Asks on the handler's own isolation whether it may begin, and begins: nothing that runs
  /// there comes in between.
  @inlinable
  func run(
    _ handler: Handler<Response>, with outcome: UseCaseOutcome<Response>,
    on isolation: isolated any Actor
  ) async {
    if core.begin(handler.branch) { await handler.call(with: outcome) }
  }

  /// Not inlined: few operations have updates, and each would keep room for one.
  @usableFromInline @inline(never)
  func receive(_ updates: [OperationUpdate]) async {
    for update in updates {
      guard await receive(update, on: update.isolation) else { break }
    }
  }

  func receive(_ update: OperationUpdate, on isolation: isolated (any Actor)?) async -> Bool {
    guard core.begin(.update) else { return false }
    await update.receive()
    return true
  }
}
