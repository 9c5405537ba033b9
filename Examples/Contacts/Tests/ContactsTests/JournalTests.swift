import Foundation
import Testing
import UseCaseHistory

@testable import ContactBook

/// The journal over SQLite by itself, and two processes on one table.
@Suite(.timeLimit(.minutes(30)))
struct JournalTests {
  private let file = FileManager.default.temporaryDirectory
    .appending(path: "journal-\(UUID()).sqlite").path

  private func reason(_ body: () async throws -> some Any) async -> HistoryJournalError.Reason? {
    do {
      _ = try await body()
      return nil
    } catch {
      return (error as? HistoryJournalError)?.reason
    }
  }

  private func change(_ version: Int64, _ rows: [Int64: [UInt8]?]) -> HistoryChange {
    HistoryChange(version: version, rows: rows.map { .init(key: $0, bytes: $1) })
  }

  @Test func `the last write of a row wins, also for the next one that opens it`() async throws {
    let journal = try await SQLiteJournal(try Database(file))
    #expect(try await journal.read().version == 0)
    try await journal.write(change(0, [0: [1], .max: [], 2: [3]]))
    try await journal.write(change(1, [2: nil, 0: [4]]))
    try await journal.transaction { self.change(2, [7: [UInt8](repeating: 7, count: 100_000)]) }
    let next = try await SQLiteJournal(try Database(file))
    let rows = try await next.read()
    #expect(rows.version == 3)
    #expect(rows.rows == [0: [4], .max: [], 7: [UInt8](repeating: 7, count: 100_000)])
  }

  @Test func `of two journals, the one that is behind changes nothing`() async throws {
    let (one, other) = (
      try await SQLiteJournal(try Database(file)), try await SQLiteJournal(try Database(file))
    )
    _ = (try await one.read(), try await other.read())
    try await one.write(change(0, [1: [1]]))
    #expect(await reason { try await other.write(change(0, [2: [2]])) } == .stale)
    // Its body doesn't even run.
    let reason = await reason {
      try await other.transaction {
        Issue.record("The body runs.")
        return self.change(0, [2: [2]])
      }
    }
    #expect(reason == .stale)
    #expect(try await other.read().rows == [1: [1]])
    try await other.write(change(1, [2: [2]]))
    #expect(try await one.read().rows == [1: [1], 2: [2]])
  }

  @Test func `a second lock is refused at once, and a killed process gives its own back`()
    async throws
  {
    do {
      let lock = try SQLiteLock(file)
      #expect(await reason { try SQLiteLock(file) } == .inUse)
      await #expect(processExitsWith: .success) { [file = file as String] in
        do { _ = try SQLiteLock(file) } catch let error as HistoryJournalError {
          exit(error.reason == .inUse ? EXIT_SUCCESS : 2)
        }
        exit(1)
      }
      withExtendedLifetime(lock) {}
    }
    await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String] in
      let lock = try SQLiteLock(file)
      kill(getpid(), SIGKILL)
      withExtendedLifetime(lock) {}
    }
    _ = try SQLiteLock(file)
  }

  @Test func `other writes wait for a transaction, and stay when it is rolled back`() async throws {
    struct Failure: Error {}
    let database = try Database(file)
    let journal = try await SQLiteJournal(database)
    try await database.run("CREATE TABLE note (text TEXT)")
    let (asked, other) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
    let writer = Task {
      for await _ in asked.stream.prefix(1) {}
      // It has no part in the transaction, and waits.
      async let written = database.run("INSERT INTO note VALUES ('other')")
      other.continuation.yield()
      _ = try await written
    }
    await #expect(throws: Failure.self) {
      try await journal.transaction {
        try await database.run("INSERT INTO note VALUES ('body')")
        asked.continuation.yield()
        for await _ in other.stream.prefix(1) {}
        for _ in 0..<100 { await Task.yield() }
        try await database.run("INSERT INTO note VALUES ('body, too')")
        throw Failure()
      }
    }
    try await writer.value
    #expect(try await database.run("SELECT text FROM note").map { try $0.text(0) } == ["other"])
    #expect(try await journal.read().version == 0)
  }

  // MARK: Two processes

  /// `JOURNAL_ROUNDS=500 swift test` tries more of them.
  private static let rounds =
    ProcessInfo.processInfo.environment["JOURNAL_ROUNDS"].flatMap { Int64($0) } ?? 100

  /// Runs two processes, and compares what they have heard with what is there.
  private func check(_ answers: [Int64], stale: Int) async throws {
    let database = try Database(file)
    let rows = try await SQLiteJournal(database).read()
    let ids = try await database.run("SELECT id FROM note ORDER BY id").map { try $0.integer(0) }
    #expect(rows.version == Int64(answers.count))
    #expect(rows.rows.keys.sorted() == answers.sorted())
    #expect(ids == answers.sorted())
    #expect(answers.count + stale == 2 * Int(Self.rounds))
  }

  /// The answers to both processes: ids that were kept, and how many were stale.
  private func answers() throws -> (kept: [Int64], stale: Int) {
    let lines = try (1...2).flatMap { process in
      try String(contentsOfFile: "\(file).\(process)", encoding: .utf8).split(separator: "\n")
    }
    return (lines.compactMap { Int64($0) }, lines.count { $0 == "stale" })
  }

  @Test func `two processes that take the lock in turn keep all`() async throws {
    try await Database(file).run("CREATE TABLE note (id INTEGER PRIMARY KEY)")
    async let one = #expect(processExitsWith: .success) {
      [file = file as String, rounds = Self.rounds as Int64] in
      try await Rounds(file: file, process: 1, count: rounds).inTurn()
    }
    async let other = #expect(processExitsWith: .success) {
      [file = file as String, rounds = Self.rounds as Int64] in
      try await Rounds(file: file, process: 2, count: rounds).inTurn()
    }
    _ = await (one, other)
    let heard = try answers()
    #expect(heard.stale == 0)
    try await check(heard.kept, stale: 0)
  }

  @Test func `two processes without the lock lose nothing that was kept`() async throws {
    try await Database(file).run("CREATE TABLE note (id INTEGER PRIMARY KEY)")
    async let one = #expect(processExitsWith: .success) {
      [file = file as String, rounds = Self.rounds as Int64] in
      try await Rounds(file: file, process: 1, count: rounds).atOnce()
    }
    async let other = #expect(processExitsWith: .success) {
      [file = file as String, rounds = Self.rounds as Int64] in
      try await Rounds(file: file, process: 2, count: rounds).atOnce()
    }
    _ = await (one, other)
    let heard = try answers()
    #expect(heard.stale > 0)
    try await check(heard.kept, stale: heard.stale)
  }
}

