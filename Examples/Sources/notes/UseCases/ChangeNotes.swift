import NotesWire
import UseCase
import UseCaseHistory

/// What a note was and what it is; nil is no note.
struct Change: Hashable, Sendable {
  var before: Note?
  var after: Note?
}

/// A use case that changes one note. Each change can be made backwards, and forwards again, also past
/// changes of other notes. If somebody else has changed the note meanwhile, both are obsolete, rather
/// than to lose what they wrote.
protocol NoteChange: UndoableUseCase where Response == Change {
  /// Restated, so that the compiler finds it in `change`.
  associatedtype Request

  var notebook: Notebook { get }

  func change(_ request: Request) async throws -> Change
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
}

struct NewNote: NoteChange {
  let notebook: Notebook
  let paper: Paper

  func change(_ text: String) async throws -> Change {
    Change(after: paper.note(text))
  }

  func title(for text: String) -> String { "New “\(text)”" }
}

struct EditNote: NoteChange {
  struct Request: Sendable {
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

  func title(for request: Request) -> String { "Edit \(request.id) “\(request.text)”" }
}

struct RemoveNote: NoteChange {
  let notebook: Notebook

  func change(_ id: String) async throws -> Change {
    Change(before: try await notebook.get(try await notebook.id(id)))
  }

  func title(for id: String) -> String { "Remove \(id)" }
}
