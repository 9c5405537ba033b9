import Foundation
import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseJournal
import UseCaseTesting

/// The code of “Undo that survives the process”.
@Suite(.mustEnd)
@MainActor
struct JournalArticleTests {
  private let server = Server()

  @Test(arguments: ["execute", "undo", "redo"], [true, false])
  func `a server that knows the key settles what was in doubt`(
    action: String, arrives: Bool
  ) async throws {
    let rename = RenameNote(server: server)
    let journal = Rows()
    let history = try await UseCaseHistory.open(journal, for: [rename])
    if action != "execute" { await history.execute(rename, .init(note: 1, title: "New")).ended() }
    if action == "redo" { await history.undo().ended() }
    if !arrives { await server.losesCall() }
    switch action {
    case "execute": await history.execute(rename, .init(note: 1, title: "New")).ended()
    case "undo": await history.undo().ended()
    default: await history.redo().ended()
    }

    // The end was never written.
    let next = try await UseCaseHistory.open(Rows(journal.beforeLastWrite), for: [rename])
    #expect(next.recovery.isEmpty)
    #expect(await server.title == ((action == "undo") == arrives ? "Old" : "New"))
    #expect(next.state.undoCount == ((action == "undo") == arrives ? 0 : 1))
    await next.undo().ended()
    #expect(await server.title == "Old")
  }

  @Test func `each undo and each redo has a key of its own, and a repeated one the same`()
    async throws
  {
    let rename = RenameNote(server: server)
    let history = try await UseCaseHistory.open(Rows(), for: [rename])
    await history.execute(rename, .init(note: 1, title: "New")).ended()
    let entry = try #require(history.entries.first?.id)
    for _ in 1...3 {
      await history.undo().ended()
      #expect(await server.title == "Old")
      await history.redo().ended()
      #expect(await server.title == "New")
    }
    #expect(await server.keys.count == 7)
    #expect(await server.keys.prefix(2) == ["notes-\(entry)-do-1", "notes-\(entry)-undo-1"])

    // The answer is lost, and the undo repeated.
    await server.losesAnswer()
    await history.undo().ended()
    #expect(await server.title == "Old")
    #expect(history.state.canUndo)
    await history.undo().ended()
    #expect(!history.state.canUndo)
    #expect(await server.keys.count == 8)
  }

  @Test(.holds("Interrupted"))
  func `a launch shows what failed, and tries again when asked to`() async throws {
    let folder = try Folder()
    let rename = RenameNote(server: server)
    let file = folder.url.appending(path: "undo.journal")
    let (leaving, entered) = (Gate(), Gate())
    do {
      let journal = try FileJournal(at: file)
      let history = try await UseCaseHistory.open(journal, for: [rename])
      let group = history.group("Tidy up") {
        _ = try await rename.recorded(in: history)(.init(note: 1, title: "New"))
        entered.open()
        try await leaving.pass()
      }
      try await entered.pass()
      // The process ends: nothing is written from now on.
      await journal.close()
      leaving.open()
      await group.ended()
    }
    await server.losesCall()
    let screen = Screen()
    let history = try await launch(folder.url, server, screen)
    #expect(screen.messages.count == 1)
    #expect(screen.messages.first?.hasPrefix("“Tidy up” is half done: ") == true)
    #expect(history.entries.map(\.standing) == [.interrupted])
    screen.tap(0)
    await history.idle()
    #expect(history.entries.isEmpty)
    #expect(await server.title == "Old")
  }

  @Test func `a launch shows what was taken back, and what can't be undone`() async throws {
    let folder = try Folder()
    let file = folder.url.appending(path: "undo.journal")
    do {
      let journal = try FileJournal(at: file)
      let history = try await UseCaseHistory.open(journal, for: [Other()])
      await history.execute(Other(), 1).ended()
      await closeHistory(history, journal)
    }
    let screen = Screen()
    let history = try await launch(folder.url, server, screen)
    #expect(screen.messages == ["This version can't undo “Other”."])
    screen.tap(0)
    await history.idle()
    #expect(history.entries.isEmpty)
  }

