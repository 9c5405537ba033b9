import UseCase
import UseCaseHistory

/// Puts text into the line. Each word that is typed becomes one entry of the history.
struct InsertText: UndoableUseCase {
  let document: Document

  func main(_ snippet: Snippet) async throws {
    try await document.change { line throws(Failure) in try line.insert(snippet) }
  }

  func undo(_ snippet: Snippet, _ response: Void) async throws {
    try await document.change { line throws(Failure) in try line.delete(snippet) }
  }

  func title(for snippet: Snippet) -> String { "Insert “\(snippet.text)”" }

  func merge(
    _ earlier: (request: Snippet, response: Void), _ later: (request: Snippet, response: Void)
  ) -> HistoryMerge<Snippet, Void> {
    earlier.request.typed(before: later.request).map { .merged($0, ()) } ?? .separate
  }
}
