import CSQLite
import UseCaseHistory
import UseCaseJournal

/// The journal of a history, as a table in the database of the document.
///
/// One history at a time: hold a ``SQLiteLock`` for as long as it exists. The version notices a
/// history that doesn't: of two, the one that writes second fails, and nothing of it is kept.
actor SQLiteJournal: TransactionalJournal {
  nonisolated let coder: any HistoryCoder = JSONHistoryCoder()
  private let database: Database
  private var version: Int64 = 0  // of the last read or write

  init(_ database: Database) async throws {
    self.database = database
    for statement in [
      "CREATE TABLE IF NOT EXISTS journal (key INTEGER PRIMARY KEY, bytes BLOB NOT NULL)",
      """
      CREATE TABLE IF NOT EXISTS journal_version (
        id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL)
      """,
      "INSERT OR IGNORE INTO journal_version VALUES (1, 0)",
    ] { try await database.run(statement) }
  }

  func read() async throws -> HistoryRows {
    // In one go: the version is that of these rows.
    let found = try await database.run(
      "SELECT version, key, bytes FROM journal_version LEFT JOIN journal ON key >= 0")
    var rows = HistoryRows(version: try found[0].integer(0))
    for row in found where row[1] != .null { rows.rows[try row.integer(1)] = try row.bytes(2) }
    version = rows.version
    return rows
  }

  func write(_ change: HistoryChange) async throws {
    try await database.transaction { try await self.put(change) }
    version = change.version + 1
  }

  func transaction(_ body: @Sendable () async throws -> HistoryChange) async throws {
    let known = version
    version = try await database.transaction {
      // Look first: otherwise the body may run for nothing.
      let found = try await self.database.run("SELECT version FROM journal_version")
      guard try found[0].integer(0) == known else { throw HistoryJournalError(.stale) }
      let change = try await body()
      try await self.put(change)
      return change.version + 1
    }
  }

  private func put(_ change: HistoryChange) async throws {
    let updated = try await database.run(
      "UPDATE journal_version SET version = version + 1 WHERE version = ? RETURNING version",
      .integer(change.version))
    guard !updated.isEmpty else { throw HistoryJournalError(.stale) }
    for row in change.rows {
      if let bytes = row.bytes {
        try await database.run(
          "INSERT OR REPLACE INTO journal VALUES (?, ?)", .integer(row.key), .bytes(bytes))
      } else {
        try await database.run("DELETE FROM journal WHERE key = ?", .integer(row.key))
      }
    }
  }
}

/// Keeps other histories away from a database, in this process and in others, for as long as it
/// exists. It ends with the process, however that ends.
actor SQLiteLock {
  // A database of its own, in which an exclusive transaction stays open. In the database of the
  // document, it would keep everybody else away, too.
  private let connection: Connection

  /// Throws `HistoryJournalError(.inUse)` at once if somebody has the lock.
  init(_ file: String) throws {
    connection = try Connection(file + "-lock")
    do {
      try connection.run("BEGIN EXCLUSIVE")
    } catch let failure as Database.Failure where failure.isBusy {
      throw HistoryJournalError(.inUse, journal: file)
    }
  }
}

// MARK: - The database

