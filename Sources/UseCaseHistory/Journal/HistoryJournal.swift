/// A durable dictionary in which a history keeps what it is: a row of bytes for each entry, for each
/// part, and one more. A later launch opens the history from these rows.
///
/// `FileJournal` in the module `UseCaseJournal` is a journal in a file. To use a database,
/// implement a journal with a table of two columns, the key and the bytes, and a number for the
/// version. If use cases change the same database, implement a ``TransactionalJournal``.
///
/// The history calls one method at a time, `read` first, in the task that calls
/// ``UseCaseHistory/open(_:for:interrupted:limit:mergeWindow:clock:observer:)``. All later calls come
/// from tasks that are never cancelled, except those of ``TransactionalJournal/transaction(_:)``.
///
/// A journal belongs to one history at a time. See that the former history has ended before you open
/// the next one: hold a lock, as `FileJournal` does. The version notices the rest: of two histories
/// over the same rows, the one that writes second gets ``HistoryJournalError/Reason/stale``.
public protocol HistoryJournal: Sendable {
  /// Encodes requests, responses and titles. Besides these bytes, a row contains only
  /// numbers, and the name of the use case.
  var coder: any HistoryCoder { get }

  /// Returns all rows, and their version.
  ///
  /// - Returns: The rows as the last successful ``write(_:)`` has left them.
  /// - Throws: The reason why the rows can't be read.
  /// - Complexity: Expected to be O(*n*) in the number of bytes.
  func read() async throws -> HistoryRows

  /// Makes a change of the rows: all of it, or nothing. Return when the change is durable.
  ///
  /// Compare the version first, in the transaction in which you write. If the change was made for
  /// another version than that of the rows, throw ``HistoryJournalError/Reason/stale``, and change
  /// nothing. Else the version becomes one more.
  ///
  /// Each recorded execution, undo and redo awaits two writes: one before its body runs, and one
  /// before its handlers run, except `onStart`. In a ``TransactionalJournal`` it awaits one
  /// transaction instead, and writes are rare.
  ///
  /// - Parameter change: The rows that are new, different or gone.
  /// - Throws: `HistoryJournalError(.stale)` if somebody else has written since, otherwise the
  ///   reason why the change couldn't be written. You may throw even if it was written: the history
  ///   reads the rows before it writes again.
  /// - Complexity: Expected to be O(*n*) in the number of bytes of the change.
  func write(_ change: HistoryChange) async throws
}

/// The rows of a journal at one moment.
public struct HistoryRows: Sendable {
  /// The number of changes that were ever written: 0 before the first one, and one more with each.
  public var version: Int64

  /// The bytes of each row by its key. Keys are 0 or more.
  public var rows: [Int64: [UInt8]]

  /// Creates rows, for a journal of your own.
  ///
  /// - Parameters:
  ///   - version: The number of changes that were ever written.
  ///   - rows: The bytes of each row by its key.
  public init(version: Int64 = 0, rows: [Int64: [UInt8]] = [:]) {
    self.version = version
    self.rows = rows
  }
}

/// A change of the rows of a journal. It is made as a whole, or not at all.
public struct HistoryChange: Sendable {
  /// A row that is new, different or gone.
  public struct Row: Sendable {
    /// The key of the row, 0 or more.
    public let key: Int64

    /// The new bytes, nil if the row goes. A row that goes may not be there.
    public let bytes: [UInt8]?

    /// Creates a row of a change.
    ///
    /// - Parameters:
    ///   - key: The key of the row. A key below 0 is a programmer error.
    ///   - bytes: The new bytes, nil if the row goes.
    public init(key: Int64, bytes: [UInt8]?) {
      precondition(key >= 0, "The key of a row is \(key). Use keys from 0.")
      self.key = key
      self.bytes = bytes
    }
  }

  /// The version of the rows that the change was made for. After the change it is one more.
  ///
  /// A journal whose version is another one throws ``HistoryJournalError/Reason/stale``, and changes
  /// nothing.
  public let version: Int64

  /// The rows that are new, different or gone. Each key is here at most once.
  public let rows: [Row]

  /// Creates a change, for a journal that wraps another one, or for rows of your own.
  ///
  /// - Parameters:
  ///   - version: The version of the rows that the change is made for.
  ///   - rows: The rows that are new, different or gone. A key that is here twice is a programmer
  ///     error.
  public init(version: Int64, rows: [Row]) {
    assert(
      Set(rows.map(\.key)).count == rows.count,
      "A change has two rows with one key. Give it only the last one.")
    self.version = version
    self.rows = rows
  }
}

/// A journal in the database of the document: what a use case changes there, and the rows of the
/// history, are committed together, or neither is.
///
/// With such a journal the history runs each recorded body, undo and redo, and each part of a
/// group, inside of ``transaction(_:)``, one at a time. So nothing is ever in doubt, and
/// ``JournaledUseCase/settle(_:)`` is called only for what was interrupted while the journal had no
/// transactions.
///
/// The database is locked for as long as a body takes: call no server in it. A part of a group that
/// waits for another part of the group waits for ever. Nothing else may write on the connection of
/// a transaction meanwhile: it would write into a stranger's transaction, and vanish if that is
/// rolled back. Each execution copies the list of the entries, which is O(*n*) in their number.
public protocol TransactionalJournal: HistoryJournal {
  /// Begins a transaction, runs `body` in it, makes the change that `body` returns, and commits.
  ///
  /// Compare the version of the change with that of the rows, as ``HistoryJournal/write(_:)`` does. To
  /// refuse a stale history before its body runs, compare the version of the last read or write too,
  /// at the beginning of the transaction.
  ///
  /// The history calls `transaction` in the task of the body, whose task-local values and
  /// cancellation reach `body`, and calls no other method of the journal before it has returned.
  ///
  /// A target with the feature `NonisolatedNonsendingByDefault` writes the type of `body` as
  /// `@concurrent @Sendable () async throws -> HistoryChange`.
  ///
  /// - Parameter body: Changes the document, and returns the change of the rows. Call it once, in
  ///   the same task: it throws if it is called again.
  /// - Throws: The error of `body`, `HistoryJournalError(.stale)` if somebody else has written
  ///   since, or the reason why the transaction failed. The execution, undo or redo fails: with the
  ///   error of `body` if that has thrown, otherwise with this error. After an error that leaves it
  ///   open whether the commit happened, such as a lost connection, the history reads the rows.
  func transaction(_ body: @Sendable () async throws -> HistoryChange) async throws
}

/// Encodes the values of a history for its journal, and decodes them.
///
/// `JSONHistoryCoder` in the module `UseCaseJournal` is a coder for JSON. A coder of your own may
/// encrypt.
public protocol HistoryCoder: Sendable {
  /// Returns the bytes of a value.
  ///
  /// - Parameter value: A request, a response or a title.
  /// - Returns: The bytes.
  /// - Throws: The reason why the value can't be encoded.
  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8]

  /// Returns a value from its bytes. An older version of the app may have encoded them.
  ///
  /// - Parameters:
  ///   - type: The type of the value.
  ///   - bytes: The bytes.
  /// - Returns: The value.
  /// - Throws: The reason why the bytes can't be decoded. An entry whose request or response can't
  ///   be decoded is ``HistoryEntry/Standing/unreadable``.
  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value
}

/// The fate of a group that the end of the process has interrupted.
public enum HistoryInterruption: Hashable, Sendable {
  /// The parts of the group are undone when the history is opened again, as if its body had thrown.
  case compensate

  /// The parts that took effect stay, and become one entry.
  case keep
}