  @Test(.holds("Interrupted groups"), arguments: [HistoryInterruption.compensate, .keep])
  func `an interrupted group becomes what the table says`(
    interrupted: HistoryInterruption
  ) async throws {
    let journal = Rows()
    let history = try await UseCaseHistory.open(journal, for: [Other()])
    // The process ends before the last write.
    func next() async throws -> UseCaseHistory {
      await history.idle()
      return try await UseCaseHistory.open(
        Rows(journal.beforeLastWrite), for: [Other()], interrupted: interrupted)
    }
    let other = Other().recorded(in: history)
    await history.group("Tidy up") {
      _ = try await other(1)
      _ = try await other(2)
    }.ended()
    var opened = try await next()
    var recovery = opened.recovery
    #expect(recovery.takenBack.count == (interrupted == .compensate ? 1 : 0))
    #expect(recovery.kept == (interrupted == .keep ? opened.entries : []))
    #expect(opened.entries.map(\.standing) == (interrupted == .keep ? [.normal] : []))

    await history.undo().ended()
    opened = try await next()
    recovery = opened.recovery
    #expect(recovery.finished == (interrupted == .compensate ? opened.entries : []))
    #expect(recovery.kept == (interrupted == .keep ? opened.entries : []))
    #expect(opened.entries.map(\.isPartial) == [interrupted == .keep])
    #expect(opened.entries.map(\.standing) == [interrupted == .keep ? .interrupted : .normal])

    await history.redo().ended()
    opened = try await next()
    let entry = try #require(opened.entries.first)
    #expect(entry.isPartial && entry.standing == .interrupted)
    await opened.redo(entry.id).ended()
    #expect(opened.entries.map(\.isPartial) == [false])
    #expect(opened.entries.map(\.standing) == [.normal])
  }

  @Test func `a file keeps what a coder has encrypted`() async throws {
    let folder = try Folder()
    let file = folder.url.appending(path: "undo.journal")
    let rename = RenameNote(server: server)
    let journal = try FileJournal(at: file, coder: SecretCoder())
    let history = try await UseCaseHistory.open(journal, for: [rename])
    await history.execute(rename, .init(note: 1, title: "Secret")).ended()
    await closeHistory(history, journal)
    let bytes = try Data(contentsOf: file)
    #expect(bytes.range(of: Data("Old".utf8)) == nil)
    #expect(bytes.range(of: Data("Secret".utf8)) == nil)
    let again = try await UseCaseHistory.open(
      try FileJournal(at: file, coder: SecretCoder()), for: [rename])
    #expect(again.entries.map(\.standing) == [.normal])
  }

  @Test func `the functions of the module's page open a history`() async throws {
    let folder = try Folder()
    #expect(try await openNotes(folder.url, []).entries.isEmpty)
    let coder = JSONHistoryCoder()
    let bytes = try coder.encode(["name": "Report"])
    print(String(decoding: bytes, as: UTF8.self))  // {"name":"Report"}
    #expect(bytes == Array(#"{"name":"Report"}"#.utf8))
  }
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

private func shutDown(
  _ rename: RecordedUseCase<RenameNote>, _ history: UseCaseHistory
) async {
  rename.queue.close()
  await history.idle()
}

extension JournalArticleTests {
  @Test func `a shutdown lets a group end with its parts, and refuses what comes`() async throws {
    let useCase = RenameNote(server: server)
    let history = try await UseCaseHistory.open(Rows(), for: [useCase])
    let (rename, entered, gate) = (useCase.recorded(in: history), Gate(), Gate())
    let group = history.group("Tidy up") {
      entered.open()
      await gate.passIgnoringCancellation()
      _ = try await rename(.init(note: 1, title: "New"))
    }
    await entered.passIgnoringCancellation()
    async let end: Void = shutDown(rename, history)
    while !rename.queue.isClosed { await Task.yield() }
    let late = await rename.execute(.init(note: 2, title: "Late")).ended()
    let undo = await history.undo().ended()
    gate.open()
    await end
    try await group.value
    #expect("\(late)".contains("closed") && "\(undo)".contains("closed"))
    #expect(history.entries.map(\.title) == ["Tidy up"])
  }

