import Foundation
import NotesWire
import Synchronization

/// The last known state of the notes. It is kept in a file, which may be lost at any time.
final class NotesCache: Sendable {
  private let path: String?
  private let content: Mutex<[Note.ID: Note]?>

  /// Without a path it lives in memory alone.
  init(path: String? = nil) {
    self.path = path
    let data = path.flatMap { FileManager.default.contents(atPath: $0) }
    content = Mutex(data.flatMap { try? JSONDecoder().decode([Note.ID: Note].self, from: $0) })
  }

  /// In their order; nil if nothing was heard of them yet.
  var notes: [Note]? {
    get { content.withLock { $0?.values.sorted(by: Note.areInOrder) } }
    set { content.withLock { $0 = newValue?.reduce(into: [:]) { $0[$1.id] = $1 } } }
  }

  func ids(_ prefix: String) -> [Note.ID] {
    content.withLock { notes in
      notes?[prefix] != nil ? [prefix] : notes?.keys.filter { $0.hasPrefix(prefix) } ?? []
    }
  }

  func set(_ id: Note.ID, to note: Note?) {
    content.withLock { notes in
      if let note { notes = notes ?? [id: note] }
      notes?[id] = note
    }
  }

  /// Writes the file, for its owner alone. If that fails, there is no cache the next time.
  func save() {
    let notes = content.withLock { $0 }
    guard let path, let notes, let data = try? JSONEncoder().encode(notes) else { return }
    try? data.write(to: URL(filePath: path), options: .atomic)
    try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }
}
