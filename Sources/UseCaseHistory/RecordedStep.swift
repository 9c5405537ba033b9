public import UseCase

/// The copies of one recorded use case, which merge with each other.
///
/// Its closures run at each recording. The client compiles them, where the types are known: the
/// code of the library would look up metadata each time.
@usableFromInline
final class RecordedIdentity<Base: UndoableUseCase>: Sendable {
  @usableFromInline typealias Step = RecordedStep<Base>

  @usableFromInline
  let step: @Sendable (Base, RecordedIdentity, Base.Request, Base.Response) -> Step
  /// Asks the use case whether two steps become one.
  @usableFromInline
  let merge: @Sendable (_ earlier: Step, _ later: Step) -> HistoryMerging<Step>
  /// Whether all calls of `history.execute` share it, for use cases of this type. It doesn't say
  /// then whether two use cases are the same.
  @usableFromInline let isShared: Bool

  /// The type of the recorded use case.
  @usableFromInline let useCaseType: any Any.Type

  @inlinable
  init(of useCaseType: any Any.Type, isShared: Bool = false) {
    self.useCaseType = useCaseType
    self.isShared = isShared
    step = { RecordedStep($0, $1, $2, $3) }
    merge = { earlier, later in
      let merge = later.useCase.merge(
        (earlier.request, earlier.response), (later.request, later.response))
      switch merge {
      case .separate: return .separate
      case .merged(let request, let response):
        return .merged(RecordedStep(earlier.useCase, earlier.identity, request, response))
      case .annul: return .annul
      }
    }
  }
}

/// An execution of a use case of a certain type.
@usableFromInline
final class RecordedStep<Base: UndoableUseCase>: HistoryStep {
  @usableFromInline let useCase: Base
  @usableFromInline let identity: RecordedIdentity<Base>
  @usableFromInline let request: Base.Request
  @usableFromInline let response: Base.Response

  /// Borrows, so that a caller without its types at hand copies none of them for the call.
  @inlinable
  init(
    _ useCase: borrowing Base, _ identity: RecordedIdentity<Base>,
    _ request: borrowing Base.Request, _ response: borrowing Base.Response
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
    return identity.step(useCase, identity, request, response)
  }

  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep> {
    guard let later = later as? Self else { return .separate }
    let merging = identity.merge(self, later)
    if case .separate = merging { return .separate }
    return isOfSameUseCase(as: later) ? merging.map { $0 } : .separate
  }

  func discard(_ reason: HistoryDiscardReason) -> Bool {
    useCase.discard(request, response, reason)
    return true
  }

  private func isOfSameUseCase(as other: RecordedStep) -> Bool {
    if identity === other.identity, !identity.isShared { return true }
    if let useCase = useCase as? any Equatable { return isEqual(useCase, other.useCase) }
    return Base.self is AnyObject.Type && useCase as AnyObject === other.useCase as AnyObject
  }
}

private func isEqual<Value: Equatable>(_ value: Value, _ other: Any) -> Bool {
  value == other as? Value
}
