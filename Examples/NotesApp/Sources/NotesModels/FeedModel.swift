import Observation
import UseCase

/// Loads the notes that are older than `before`, twenty at the most.
package struct LoadPage: UseCase {
  let server: Server
  let file: NotesFile
  package let queue = UseCaseQueue(.cancelPrevious)

  package func main(_ before: Note.ID) async throws {
    let notes: [Note] = try await server.get("notes", "before", "\(before)")
    try file.add(notes, end: notes.last?.id ?? 0)
  }
}

package struct SearchNotes: UseCase {
  let server: Server
  let file: NotesFile
  package let queue: UseCaseQueue
  package let timeout = Duration.seconds(10)

  package func main(_ text: String) async throws -> [Note.ID] {
    let notes: [Note] = try await server.get("notes", "text", text)
    try file.add(notes)
    return notes.map(\.id)
  }
}

/// The list: all notes, or those that a search has found.
@MainActor @Observable
package final class FeedModel {
  package let page: UseCaseModel<LoadPage>
  package let search: UseCaseModel<SearchNotes>
  private var isSearching = false
  private let notebook: Notebook

  init(_ notebook: Notebook, server: Server, file: NotesFile, clock: any Clock<Duration>) {
    self.notebook = notebook
    page = UseCaseModel(LoadPage(server: server, file: file))
    let queue = UseCaseQueue(.cancelPrevious(debounce: .milliseconds(300)), clock: clock)
    search = UseCaseModel(SearchNotes(server: server, file: file, queue: queue))
  }

  package var rows: [Note] {
    let content = notebook.content
    let notes =
      isSearching
      ? (search.value ?? []).compactMap { content.notes[$0] }
      : content.notes.values.filter { $0.id >= content.end ?? 0 }.sorted { $0.id > $1.id }
    return notes.filter { !$0.isDeleted }
  }

  /// Whether there is another page.
  package var hasMore: Bool { !isSearching && notebook.content.end != 0 }

  package func loadMore() {
    if hasMore, !page.isRunning { load(before: notebook.content.end ?? .max) }
  }

  @discardableResult
  package func load(before: Note.ID = .max) -> UseCaseOperation<Note.ID, Void> {
    notebook.follow(page.execute(before))
  }

  @discardableResult
  package func find(_ text: String) -> UseCaseOperation<String, [Note.ID]>? {
    isSearching = !text.isEmpty
    if isSearching { return notebook.follow(search.execute(text)) }
    search.reset()
    return nil
  }
}
