import CPostgres
import Foundation

/// A connection to PostgreSQL.
///
/// A statement blocks a thread until the database has answered. A server with many documents takes
/// a client that doesn't.
package actor Database {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
    /// Whether the connection is lost. A `COMMIT` may have reached the database then.
    package let isLost: Bool
  }

  private let connection: Connection

  package init(_ address: String) throws { connection = try Connection(address) }

  /// Runs one statement, and returns its rows. All values are in PostgreSQL's own text.
  @discardableResult
  package func run(_ statement: String, _ values: String...) throws -> [[String]] {
    try connection.run(statement, values)
  }

  /// Makes all that `body` changes, or nothing. Nobody else uses the connection meanwhile.
  nonisolated func transaction<Result: Sendable>(
    _ body: @Sendable () async throws -> Result
  ) async throws -> Result {
    try await run("BEGIN")
    do {
      let result = try await body()
      try await run("COMMIT")
      return result
    } catch {
      _ = try? await run("ROLLBACK")
      throw error
    }
  }

  static func integer(_ text: String) throws -> Int64 {
    guard let integer = Int64(text) else {
      throw Failure(description: "‘\(text)’ is no number.", isLost: false)
    }
    return integer
  }

  /// In its own class, because an actor cannot close what is not `Sendable`.
  private final class Connection {
    private let handle: OpaquePointer?

    init(_ address: String) throws {
      handle = PQconnectdb(address)
      if PQstatus(handle) != CONNECTION_OK { throw failure }
    }

    deinit { PQfinish(handle) }

    private var failure: Failure {
      Failure(
        description: String(cString: PQerrorMessage(handle)),
        isLost: PQstatus(handle) != CONNECTION_OK)
    }

    func run(_ statement: String, _ values: [String]) throws -> [[String]] {
      let copies = values.map { strdup($0) }
      defer { copies.forEach { free($0) } }
      let pointers = copies.map { UnsafePointer($0) }
      let result = PQexecParams(
        handle, statement, Int32(values.count), nil, pointers, nil, nil, 0)
      defer { PQclear(result) }
      switch PQresultStatus(result) {
      case PGRES_COMMAND_OK, PGRES_TUPLES_OK: break
      default: throw failure
      }
      return (0..<PQntuples(result)).map { row in
        (0..<PQnfields(result)).map { String(cString: PQgetvalue(result, row, $0)) }
      }
    }
  }
}

/// Bytes as PostgreSQL writes them: `\x` and two digits for each.
enum ByteText {
  static func text(of bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return #"\x"# + String(decoding: text, as: UTF8.self)
  }

  static func bytes(of text: String) -> [UInt8] {
    let values = text.utf8.dropFirst(2).map { $0 < 58 ? $0 - 48 : $0 - 87 }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }
}
