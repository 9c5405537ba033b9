public import UseCase

/// A use case whose effect can be undone.
///
/// ```swift
/// struct Rename: UndoableUseCase {
///   let document: Document
///
///   func main(_ name: String) async throws -> String {
///     await document.rename(to: name)
///   }
///
///   func undo(_ name: String, _ old: String) async throws {
///     _ = await document.rename(to: old)
///   }
/// }
/// ```
///
/// ```swift
/// let history = UseCaseHistory()
/// history.execute(Rename(document: document), "Report")
/// history.undo()
/// ```
///
/// `main` answers with whatever `undo` needs to know: here with the old name.
public protocol UndoableUseCase<Request, Response>: UseCase {
  /// Takes the effect of an execution back.
  ///
  /// It runs on the lane of the history, on no actor, without a timeout. If it throws, the entry
  /// stays applied and can be undone again: leave things as they were. If it throws
  /// ``HistoryObsolete``, the entry leaves.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: What `main`, or the last `redo`, answered.
  /// - Throws: The reason why it cannot be undone.
  /// - Complexity: Yours. Nothing else runs on the lane until this has returned.
  func undo(_ request: Request, _ response: Response) async throws

  /// Brings the effect of an execution back. The default calls `main` with the same request.
  ///
  /// What `main` makes anew, such as a fresh id, is another one then, and later entries that refer to
  /// the first one fail. So put it into the request, or let `redo` restore it from the response
  /// before.
  ///
  /// It runs as ``undo(_:_:)`` does. If it throws, the entry stays undone.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: The response before.
  /// - Returns: The new response, for the next undo.
  /// - Throws: The reason why it cannot be redone.
  /// - Complexity: Yours, as that of ``undo(_:_:)``.
  func redo(_ request: Request, _ response: Response) async throws -> Response

  /// Returns what a user calls the request, in the words "Undo …". The default is the name of
  /// the type. It is called on the thread that reads the title.
  ///
  /// - Parameter request: The request of the execution.
  /// - Returns: The title.
  /// - Complexity: Expected to be O(1): it is called whenever somebody reads a title.
  func title(for request: Request) -> String

  /// Returns what becomes of two executions, one right after the other, such as two letters
  /// typed. The default is ``HistoryMerge/separate``. It is called on no actor.
  ///
  /// Only executions of the same use case merge: of equal values if the type is `Equatable`, of the
  /// same object, or of copies of one ``recorded(in:)``. Two that write to two documents stay
  /// separate. So make the type `Equatable`, or keep the recorded use case:
  /// ``UseCaseHistory/execute(_:_:)`` makes another one each time.
  ///
  /// The idea is that of `QUndoCommand::mergeWith` in Qt.
  ///
  /// - Parameters:
  ///   - earlier: The newest entry.
  ///   - later: The execution that is being recorded.
  /// - Returns: Whether they become one entry, none, or stay two.
  /// - Complexity: Yours. It runs at each recording that may merge, outside of any lock.
  func merge(
    _ earlier: (request: Request, response: Response),
    _ later: (request: Request, response: Response)
  ) -> HistoryMerge<Request, Response>

  /// The pair leaves the history for good, and neither undo nor redo will ever ask for it: the
  /// place to delete for real what `main` had only hidden. The default does nothing.
  ///
  /// It is called exactly once, outside of any lock: on no actor, before the operation that
  /// caused it has ended; by `clear()`, `forget(_:)` and `limit` of ``UseCaseHistory`` on the thread
  /// of the caller, before they return. A history that goes away calls it for none.
  ///
  /// In a history with a journal it is called as soon as the journal knows that the pair has left: by
  /// those three a moment later. If the process ends just then, the next one calls it again.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: The last response.
  ///   - reason: Why it leaves.
  /// - Complexity: Yours. Start a task for what takes long.
  func discard(_ request: Request, _ response: Response, _ reason: HistoryDiscardReason)

  /// Returns what an execution has touched. The default is ``HistoryFootprint/everything``.
  ///
  /// ``UseCaseHistory/undo(_:)`` undoes an entry out of order only if no later one overlaps it. It is
  /// called on no actor, outside of any lock, and gives the same for the same pair.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: What `main`, or the last `redo`, answered.
  /// - Returns: The things that `main`, `undo` and `redo` read or write.
  /// - Complexity: Expected to be O(1). It runs at each recording and redo.
  func footprint(of request: Request, _ response: Response) -> HistoryFootprint
}

/// The fate of two executions, one right after the other.
public enum HistoryMerge<Request: Sendable, Response: Sendable>: Sendable {
  /// They stay two entries.
  case separate

  /// They become one, with this request and this response.
  case merged(Request, Response)

  /// They cancel each other out: both leave.
  case annul
}

extension UndoableUseCase {
  /// Calls `main` with the same request.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: The response before.
  /// - Returns: The new response.
  /// - Throws: Whatever `main` throws.
  public func redo(_ request: Request, _ response: Response) async throws -> Response {
    try await main(request)
  }

  /// Returns the name of the type.
  ///
  /// - Parameter request: The request of the execution.
  /// - Returns: The name of the type.
  public func title(for request: Request) -> String { name(of: Self.self) }

  /// Returns ``HistoryMerge/separate``.
  ///
  /// - Parameters:
  ///   - earlier: The newest entry.
  ///   - later: The execution that is being recorded.
  /// - Returns: That they stay two entries.
  public func merge(
    _ earlier: (request: Request, response: Response),
    _ later: (request: Request, response: Response)
  ) -> HistoryMerge<Request, Response> {
    .separate
  }

  /// Does nothing.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: The last response.
  ///   - reason: Why it leaves.
  public func discard(_ request: Request, _ response: Response, _ reason: HistoryDiscardReason) {}

  /// Returns ``HistoryFootprint/everything``.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: The last response.
  /// - Returns: That it may have touched anything.
  public func footprint(of request: Request, _ response: Response) -> HistoryFootprint {
    .everything
  }
}

/// Not inlined: the optimizer folds the name of a private type to another one, "(Name in _29…)".
@inline(never)
private func name(of type: Any.Type) -> String { _typeName(type, qualified: false) }
