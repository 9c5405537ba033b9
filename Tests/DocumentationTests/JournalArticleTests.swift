import Foundation
import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseJournal

/// The code of “Undo that survives the process”.
@Suite(.mustEnd)
struct JournalArticleTests {
  @Test func `a server that knows the key settles what was in doubt`() async throws {
    let notes = KeyedNotes()
    let database = Table()
    let rename = RenameNote(server: notes.server)
    let history = try await UseCaseHistory.open(TableJournal(database: database), for: [rename])
    await history.execute(rename, .init(note: 1, title: "New")).ended()
    let entry = try #require(history.entries.first?.id)
    #expect(notes.keys == ["notes-\(entry)-do-1"])

    // The end of the execution was never written.
    database.rows.update { $0.removeLast() }
    let next = try await UseCaseHistory.open(TableJournal(database: database), for: [rename])
    #expect(next.entries.map(\.standing) == [.normal])
    await next.undo().ended()
    #expect(notes.title == "Old")
    #expect(notes.keys == ["notes-\(entry)-do-1", "notes-\(entry)-undo-1"])
  }

  @Test func `each undo and each redo has a key of its own, and a repeated one the same`()
    async throws
  {
    let notes = KeyedNotes()
    let rename = RenameNote(server: notes.server)
    let journal = TableJournal(database: Table())
    let history = try await UseCaseHistory.open(journal, for: [rename])
    await history.execute(rename, .init(note: 1, title: "New")).ended()
    for _ in 1...3 {
      await history.undo().ended()
      #expect(notes.title == "Old")
      await history.redo().ended()
      #expect(notes.title == "New")
    }
    #expect(notes.keys.count == 7)

    // The answer is lost, and the undo repeated.
    notes.losesAnswer.update { $0 = true }
    await history.undo().ended()
    #expect(history.state.canUndo && notes.title == "Old")
    await history.undo().ended()
    #expect(!history.state.canUndo && notes.title == "Old")
    #expect(notes.keys.count == 8)
  }

  @Test func `a file keeps what a coder has encrypted`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "article-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "undo.journal")
    let server = Server(journal: "notes", send: { _, _, _ in "Geheim" }, answer: { _ in nil })
    let coder = SecretCoder(seal: { $0.map { ~$0 } }, open: { $0.map { ~$0 } })
    let journal = try FileJournal(at: file, coder: coder)
    let rename = RenameNote(server: server)
    let history = try await UseCaseHistory.open(journal, for: [rename])
    await history.execute(rename, .init(note: 1, title: "Secret")).ended()
    await closeHistory(history, journal)
    let bytes = try Data(contentsOf: file)
    #expect(bytes.range(of: Data("Geheim".utf8)) == nil)
    #expect(bytes.range(of: Data("Secret".utf8)) == nil)
    let again = try await UseCaseHistory.open(
      try FileJournal(at: file, coder: coder), for: [rename])
    #expect(again.entries.map(\.standing) == [.normal])
  }

  @Test func `the functions of the pages open a history`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "article-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let server = Server(journal: "notes", send: { _, _, _ in "Old" }, answer: { _ in nil })
    #expect(try await openHistory(folder.appending(path: "a"), server).entries.isEmpty)
    #expect(try await openNotes(folder, []).entries.isEmpty)
    #expect(try await openKeeping(TableJournal(database: Table()), server).entries.isEmpty)
    let coder = JSONHistoryCoder()
    let bytes = try coder.encode(["name": "Report"])
    print(String(decoding: bytes, as: UTF8.self))  // {"name":"Report"}
    #expect(bytes == Array(#"{"name":"Report"}"#.utf8))
  }
}

private func openHistory(
  _ file: URL, _ server: Server
) async throws -> UseCaseHistory {
  let journal = try FileJournal(at: file)
  let rename = RenameNote(server: server)
  return try await UseCaseHistory.open(journal, for: [rename])
}

private func openNotes(
  _ folder: URL, _ useCases: [any JournaledUseCase]
) async throws -> UseCaseHistory {
  let journal = try FileJournal(at: folder.appending(path: "undo.journal"))
  return try await UseCaseHistory.open(journal, for: useCases)
}

private func closeHistory(
  _ history: UseCaseHistory, _ journal: FileJournal
) async {
  await history.idle()
  await journal.close()
}

private func openKeeping(
  _ journal: any HistoryJournal, _ server: Server
) async throws -> UseCaseHistory {
  let rename = RenameNote(server: server)
  return try await UseCaseHistory.open(
    journal, for: [rename], interrupted: .keep)
}

/// A server that answers a key which it knows without doing anything again.
private struct KeyedNotes {
  private struct Offline: Error {}

  private let titles = Watched(["Old"])
  private let answers = Watched<[(key: String, oldTitle: String)]>([])
  let losesAnswer = Watched(false)

