import NotesWire
import UseCase

/// Loads a note for a row.
struct LoadNote: UseCase {
  let notebook: Notebook
  let queue = UseCaseQueue(.limit(4))

  func main(_ id: Note.ID) async throws -> Note { try await notebook.get(id) }
}

/// Loads a note for each row. Rows of the same note share one load.
struct LoadRows: UseCase {
  let notebook: Notebook
  let load: SharedUseCase<LoadNote>
  let queue = UseCaseQueue(.cancelPrevious)

  func main(_ prefixes: [String]) async throws -> [Note] {
    var ids: [Note.ID] = []
    for prefix in prefixes { ids.append(try await notebook.id(prefix)) }
    // Rows that nobody waits for any longer are cancelled with this.
    let scope = UseCaseScope()
    let rows = ids.map { load.execute($0).store(in: scope) }
    var notes: [Note] = []
    for row in rows { notes.append(try await row.value) }
    withExtendedLifetime(scope) {}
    return notes
  }
}
