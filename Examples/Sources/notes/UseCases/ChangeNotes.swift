import NotesWire
import UseCase
import UseCaseHistory

/// A note before and after a change; nil is no note.
struct Change: Codable, Hashable, Sendable {
  var before: Note?
  var after: Note?
}

/// A use case that changes one note. Each change can be made backwards, and forwards again, also
/// past changes of other notes. If somebody else has changed the note meanwhile, both are obsolete,
/// rather than to lose what they wrote.
protocol NoteChange: JournaledUseCase where Response == Change {
  /// Restated, so that the compiler finds it in `change`.
  associatedtype Request

  var notebook: Notebook { get }

  func change(_ request: Request) async throws -> Change

  /// Says whether an execution that was interrupted has had its effect: the present note tells.
  func effect(of request: Request) async throws -> HistorySettlement<Change>
}

extension NoteChange {
  func main(_ request: Request) async throws -> Change {
    let change = try await change(request)
    try await notebook.change(change.before, to: change.after)
    return change
  }

  func undo(_ request: Request, _ change: Change) async throws {
    try await back(change.after, to: change.before)
  }

  func redo(_ request: Request, _ change: Change) async throws -> Change {
    try await back(change.before, to: change.after)
    return change
  }

  func footprint(of request: Request, _ change: Change) -> HistoryFootprint {
    guard let id = (change.before ?? change.after)?.id else { return .keys() }
    return .keys(id)
  }

  private func back(_ old: Note?, to new: Note?) async throws {
    do {
      try await notebook.change(old, to: new)
    } catch NotesError.changed {
      throw HistoryObsolete(NotesError.changed)
    }
  }

  func settle(
    _ doubt: HistoryDoubt<Request, Change>
  ) async throws -> HistorySettlement<Change> {
    switch doubt {
    case .execution(let request): try await effect(of: request)
    case .undo(_, let change): try await settle(change, from: change.after, to: change.before)
    case .redo(_, let change): try await settle(change, from: change.before, to: change.after)
    }
  }

  private func settle(
    _ change: Change, from old: Note?, to new: Note?
  ) async throws -> HistorySettlement<Change> {
    guard let id = (old ?? new)?.id else { return .hadNoEffect }
    let present = try await notebook.find(id)
    return present == new ? .hadEffect(change) : present == old ? .hadNoEffect : .unknown
  }
}

/// Puts a note that was made here, with its id: so it can be found again.
struct NewNote: NoteChange {
  static let journalName = "new"
  let notebook: Notebook

  func change(_ note: Note) async throws -> Change { Change(after: note) }

  func effect(of note: Note) async throws -> HistorySettlement<Change> {
    try await notebook.find(note.id) == note ? .hadEffect(Change(after: note)) : .hadNoEffect
  }

  func title(for note: Note) -> String { "New “\(note.text)”" }
}

struct EditNote: NoteChange {
  static let journalName = "edit"

  struct Request: Codable, Sendable {
    /// The beginning of it is enough.
    let id: String
    let text: String
  }

  let notebook: Notebook

  func change(_ request: Request) async throws -> Change {
    let note = try await notebook.get(try await notebook.id(request.id))
    return Change(
      before: note, after: Note(id: note.id, created: note.created, text: request.text))
  }

  func effect(of request: Request) async throws -> HistorySettlement<Change> {
    let note = try await notebook.find(try await notebook.id(request.id))
    // The text that it had before is lost.
    return note?.text == request.text ? .unknown : .hadNoEffect
  }

  func title(for request: Request) -> String { "Edit \(request.id) “\(request.text)”" }
}

struct RemoveNote: NoteChange {
  static let journalName = "remove"
  let notebook: Notebook

  func change(_ id: String) async throws -> Change {
    Change(before: try await notebook.get(try await notebook.id(id)))
  }

  func effect(of id: String) async throws -> HistorySettlement<Change> {
    // If it is gone, so is what it was.
    try await notebook.find(try await notebook.id(id)) == nil ? .unknown : .hadNoEffect
  }

  func title(for id: String) -> String { "Remove \(id)" }
}
