import UseCaseHistory
import UseCaseJournal

/// The journal of a document that several servers serve. Each history has one of its own.
///
/// A server that has the advisory lock of the document, as in a turn of ``SharedBook``, is alone. The
/// version notices a server that hasn't: nothing of what it does is kept.
///
/// The connection of a transaction is the history's alone until that is over: other writes take another
/// connection, or a turn.
actor PostgresJournal: TransactionalJournal {
  nonisolated let coder: any HistoryCoder = JSONHistoryCoder()
  private let database: Database
  private let document: String
  private var version: Int64 = 0  // of the last read or write

  init(_ document: String, in database: Database) async throws {
    (self.document, self.database) = (document, database)
    try await database.run(
      "INSERT INTO journal_version VALUES ($1, 0) ON CONFLICT DO NOTHING", document)
  }

  func read() async throws -> HistoryRows {
    // In one go: the version is that of these rows.
    let found = try await database.run(
      """
      SELECT version, key, bytes FROM journal_version LEFT JOIN journal USING (document)
      WHERE document = $1
      """, document)
    var rows = HistoryRows(version: try Database.integer(found[0][0]))
    for row in found where !row[1].isEmpty {
      rows.rows[try Database.integer(row[1])] = ByteText.bytes(of: row[2])
    }
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
      // Look first: otherwise the body may run for nothing. Until the end of the transaction, the
      // version stays.
      let now = try await self.newest("FOR UPDATE")
      guard now == known else { throw HistoryJournalError(.stale) }
      let change = try await body()
      try await self.put(change)
      return change.version + 1
    }
  }

  // Whether no other server has written since the last read or write.
  func isCurrent() async throws -> Bool { try await newest() == version }

  private func newest(_ lock: String = "") async throws -> Int64 {
    let found = try await database.run(
      "SELECT version FROM journal_version WHERE document = $1 \(lock)", document)
    return try Database.integer(found[0][0])
  }

  private func put(_ change: HistoryChange) async throws {
    let updated = try await database.run(
      """
      UPDATE journal_version SET version = version + 1 WHERE document = $1 AND version = $2
      RETURNING version
      """, document, String(change.version))
    guard !updated.isEmpty else { throw HistoryJournalError(.stale) }
    for row in change.rows {
      if let bytes = row.bytes {
        try await database.run(
          """
          INSERT INTO journal VALUES ($1, $2, $3)
          ON CONFLICT (document, key) DO UPDATE SET bytes = excluded.bytes
          """, document, String(row.key), ByteText.text(of: bytes))
      } else {
        try await database.run(
          "DELETE FROM journal WHERE document = $1 AND key = $2", document, String(row.key))
      }
    }
  }
}