/// A connection to a database of SQLite.
///
/// A statement that is run outside of a transaction waits until that is over. So nothing is written
/// into a stranger's transaction, and lost with it. A statement blocks a thread until the database has
/// answered.
actor Database {
  enum Value: Equatable, Sendable {
    case null
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
  }

  struct Row: Sendable {
    fileprivate let values: [Value]

    subscript(column: Int) -> Value { values[column] }

    func integer(_ column: Int) throws -> Int64 {
      guard case .integer(let integer) = values[column] else { throw unexpected(column) }
      return integer
    }

    func text(_ column: Int) throws -> String {
      guard case .text(let text) = values[column] else { throw unexpected(column) }
      return text
    }

    func bytes(_ column: Int) throws -> [UInt8] {
      guard case .bytes(let bytes) = values[column] else { throw unexpected(column) }
      return bytes
    }

    private func unexpected(_ column: Int) -> Failure {
      Failure(code: SQLITE_MISMATCH, description: "Column \(column) is \(values[column]).")
    }
  }

  struct Failure: Error, CustomStringConvertible {
    let code: Int32
    let description: String
    var isBusy: Bool { code & 0xff == SQLITE_BUSY }
  }

  private final class Transaction: Sendable {}

  /// The transaction that the task runs in, and what it calls.
  @TaskLocal private static var current: Transaction?

  private let connection: Connection
  private var open: Transaction?
  private var waiting: [CheckedContinuation<Void, Never>] = []

  /// Opens the database in a file. A name of `:memory:` is a database in memory.
  init(_ file: String) throws {
    connection = try Connection(file)
    // Another connection that writes is given some seconds to end.
    try connection.run("PRAGMA busy_timeout = 10000")
    try connection.run("PRAGMA journal_mode = WAL")
    try connection.run("PRAGMA synchronous = FULL")
  }

  /// Runs one statement, and returns its rows.
  @discardableResult
  func run(_ statement: String, _ values: Value...) async throws -> [Row] {
    await turn()
    return try connection.run(statement, values)
  }

  /// Makes all that `body` changes, or nothing.
  nonisolated func transaction<Result: Sendable>(
    _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    let transaction = Transaction()
    try await begin(transaction)
    do {
      let result = try await Self.$current.withValue(transaction) { try await body() }
      try await commit()
      return result
    } catch {
      await rollBack()
      throw error
    }
  }

  private func turn() async {
    while let open, open !== Self.current {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  private func begin(_ transaction: Transaction) async throws {
    await turn()
    try connection.run("BEGIN IMMEDIATE")
    open = transaction
  }

  private func commit() throws {
    try connection.run("COMMIT")
    end()
  }

  private func rollBack() {
    // There is none to roll back if SQLite has done so itself.
    _ = try? connection.run("ROLLBACK")
    end()
  }

  private func end() {
    open = nil
    let waiting = waiting
    self.waiting = []
    for waiter in waiting { waiter.resume() }
  }
}

/// In its own class, because an actor cannot close what is not `Sendable`.
private final class Connection {
  private let handle: OpaquePointer
  private var prepared: [String: OpaquePointer] = [:]

  init(_ file: String) throws {
    var handle: OpaquePointer?
    let code = sqlite3_open(file, &handle)
    guard code == SQLITE_OK, let handle else {
      defer { sqlite3_close(handle) }
      let words = String(cString: sqlite3_errstr(code))
      throw Database.Failure(code: code, description: "\(file): \(words)")
    }
    self.handle = handle
  }

  deinit {
    for statement in prepared.values { sqlite3_finalize(statement) }
    sqlite3_close(handle)
  }

  @discardableResult
  func run(_ text: String, _ values: [Database.Value] = []) throws -> [Database.Row] {
    let statement = try statement(text)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() {
      try check(bind(value, to: statement, Int32(index + 1)))
    }
    var rows: [Database.Row] = []
    while true {
      let code = sqlite3_step(statement)
      if code == SQLITE_DONE { return rows }
      if code != SQLITE_ROW { try check(code) }
      let columns = 0..<sqlite3_column_count(statement)
      rows.append(Database.Row(values: columns.map { value(statement, $0) }))
    }
  }

  private func statement(_ text: String) throws -> OpaquePointer? {
    if let statement = prepared[text] { return statement }
    var statement: OpaquePointer?
    try check(sqlite3_prepare_v2(handle, text, -1, &statement, nil))
    prepared[text] = statement
    return statement
  }

  private func bind(
    _ value: Database.Value, to statement: OpaquePointer?, _ index: Int32
  ) -> Int32 {
    // SQLite copies what it is given.
    let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    return switch value {
    case .null: sqlite3_bind_null(statement, index)
    case .integer(let integer): sqlite3_bind_int64(statement, index, integer)
    case .text(let text): sqlite3_bind_text(statement, index, text, -1, copy)
    // Without bytes there may be no pointer, which would be NULL.
    case .bytes([]): sqlite3_bind_zeroblob(statement, index, 0)
    case .bytes(let bytes):
      sqlite3_bind_blob64(statement, index, bytes, UInt64(bytes.count), copy)
    }
  }

  private func value(_ statement: OpaquePointer?, _ column: Int32) -> Database.Value {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_NULL: return .null
    case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
    case SQLITE_TEXT: return .text(String(cString: sqlite3_column_text(statement, column)))
    default:
      let count = Int(sqlite3_column_bytes(statement, column))
      let bytes = UnsafeRawBufferPointer(
        start: sqlite3_column_blob(statement, column), count: count)
      return .bytes(Array(bytes))
    }
  }

  private func check(_ code: Int32) throws {
    guard code != SQLITE_OK else { return }
    throw Database.Failure(code: code, description: String(cString: sqlite3_errmsg(handle)))
  }
}
