import Foundation
import NotesWire
import Synchronization

/// The notes, in a file to which each change is appended.
///
/// A change is acknowledged when it is on the disk. What a server that was killed had begun to
/// write is the end of the file and has no line break: it was not acknowledged, and is cut off.
final class Store: Sendable {
  /// The belief of a client about a note that it changes.
  enum Expectation: Hashable, Sendable {
    case absent
    case tag(String)
  }

  enum Refusal: Error, Hashable {
    /// The note is not what the client believes.
    case changed
    case full
    /// The file cannot be written.
    case unwritable
  }

  /// One line of the file.
  private struct Change: Codable {
    var put: Note?
    var delete: String?
  }

  private struct State {
    var notes: [String: Note] = [:]
    /// Where the last whole line ends.
    var end: off_t = 0
    /// The content of the file is uncertain: only a new start can tell.
    var isBroken = false
  }

  static let capacity = 10_000

  private let file: Int32
  private let state: Mutex<State>

  init(path: String) throws(Failure) {
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure("cannot open \(path)") }
    do {
      state = Mutex(try Self.read(path, file))
    } catch {
      close(file)
      throw error
    }
    Self.syncFolder(of: path)
  }

  deinit { close(file) }

  private static func read(_ path: String, _ file: Int32) throws(Failure) -> State {
    guard let data = try? Data(contentsOf: URL(filePath: path)) else {
      throw Failure("cannot read \(path)")
    }
    var state = State()
    let decoder = JSONDecoder()
    for (number, line) in zip(1..., data.split(separator: 0x0A, omittingEmptySubsequences: false)) {
      let end = line.endIndex
      guard end < data.endIndex else { break }
      guard let change = try? decoder.decode(Change.self, from: line) else {
        throw Failure("\(path), line \(number): this is not a change of a note")
      }
      if let note = change.put { state.notes[note.id] = note }
      if let id = change.delete { state.notes[id] = nil }
      state.end = off_t(end + 1)
    }
    guard ftruncate(file, state.end) == 0 else { throw Failure("cannot write \(path)") }
    return state
  }

  /// A new file is there for good when its folder is written too.
  private static func syncFolder(of path: String) {
    let folder = open(URL(filePath: path).deletingLastPathComponent().path(), O_RDONLY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  var notes: [Note] { state.withLock { $0.notes.values.sorted(by: Note.areInOrder) } }

  func note(_ id: String) -> Note? { state.withLock { $0.notes[id] } }

  /// Returns whether the note is new. To put the same note once more changes nothing, whatever
  /// the client expects: its first request has arrived, and the answer was lost.
  func put(_ note: Note, over expectation: Expectation) throws(Refusal) -> Bool {
    try state.withLock { state throws(Refusal) in
      let present = state.notes[note.id]
      if present == note { return false }
      try Self.check(present, against: expectation)
      guard present != nil || state.notes.count < Self.capacity else { throw .full }
      try append(Change(put: note), &state)
      state.notes[note.id] = note
      return present == nil
    }
  }

  /// To delete what is not there changes nothing, for the same reason.
  func delete(_ id: String, over expectation: Expectation) throws(Refusal) {
    try state.withLock { state throws(Refusal) in
      guard let present = state.notes[id] else { return }
      try Self.check(present, against: expectation)
      try append(Change(delete: id), &state)
      state.notes[id] = nil
    }
  }

  private static func check(
    _ present: Note?, against expectation: Expectation
  ) throws(Refusal) {
    let isAsExpected =
      switch expectation {
      case .absent: present == nil
      case .tag(let tag): present?.tag == tag
      }
    if !isAsExpected { throw .changed }
  }

  private func append(_ change: Change, _ state: inout State) throws(Refusal) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard !state.isBroken, var line = try? encoder.encode(change) else { throw .unwritable }
    line.append(0x0A)
    let isWritten = line.withUnsafeBytes { bytes in
      var count = 0
      while count < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[count...])
        let written = pwrite(file, rest.baseAddress, rest.count, state.end + off_t(count))
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { return false }
        count += written
      }
      return true
    }
    guard isWritten, fsync(file) == 0 else {
      // The client is told that it has failed, so nothing may be left of it.
      let isCut = ftruncate(file, state.end) == 0
      state.isBroken = isWritten || !isCut
      throw .unwritable
    }
    state.end += off_t(line.count)
  }
}
