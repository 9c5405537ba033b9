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
/// Each change has its length and checksums. A last change that was only partly written is cut off.
/// A file that is damaged elsewhere, or isn't a journal, is left unchanged.
///
/// When the file has more than twice the bytes of its rows, and more than 64 KiB, the journal writes
/// it anew. Writes go on meanwhile.
///
/// A history that is released doesn't close its file at once, because its last operations and tasks
/// may still hold it. To open the file again in the same process, await the
/// `idle()` of the history, and call ``close()``.
///
/// The journal finds its file once, at the end of all links. If the file is moved, deleted or replaced
/// afterwards, each write fails with `HistoryJournalError.Reason.moved`, and the file that is there now
/// is left unchanged.
///
/// `FileJournal` is available on Linux and Apple platforms.
public final class FileJournal: HistoryJournal {
  /// The events that a change survives once `write` has returned.
  public enum Durability: Hashable, Sendable {
    /// The end of the process, even by a crash. The operating system has the change, and writes it
    /// to the drive later.
    case process

    /// The loss of power, too. Each `write` waits until the drive has the change, which takes
    /// milliseconds.
    case power
  }

  /// Encodes the values, and decodes them.
  public let coder: any HistoryCoder

  private let durability: Durability
  // A history makes one call at a time, so a task waits for this lock at most while a new file gets
  // the name of the old one.
  private let state: Lock<OpenJournal>
  private let path: JournalPath
  // Queues for long calls of the system, so that they block no thread of the tasks: one for what
  // somebody waits for, one for writing anew.
  private let calls = DispatchQueue(label: "FileJournal")
  private let upkeep = DispatchQueue(label: "FileJournal, anew", qos: .utility)

  /// Opens the journal at `url`, or creates it there.
  ///
  /// - Parameters:
  ///   - url: A file, in a folder that exists. An empty file is no journal: let the journal create
  ///     its file.
  ///   - durability: The events that a change survives.
  ///   - coder: Encodes the values, and decodes them.
  /// - Throws: A `HistoryJournalError` if the file is in use, isn't a journal, is shorter than it was
  ///   when it was written, or can't be opened or created. It is then left as it is.
  public init(
    at url: URL, durability: Durability = .process, coder: any HistoryCoder = JSONHistoryCoder()
  ) throws {
    self.coder = coder
    self.durability = durability
    path = try JournalPath(url)
    state = Lock(OpenJournal(try JournalFile(opening: path)))
  }

  deinit { state.withLock { $0.close() } }

  /// Closes the file, so that another journal can open it. The rows stay.
  ///
  /// Calls that have begun end first. Later ones fail. No thread of the tasks is blocked meanwhile.
  public func close() async {
    await aside(calls) { self.state.withLock { $0.close() } }
    // A compaction that is under way gives up.
    await aside(upkeep) {}
  }

  /// Returns the rows, and their version.
  ///
  /// - Returns: The rows after the last whole change.
  /// - Throws: A `HistoryJournalError` if the journal was closed, or if the file is damaged, has
  ///   another format or can't be read.
  /// - Complexity: O(*n*) in the number of bytes.
  public func read() async throws -> HistoryRows {
    try await aside(calls) { self.withFile { try $0.read() } }.get()
  }

  /// Makes a change of the rows.
  ///
  /// - Parameter change: The rows that are new, different or gone.
  /// - Throws: A `HistoryJournalError`: `.stale` if the rows have another version or somebody else
  ///   has written to the file, `.moved` if the file is no longer where it was, `.damaged` if it is
  ///   damaged or has become shorter, `.closed` if the journal was closed, and `.cannotWrite` if the
  ///   system can't write it. Nothing is changed then.
  /// - Complexity: O(*n*) in the number of bytes of the change.
  public func write(_ change: HistoryChange) async throws {
    if let result = writeAtOnce(change) { return try result.get() }
    try await aside(calls) { self.withFile { try self.write(change, to: &$0) } }.get()
  }
}

// MARK: - One call at a time

extension FileJournal {
  /// The longest change that is copied into the cache of the system by the task itself.
  private static var longestCopy: Int { 1 << 16 }

  /// Writes a change that takes no longer than a copy of its bytes. To wait for another thread would
  /// take several times as long. Returns nil if the change has to.
  private func writeAtOnce(_ change: HistoryChange) -> Result<Void, any Error>? {
    let length = change.rows.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
    guard durability == .process, length <= Self.longestCopy else { return nil }
    return state.withLock { open in
      open.isRead ? Result { try write(change, to: &open) } : nil
    }
  }

  private func write(_ change: HistoryChange, to open: inout OpenJournal) throws {
    if try open.write(change, isSynced: durability == .power) {
      upkeep.async { self.writeAnew() }
    }
  }

  private func withFile<Value: Sendable>(
    _ body: (inout OpenJournal) throws -> Value
  ) -> Result<Value, any Error> {
    state.withLock { open in Result { try body(&open) } }
  }

  private func aside<Value: Sendable>(
    _ queue: DispatchQueue, _ body: @escaping @Sendable () -> Value
  ) async -> Value {
    await withUnsafeContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
  }
}

// MARK: - Writing anew

extension FileJournal {
  /// Writes the rows into a new file, and puts it in the place of the old one.
  ///
  /// Writes go on meanwhile, into the old file. They wait only while the last few changes are copied
  /// and the new file gets its name. If this fails, the file stays longer than it has to be.
  private func writeAnew() {
    let isDone: Bool
    do {
      try replace(try withFile { try $0.copy() }.get())
      try path.syncFolder()
      isDone = true
    } catch {
      isDone = false
    }
    state.withLock { $0.endReplacing(isDone: isDone) }
  }

  private func replace(_ copy: OpenJournal.Copy) throws {
    defer { copy.file.closeCopy() }
    var new = try NewJournalFile(beside: path)
    do {
      try new.fill(from: copy.file, upTo: copy.end)
      try new.catchUp(with: copy.file, upTo: state.withLock { $0.end })
      try new.seal()
      // Much may have come while that was synced.
      try new.catchUp(with: copy.file, upTo: state.withLock { $0.end })
      new = try withFile { [new] open in
        var new = new
        try open.replace(copy, with: &new, isSynced: durability == .power)
        return new
      }.get()
    } catch {
      new.remove()
      throw error
    }
  }
}
