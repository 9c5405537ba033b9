import NotesWire
import UseCase

/// Reports the notes that are known here at once, and then answers with those of the server.
struct ListNotes: ReportingUseCase {
  let notebook: Notebook
  let queue = UseCaseQueue(.cancelPrevious)

  func main(
    _ request: Void, report: @escaping @Sendable ([Note]) -> Void
  ) async throws -> [Note] {
    if let known = notebook.cache.notes { report(known) }
    return try await notebook.list()
  }
}
