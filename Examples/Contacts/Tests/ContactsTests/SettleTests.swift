import Synchronization
import Testing
import UseCase
import UseCaseHistory
import UseCaseJournal

@testable import ContactBook

/// The recipe of the article for a journal that is not in the database: there the database keeps a
/// row of each change.
struct SettleTests {
  @Test(arguments: ["execute", "undo", "redo"], [true, false])
  func `after a crash, the rows settle what was in doubt`(
    action: String, isCommitted: Bool
  ) async throws {
    let database = try Database(":memory:")
    try await database.run("CREATE TABLE contact (id INTEGER PRIMARY KEY, name TEXT, mail TEXT)")
    try await database.run("CREATE TABLE done (key TEXT PRIMARY KEY, value TEXT)")
    try await database.insert(Contact(id: 1, person: Person(name: "A", mail: "")))
    let rename = SettledRename(database: database, journal: "contacts")
    let journal = Rows()
    let history = try await UseCaseHistory.open(journal, for: [rename])
    func act(_ action: String) async {
      switch action {
      case "execute": _ = try? await history.execute(rename, .init(id: 1, name: "B")).value
      case "undo": _ = try? await history.undo().value
      default: _ = try? await history.redo().value
      }
    }
    let actions = ["execute", "undo", "redo", "undo", "redo"]
    let index = try #require(actions.lastIndex(of: action))
    for action in actions[..<index] { await act(action) }
    // Without its contact, it changes nothing.
    let before = try await database.contact(1)
    if !isCommitted { try await database.delete(1) }
    await act(action)
    if !isCommitted { try await database.insert(before) }

    // The process ends before the end of the body is written.
    let next = try await UseCaseHistory.open(Rows(journal.beforeLastWrite), for: [rename])
    #expect(next.entries.allSatisfy { $0.standing == .normal })
    let name = try await database.contact(1).person.name
    #expect(name == ((action == "undo") == isCommitted ? "A" : "B"))
    #expect(next.entries.filter(\.isApplied).count == (name == "B" ? 1 : 0))
    if name == "B" { _ = try await next.undo().value }
    #expect(try await database.contact(1).person.name == "A")
  }
}

/// A journal in memory.
private final class Rows: HistoryJournal {
  let coder: any HistoryCoder = JSONHistoryCoder()
  private let states: Mutex<[HistoryRows]>

  init(_ rows: HistoryRows = HistoryRows()) { states = Mutex([rows]) }

  var beforeLastWrite: HistoryRows { states.withLock { $0[$0.count - 2] } }

  func read() async throws -> HistoryRows { states.withLock { $0[$0.count - 1] } }

  func write(_ change: HistoryChange) async throws {
    try states.withLock { states in
      var rows = states[states.count - 1]
      guard rows.version == change.version else { throw HistoryJournalError(.stale) }
      rows.version += 1
      for row in change.rows { rows.rows[row.key] = row.bytes }
      states.append(rows)
    }
  }
}

private struct SettledRename: JournaledUseCase {
  struct Request: Codable, Sendable {
    let id: Int64
    let name: String
  }

  struct Response: Codable, Sendable {
    let oldName: String
    let round: Int
  }

  static let journalName = "rename"
  let database: Database
  let journal: String  // Entry ids are unique only in one journal.

  func main(_ request: Request) async throws -> Response {
    try await rename(request, round: 1)
  }

  func undo(_ request: Request, _ response: Response) async throws {
    _ = try await database.rename(
      request.id, to: response.oldName, key: key("undo", response.round))
  }

  func redo(
    _ request: Request, _ response: Response
  ) async throws -> Response {
    try await rename(request, round: response.round + 1)
  }

  func settle(
    _ doubt: HistoryDoubt<Request, Response>
  ) async throws -> HistorySettlement<Response> {
    let (action, round) =
      switch doubt {
      case .execution: ("do", 1)
      case .undo(_, let response): ("undo", response.round)
      case .redo(_, let response): ("do", response.round + 1)
      }
    let oldName = try await database.done(key(action, round))
    guard let oldName else { return .hadNoEffect }
    return .hadEffect(Response(oldName: oldName, round: round))
  }

  private func rename(
    _ request: Request, round: Int
  ) async throws -> Response {
    let oldName = try await database.rename(
      request.id, to: request.name, key: key("do", round))
    return Response(oldName: oldName, round: round)
  }

  private func key(_ action: String, _ round: Int) -> String {
    guard let entry = HistoryEntry.ID.current else {
      fatalError("There is no key without an entry: record the use case.")
    }
    return "\(journal)-\(entry)-\(action)-\(round)"
  }
}

extension Database {
  // Changes the name, and keeps a row of that, in one transaction.
  func rename(
    _ id: Int64, to name: String, key: String
  ) async throws -> String {
    try await transaction {
      let contact = try await self.contact(id)
      try await self.update(contact, name: name)
      try await self.run(
        "INSERT INTO done (key, value) VALUES (?, ?)",
        .text(key), .text(contact.person.name))
      return contact.person.name
    }
  }

  // Returns what the change has returned, nil if it was not made.
  func done(_ key: String) async throws -> String? {
    try await run("SELECT value FROM done WHERE key = ?", .text(key)).first?.text(0)
  }
}
