import Synchronization
import UseCaseHistory
import UseCaseJournal

/// The journal of a document that several servers serve. Each history has one of its own.
final class PostgresJournal: TransactionalJournal {
  // Another server has written: open the history again.
  struct Stale: Error {}

  let database: Database
  let document: String
  let coder: any HistoryCoder = JSONHistoryCoder()
  private let newest = Mutex("0")  // the id of the newest record that this history knows

  init(_ document: String, in database: Database) {
    (self.document, self.database) = (document, database)
  }

  func read() async throws -> [[UInt8]] {
    let rows = try await database.run(
      "SELECT id, record FROM journal WHERE document = $1 ORDER BY id", document)
    if let id = rows.last?[0] { newest.withLock { $0 = id } }
    return rows.map { ByteText.bytes(of: $0[1]) }
  }

  func append(_ record: [UInt8]) async throws { try await all { [record] } }

  func replace(with records: [[UInt8]]) async throws {
    try await all {
      try await self.database.run("DELETE FROM journal WHERE document = $1", self.document)
      return records
    }
  }

  func transaction(_ body: @Sendable () async throws -> [UInt8]) async throws {
    try await all { [try await body()] }
  }

  // Whether no other server has written since the history was opened.
  func isCurrent() async throws -> Bool {
    let rows = try await database.run(
      "SELECT coalesce(max(id), 0) FROM journal WHERE document = $1", document)
    return rows[0][0] == newest.withLock { $0 }
  }

  // All that `body` changes and the records that it returns, or nothing.
  private func all(_ body: () async throws -> [[UInt8]]) async throws {
    try await database.run("BEGIN")
    do {
      // Until the end of the transaction, no other server writes.
      try await database.run("SELECT pg_advisory_xact_lock($1)", document)
      guard try await isCurrent() else { throw Stale() }
      var id = "0"
      for record in try await body() {
        id = try await database.run(
          "INSERT INTO journal (document, record) VALUES ($1, $2) RETURNING id", document,
          ByteText.text(of: record))[0][0]
      }
      try await database.run("COMMIT")
      newest.withLock { $0 = id }
    } catch {
      _ = try? await database.run("ROLLBACK")
      throw error
    }
  }
}