  var title: String? { titles.value.last }
  var keys: [String] { answers.value.map(\.key) }

  var server: Server {
    Server(
      journal: "notes",
      send: { [self] title, note, headers in
        #expect(note == 1)
        let key = headers["Idempotency-Key", default: "none"]
        if let known = answer(to: key) { return known }
        let oldTitle = titles.value.last ?? ""
        titles.update { $0.append(title) }
        answers.update { $0.append((key, oldTitle)) }
        if losesAnswer.value {
          losesAnswer.update { $0 = false }
          throw Offline()
        }
        return oldTitle
      }, answer: { [self] key in answer(to: key) })
  }

  private func answer(to key: String) -> String? {
    answers.value.first { $0.key == key }?.oldTitle
  }
}

private protocol Database: Sendable {
  func blobs(_ query: String) async throws -> [[UInt8]]
  /// All of them, or none.
  func run(_ statements: [(String, [UInt8]?)]) async throws
}

/// A table that knows these three statements.
private final class Table: Database {
  let rows = Watched<[[UInt8]]>([])

  func blobs(_ query: String) async throws -> [[UInt8]] { rows.value }

  func run(_ statements: [(String, [UInt8]?)]) async throws {
    rows.update { rows in
      for (statement, blob) in statements {
        if statement.hasPrefix("DELETE") { rows = [] }
        if let blob { rows.append(blob) }
      }
    }
  }
}

private struct RenameNote: JournaledUseCase {
  struct Request: Codable, Sendable {
    let note: Int
    let title: String
  }

  struct Response: Codable, Sendable {
    let oldTitle: String
    let round: Int  // makes the key of each redo different
  }

  static let journalName = "rename note"
  let server: Server

  func main(_ request: Request) async throws -> Response {
    try await rename(request, round: 1)
  }

  func undo(_ request: Request, _ response: Response) async throws {
    let key = server.key("undo", round: response.round)
    let oldTitle = response.oldTitle
    _ = try await server.rename(request.note, to: oldTitle, key: key)
  }

  func redo(
    _ request: Request, _ response: Response
  ) async throws -> Response {
    try await rename(request, round: response.round + 1)
  }

  func settle(
    _ doubt: HistoryDoubt<Request, Response>
  ) async throws -> HistorySettlement<Response> {
    switch doubt {
    case .execution:
      let answer = try await server.answer(server.key("do", round: 1))
      guard let oldTitle = answer else { return .hadNoEffect }
      return .hadEffect(Response(oldTitle: oldTitle, round: 1))
    case .undo, .redo:
      return .unknown  // The user can repeat it: the key stays the same.
    }
  }

  private func rename(
    _ request: Request, round: Int
  ) async throws -> Response {
    let key = server.key("do", round: round)
    let oldTitle = try await server.rename(
      request.note, to: request.title, key: key)
    return Response(oldTitle: oldTitle, round: round)
  }
}

private struct Server: Sendable {
  let journal: String  // Entry ids are unique only in one journal.
  let send:
    @Sendable (
      _ title: String, _ note: Int, _ headers: [String: String]
    ) async throws -> String
  let answer: @Sendable (_ key: String) async throws -> String?

  // A repeated call has the same key, even at the next launch.
  func key(_ action: String, round: Int) -> String {
    guard let entry = HistoryEntry.ID.current else {
      fatalError("There is no key without an entry: record the use case.")
    }
    return "\(journal)-\(entry)-\(action)-\(round)"
  }

  func rename(
    _ note: Int, to title: String, key: String
  ) async throws -> String {
    try await send(title, note, ["Idempotency-Key": key])
  }
}

private struct SecretCoder: HistoryCoder {
  let plain = JSONHistoryCoder()
  let seal: @Sendable ([UInt8]) throws -> [UInt8]
  let open: @Sendable ([UInt8]) throws -> [UInt8]

  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    try seal(plain.encode(value))
  }

  func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8]
  ) throws -> Value {
    try plain.decode(type, from: open(bytes))
  }
}

private struct TableJournal: HistoryJournal {
  let database: any Database
  let coder: any HistoryCoder = JSONHistoryCoder()

  func read() async throws -> [[UInt8]] {
    try await database.blobs("SELECT record FROM journal ORDER BY id")
  }

  func append(_ record: [UInt8]) async throws {
    let insert = "INSERT INTO journal (record) VALUES (?)"
    try await database.run([(insert, record)])
  }

  func replace(with records: [[UInt8]]) async throws {
    let insert = "INSERT INTO journal (record) VALUES (?)"
    let inserts = records.map { (insert, Optional($0)) }
    // One transaction: all of it, or nothing.
    try await database.run([("DELETE FROM journal", nil)] + inserts)
  }
}
