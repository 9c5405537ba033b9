import UseCase

/// One execution that can be undone, whatever the types of its request and response.
///
/// A step never changes: a redo makes another one, with the new response. Its use case gives each
/// answer, so ask it under no lock.
protocol HistoryStep: AnyObject, Sendable {
  var title: String { get }
  var footprint: HistoryFootprint { get }
  /// Throws if it is not undone. Returns the error of an interceptor that came after that.
  ///
  /// The scope is nil, except for a step of a journal that has transactions.
  func undo(for purpose: UseCaseExecution.Purpose, in scope: StepScope?) async throws
    -> (any Error)?
  /// Throws if it is not redone. Returns the new step, and the error that came after that.
  func redo(in scope: StepScope?) async throws -> (any HistoryStep, failure: (any Error)?)
  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep>
  func discard(_ reason: HistoryDiscardReason)
  /// The use case and values that a journal encodes.
  var values: (useCase: any Any.Type, request: Any, response: Any) { get }
}

/// Runs a body in a transaction, inside of all interceptors, and returns the step that the body has
/// made or undone.
typealias StepScope =
  @Sendable (_ body: @Sendable () async throws -> any HistoryStep) async throws
  -> any HistoryStep

/// The fate of a step that is recorded right behind another.
enum HistoryMerging<Step: Sendable>: Sendable {
  case separate
  case merged(Step)
  case annul

  func map<Other>(_ transform: (Step) -> Other) -> HistoryMerging<Other> {
    switch self {
    case .separate: .separate
    case .merged(let step): .merged(transform(step))
    case .annul: .annul
    }
  }
}
