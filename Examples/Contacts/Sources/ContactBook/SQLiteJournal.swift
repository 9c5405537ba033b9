import UseCaseHistory
import UseCaseJournal

/// The journal of a history, as a table in the database of the document.
struct SQLiteJournal: TransactionalJournal {
  let database: Database
  let coder: any HistoryCoder = JSONHistoryCoder()

  func read() async throws -> [[UInt8]] {
    try await database.run("SELECT record FROM journal ORDER BY id").map { try $0.bytes(0) }
  }

  func append(_ record: [UInt8]) async throws {
    try await database.run("INSERT INTO journal (record) VALUES (?)", .bytes(record))
  }

  func replace(with records: [[UInt8]]) async throws {
    try await all {
      try await database.run("DELETE FROM journal")
      for record in records { try await append(record) }
    }
  }

  func transaction(_ body: @Sendable () async throws -> [UInt8]) async throws {
    try await all { try await append(body()) }
  }

  // All that `body` changes, or nothing.
  private func all(_ body: () async throws -> Void) async throws {
    try await database.run("BEGIN IMMEDIATE")
    do {
      try await body()
      try await database.run("COMMIT")
    } catch {
      // There is none to roll back if SQLite has done so itself.
      _ = try? await database.run("ROLLBACK")
      throw error
    }
  }
}
