import Foundation
import Synchronization
import Testing
import UseCase
import UseCaseHistory

@testable import SharedBook
@testable import server

/// They need a database for themselves: `../try` starts one, and sets its address.
@Suite(.serialized)
struct SharedBookTests {
  private static let address = ProcessInfo.processInfo.environment["BOOK_DATABASE"] ?? ""
  private static let kills =
    ProcessInfo.processInfo.environment["BOOK_KILLS"].flatMap { Int($0) } ?? 50

  /// A book of which nobody else knows.
  private static func book() async throws -> SharedBook {
    let book = try await SharedBook(address)
    // Each contact that ever was, written with it.
    for statement in [
      "DROP TABLE IF EXISTS trail", "TRUNCATE contact, journal, journal_version",
      "CREATE TABLE trail (id bigserial, contact bigint, name text)",
      """
      CREATE OR REPLACE FUNCTION trace() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO trail (contact, name) VALUES (NEW.id, NEW.name);
        RETURN NULL;
      END $$
      """,
      """
      CREATE OR REPLACE TRIGGER trace AFTER INSERT ON contact
      FOR EACH ROW EXECUTE FUNCTION trace()
      """,
    ] { try await book.database.run(statement) }
    return book
  }

  @Test func `a server sees, undoes and redoes what another has done`() async throws {
    let (one, other) = (try await Self.book(), try await SharedBook(Self.address))
    let id = try await one.add("Ada")
    try await other.rename(id, to: "Augusta")
    #expect(try await one.undo() == "Rename to Augusta")
    try await other.import(["Bob", "Eve"])
    #expect(try await one.contacts.count == 3)
    #expect(try await one.undo() == "Import Bob Eve")
    #expect(try await other.undo() == "Add Ada")
    #expect(try await one.redo() == "Add Ada")
    #expect(try await other.contacts == [id + " Ada"])
  }

