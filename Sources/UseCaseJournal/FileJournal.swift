import Dispatch
public import Foundation
public import UseCaseHistory
import UseCaseInternals

/// A journal in a file.
///
/// ```swift
/// let journal = try FileJournal(at: folder.appending(path: "undo.journal"))
/// let history = try await UseCaseHistory.open(journal, for: [Rename(document: document)])
/// ```
///
/// The file belongs to one process at a time, and only its owner can read it. Each record has its
/// length and a checksum. What the end of the process has torn, at the end of the file, is cut off;
/// a file that is damaged before its end, or is no journal, is left as it is.
///
/// It works where there are POSIX files: on Linux, Android and all systems of Apple.
public final class FileJournal: HistoryJournal {
  /// The events that a record survives once `append` has returned.
  public enum Durability: Hashable, Sendable {
    /// The end of the process, however it ends. The system has the bytes, and writes them when it
    /// likes.
    case process

    /// The loss of power too. Each record waits until the drive has it: that takes milliseconds.
    case power
  }

  private enum State: Sendable {
    /// Next is `closed`.
    case open(JournalFile)
    /// Final.
    case closed
  }

  /// Makes the values into bytes.
  public let coder: any HistoryCoder

  private let path: String
  private let durability: Durability
  private let state: Lock<State>
  /// A thread of its own for what takes long, which is not one of those that run tasks.
  private let queue = DispatchQueue(label: "FileJournal")

  /// Opens the journal at `url`, or creates it there.
  ///
  /// - Parameters:
  ///   - url: A file, in a folder that exists.
  ///   - durability: The events that a record survives.
  ///   - coder: Makes the values into bytes.
  /// - Throws: A `HistoryJournalError`: it is in use, of another format, or cannot be opened.
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

  /// Gives the file back, so that another one can open it. All that was appended is there.
  public func close() {
    state.withLock { state in
      if case .open(var file) = state { file.release() }
      state = .closed
    }
  }

  /// Returns the records.
  ///
  /// - Returns: All that was appended, without one that was torn.
  /// - Throws: A `HistoryJournalError`: the file is damaged, or cannot be read.
  /// - Complexity: O(*n*) in the number of bytes.
  public func read() async throws -> [[UInt8]] { try await aside { try $0.read() } }

  /// Adds a record.
  ///
  /// - Parameter record: The bytes.
  /// - Throws: A `HistoryJournalError`: it cannot be written, and the file is as it was.
  /// - Complexity: O(*n*) in the number of bytes.
  public func append(_ record: [UInt8]) async throws {
    switch durability {
    case .process:
      // A copy into a cache of the system: to wait for another thread would take longer.
      try withFile { try $0.append(record, isSynced: false) }
    case .power: try await aside { try $0.append(record, isSynced: true) }
    }
  }

  /// Writes a file beside this one, and puts it in its place.
  ///
  /// - Parameter records: The new records.
  /// - Throws: A `HistoryJournalError`: it cannot be written, and the file is as it was.
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
