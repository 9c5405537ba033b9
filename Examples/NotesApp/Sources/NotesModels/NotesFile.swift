import Foundation
import Synchronization
import UseCaseHistory

/// The notes on this device, in one file. A change replaces the file: it is there as a whole, or
/// not at all. An app with many notes has a database instead.
package final class NotesFile: Sendable {
  package struct Content: Codable, Sendable {
    package var notes: [Note.ID: Note] = [:]
    /// The notes whose newest version the server has not acknowledged.
    package var unsent: Set<Note.ID> = []
    /// The oldest note of the pages that were loaded, 0 after the last page, nil before the first.
    package var end: Note.ID?
    /// The orders that have no receipt yet.
    var orders: [Note.ID: Order] = [:]
    var newestStep: Step?
  }

  /// The newest step of the history that is in these notes.
  struct Step: Codable {
    let entry: HistoryEntry.ID
    let isUndo: Bool
    let old: [Note]
  }

  private let url: URL
  private let current: Mutex<Content>

  package init(at url: URL) throws {
    self.url = url
    let isNew = !FileManager.default.fileExists(atPath: url.path)
    let content =
      try isNew ? Content() : JSONDecoder().decode(Content.self, from: Data(contentsOf: url))
    current = Mutex(content)
  }

  package var content: Content { current.withLock { $0 } }

  /// Changes the notes when the file has been written.
  func change<Result: Sendable>(
    _ body: @Sendable (inout Content) -> Result
  ) throws -> Result {
    try current.withLock { content in
      var new = content
      let result = body(&new)
      try JSONEncoder().encode(new).write(to: url, options: .atomic)
      content = new
      return result
    }
  }

  /// Takes notes from the server, unless a newer version is here.
  func add(_ notes: [Note], end: Note.ID? = nil) throws {
    try change { content in
      for note in notes where note.version > content.notes[note.id]?.version ?? -1 {
        content.notes[note.id] = note
      }
      if let end { content.end = min(content.end ?? .max, end) }
    }
  }
}
