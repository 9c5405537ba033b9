import Foundation
import Testing
import UseCaseHistory

@testable import SharedBook

/// The journal over PostgreSQL by itself, and two processes on one table. `../try` starts a database.
@Suite(.serialized, .timeLimit(.minutes(30)))
struct JournalTests {
  private static let address = ProcessInfo.processInfo.environment["BOOK_DATABASE"] ?? ""
  private static let rounds =
    ProcessInfo.processInfo.environment["JOURNAL_ROUNDS"].flatMap { Int64($0) } ?? 500

  /// A document of which nobody else knows.
  private let document = String(Int64.random(in: 1_000 ... .max))

  private func change(_ version: Int64, _ rows: [Int64: [UInt8]?]) -> HistoryChange {
    HistoryChange(version: version, rows: rows.map { .init(key: $0, bytes: $1) })
  }

  private func stale(_ body: () async throws -> Void) async {
    let error = await #expect(throws: HistoryJournalError.self) { try await body() }
    #expect(error?.reason == .stale)
  }

  /// A connection, with the tables.
  private func database() async throws -> Database {
    let database = try Database(Self.address)
    for statement in [
      "SET client_min_messages = warning", "SELECT pg_advisory_lock(0)",
      """
      CREATE TABLE IF NOT EXISTS journal (
        document bigint, key bigint, bytes bytea NOT NULL, PRIMARY KEY (document, key))
      """,
      """
      CREATE TABLE IF NOT EXISTS journal_version (
        document bigint PRIMARY KEY, version bigint NOT NULL)
      """,
      "CREATE TABLE IF NOT EXISTS note (document bigint, id bigint, PRIMARY KEY (document, id))",
      "SELECT pg_advisory_unlock(0)",
    ] { try await database.run(statement) }
    return database
  }

  private func journal() async throws -> PostgresJournal {
    try await PostgresJournal(document, in: database())
  }

  @Test func `the last write of a row wins, also for the next one that opens it`() async throws {
    let journal = try await journal()
    #expect(try await journal.read().version == 0)
    try await journal.write(change(0, [0: [1], .max: [], 2: [3]]))
    try await journal.write(change(1, [2: nil, 0: [4]]))
    try await journal.transaction { self.change(2, [7: [UInt8](repeating: 7, count: 100_000)]) }
    let rows = try await self.journal().read()
    #expect(rows.version == 3)
    #expect(rows.rows == [0: [4], .max: [], 7: [UInt8](repeating: 7, count: 100_000)])
  }

  @Test func `of two journals, the one that is behind changes nothing`() async throws {
    let (one, other) = (try await journal(), try await journal())
    _ = (try await one.read(), try await other.read())
    try await one.write(change(0, [1: [1]]))
    await stale { try await other.write(self.change(0, [2: [2]])) }
    // Its body doesn't even run.
    await stale {
      try await other.transaction {
        Issue.record("The body runs.")
        return self.change(0, [2: [2]])
      }
    }
    #expect(try await other.read().rows == [1: [1]])
    try await other.write(change(1, [2: [2]]))
    #expect(try await one.read().rows == [1: [1], 2: [2]])
  }

  // MARK: Two processes

  /// Compares what the two have heard with what is there.
  private func check(stale isExpected: Bool) async throws {
    let database = try await database()
    let lines = try (1...2).flatMap { process in
      let log = "/tmp/journal-\(document).\(process)"
      defer { unlink(log) }
      return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    }
    let (kept, stale) = (lines.compactMap { Int64($0) }.sorted(), lines.count { $0 == "stale" })
    let rows = try await PostgresJournal(document, in: database).read()
    let ids = try await database.run(
      "SELECT id FROM note WHERE document = $1 ORDER BY id", document)
    #expect(rows.version == Int64(kept.count))
    #expect(rows.rows.keys.sorted() == kept)
    #expect(try ids.map { try Database.integer($0[0]) } == kept)
    #expect(kept.count + stale == 2 * Int(Self.rounds))
    #expect((stale > 0) == isExpected)
    print("\(kept.count) kept, \(stale) stale")
  }

  @Test func `two processes that take the lock in turn keep all`() async throws {
    _ = try await database()
    async let one = #expect(processExitsWith: .success) {
      [it = [Self.address, document] as [String], count = Self.rounds as Int64] in
      try await Rounds(address: it[0], document: it[1], process: 1, count: count).run(inTurn: true)
    }
    async let other = #expect(processExitsWith: .success) {
      [it = [Self.address, document] as [String], count = Self.rounds as Int64] in
      try await Rounds(address: it[0], document: it[1], process: 2, count: count).run(inTurn: true)
    }
    _ = await (one, other)
    try await check(stale: false)
  }

  @Test func `two processes without the lock lose nothing that was kept`() async throws {
    _ = try await database()
    async let one = #expect(processExitsWith: .success) {
      [it = [Self.address, document] as [String], count = Self.rounds as Int64] in
      try await Rounds(address: it[0], document: it[1], process: 1, count: count).run(inTurn: false)
    }
    async let other = #expect(processExitsWith: .success) {
      [it = [Self.address, document] as [String], count = Self.rounds as Int64] in
      try await Rounds(address: it[0], document: it[1], process: 2, count: count).run(inTurn: false)
    }
    _ = await (one, other)
    try await check(stale: true)
  }
}

/// The rounds of one of two processes.
private struct Rounds {
  let address: String
  let document: String
  let process: Int64
  let count: Int64

  private func answer(_ line: String) throws {
    let log = try #require(fopen("/tmp/journal-\(document).\(process)", "a"))
    fputs("\(line)\n", log)
    fclose(log)
  }

  /// Waits until both processes are here.
  private func meet() async throws {
    try answer("here")
    while access("/tmp/journal-\(document).\(3 - process)", F_OK) != 0 { await Task.yield() }
  }

  func run(inTurn: Bool) async throws {
    let database = try Database(address)
    let journal = try await PostgresJournal(document, in: database)
    var version = try await journal.read().version
    try await meet()
    for round in 0..<count {
      if inTurn {
        try await database.run("SELECT pg_advisory_lock($1)", document)
        if try await !journal.isCurrent() { version = try await journal.read().version }
      }
      do {
        try await keep(2 * round + process - 1, version, journal, database)
        version += 1
      } catch let error as HistoryJournalError {
        guard error.reason == .stale else { throw error }
        try answer("stale")
        version = try await journal.read().version
      }
      if inTurn { try await database.run("SELECT pg_advisory_unlock($1)", document) }
    }
  }

  /// Changes the document and the rows.
  private func keep(
    _ id: Int64, _ version: Int64, _ journal: PostgresJournal, _ database: Database
  ) async throws {
    let note = "INSERT INTO note VALUES ($1, $2)"
    if id.isMultiple(of: 3) {
      // As for a group that begins: a write of its own.
      try await journal.write(.init(version: version, rows: [.init(key: id, bytes: [1])]))
      try await database.run(note, document, String(id))
    } else {
      try await journal.transaction {
        try await database.run(note, document, String(id))
        return HistoryChange(version: version, rows: [.init(key: id, bytes: [1])])
      }
    }
    try answer("\(id)")
  }
}
