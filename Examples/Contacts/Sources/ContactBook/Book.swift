import UseCase
package import UseCaseHistory

/// An address book, with its undo pool in the same file.
package struct Book: Sendable {
  package let history: UseCaseHistory
  // Two histories on one database would get in each other's way.
  private let lock: SQLiteLock?
  private let database: Database
  private let add: Add

  /// How many people an import adds in one transaction.
  package static let batch = 100

  /// Opens the book in a file, or creates it there. If an import was interrupted, what it had added
  /// is taken back. Throws `HistoryJournalError(.inUse)` if another process has the book open.
  package init(_ file: String) async throws {
    lock = file == ":memory:" ? nil : try SQLiteLock(file)
    let database = try Database(file)
    // `AUTOINCREMENT`: no id is given twice, because entries name them.
    try await database.run(
      """
      CREATE TABLE IF NOT EXISTS contact (
        id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, mail TEXT NOT NULL)
      """)
    add = Add(database: database)
    history = try await UseCaseHistory.open(
      try await SQLiteJournal(database),
      for: [add, Rename(database: database), Merge(database: database)])
    self.database = database
  }

  package var contacts: [Contact] {
    get async throws { try await database.contacts() }
  }

  /// Adds a person, and returns its id.
  @discardableResult
  package func add(_ person: Person) async throws -> Int64 {
    try await history.execute(add, [person]).value[0]
  }

  package func rename(_ id: Int64, to name: String) async throws {
    _ = try await history.execute(Rename(database: database), .init(id: id, name: name)).value
  }

  package func merge(_ gone: Int64, into kept: Int64) async throws {
    _ = try await history.execute(Merge(database: database), .init(kept: kept, gone: gone)).value
  }

  /// Adds people as one entry, and says after each batch how many it has added.
  package func `import`(
    _ people: [Person], _ progress: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws {
    let add = add.recorded(in: history)
    let title = "Import \(people.count) people"
    try await history.group(title) {
      for start in stride(from: 0, to: people.count, by: Self.batch) {
        let end = min(start + Self.batch, people.count)
        _ = try await add(Array(people[start..<end]))
        progress(end)
      }
    }.value
  }
}
