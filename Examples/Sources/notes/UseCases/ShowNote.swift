import NotesWire
import Synchronization
import UseCase
import UseCaseHistory

/// Opens a note on the desk. To undo it opens the one that lay there before, as it is by then.
struct ShowNote: JournaledUseCase {
  static let journalName = "show"

  struct Response: Codable, Sendable {
    let note: Note
    let before: Note.ID?
  }

  let notebook: Notebook
  let desk: Desk

  func main(_ prefix: String) async throws -> Response {
    try await open(try await notebook.id(prefix))
  }

  func undo(_ prefix: String, _ response: Response) async throws {
    do {
      desk.note = if let id = response.before { try await notebook.get(id) } else { nil }
    } catch NotesError.notFound {
      // Somebody has removed it: there is nothing to open.
      desk.note = nil
    }
  }

  func redo(_ prefix: String, _ response: Response) async throws -> Response {
    try await open(response.note.id)
  }

  /// The desk, and no note: to open one changes none.
  func footprint(of prefix: String, _ response: Response) -> HistoryFootprint {
    .keys(ObjectIdentifier(desk))
  }

  private func open(_ id: Note.ID) async throws -> Response {
    let note = try await notebook.get(id)
    let before = desk.note?.id
    desk.note = note
    return Response(note: note, before: before)
  }

  func title(for prefix: String) -> String { "Show \(prefix)" }
}

/// Where the note lies that was shown last.
final class Desk: Sendable {
  private let content = Mutex<Note?>(nil)

  var note: Note? {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }
}
