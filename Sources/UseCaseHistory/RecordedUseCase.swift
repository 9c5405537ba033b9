public import UseCase

/// A use case whose executions are recorded in a history. Make it with
/// ``UndoableUseCase/recorded(in:)``.
///
/// ```swift
/// let rename = Rename(document: document).recorded(in: history)
/// let button = RenameButton(rename: AnyUseCase(rename))  // knows nothing of histories
/// ```
///
/// Its executions run on the lane of the history, one at a time with everything else that was
/// asked of the history. Inside the body of a ``UseCaseHistory/group(_:_:)`` the call form makes a
/// part of the group; inside another recorded body it makes no entry, since whoever calls it
/// answers for its undo too.
///
/// The queue of the use case itself, with its policy and its interceptors, has no part in this. What
/// is to be retried or limited is a use case of its own, which `main`, `undo` and `redo` call.
public struct RecordedUseCase<Base: UndoableUseCase>: UseCase {
  let base: Base
  let history: UseCaseHistory

  /// The lane of the history.
  ///
  /// - Complexity: O(1).
  public var queue: UseCaseQueue { history.lane }

  /// The time-out of the use case that is recorded. It holds for an execution, not for undo and
  /// redo, and a response that comes later is recorded all the same.
  ///
  /// - Complexity: That of the time-out of the use case.
  public var timeout: Duration? { base.timeout }

  /// Answers the request as the use case does, and records the response.
  ///
  /// - Parameter request: What it is asked.
  /// - Returns: The response.
  /// - Throws: Whatever the use case throws. Then nothing is recorded.
  /// - Complexity: That of the use case, and O(*n*) in the number of entries that leave.
  @inline(__always)
  public func main(_ request: Base.Request) async throws -> Base.Response {
    switch history.enter() {
    case .elsewhere(let frame):
      // A wrapper on another queue has called this directly, or a task that was left behind.
      return try await HistoryFrame.local.withValue(.inside(frame)) { try await self(request) }
    case .answered(let frame):
      defer { frame.end() }
      return try await HistoryFrame.local.withValue(.inside(frame)) { try await base.main(request) }
    case .recording(let frame):
      let ledger = history.ledger
      var step: RecordedStep<Base>?
      defer { ledger.leave(frame, with: step) }
      // A closure that returned the response would be called by way of its type.
      try await HistoryFrame.local.withValue(.inside(frame)) {
        let response = try await base.main(request)
        step = RecordedStep(base, request, response)
      }
      guard let step else { fatalError("A body that has returned has made a step.") }
      return step.response
    }
  }
}
