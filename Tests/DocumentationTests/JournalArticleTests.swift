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
    let titles = Watched<[String: String]>([:])
    let server = Server(
      send: { title, note, headers in
        #expect(note == 1)
        titles.update { $0[headers["Idempotency-Key", default: "none"]] = title }
        return "Old"
      }, answer: { key in titles.value[key].map { _ in "Old" } })
    let database = Table()
    let rename = RenameNote(server: server)
    let history = try await UseCaseHistory.open(TableJournal(database: database), for: [rename])
    await history.execute(rename, .init(note: 1, title: "New")).ended()
    let entry = try #require(history.entries.first?.id)
    #expect(titles.value == ["\(entry)": "New"])

    // The end of the execution was never written.
    database.rows.update { $0.removeLast() }
    let next = try await UseCaseHistory.open(TableJournal(database: database), for: [rename])
    #expect(next.entries.map(\.standing) == [.normal])
    await next.undo().ended()
    #expect(titles.value["\(entry)-undo"] == "Old")
  }

  @Test func `a file keeps what a coder has encrypted`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "article-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "undo.journal")
    let server = Server(send: { _, _, _ in "Geheim" }, answer: { _ in nil })
    let coder = SecretCoder(seal: { $0.map { ~$0 } }, open: { $0.map { ~$0 } })
    let journal = try FileJournal(at: file, coder: coder)
    let rename = RenameNote(server: server)
    let history = try await UseCaseHistory.open(journal, for: [rename])
    await history.execute(rename, .init(note: 1, title: "Secret")).ended()
    journal.close()
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
    let server = Server(send: { _, _, _ in "Old" }, answer: { _ in nil })
    #expect(try await openHistory(folder.appending(path: "a"), server).entries.isEmpty)
    #expect(try await openNotes(folder, []).entries.isEmpty)
    #expect(try await openKeeping(TableJournal(database: Table())).entries.isEmpty)
    let coder = JSONHistoryCoder()
    let bytes = try coder.encode(["name": "Report"])
    print(String(decoding: bytes, as: UTF8.self))  // {"name":"Report"}
    #expect(bytes == Array(#"{"name":"Report"}"#.utf8))
  }
}

private func openHistory(_ file: URL, _ server: Server) async throws -> UseCaseHistory {
  let journal = try FileJournal(at: file)
  return try await UseCaseHistory.open(journal, for: [RenameNote(server: server)])
}

private func openNotes(
  _ folder: URL, _ useCases: [any JournaledUseCase]
) async throws -> UseCaseHistory {
  let journal = try FileJournal(at: folder.appending(path: "undo.journal"))
  return try await UseCaseHistory.open(journal, for: useCases)
}

private func openKeeping(_ journal: any HistoryJournal) async throws -> UseCaseHistory {
  try await UseCaseHistory.open(journal, for: [], interrupted: .keep)
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

  static let journalName = "rename note"
  let server: Server

  func main(_ request: Request) async throws -> String {
    try await server.rename(request.note, to: request.title, key: Server.key)
  }

  func undo(_ request: Request, _ oldTitle: String) async throws {
    _ = try await server.rename(request.note, to: oldTitle, key: Server.key + "-undo")
  }

  func settle(
    _ doubt: HistoryDoubt<Request, String>
  ) async throws -> HistorySettlement<String> {
    switch doubt {
    case .execution:
      guard let oldTitle = try await server.answer(to: Server.key) else { return .hadNoEffect }
      return .hadEffect(oldTitle)
    case .undo, .redo:
      return .unknown
    }
  }
}

private struct Server: Sendable {
  // The same for every attempt of one execution, also after a launch.
  static var key: String { HistoryEntry.ID.current.map { "\($0)" } ?? "" }

  let send:
    @Sendable (_ title: String, _ note: Int, _ headers: [String: String]) async throws -> String
  let answer: @Sendable (_ key: String) async throws -> String?

  func rename(_ note: Int, to title: String, key: String) async throws -> String {
    try await send(title, note, ["Idempotency-Key": key])
  }

  func answer(to key: String) async throws -> String? { try await answer(key) }
}

private struct SecretCoder: HistoryCoder {
  let plain = JSONHistoryCoder()
  let seal: @Sendable ([UInt8]) throws -> [UInt8]
  let open: @Sendable ([UInt8]) throws -> [UInt8]

  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    try seal(plain.encode(value))
  }

  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
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
    try await database.run([("INSERT INTO journal (record) VALUES (?)", record)])
  }

  func replace(with records: [[UInt8]]) async throws {
    let inserts = records.map { ("INSERT INTO journal (record) VALUES (?)", Optional($0)) }
    // One transaction: all of it, or nothing.
    try await database.run([("DELETE FROM journal", nil)] + inserts)
  }
}
