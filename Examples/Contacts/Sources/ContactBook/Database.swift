import CSQLite

/// A database of SQLite, in a file that only one process has open.
actor Database {
  enum Value: Equatable, Sendable {
    case integer(Int)
    case text(String)
    case bytes([UInt8])
  }

  struct Row: Sendable {
    fileprivate let values: [Value]

    func integer(_ column: Int) throws -> Int {
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
      Failure(message: "Column \(column) is \(values[column]).")
    }
  }

  struct Failure: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
  }

  private let connection: Connection

  /// Opens the database in a file. A name of `:memory:` is a database in memory.
  init(_ file: String) throws {
    connection = try Connection(file)
    // Another process that has the file is given two seconds to end.
    try connection.run("PRAGMA busy_timeout = 2000")
    try connection.run("PRAGMA locking_mode = EXCLUSIVE")
    try connection.run("PRAGMA journal_mode = WAL")
    try connection.run("PRAGMA synchronous = FULL")
  }

  /// Runs one statement, and returns its rows.
  @discardableResult
  func run(_ statement: String, _ values: Value...) throws -> [Row] {
    try connection.run(statement, values)
  }

  /// The id of the row that was inserted last.
  var lastID: Int { Int(sqlite3_last_insert_rowid(connection.handle)) }

  /// The statements in their own class, because an actor cannot close what is not `Sendable`.
  private final class Connection {
    let handle: OpaquePointer
    private var prepared: [String: OpaquePointer] = [:]

    init(_ file: String) throws {
      var handle: OpaquePointer?
      let code = sqlite3_open(file, &handle)
      guard code == SQLITE_OK, let handle else {
        defer { sqlite3_close(handle) }
        throw Failure(message: "\(file): \(String(cString: sqlite3_errstr(code)))")
      }
      self.handle = handle
    }

    deinit {
      for statement in prepared.values { sqlite3_finalize(statement) }
      sqlite3_close(handle)
    }

    @discardableResult
    func run(_ text: String, _ values: [Value] = []) throws -> [Row] {
      let statement = try statement(text)
      defer {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
      }
      for (index, value) in values.enumerated() {
        try check(bind(value, to: statement, Int32(index + 1)))
      }
      var rows: [Row] = []
      while true {
        let code = sqlite3_step(statement)
        if code == SQLITE_DONE { return rows }
        if code != SQLITE_ROW { try check(code) }
        let columns = 0..<sqlite3_column_count(statement)
        rows.append(Row(values: columns.map { value(statement, $0) }))
      }
    }

    private func statement(_ text: String) throws -> OpaquePointer? {
      if let statement = prepared[text] { return statement }
      var statement: OpaquePointer?
      try check(sqlite3_prepare_v2(handle, text, -1, &statement, nil))
      prepared[text] = statement
      return statement
    }

    private func bind(_ value: Value, to statement: OpaquePointer?, _ index: Int32) -> Int32 {
      // SQLite copies what it is given.
      let copy = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      return switch value {
      case .integer(let integer): sqlite3_bind_int64(statement, index, Int64(integer))
      case .text(let text): sqlite3_bind_text(statement, index, text, -1, copy)
      case .bytes(let bytes):
        sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), copy)
      }
    }

    private func value(_ statement: OpaquePointer?, _ column: Int32) -> Value {
      switch sqlite3_column_type(statement, column) {
      case SQLITE_INTEGER: return .integer(Int(sqlite3_column_int64(statement, column)))
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
      throw Failure(message: String(cString: sqlite3_errmsg(handle)))
    }
  }
}
