extension UseCaseOperation {
  /// Asks the queue for a slot and makes the task of the body.
  @inlinable
  func submit(_ useCase: some UseCase<Request, Response>, priority: TaskPriority?) {
    self.useCase = useCase
    switch core.submit(self) {
    case .run:
      core.spawn(Task(priority: priority) { await run() })
    case .debounce(let sleep):
      core.spawn(
        Task(priority: priority) {
          await sleep()
          core.queue.ready(self)
          await run()
        })
    case .refuse:
      _ = core.withLock { self.useCase.take() }
    }
  }

  @concurrent @inlinable @inline(__always)
  func run() async {
    await work()
    switch core.leave() {
    case .deliver where !Slot.isHeld: await deliverHere()
    case .deliver: await deliver()
    case .deliverApart: Task { Slot.isHeld ? await deliver() : await deliverHere() }
    case .leave: break
    }
  }

  /// Runs the body, unless the operation is over before. What the body needs is let go when this
  /// returns.
  @concurrent @inlinable @inline(__always)
  func work() async {
    let useCase = core.withLock { self.useCase.take() }
    var start = core.start()
    while start == .park {
      await core.park()
      start = core.start()
    }
    guard start == .run, let useCase else { return }
    do {
      let response = try await Slot.local.withValue(Slot.Holder.operation(self)) {
        core.isPlain && useCase.timeout == nil
          ? try await useCase.main(request) : try await workAround(useCase)
      }
      core.succeed { self.response = SomeResponse(response) }
    } catch {
      core.fail(error)
    }
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

  /// Runs the handlers, outside of any slot.
  @usableFromInline
  func deliver() async {
    await Slot.local.withValue(Slot.Holder.nobody) { await deliverHere() }
  }

  @concurrent @inlinable @inline(__always)
  func deliverHere() async {
    while true {
      switch core.next(isTidy: { handlers.isEmpty }) {
      case .updates(let updates):
        for update in updates {
          guard await receive(update, on: update.isolation) else { break }
        }
      case .handlers(let verdict):
        guard let outcome = outcome(of: verdict) else { return }
        while let handler = core.take({ handlers.next(for: verdict) }) {
          if let isolation = handler.isolation {
            guard await run(handler, with: outcome, on: isolation) else { break }
          } else {
            guard core.begin(handler.branch) else { break }
            await handler.call(with: outcome)
          }
        }
      case .tidy:
        _ = core.withLock { handlers.forget() }
      case .end(let marks):
        for mark in marks { mark.tell(id) }
        return
      case .pause:
        return
      }
    }
  }

  /// Asks on the handler's own isolation whether it may begin, and begins: nothing that runs
  /// there comes in between.
  @inlinable
  func run(
    _ handler: Handler<Response>, with outcome: UseCaseOutcome<Response>,
    on isolation: isolated any Actor
  ) async -> Bool {
    guard core.begin(handler.branch) else { return false }
    await handler.call(with: outcome)
    return true
  }

  @inlinable
  func receive(_ update: OperationUpdate, on isolation: isolated (any Actor)?) async -> Bool {
    guard core.begin(.update) else { return false }
    await update.receive()
    return true
  }
}
