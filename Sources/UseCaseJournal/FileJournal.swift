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
/// The journal finds its file once, at the end of all links. If the file is moved or replaced
/// afterwards, the journal doesn't replace the file that is there now: it fails with
/// `HistoryJournalError.Reason.moved`.
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

  private typealias Turn = FileTurn<JournalFile, UnsafeContinuation<JournalFile?, Never>>

  /// Encodes the values, and decodes them.
  public let coder: any HistoryCoder

  private let path: JournalPath
  private let durability: Durability
  private let turn: Lock<Turn>
  /// A queue for long calls of the system, so that they block no thread of the tasks.
  private let queue = DispatchQueue(label: "FileJournal")

  /// Opens the journal at `url`, or creates it there.
  ///
  /// - Parameters:
  ///   - url: A file, in a folder that exists. An empty file is no journal: let the journal create
  ///     its file.
  ///   - durability: The events that a record survives.
  ///   - coder: Encodes the values, and decodes them.
  /// - Throws: A `HistoryJournalError` if the file is in use, isn't a journal, is shorter than it was
  ///   when it was written, or can't be opened or created. It is then left as it is.
  public init(
    at url: URL, durability: Durability = .process, coder: any HistoryCoder = JSONHistoryCoder()
  ) throws {
    self.coder = coder
    self.durability = durability
    path = try JournalPath(url)
    turn = Lock(.free(try JournalFile(opening: path)))
  }

  deinit {
    if case .free(let file) = turn.withLock({ $0 }) { file.release() }
  }

  /// Closes the file, so that another journal can open it. The appended records stay in the file.
  ///
  /// Calls that have begun end first. Later ones fail.
  public func close() async {
    guard let file = await next() else { return }
    await aside { file.release() }
    giveBack(nil)
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
  ///   can't be written. The written part of the record is then removed before the next append.
  /// - Complexity: O(*n*) in the number of bytes.
  public func append(_ record: [UInt8]) async throws {
    switch durability {
    case .process:
      // A copy into a cache of the system: to wait for another thread would take longer.
      try await withFile { file in Result { try file.append(record, isSynced: false) } }
    case .power: try await aside { try $0.append(record, isSynced: true) }
    }
  }

  /// Writes a new file with these records, and replaces the old file with it.
  ///
  /// The new file has a name of its own in the folder until it is complete. If the process ends
  /// before that, the next one that opens the journal removes it.
  ///
  /// - Parameter records: The new records.
  /// - Throws: A `HistoryJournalError` if the journal was closed; if its file was moved or replaced,
  ///   or the new file can't be written, which leaves the files as they are; or if the new file is
  ///   in place, but may not survive a loss of power.
  /// - Complexity: O(*n*) in the number of bytes.
  public func replace(with records: [[UInt8]]) async throws {
    try await aside { try $0.replace(with: records) }
  }
}

extension FileJournal: PromptJournal {
  package var isPrompt: Bool { durability == .process }

  package func appendAtOnce(_ record: [UInt8]) throws -> Bool {
    guard var file = turn.withLock({ $0.takeFree() }) else { return false }
    defer { giveBack(file) }
    try file.append(record, isSynced: false)
    return true
  }
}

// MARK: - One call at a time

extension FileJournal {
  /// Runs `body` on the queue.
  private func aside<Value: Sendable>(
    _ body: @escaping @Sendable (inout JournalFile) throws -> Value
  ) async throws -> Value {
    try await withFile { file in
      let before = file
      let (result, after) = await aside {
        var file = before
        let result = Result { try body(&file) }
        return (result, file)
      }
      file = after
      return result
    }
  }

  private func aside<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withUnsafeContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
  }

  /// Runs `body` when no other call has the file.
  private func withFile<Value>(
    _ body: (inout JournalFile) async -> Result<Value, any Error>
  ) async throws -> Value {
    guard var file = await next() else {
      throw HistoryJournalError(.closed, journal: path.file)
    }
    let result = await body(&file)
    giveBack(file)
    return try result.get()
  }

  /// Waits for the file. Returns nil if it is closed.
  private func next() async -> JournalFile? {
    await withUnsafeContinuation { waiter in
      switch turn.withLock({ $0.take(waiter) }) {
      case .wait: break
      case .go(let file): waiter.resume(returning: file)
      }
    }
  }

  private func giveBack(_ file: JournalFile?) {
    let next = turn.withLock { $0.giveBack(file) }
    for waiter in next { waiter.resume(returning: file) }
  }
}

/// The calls of a file, one at a time and in order. No lock is held while one runs.
enum FileTurn<File: Sendable, Waiter: Sendable>: Sendable {
  /// No call has the file. Next is `busy`.
  case free(File)
  /// A call has the file, and these wait for it. Next is `free`, or `closed`.
  case busy(waiting: [Waiter])
  /// Final.
  case closed

  enum Answer: Sendable {
    case wait
    /// Begin with the file, nil if it is closed.
    case go(File?)
  }

  mutating func take(_ waiter: Waiter) -> Answer {
    switch self {
    case .free(let file):
      self = .busy(waiting: [])
      return .go(file)
    case .busy(let waiting):
      self = .busy(waiting: waiting + [waiter])
      return .wait
    case .closed: return .go(nil)
    }
  }

  /// Returns the file if no call has it.
  mutating func takeFree() -> File? {
    guard case .free(let file) = self else { return nil }
    self = .busy(waiting: [])
    return file
  }

  /// The call is over, and has closed the file if it is nil. Returns those that get it, or hear that
  /// it is closed.
  mutating func giveBack(_ file: File?) -> [Waiter] {
    guard case .busy(var waiting) = self else {
      preconditionFailure("A file is given back by the call that has it, not in \(self).")
    }
    guard let file else {
      self = .closed
      return waiting
    }
    if waiting.isEmpty {
      self = .free(file)
      return []
    }
    let next = waiting.removeFirst()
    self = .busy(waiting: waiting)
    return [next]
  }
}
