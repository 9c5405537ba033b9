import NotesWire
import UseCase

/// Saves a note when the typing pauses, and after ten seconds of typing at the latest. Of one note,
/// one save runs and the newest text waits; two notes are saved side by side.
struct AutosaveNote: UseCase {
  struct Request: Sendable {
    let id: Note.ID
    let text: String
  }

  let notebook: Notebook
  let lanes: UseCaseLanes<Note.ID>

  init(notebook: Notebook, clock: any Clock<Duration> = ContinuousClock()) {
    self.notebook = notebook
    lanes = UseCaseLanes(
      .keepLatest.debounced(by: .seconds(1), atMost: .seconds(10)), clock: clock)
  }

  func queue(for request: Request) -> UseCaseQueue { lanes[request.id] }

  func main(_ request: Request) async throws -> Note {
    let old = try await notebook.get(request.id)
    let new = Note(id: old.id, created: old.created, text: request.text)
    try await notebook.change(old, to: new)
    return new
  }
}

/// Types a text into several notes at the same time, a letter into each in turn, and then leaves
/// them: the last text is saved at once, also when this is cancelled.
struct TypeText: UseCase {
  struct Request: Hashable, Sendable {
    /// The beginnings of the ids.
    let ids: [String]
    let text: String
  }

  /// A note as it was saved last, and how often it was.
  struct Saved: Sendable {
    let note: Note
    let count: Int
  }

  let notebook: Notebook
  let autosave: AutosaveNote
  let queue = UseCaseQueue(.serial)

  func main(_ request: Request) async throws -> [Saved] {
    var ids: [Note.ID] = []
    for id in request.ids { ids.append(try await notebook.id(id)) }
    let keystrokes = request.text.indices.map { request.text[...$0] }
    let saves = keystrokes.flatMap { text in
      ids.map { autosave.execute(.init(id: $0, text: String(text))) }
    }
    autosave.lanes.flush()
    await autosave.lanes.idle()
    var saved: [Note] = []
    for save in saves {
      switch save.outcome {
      case .success(let note)?: saved.append(note)
      case .failure(let error)?: throw error
      case .cancelled?, nil: break
      }
    }
    return ids.compactMap { id in
      let saved = saved.filter { $0.id == id }
      return saved.last.map { Saved(note: $0, count: saved.count) }
    }
  }
}
