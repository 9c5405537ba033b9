import UseCase

/// The copies of one recorded use case, which merge with each other.
final class RecordedIdentity: Sendable {}

/// An execution of a use case of a certain type.
final class RecordedStep<Base: UndoableUseCase>: HistoryStep {
  let useCase: Base
  private let identity: RecordedIdentity?
  let request: Base.Request
  let response: Base.Response

  init(
    _ useCase: Base, _ identity: RecordedIdentity?, _ request: Base.Request,
    _ response: Base.Response
  ) {
    (self.useCase, self.identity, self.request, self.response) = (
      useCase, identity, request, response
    )
  }

  var title: String { useCase.title(for: request) }

  var footprint: HistoryFootprint { useCase.footprint(of: request, response) }

  /// Whether nothing is around its undo and redo.
  private var isBare: Bool {
    !useCase.queue(for: request).hasInterceptors && !UseCaseTimeout.limits(useCase.timeout)
  }

  // Inlined into the witness: each function that waits costs a frame on the stack of the task.
  @inline(__always)
  func undo(for purpose: UseCaseExecution.Purpose, in scope: StepScope?) async throws
    -> (any Error)?
  {
    guard scope == nil, isBare else { return try await undoAround(purpose, scope) }
    try await useCase.undo(request, response)
    return nil
  }

  @inline(__always)
  func redo(in scope: StepScope?) async throws -> (any HistoryStep, failure: (any Error)?) {
    guard scope == nil, isBare else { return try await redoAround(scope) }
    return (redone(try await useCase.redo(request, response)), nil)
  }

  private func redone(_ response: Base.Response) -> RecordedStep {
    RecordedStep(useCase, identity, request, response)
  }

  private func undoAround(
    _ purpose: UseCaseExecution.Purpose, _ scope: StepScope?
  ) async throws -> (any Error)? {
    let attempts = Attempts(in: scope)
    return try await run(attempts, for: purpose) { [self] request in
      _ = try await attempts.run {
        try await useCase.undo(request, response)
        return self
      }
    }.failure
  }

  private func redoAround(
    _ scope: StepScope?
  ) async throws -> (any HistoryStep, failure: (any Error)?) {
    let attempts = Attempts(in: scope)
    return try await run(attempts, for: .redo) { [self] request in
      try await attempts.run { redone(try await useCase.redo(request, response)) }.response
    }
  }

  /// Runs an undo or a redo with all that may be around it. Returns its step, and the error that came
  /// after it. Throws if there is no effect, also if an interceptor has answered in its place.
  private func run<Answer: Sendable>(
    _ attempts: Attempts, for purpose: UseCaseExecution.Purpose,
    body: @escaping @Sendable (Base.Request) async throws -> Answer
  ) async throws -> (any HistoryStep, failure: (any Error)?) {
    var failure: (any Error)?
    do {
      _ = try await useCase.queue(for: request).run(
        request, of: self.useCase.useCaseName, purpose: purpose, timeout: useCase.timeout,
        body: body)
    } catch {
      failure = error
    }
    guard let step = await attempts.lastStep() else { throw failure ?? CancellationError() }
    return (step, failure)
  }

  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep> {
    guard let later = later as? Self else { return .separate }
    let merge = later.useCase.merge((request, response), (later.request, later.response))
    if case .separate = merge { return .separate }
    guard isOfSameUseCase(as: later) else { return .separate }
    switch merge {
    case .separate: return .separate
    case .merged(let request, let response):
      return .merged(RecordedStep(useCase, identity, request, response))
    case .annul: return .annul
    }
  }

  func discard(_ reason: HistoryDiscardReason) { useCase.discard(request, response, reason) }

  var values: (useCase: any Any.Type, request: Any, response: Any) {
    (Base.self, request, response)
  }

  private func isOfSameUseCase(as other: RecordedStep) -> Bool {
    if let identity, identity === other.identity { return true }
    if let useCase = useCase as? any Equatable { return isEqual(useCase, other.useCase) }
    return Base.self is AnyObject.Type && useCase as AnyObject === other.useCase as AnyObject
  }
}

private func isEqual<Value: Equatable>(_ value: Value, _ other: Any) -> Bool {
  value == other as? Value
}