  @Test func `a history that is behind changes nothing`() async throws {
    let (one, other) = (try await Self.book(), try await SharedBook(Self.address))
    _ = try await one.add("Ada")
    let behind = try await one.turn { history, _ in history }
    _ = try await other.add("Bob")
    let error = await #expect(throws: HistoryJournalError.self) {
      _ = try await behind.execute(Add(database: one.database), "Eve").value
    }
    #expect(error?.reason == .stale)
    await #expect(throws: HistoryJournalError.self) { _ = try await behind.undo().value }
    #expect(try await other.contacts.count == 2)
    #expect(try await other.undo() == "Add Bob")
  }

  /// Two servers change one book at the same time, and end at random moments: the process is killed,
  /// or the database ends its connection.
  @Test func `after kills of two servers the book and its history agree`() async throws {
    signal(SIGPIPE, SIG_IGN)
    var (kills, answers) = (0, 0)
    while kills < Self.kills {
      let book = try await Self.book()
      let log = Mutex(Log())
      let servers = (1...2).map { _ in Server() }
      let workers = servers.enumerated().map { number, server in
        Worker { server.work("s\(number)", Self.address, log) }
      }
      for _ in 1...25 {
        kills += 1
        try await Self.kill(servers[.random(in: 0...1)], book)
      }
      servers.forEach { $0.stop() }
      for worker in workers { await worker.ended() }
      try await Self.check(book, log.withLock { $0 })
      let heard = log.withLock { $0.answers }
      let errors = heard.filter { $0.hasPrefix("error") && !$0.contains("no contact") }
      #expect(errors == [])
      answers += heard.count
    }
    print("\(kills) kills, behind \(answers) answers")
  }

  /// Kills the server at any moment after its first answer.
  private static func kill(_ server: Server, _ book: SharedBook) async throws {
    repeat {
      try await Task.sleep(for: .milliseconds(.random(in: 0...(Bool.random() ? 50 : 300))))
    } while !server.hasAnswered
    if Int.random(in: 0..<5) > 0 { return server.kill() }
    try await book.database.run(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE application_name = 'server' ORDER BY random() LIMIT 1
      """)
  }

  /// In a turn of its own, so that no server changes anything meanwhile.
  private static func check(_ book: SharedBook, _ log: Log) async throws {
    try await book.turn { history, database in
      // The redo of an import that a kill has interrupted waits for another one.
      for entry in history.entries where entry.standing == .interrupted {
        _ = try await history.redo(entry.id).value
      }
      let entries = history.entries
      let rows = try await database.run(
        """
        SELECT DISTINCT trail.contact, trail.name, contact.id IS NOT NULL
        FROM trail LEFT JOIN contact ON contact.id = trail.contact
        """)
      let made = rows.map { Made(name: $0[1], isThere: $0[2] == "t") }
      #expect(Self.differences(entries, made, log) == [])
      // All can be undone and redone.
      let contacts = try await book.contacts
      guard let newest = entries.last(where: \.isApplied), !newest.isPartial else { return }
      _ = try await history.move(to: nil).value
      #expect(try await book.contacts == [])
      _ = try await history.move(to: newest.id).value
      #expect(try await book.contacts == contacts)
    }
  }

  /// A contact that was made.
  private struct Made {
    let name: String
    let isThere: Bool
  }

  /// Returns what is lost, what is there twice, and what can't be undone.
  private static func differences(
    _ entries: [HistoryEntry], _ made: [Made], _ log: Log
  ) -> [String] {
    var differences: [String] = []
    for entry in entries where entry.standing != .normal {
      differences.append("\(entry) is \(entry.standing)")
    }
    var adds: [String: [HistoryEntry]] = [:]
    for entry in entries {
      for leaf in entry.children.isEmpty ? [entry] : entry.children
      where leaf.title.hasPrefix("Add ") {
        adds[String(leaf.title.dropFirst(4)), default: []].append(leaf)
      }
    }
    for contact in made {
      let entries = adds.removeValue(forKey: contact.name) ?? []
      // Only parts of imports can leave: one that was interrupted is taken back, and of one that is
      // half undone the next execution drops the undone parts.
      if entries.isEmpty, !contact.isThere, contact.name.contains("i") { continue }
      if entries.count != 1 || entries[0].isApplied != contact.isThere {
        differences.append("\(contact), and \(entries)")
      }
    }
    differences += adds.keys.map { "\($0) has an entry, and was never there" }
    if Set(made.map(\.name)).count < made.count { differences.append("a request was done twice") }
    let names = Set(made.map(\.name))
    differences += log.added.filter { !names.contains($0) }.map { "\($0) is lost" }
    return differences
  }
}

extension SharedBook {
  fileprivate var contacts: [String] {
    get async throws {
      try await database.run("SELECT id, name FROM contact ORDER BY id").map {
        $0.joined(separator: " ")
      }
    }
  }
}

/// Everything that the clients of all servers know.
private struct Log: Sendable {
  var answers: [String] = []
  var added: [String] = []
  var ids: [String] = []
  private var count = 0

  mutating func request(_ client: String) -> [String] {
    count += 1
    let name = "\(client)-\(count)"
    return switch Int.random(in: 0..<20) {
    case 0..<8: ["add", name]
    case 8..<11: ["rename", ids.randomElement() ?? "1", "r" + name]
    case 11..<15: ["undo"]
    case 15..<18: ["redo"]
    default: ["import"] + (1...4).map { "\(name)i\($0)" }
    }
  }

  mutating func note(_ answer: String, to request: [String]) {
    answers.append(answer)
    if answer.hasPrefix("added ") {
      added.append(request[1])
      ids.append(String(answer.dropFirst(6)))
    }
  }
}

/// A server that is started again whenever it has ended.
private final class Server: Sendable {
  private let pid = Mutex<pid_t?>(nil)
  private let answered = Atomic(false)
  private let isStopped = Atomic(false)

  /// Whether it has answered since it was started.
  var hasAnswered: Bool { answered.load(ordering: .relaxed) }

  func kill() { pid.withLock { pid in if let pid { Foundation.kill(pid, SIGKILL) } } }

  func stop() {
    isStopped.store(true, ordering: .relaxed)
    kill()
  }

  func work(_ client: String, _ address: String, _ log: borrowing Mutex<Log>) {
    while !isStopped.load(ordering: .relaxed) {
      let process = Process()
      process.executableURL = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "server")
      process.arguments = [address, "application_name=server"]
      let (input, output) = (Pipe(), Pipe())
      (process.standardInput, process.standardOutput) = (input, output)
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else {
        Issue.record("There is no server.")
        return
      }
      pid.withLock { $0 = process.processIdentifier }
      if isStopped.load(ordering: .relaxed) { kill() }
      while true {
        let request = log.withLock { $0.request(client) }
        let line = Data((request.joined(separator: " ") + "\n").utf8)
        guard (try? input.fileHandleForWriting.write(contentsOf: line)) != nil else { break }
        var answer = Data()
        while answer.last != 10 {
          let more = output.fileHandleForReading.availableData
          if more.isEmpty { break }
          answer += more
        }
        guard answer.last == 10 else { break }
        let text = String(decoding: answer.dropLast(), as: UTF8.self)
        log.withLock { $0.note(text, to: request) }
        answered.store(true, ordering: .relaxed)
      }
      answered.store(false, ordering: .relaxed)
      pid.withLock { $0 = nil }
      process.waitUntilExit()
    }
  }
}

/// Work that blocks its thread.
private final class Worker: Sendable {
  private let end = AsyncStream.makeStream(of: Void.self)

  init(_ body: @escaping @Sendable () -> Void) {
    Thread { [end] in
      body()
      end.continuation.finish()
    }.start()
  }

  func ended() async { for await _ in end.stream {} }
}
