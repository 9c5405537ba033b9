import UseCase

/// One execution that can be undone, whatever the types of its request and response.
///
/// It never changes: a redo makes another one, with the new response.
protocol HistoryStep: AnyObject, Sendable {
  var title: String { get }
  func undo() async throws
  func redo() async throws -> any HistoryStep
  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep>
  func discard(_ reason: HistoryDiscardReason)
}

final class RecordedStep<Base: UndoableUseCase>: HistoryStep {
  private let useCase: Base
  private let request: Base.Request
  let response: Base.Response

  /// Borrows, so that a caller without its types at hand copies none of them for the call.
  init(
    _ useCase: borrowing Base, _ request: borrowing Base.Request,
    _ response: borrowing Base.Response
  ) {
    self.useCase = copy useCase
    self.request = copy request
    self.response = copy response
  }

  var title: String { useCase.title(for: request) }

  // Inlined into what is called by way of the protocol.
  @inline(__always)
  func undo() async throws {
    try await useCase.undo(request, response)
  }

  @inline(__always)
  func redo() async throws -> any HistoryStep {
    let response = try await useCase.redo(request, response)
    return RecordedStep(useCase, request, response)
  }

  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep> {
    guard let later = later as? Self else { return .separate }
    let merge = later.useCase.merge((request, response), (later.request, later.response))
    if case .separate = merge { return .separate }
    return isOfSameUseCase(as: later) ? merging(by: merge) : .separate
  }

  /// Not inlined: its variables cost metadata, and mostly nothing merges.
  @inline(never)
  private func merging(
    by merge: HistoryMerge<Base.Request, Base.Response>
  ) -> HistoryMerging<any HistoryStep> {
    switch merge {
    case .separate: .separate
    case .merged(let request, let response): .merged(RecordedStep(useCase, request, response))
    case .annul: .annul
    }
  }

  func discard(_ reason: HistoryDiscardReason) {
    useCase.discard(request, response, reason)
  }

  /// Two use cases of one type may work on two documents. Mostly they are copies of one value, of
  /// which all bits are the same: to go through its parts costs a hundred times as much.
  private func isOfSameUseCase(as other: RecordedStep) -> Bool {
    isCopy(useCase, of: other.useCase) && !(useCase is any Equatable)
      || isSame(useCase, other.useCase)
  }
}

/// Two values are the same if they are equal, the same object, or made of what is the same. A queue,
/// which has no part in a history, makes no difference.
private func isSame(_ value: Any, _ other: Any) -> Bool {
  guard type(of: value) == type(of: other) else { return false }
  if value is UseCaseQueue { return true }
  if type(of: value) is AnyObject.Type { return value as AnyObject === other as AnyObject }
  if let value = value as? any Equatable { return isEqual(value, other) }
  let mirror = Mirror(reflecting: value)
  let (parts, others) = (mirror.children, Mirror(reflecting: other).children)
  if parts.isEmpty, others.isEmpty {
    switch mirror.displayStyle {
    // An enum tells its case beside a payload only.
    case .enum: return String(describing: value) == String(describing: other)
    // A closure tells nothing of itself.
    case nil: return isCopy(value, of: other)
    default: return true
    }
  }
  return parts.count == others.count
    && zip(parts, others).allSatisfy { $0.label == $1.label && isSame($0.value, $1.value) }
}

private func isEqual<Value: Equatable>(_ value: Value, _ other: Any) -> Bool {
  value == other as? Value
}

/// Whether all bits are the same.
private func isCopy<Value>(_ value: Value, of other: Any) -> Bool {
  guard let other = other as? Value else { return false }
  return withUnsafeBytes(of: value) { bytes in
    withUnsafeBytes(of: other) { bytes.elementsEqual($0) }
  }
}
