import UseCaseInternals

extension UseCaseOperation {
  /// Asks the queue for a slot and makes the task of the body. The urgency is the raw value of its
  /// priority, 0 for that of the current task.
  @inlinable
  func submit(urgency: UInt8 = 0, isCall: Bool) {
    let admission = core.submit(urgency: urgency)
    if core.hasAttendants { attend() }
    if case .refuse = admission {
      useCase = nil
      return core.exit()
    }
    if isCall || !core.isInBody {
      spawn(admission)
    } else {
      // An operation that a body executes is independent: its task does not inherit the slot.
      HeldSlots.local.withValue(HeldSlots.Holder.nobody) { spawn(admission) }
    }
  }

  /// Hands the operation to the reactions of its queue, and, if it is not refused, to the shared use
  /// case that it executes.
  @usableFromInline @inline(never)
  func attend() {
    if let reactions = core.queue.reactions, let useCase {
      reactions.react(to: self, of: baseType(of: useCase))
    }
    if core.verdict == nil { core.queue.boards?(self) }
  }

  /// Makes the task of the body: one that runs it at once, or waits for its slot first. The
  /// priority is given, since a task inherits the one that the current task had before a raise.
  ///
  /// The tasks may throw, though none does. Around a closure that may not throw, a task makes one
  /// that may, which costs an allocation.
  @inlinable @inline(never)
  func spawn(_ admission: Admission) {
    let urgency = core.urgency
    let priority = TaskPriority(rawValue: urgency)
    let job =
      if case .wait = admission {
        Task<Void, any Error>(priority: priority) { await run(core.startInTurn()) }
      } else {
        Task<Void, any Error>(priority: priority) { await run(core.start()) }
      }
    core.keep(job, urgency: urgency)
  }

  /// Runs the body, if it may begin, and then delivers. The remains of the body are released before
  /// the end can be seen.
  @concurrent @inlinable @inline(__always)
  func run(_ mayBegin: Bool) async {
    let step: OperationCore.Step
    if mayBegin {
      do {
        step = succeed(with: try await body())
      } catch {
        step = core.fail(error)
      }
    } else {
      useCase = nil
      core.neverBegins()
      step = core.exitBody()
    }
    if case .done = step { return }
    await core.deliverInBody(from: consume step)
  }

  /// Runs the body. The use case is released when this returns.
  @concurrent @inlinable @inline(__always)
  func body() async throws -> Response {
    guard let useCase = useCase.take() else {
      preconditionFailure("The body of an operation runs once.")
    }
    return try await HeldSlots.local.withValue(HeldSlots.Holder(bodyOf: core)) {
      core.hasInterceptors || UseCaseTimeout.limits(useCase.timeout)
        ? try await runIntercepted(useCase) : try await useCase.main(request)
    }
  }

  @inlinable @inline(never)
  func succeed(with response: Response) -> OperationCore.Step {
    self.response = SomeResponse(response)
    let (isNew, step) = core.succeed()
    if !isNew { self.response = nil }
    return step
  }

  /// Runs the body with the interceptors of the queue around it, all of it under the timeout.
  @usableFromInline
  func runIntercepted(_ useCase: any UseCase<Request, Response>) async throws -> Response {
    try await core.queue.run(
      request, of: useCase.useCaseName, timeout: useCase.timeout
    ) {
      try await useCase.main($0)
    }
  }
}

/// Returns the type to which reactions react: of an erased use case, that of its base.
func baseType(of useCase: some UseCase) -> any Any.Type {
  (useCase as? any DescribedUseCase)?.baseType ?? type(of: useCase)
}
