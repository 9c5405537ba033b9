import UseCase
import UseCaseHistory

/// Takes text out of the line. What is erased in one go becomes one entry of the history.
struct DeleteText: UndoableUseCase {
  let document: Document

  func main(_ snippet: Snippet) async throws {
    try await document.change { line throws(Failure) in try line.delete(snippet) }
  }

  func undo(_ snippet: Snippet, _ response: Void) async throws {
    try await document.change { line throws(Failure) in try line.insert(snippet) }
  }

  func title(for snippet: Snippet) -> String { "Delete “\(snippet.text)”" }

  func merge(
    _ earlier: (request: Snippet, response: Void), _ later: (request: Snippet, response: Void)
  ) -> HistoryMerge<Snippet, Void> {
    earlier.request.erased(before: later.request).map { .merged($0, ()) } ?? .separate
  }
}
