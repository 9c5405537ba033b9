public import UseCase

/// An undoable use case whose executions survive the end of the process, in a history that was opened
/// with ``UseCaseHistory/open(_:for:interrupted:limit:mergeWindow:clock:)``.
///
/// ```swift
/// struct Rename: JournaledUseCase {
///   static let journalName = "rename"
///   let document: Document
///
///   func main(_ name: String) async throws -> String { await document.rename(to: name) }
///   func undo(_ name: String, _ old: String) async throws { _ = await document.rename(to: old) }
/// }
/// ```
///
/// Requests and responses are written to the journal: put no secrets into them, or give the journal
/// a coder that encrypts.
public protocol JournaledUseCase<Request, Response>: UndoableUseCase
where Request: Codable, Response: Codable {
  /// The name of the use case in journals. It stays the same for ever, also when the type is renamed:
  /// under another name its entries are unreadable.
  static var journalName: String { get }

  /// Says what has become of a body that the end of the process has interrupted. The default answers
  /// ``HistorySettlement/unknown``.
  ///
  /// It is called once for each such body, before `open` returns, on no actor. Look at the document,
  /// or ask the server with ``HistoryEntry/ID/current`` as the key of the request. If it throws, the
  /// answer is ``HistorySettlement/unknown``.
  ///
  /// - Parameter doubt: What had begun, and perhaps ended.
  /// - Returns: Whether it had an effect.
  /// - Throws: The reason why that is not known.
  /// - Complexity: Yours. `open` waits for it.
  func settle(
    _ doubt: HistoryDoubt<Request, Response>
  ) async throws -> HistorySettlement<Response>
}

/// A body that had begun when the process ended, and of which nobody knows whether it came to its
/// end.
public enum HistoryDoubt<Request: Sendable, Response: Sendable>: Sendable {
  /// The execution of this request.
  case execution(Request)

  /// The undo of this pair.
  case undo(Request, Response)

  /// The redo of this pair.
  case redo(Request, Response)
}

/// The fate of a body that the end of the process has interrupted.
public enum HistorySettlement<Response: Sendable>: Sendable {
  /// Nothing has changed: the history is as if it had never been asked for.
  case hadNoEffect

  /// The effect is there. The response is that of an execution or a redo; that of an undo does not
  /// matter.
  case hadEffect(Response)

  /// Nobody knows. An execution becomes an entry that is ``HistoryEntry/Standing/inDoubt``; an undo or
  /// a redo leaves its entry as it was, and can be tried again.
  case unknown
}

extension JournaledUseCase {
  /// Returns ``HistorySettlement/unknown``.
  ///
  /// - Parameter doubt: What had begun, and perhaps ended.
  /// - Returns: That it is not known.
  /// - Throws: Nothing.
  public func settle(
    _ doubt: HistoryDoubt<Request, Response>
  ) async throws -> HistorySettlement<Response> {
    .unknown
  }
}
