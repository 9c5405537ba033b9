import UseCase

/// The copies of one recorded use case, which merge with each other.
struct RecordedIdentity: Equatable, Sendable {
  private let number: UseCaseOperationID

  init() {
    number = .next()
  }
}

/// An execution of a use case of a certain type.
final class RecordedStep<Base: UndoableUseCase>: HistoryStep {
  private let useCase: Base
  private let identity: RecordedIdentity
  let request: Base.Request
  let response: Base.Response

  /// Borrows, so that a caller without its types at hand copies none of them for the call.
  init(
    _ useCase: borrowing Base, _ identity: RecordedIdentity, _ request: borrowing Base.Request,
    _ response: borrowing Base.Response
  ) {
    self.useCase = copy useCase
    self.identity = identity
    self.request = copy request
    self.response = copy response
  }

  var title: String { useCase.title(for: request) }

  var footprint: HistoryFootprint { useCase.footprint(of: request, response) }

  // Inlined into what is called by way of the protocol.
  @inline(__always)
  func undo() async throws {
    try await useCase.undo(request, response)
  }

  @inline(__always)
  func redo() async throws -> any HistoryStep {
    let response = try await useCase.redo(request, response)
    return RecordedStep(useCase, identity, request, response)
  }

  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep> {
    guard let later = later as? Self else { return .separate }
    let merge = later.useCase.merge((request, response), (later.request, later.response))
    if case .separate = merge { return .separate }
    return isOfSameUseCase(as: later) ? merging(by: merge) : .separate
  }

  /// Not inlined: its variables cost metadata, and few executions merge.
  @inline(never)
  private func merging(
    by merge: HistoryMerge<Base.Request, Base.Response>
  ) -> HistoryMerging<any HistoryStep> {
    switch merge {
    case .separate: .separate
    case .merged(let request, let response):
      .merged(RecordedStep(useCase, identity, request, response))
    case .annul: .annul
    }
  }

  func discard(_ reason: HistoryDiscardReason) {
    useCase.discard(request, response, reason)
  }

  private func isOfSameUseCase(as other: RecordedStep) -> Bool {
    if identity == other.identity { return true }
    if let useCase = useCase as? any Equatable { return isEqual(useCase, other.useCase) }
    return Base.self is AnyObject.Type && useCase as AnyObject === other.useCase as AnyObject
  }
}

private func isEqual<Value: Equatable>(_ value: Value, _ other: Any) -> Bool {
  value == other as? Value
}