/// The rounds of one of two processes.
private struct Rounds {
  let file: String
  let process: Int64
  let count: Int64

  private func answer(_ line: String) throws {
    let log = try #require(fopen("\(file).\(process)", "a"))
    fputs("\(line)\n", log)
    fclose(log)
  }

  /// Tries until the database is not busy: SQLite lets nobody wait in line.
  private func patiently<Value: Sendable>(
    _ body: () async throws -> Value
  ) async throws -> Value {
    while true {
      do { return try await body() } catch let failure as Database.Failure {
        guard failure.isBusy else { throw failure }
      }
    }
  }

  /// Waits until both processes are here.
  private func meet() async throws {
    try answer("here")
    while access("\(file).\(3 - process)", F_OK) != 0 { await Task.yield() }
  }

  /// Changes the document and the rows.
  private func keep(_ id: Int64, _ version: Int64, _ journal: SQLiteJournal, _ database: Database)
    async throws
  {
    if id.isMultiple(of: 3) {
      // As for a group that begins: a write of its own.
      try await journal.write(.init(version: version, rows: [.init(key: id, bytes: [1])]))
      _ = try await patiently {
        try await database.run("INSERT INTO note VALUES (?)", .integer(id))
      }
    } else {
      try await journal.transaction {
        try await database.run("INSERT INTO note VALUES (?)", .integer(id))
        return HistoryChange(version: version, rows: [.init(key: id, bytes: [1])])
      }
    }
    try answer("\(id)")
  }

  /// Takes the lock for each round, and opens the journal as the other has left it.
  func inTurn() async throws {
    try await meet()
    for round in 0..<count {
      var lock: SQLiteLock?
      while lock == nil {
        do { lock = try SQLiteLock(file) } catch let error as HistoryJournalError {
          guard error.reason == .inUse else { throw error }
          await Task.yield()
        }
      }
      let database = try Database(file)
      let journal = try await SQLiteJournal(database)
      let version = try await journal.read().version
      try await keep(2 * round + process - 1, version, journal, database)
      withExtendedLifetime(lock) {}
    }
  }

  /// Never takes the lock, and reads anew only when the other has written.
  func atOnce() async throws {
    let database = try Database(file)
    let journal = try await SQLiteJournal(database)
    var version = try await journal.read().version
    try await meet()
    for round in 0..<count {
      do {
        try await patiently {
          try await keep(2 * round + process - 1, version, journal, database)
        }
        version += 1
      } catch let error as HistoryJournalError {
        guard error.reason == .stale else { throw error }
        try answer("stale")
        version = try await patiently { try await journal.read().version }
      }
    }
  }
}
