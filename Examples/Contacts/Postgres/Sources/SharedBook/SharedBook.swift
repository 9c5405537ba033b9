import UseCase
package import UseCaseHistory

/// An address book that several servers serve, each with an object of this type.
package actor SharedBook {
  package let database: Database
  let document: String
  var current: (history: UseCaseHistory, journal: PostgresJournal)?

  /// Connects to the database, and creates its tables if there are none.
  package init(_ address: String, document: Int = 1) async throws {
    (database, self.document) = (try Database(address), String(document))
    for statement in [
      // Two servers that create a table at once would hinder each other.
      "SELECT pg_advisory_lock(0)", "SET client_min_messages = warning",
      "CREATE TABLE IF NOT EXISTS contact (id bigserial PRIMARY KEY, name text NOT NULL)",
      """
      CREATE TABLE IF NOT EXISTS journal (
        document bigint, key bigint, bytes bytea NOT NULL, PRIMARY KEY (document, key))
      """,
      """
      CREATE TABLE IF NOT EXISTS journal_version (
        document bigint PRIMARY KEY, version bigint NOT NULL)
      """,
      "SELECT pg_advisory_unlock(0)",
    ] { try await database.run(statement) }
  }
}

extension SharedBook {
  // Runs `body` with the history as all servers have left it. Call this once at a time.
  package func turn<Value: Sendable>(
    _ body: @Sendable (UseCaseHistory, Database) async throws -> Value
  ) async throws -> Value {
    // If this server ends, PostgreSQL ends its turn.
    try await database.run("SELECT pg_advisory_lock($1)", document)
    let result: Result<Value, any Error>
    do {
      let history = try await history()
      let value = try await body(history, database)
      // The other servers see only what is written.
      await history.idle()
      if let error = history.journalError { throw error }
      result = .success(value)
    } catch {
      result = .failure(error)
      if current?.history.journalError != nil { current = nil }
    }
    try await database.run("SELECT pg_advisory_unlock($1)", document)
    return try result.get()
  }

  // Opens the history again if another server has written.
  private func history() async throws -> UseCaseHistory {
    if let (history, journal) = current, try await journal.isCurrent() { return history }
    let journal = try await PostgresJournal(document, in: database)
    let history = try await UseCaseHistory.open(
      journal, for: [Add(database: database), Rename(database: database)])
    current = (history, journal)
    return history
  }
}

// MARK: - What a client of the server can do

extension SharedBook {
  package func add(_ name: String) async throws -> String {
    try await turn { try await $0.execute(Add(database: $1), name).value }
  }

  /// Adds contacts as one entry.
  package func `import`(_ names: [String]) async throws {
    try await turn { history, database in
      let add = Add(database: database).recorded(in: history)
      try await history.group("Import \(names.joined(separator: " "))") {
        for name in names { _ = try await add(name) }
      }.value
    }
  }

  package func rename(_ id: String, to name: String) async throws {
    _ = try await turn {
      try await $0.execute(Rename(database: $1), .init(id: id, name: name)).value
    }
  }

  package func undo() async throws -> String? {
    try await turn { history, _ in try await history.undo().value?.title }
  }

  package func redo() async throws -> String? {
    try await turn { history, _ in try await history.redo().value?.title }
  }
}