  fileprivate func launch(
    _ folder: URL, _ server: Server, _ screen: Screen
  ) async throws -> UseCaseHistory {
    let journal = try FileJournal(at: folder.appending(path: "undo.journal"))
    let history = try await UseCaseHistory.open(
      journal, for: [RenameNote(server: server)])
    let recovery = history.recovery
    for group in recovery.takenBack {
      screen.show("“\(group.title)” was interrupted, and taken back.")
    }
    for failure in recovery.failed {
      screen.show("“\(failure.entry.title)” is half done: \(failure.error)") {
        history.undo(failure.id)  // tries again
      }
    }
    for entry in recovery.inDoubt {
      screen.show("“\(entry.title)” was interrupted. Is it done?") {
        history.forget(entry.id)  // or undo or redo it, if that was interrupted
      }
    }
    for entry in recovery.unreadable {
      screen.show("This version can't undo “\(entry.title)”.") {
        history.forget(entry.id)
      }
    }
    return history
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
    let key = key("undo", response.round)
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
    let (action, round) =
      switch doubt {
      case .execution: ("do", 1)
      case .undo(_, let response): ("undo", response.round)
      case .redo(_, let response): ("do", response.round + 1)
      }
    let answer = try await server.answer(to: key(action, round))
    guard let oldTitle = answer else { return .hadNoEffect }
    return .hadEffect(Response(oldTitle: oldTitle, round: round))
  }

  private func rename(
    _ request: Request, round: Int
  ) async throws -> Response {
    let oldTitle = try await server.rename(
      request.note, to: request.title, key: key("do", round))
    return Response(oldTitle: oldTitle, round: round)
  }

  // A repeated call has the same key, even at the next launch.
  private func key(_ action: String, _ round: Int) -> String {
    guard let entry = HistoryEntry.ID.current else {
      fatalError("There is no key without an entry: record the use case.")
    }
    return "\(server.journal)-\(entry)-\(action)-\(round)"
  }
}

private struct Other: JournaledUseCase {
  static let journalName = "other"
  func main(_ number: Int) async throws -> Int { number }
  func undo(_ number: Int, _: Int) async throws {}

  func settle(_: HistoryDoubt<Int, Int>) async throws -> HistorySettlement<Int> { .hadNoEffect }
}

/// A server that answers a key which it knows without doing anything again.
private actor Server {
  private struct Offline: Error {}

  nonisolated let journal = "notes"
  private var titles = ["Old"]
  private var answers: [(key: String, oldTitle: String)] = []
  private var fault: Fault?

  private enum Fault { case losesCall, losesAnswer }

  var title: String? { titles.last }
  var keys: [String] { answers.map(\.key) }

  /// The next call doesn't arrive.
  func losesCall() { fault = .losesCall }

  /// The next call arrives, and its answer doesn't.
  func losesAnswer() { fault = .losesAnswer }

  func rename(_ note: Int, to title: String, key: String) throws -> String {
    defer { fault = nil }
    if fault == .losesCall { throw Offline() }
    if let known = try answer(to: key) { return known }
    let oldTitle = titles.last ?? ""
    titles.append(title)
    answers.append((key, oldTitle))
    if fault == .losesAnswer { throw Offline() }
    return oldTitle
  }

  func answer(to key: String) throws -> String? { answers.first { $0.key == key }?.oldTitle }
}

@MainActor
private final class Screen {
  private(set) var messages: [String] = []
  private var buttons: [@MainActor () -> Void] = []

  func show(_ message: String, button: @escaping @MainActor () -> Void = {}) {
    messages.append(message)
    buttons.append(button)
  }

  func tap(_ index: Int) { buttons[index]() }
}

/// A folder that goes with the test.
private final class Folder: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "article-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}

/// A coder that nobody can read.
private struct SecretCoder: HistoryCoder {
  private let plain = JSONHistoryCoder()

  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    try plain.encode(value).map { ~$0 }
  }

  func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8]
  ) throws -> Value {
    try plain.decode(type, from: bytes.map { ~$0 })
  }
}

/// A journal in memory, which knows what it was before.
private final class Rows: HistoryJournal {
  let coder: any HistoryCoder = JSONHistoryCoder()
  private let states: Watched<[HistoryRows]>

  init(_ rows: HistoryRows = HistoryRows()) { states = Watched([rows]) }

  var beforeLastWrite: HistoryRows { states.value[states.value.count - 2] }

  func read() async throws -> HistoryRows { states.value[states.value.count - 1] }

  func write(_ change: HistoryChange) async throws {
    var rows = try await read()
    guard rows.version == change.version else { throw HistoryJournalError(.stale) }
    rows.version += 1
    for row in change.rows { rows.rows[row.key] = row.bytes }
    let new = rows
    states.update { $0.append(new) }
  }
}
