import Dispatch
public import Foundation
public import UseCaseHistory
import UseCaseInternals

/// A journal in a file.
///
/// ```swift
/// let journal = try FileJournal(at: folder.appending(path: "undo.journal"))
/// let history = try await UseCaseHistory.open(
///   journal, for: [Rename(document: document)])
/// ```
///
/// Only one process at a time can open the file, and only the user who owns the file can read it.
/// Each record has its length and a checksum. A last record that was only partly written is
/// removed. A file that is damaged elsewhere, or isn't a journal, is left unchanged.
///
/// A history that is released doesn't close its file at once, because its last operations and tasks
/// may still hold it. To open the file again in the same process, await the
/// `idle()` of the history, and call ``close()``.
///
/// `FileJournal` is available on Linux and Apple platforms.
public final class FileJournal: HistoryJournal {
  /// The events that a record survives once `append` has returned.
  public enum Durability: Hashable, Sendable {
    /// The end of the process, even by a crash. The operating system has the record, and writes it
    /// to the drive later.
    case process

    /// The loss of power, too. Each `append` waits until the drive has the record, which takes
    /// milliseconds.
    case power
  }

  private enum State: Sendable {
    /// Next is `closed`.
    case open(JournalFile)
    /// Final.
    case closed
  }

  /// Encodes the values, and decodes them.
  public let coder: any HistoryCoder

  private let path: String
  private let durability: Durability
  private let state: Lock<State>
  /// A queue for long calls of the system, so that they block no thread of the tasks.
  private let queue = DispatchQueue(label: "FileJournal")

  /// Opens the journal at `url`, or creates it there.
  ///
  /// - Parameters:
  ///   - url: A file, in a folder that exists.
  ///   - durability: The events that a record survives.
  ///   - coder: Encodes the values, and decodes them.
  /// - Throws: A `HistoryJournalError` if the file is in use, has another format or a damaged
  ///   header, or can't be opened.
  public init(
    at url: URL, durability: Durability = .process, coder: any HistoryCoder = JSONHistoryCoder()
  ) throws {
    self.coder = coder
    self.durability = durability
    // A journal written anew takes the place of the file, not that of a link to it.
    path = url.resolvingSymlinksInPath().path
    state = Lock(.open(try JournalFile(opening: path)))
  }

  deinit { close() }

  /// Closes the file, so that another journal can open it. The appended records stay in the file.
  public func close() {
    state.withLock { state in
      if case .open(let file) = state { file.release() }
      state = .closed
    }
  }

  /// Returns the records.
  ///
  /// - Returns: The appended records, except a last record that was only partly written.
  /// - Throws: A `HistoryJournalError` if the journal was closed, or if the file is damaged, has
  ///   another format, can't be read, or has a partly written record that can't be removed.
  /// - Complexity: O(*n*) in the number of bytes.
  public func read() async throws -> [[UInt8]] { try await aside { try $0.read() } }

  /// Appends a record.
  ///
  /// - Parameter record: The bytes.
  /// - Throws: A `HistoryJournalError` if the journal was closed, or if the file is damaged or
  ///   can't be written. The written part of the record is then removed, at once if possible,
  ///   otherwise before the next append.
  /// - Complexity: O(*n*) in the number of bytes.
  public func append(_ record: [UInt8]) async throws {
    switch durability {
    case .process:
      // A copy into a cache of the system: to wait for another thread would take longer.
      try withFile { try $0.append(record, isSynced: false) }
    case .power: try await aside { try $0.append(record, isSynced: true) }
    }
  }

  /// Writes a new file with these records, and replaces the old file with it.
  ///
  /// - Parameter records: The new records.
  /// - Throws: A `HistoryJournalError` if the journal was closed; if the new file can't be written,
  ///   which leaves the old file unchanged; or if the new file is in place, but may not survive a
  ///   loss of power.
  /// - Complexity: O(*n*) in the number of bytes.
  public func replace(with records: [[UInt8]]) async throws {
    try await aside { try $0.replace(with: records) }
  }

  private func aside<Value: Sendable>(
    _ body: @escaping @Sendable (inout JournalFile) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(with: Result { try self.withFile(body) })
      }
    }
  }

  private func withFile<Value: Sendable>(
    _ body: (inout JournalFile) throws -> Value
  ) throws -> Value {
    try state.withLock { state -> Result<Value, any Error> in
      guard case .open(var file) = state else {
        return .failure(HistoryJournalError(.closed, journal: path))
      }
      // One owner: the file is moved out and back.
      defer { state = .open(file) }
      return Result { try body(&file) }
    }.get()
  }
}
