public import UseCase

/// An undoable use case whose executions survive the end of the process.
///
/// Pass it to ``UseCaseHistory/open(_:for:interrupted:limit:mergeWindow:clock:observer:)``, which opens a
/// history from its journal.
///
/// ```swift
/// struct Rename: JournaledUseCase {
///   static let journalName = "rename"
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
/// Restored entries run in the use case that was passed to `open`. If you have several values of
/// the type, put whatever distinguishes them, such as the id of a document, into the request.
/// `Void` isn't `Codable`: for no request or response, take an empty `Codable` struct. A field that you
/// add later must be optional, or have a value in `init(from:)`, so that older entries can be read.
///
/// Requests and responses are written to the journal: put no secrets into them, or give the journal
/// a coder that encrypts.
public protocol JournaledUseCase<Request, Response>: UndoableUseCase
where Request: Codable, Response: Codable {
  /// The name of the use case in journals. Never change it, even if you rename the type: a use case
  /// with another name can't read the entries. In a `@MainActor` type or an actor, mark it
  /// `nonisolated`.
  static var journalName: String { get }

  /// Names that the entries of the use case were written under in earlier versions of the app. The
  /// default is none. In a `@MainActor` type or an actor, mark it `nonisolated`.
  static var formerJournalNames: [String] { get }

  /// Returns whether an execution, undo or redo took effect that was interrupted by the end of the
  /// process. The default returns ``HistorySettlement/unknown``.
  ///
  /// `open` calls `settle` once for each interrupted execution, undo or redo, in the isolation of
  /// the type, and waits for the answer. Look at the document, or ask the server, with an
  /// idempotency key made of ``HistoryEntry/ID/current``. If `settle` throws, the answer is
  /// ``HistorySettlement/unknown``. With a ``TransactionalJournal`` nothing is in doubt, and `open`
  /// calls `settle` only for what was interrupted while the journal had no transactions.
  ///
  /// - Parameter doubt: The execution, undo or redo that was interrupted.
  /// - Returns: Whether the execution, undo or redo took effect.
  /// - Throws: The reason why the answer is not known.
  func settle(
    _ doubt: HistoryDoubt<Request, Response>
  ) async throws -> HistorySettlement<Response>
}

/// An execution, undo or redo that was interrupted by the end of the process. The history doesn't
/// know whether it took effect.
public enum HistoryDoubt<Request: Sendable, Response: Sendable>: Sendable {
  /// The execution of this request.
  case execution(Request)

  /// The undo of the execution with this request and response.
  case undo(Request, Response)

  /// The redo of the execution with this request and response.
  case redo(Request, Response)
}

/// The answer to whether an interrupted execution, undo or redo took effect.
public enum HistorySettlement<Response: Sendable>: Sendable {
  /// The execution, undo or redo changed nothing. The history goes on as if it had never begun.
  case hadNoEffect

  /// The execution, undo or redo took effect, and had this response.
  ///
  /// Pass the response of the execution or the redo. For an undo, pass any response: it is ignored.
  case hadEffect(Response)

  /// It is unknown whether the execution, undo or redo took effect. The entry is
  /// ``HistoryEntry/Standing/inDoubt``. An undo or a redo can be tried again.
  case unknown
}

extension JournaledUseCase {
  /// Returns no name.
  public static var formerJournalNames: [String] { [] }

  /// Returns ``HistorySettlement/unknown``.
  ///
  /// - Parameter doubt: The execution, undo or redo that was interrupted.
  /// - Returns: ``HistorySettlement/unknown``.
  /// - Throws: No error.
  public func settle(
    _ doubt: HistoryDoubt<Request, Response>
  ) async throws -> HistorySettlement<Response> {
    .unknown
  }
}

// MARK: - As its journal sees it, whatever its types

extension JournaledUseCase {
  /// Encodes a request and its title.
  func encode(
    _ request: Any, title: String, _ coder: any HistoryCoder
  ) throws -> (title: [UInt8], request: [UInt8]) {
    guard let request = request as? Request else {
      preconditionFailure("\(Self.self) has another type of request than \(type(of: request)).")
    }
    return (try coder.encode(title), try coder.encode(request))
  }

  func encode(response: Any, _ coder: any HistoryCoder) throws -> [UInt8] {
    guard let response = response as? Response else {
      preconditionFailure("\(Self.self) has another type of response than \(type(of: response)).")
    }
    return try coder.encode(response)
  }

  /// Returns the step that an execution has made.
  func step(
    _ request: [UInt8], _ response: [UInt8], _ coder: any HistoryCoder
  ) throws -> any HistoryStep {
    RecordedStep(
      self, nil, try coder.decode(Request.self, from: request),
      try coder.decode(Response.self, from: response))
  }

  /// Returns nil if this version of the app can't read the values. A later one may do so.
  func settle(
    _ state: HistoryRow<any HistoryStep>.State, _ request: [UInt8], _ response: [UInt8]?,
    _ coder: any HistoryCoder
  ) async -> HistorySettlement<[UInt8]>? {
    let question: HistoryDoubt<Request, Response>
    do {
      let request = try coder.decode(Request.self, from: request)
      switch (state, try response.map { try coder.decode(Response.self, from: $0) }) {
      case (.undoing, let response?): question = .undo(request, response)
      case (.redoing, let response?): question = .redo(request, response)
      case (.executing, _): question = .execution(request)
      default: return nil
      }
    } catch {
      return nil
    }
    do {
      switch try await settle(question) {
      case .hadNoEffect: return .hadNoEffect
      case .hadEffect(let new):
        return .hadEffect(state == .undoing ? response ?? [] : try coder.encode(new))
      case .unknown: return .unknown
      }
    } catch {
      return .unknown
    }
  }
}
