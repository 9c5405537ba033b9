import Foundation
import Observation
import UseCase

/// Loads the notes that are older than `before`, twenty at the most.
package struct LoadPage: UseCase {
  let server: Server
  let file: NotesFile
  package let queue = UseCaseQueue()  // the file merges pages, whatever their order

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
  private var query = ""
  /// The pages that are on their way, by the note that they are before, and the one that has failed.
  private var asked: [Note.ID: UseCaseOperation<Note.ID, Void>] = [:]
  private var failed: Note.ID?
  private let notebook: Notebook

  init(_ notebook: Notebook, server: Server, file: NotesFile, clock: any Clock<Duration>) {
    self.notebook = notebook
    page = UseCaseModel(LoadPage(server: server, file: file))
    let queue = UseCaseQueue(.cancelPrevious(debounce: .milliseconds(300)), clock: clock)
    search = UseCaseModel(SearchNotes(server: server, file: file, queue: queue))
  }

  package var rows: [Note] {
    let (content, found) = (notebook.content, Set(search.value ?? []))
    let rows = content.notes.values.filter { note in
      if query.isEmpty { return note.id >= content.end ?? 0 }
      let isFound = note.text.localizedCaseInsensitiveContains(query)
      // The server hasn't seen the newest version of an unsent note.
      return content.unsent.contains(note.id) ? isFound : isFound || found.contains(note.id)
    }
    return rows.filter { !$0.isDeleted }.sorted { $0.id > $1.id }
  }

  /// Whether there is another page.
  package var hasMore: Bool { query.isEmpty && notebook.content.end != 0 }

  package func loadMore() {
    if hasMore { load(before: notebook.content.end ?? .max) }
  }

  @discardableResult
  package func load(before: Note.ID = .max) -> UseCaseOperation<Note.ID, Void> {
    if let operation = asked[before] { return operation }
    let operation = page.execute(before)
    asked[before] = operation
    return
      operation
      .then { [weak self] in
        if self?.failed == before { self?.failed = nil }
        self?.notebook.show()
      }
      .catch { [weak self] _ in self?.failed = before }
      .finally { [weak self] in self?.asked[before] = nil }
  }

  /// Whether a page is missing that `tryAgain()` loads.
  package var isIncomplete: Bool { failed != nil }

  package func tryAgain() {
    if let failed { load(before: failed) }
  }

  /// The text of the search field.
  package var text: String {
    get { query }
    set { find(newValue) }
  }

  @discardableResult
  package func find(_ text: String) -> UseCaseOperation<String, [Note.ID]>? {
    query = text
    if text.isEmpty {
      search.reset()
      return nil
    }
    return search.execute(text).then { [weak self] _ in self?.notebook.show() }
  }
}
