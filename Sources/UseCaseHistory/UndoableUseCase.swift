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
/// `main` returns what `undo` needs to know, here the old name. A history records the execution:
///
/// ```swift
/// let history = UseCaseHistory()
/// history.execute(Rename(document: document), "Report")
/// history.undo()
/// ```
///
/// `main`, `undo` and `redo` run in the isolation of the type. The history calls the other methods
/// on any thread: in a `@MainActor` type or an actor, mark them `nonisolated`.
public protocol UndoableUseCase<Request, Response>: UseCase {
  /// Reverses the effect of an execution.
  ///
  /// `undo` runs on the lane, the serial queue of the history, where nothing else runs until `undo`
  /// has returned. Its isolation is that of the type, and its timeout and interceptors are those of
  /// the use case. If it throws, the entry stays applied, and the undo can be tried again. If `undo`
  /// has already changed something when it fails, change it back before you throw. If `undo` throws
  /// ``HistoryObsolete``, the entry leaves the history.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: The response of `main`, or of the last `redo`.
  /// - Throws: The reason why the execution can't be undone.
  func undo(_ request: Request, _ response: Response) async throws

  /// Applies the effect of an undone execution again. The default calls `main` with the same
  /// request.
  ///
  /// If `main` creates an identifier, the default creates a different identifier, and later entries
  /// that refer to the first identifier fail. To avoid that, put the identifier into the request,
  /// or let `redo` take it from the last response.
  ///
  /// `redo` runs on the lane, as ``undo(_:_:)`` does. If `redo` throws, the entry stays undone, and
  /// the redo can be tried again. If it throws ``HistoryObsolete``, the entry leaves the history.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: The response of `main`, or of the last `redo`.
  /// - Returns: The new response, for the next undo.
  /// - Throws: The reason why the execution can't be redone.
  func redo(_ request: Request, _ response: Response) async throws -> Response

  /// Returns the title of the request for the user interface, such as "Rename" in "Undo Rename".
  /// The default is the `useCaseName`.
  ///
  /// `title` is called once, on the thread that executes, and once more for a merged request.
  ///
  /// - Parameter request: The request of the execution.
  /// - Returns: The title.
  /// - Complexity: Expected to be O(1).
  func title(for request: Request) -> String

  /// Decides whether two executions, one right after the other, become one entry, as two typed
  /// letters do. The default is ``HistoryMerge/separate``.
  ///
  /// `merge` is called on no actor, with no lock held.
  ///
  /// Only executions of the same use case merge. Two use cases are the same if they are equal
  /// values of an `Equatable` type, or the same object. Executions through copies of one
  /// ``RecordedUseCase`` also count as executions of the same use case. So two `Rename` values with
  /// different documents never merge. Make the type `Equatable`, or keep the recorded use case:
  /// ``UseCaseHistory/execute(_:_:)`` creates a new recorded use case each time. A conformance to
  /// `Equatable` that is isolated to an actor doesn't count: write `nonisolated Equatable`.
  ///
  /// The idea is that of `QUndoCommand::mergeWith` in Qt.
  ///
  /// - Parameters:
  ///   - earlier: The newest entry.
  ///   - later: The execution that is being recorded.
  /// - Returns: Whether the two become one entry, stay separate, or both leave the history.
  func merge(
    _ earlier: (request: Request, response: Response),
    _ later: (request: Request, response: Response)
  ) -> HistoryMerge<Request, Response>

  /// Called when a request and its response leave the history for good. The default does nothing.
  ///
  /// Use it to delete permanently what `main` has only hidden.
  ///
  /// Within one process, `discard` is called exactly once for each pair of request and response,
  /// with no lock held. If an operation removes the pair, `discard` is called on no actor, before
  /// the operation ends. `clear()`, `forget(_:)` and `limit` of ``UseCaseHistory`` call `discard`
  /// on the caller's thread, before they return. A history that is deallocated doesn't call
  /// `discard`.
  ///
  /// With a journal, `discard` is always called on no actor, once the row of the pair says that it
  /// leaves. `clear()`, `forget(_:)` and `limit` don't wait for the call. If the process ends before
  /// the row has gone, the next launch calls `discard` again.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: The last response.
  ///   - reason: Why the pair leaves.
  /// - Complexity: Expected to be O(1). Start a task for work that takes long.
  func discard(_ request: Request, _ response: Response, _ reason: HistoryDiscardReason)

  /// Returns the things that an execution of this request will read or write, `nil` if only the
  /// response tells. The default is `nil`.
  ///
  /// The history asks before there is a response, and an execution that waits counts by the answer.
  /// Return a footprint that contains the later one of ``footprint(of:_:)``, whose default it is.
  ///
  /// `footprint` is called once, on the thread that executes, with no lock held. The default of
  /// ``footprint(of:_:)`` calls it again.
  ///
  /// - Parameter request: The request of the execution.
  /// - Returns: The things that `main`, `undo` and `redo` read or write, or `nil`.
  /// - Complexity: Expected to be O(1).
  func footprint(of request: Request) -> HistoryFootprint?

  /// Returns the things that an execution has read or written. The default is the footprint of the
  /// request, or ``HistoryFootprint/everything`` if that is `nil`.
  ///
  /// ``UseCaseHistory/undo(_:)`` undoes an entry out of order only if no later entry overlaps its
  /// footprint. Return the same footprint each time for the same request and response.
  ///
  /// `footprint` is called with no lock held, on no actor.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: The response of `main`, or of the last `redo`.
  /// - Returns: The things that `main`, `undo` and `redo` read or write.
  /// - Complexity: Expected to be O(1). `footprint` is called whenever an entry is recorded,
  ///   redone, merged, or restored from a journal.
  func footprint(of request: Request, _ response: Response) -> HistoryFootprint
}

/// The answer to whether two executions, one right after the other, become one entry.
public enum HistoryMerge<Request: Sendable, Response: Sendable>: Sendable {
  /// The two stay separate entries.
  case separate

  /// The two become one entry, with this request and this response.
  case merged(Request, Response)

  /// The two cancel each other out, and both leave the history.
  case annul
}

extension UndoableUseCase {
  /// Calls `main` with the same request.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: The response of `main`, or of the last `redo`.
  /// - Returns: The new response.
  /// - Throws: Whatever `main` throws.
  public func redo(_ request: Request, _ response: Response) async throws -> Response {
    try await main(request)
  }

  /// Returns the name of the use case.
  ///
  /// - Parameter request: The request of the execution.
  /// - Returns: The `useCaseName`, by default the name of the type.
  public func title(for request: Request) -> String { useCaseName }

  /// Returns ``HistoryMerge/separate``.
  ///
  /// - Parameters:
  ///   - earlier: The newest entry.
  ///   - later: The execution that is being recorded.
  /// - Returns: ``HistoryMerge/separate``.
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
  ///   - reason: Why the pair leaves.
  public func discard(_ request: Request, _ response: Response, _ reason: HistoryDiscardReason) {}

  /// Returns `nil`.
  ///
  /// - Parameter request: The request of the execution.
  /// - Returns: `nil`.
  public func footprint(of request: Request) -> HistoryFootprint? { nil }

  /// Returns the footprint of the request, or ``HistoryFootprint/everything`` if that is `nil`.
  ///
  /// - Parameters:
  ///   - request: The request of the execution.
  ///   - response: The last response.
  /// - Returns: The footprint.
  public func footprint(of request: Request, _ response: Response) -> HistoryFootprint {
    footprint(of: request) ?? .everything
  }
}
