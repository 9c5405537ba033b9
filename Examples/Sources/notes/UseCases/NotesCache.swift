import Foundation
import NotesWire
import Synchronization

/// What was last heard of the notes. It is kept in a file, which may be lost at any time.
final class NotesCache: Sendable {
  private let path: String?
  private let content: Mutex<[Note]?>

  /// Without a path it lives in memory alone.
  init(path: String? = nil) {
    self.path = path
    let data = path.flatMap { FileManager.default.contents(atPath: $0) }
    content = Mutex(data.flatMap { try? JSONDecoder().decode([Note].self, from: $0) })
  }

  /// In their order; nil if nothing was heard of them yet.
  var notes: [Note]? {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }

  func ids(_ prefix: String) -> [Note.ID] {
    let notes = notes ?? []
    return notes.map(\.id).contains(prefix)
      ? [prefix] : notes.map(\.id).filter { $0.hasPrefix(prefix) }
  }

  func set(_ id: Note.ID, to note: Note?) {
    content.withLock { notes in
      notes?.removeAll { $0.id == id }
      if let note { notes = ((notes ?? []) + [note]).sorted(by: Note.areInOrder) }
    }
  }

  /// Writes the file. Who cannot write it has no cache the next time.
  func save() {
    guard let path, let notes, let data = try? JSONEncoder().encode(notes) else { return }
    try? data.write(to: URL(filePath: path), options: .atomic)
  }
}
