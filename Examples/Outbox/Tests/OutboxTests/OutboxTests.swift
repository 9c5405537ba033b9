import Foundation
import Testing
import UseCase
import UseCaseHistory
import UseCaseJournal
import UseCaseTesting

@testable import outbox

/// The outbox by itself, with a server that a test answers.
@MainActor @Suite(.timeLimit(.minutes(1)))
struct OutboxTests {
  private struct Offline: Error {}

  private let folder = Folder()
  private let clock = ManualClock()
  private let server = ControlledUseCase<Message, Void>(queue: UseCaseQueue())

  private func open() async throws -> Outbox {
    try await Outbox(
      try FileJournal(at: folder.journal), server: server, delay: .constant(.seconds(60)),
      clock: clock)
  }

  /// Says so until no pause is left: one that is only beginning doesn't hear it.
  private func retryNow(_ outbox: Outbox) async throws {
    repeat {
      try Task.checkCancellation()
      outbox.retryNow()
      await Task.yield()
    } while clock.sleepers > 0
  }

  // MARK: Send

  @Test func `each chat has its order, and doesn't wait for another`() async throws {
    let outbox = try await open()
    for (text, chat) in [("1", "a"), ("2", "a"), ("3", "b"), ("4", "b")] {
      try await outbox.add(text, to: chat)
    }
    let first = [try await server.next(), try await server.next()]
    #expect(first.map(\.request.text).sorted() == ["1", "3"])
    for call in first where call.request.chat == "b" { call.succeed(()) }
    let fourth = try await server.next()
    #expect(fourth.request.text == "4")
    #expect(outbox.messages.map(\.text) == ["1", "2", "4"])
    for call in first { call.succeed(()) }
    fourth.succeed(())
    try await server.next().succeed(())
    await outbox.idle()
    #expect(outbox.messages.isEmpty)
    await outbox.close()
    #expect(try await open().messages.isEmpty)
  }

  @Test func `messages that are added at once are sent in the order of the calls`() async throws {
    let outbox = try await open()
    let tasks = (1...100).map { number in Task { try await outbox.add("\(number)", to: "a") } }
    for number in 1...100 {
      let call = try await server.next()
      #expect(call.request.text == "\(number)")
      call.succeed(())
    }
    for task in tasks { _ = try await task.value }
  }

  @Test func `a message that fails holds its chat, and is sent again with its key`() async throws {
    let outbox = try await open()
    try await outbox.add("1", to: "a")
    try await outbox.add("2", to: "a")
    let call = try await server.next()
    call.fail(Offline())
    try await clock.sleeping(for: .seconds(60))
    await clock.advance(by: .seconds(60))
    let again = try await server.next()
    #expect(again.request.text == "1")
    #expect(again.request.idempotencyKey == call.request.idempotencyKey)
    again.succeed(())
    #expect(try await server.next().request.text == "2")
  }

  @Test func `"retry now" doesn't wait for the time of the next attempt`() async throws {
    let outbox = try await open()
    try await outbox.add("1", to: "a")
    try await outbox.add("2", to: "b")
    for _ in 1...2 { try await server.next().fail(Offline()) }
    try await clock.sleeping(2)
    try await retryNow(outbox)
    for _ in 1...2 { try await server.next().succeed(()) }
    await outbox.idle()
    #expect(outbox.messages.isEmpty)
  }

  /// A cancelled operation isn't retried: the message would wait for the next launch, and its
  /// successors wouldn't.
  @Test func `a call that the queue of the server drops is retried in its turn`() async throws {
    let busy = ControlledUseCase<Message, Void>(queue: UseCaseQueue(.dropWhileBusy))
    let outbox = try await Outbox(
      try FileJournal(at: folder.journal), server: busy, delay: .constant(.seconds(60)),
      clock: clock)
    try await outbox.add("1", to: "a")
    let first = try await busy.next()
    try await outbox.add("2", to: "b")
    try await outbox.add("3", to: "b")
    try await clock.sleeping()
    first.succeed(())
    await busy.queue.idle()
    try await retryNow(outbox)
    let second = try await busy.next()
    #expect(second.request.text == "2")
  }

  // MARK: Refused

  @Test func `a refused message is set aside and shown, and holds up nobody`() async throws {
    let outbox = try await open()
    try await outbox.add("1", to: "a")
    try await outbox.add("2", to: "a")
    try await server.next().fail(Refused(reason: "too long"))
    try await server.next().succeed(())
    await outbox.idle()
    #expect(outbox.messages.map(\.refusal) == ["too long"])
    await outbox.close()

    let next = try await open()
    #expect(next.messages.map(\.text) == ["1"])
    #expect(next.messages.map(\.refusal) == ["too long"])
    next.retryNow()
    // The one that comes after is the first to be sent.
    try await next.add("3", to: "a")
    let call = try await server.next()
    #expect(call.request.text == "3")
    try await next.discard(call.request)
    try await next.discard(next.messages[0])
    #expect(next.messages.map(\.text) == ["3"])
    await next.close()
    #expect(try await open().messages.map(\.text) == ["3"])
  }

  // MARK: Keep

  @Test func `what can't be kept is not sent, and says so`() async throws {
    let outbox = try await open()
    try await folder.withoutJournal {
      await #expect(throws: HistoryJournalError.self) { try await outbox.add("1", to: "a") }
    }
    #expect(outbox.messages.isEmpty)
    try await outbox.add("2", to: "a")
    #expect(try await server.next().request.text == "2")
    await outbox.close()
    #expect(try await open().messages.map(\.text) == ["2"])
  }

  @Test func `what was sent and can't be removed is sent again, with its key`() async throws {
    let outbox = try await open()
    try await outbox.add("1", to: "a")
    let call = try await server.next()
    try await folder.withoutJournal {
      call.succeed(())
      try await clock.sleeping()
    }
    #expect(outbox.messages.map(\.text) == ["1"])
    try await retryNow(outbox)
    let again = try await server.next()
    #expect(again.request.idempotencyKey == call.request.idempotencyKey)
    again.succeed(())
    await outbox.idle()
    #expect(outbox.messages.isEmpty)
  }

  @Test func `a message whose sender has gone is kept and sent all the same`() async throws {
    let outbox = try await open()
    let task = Task { try await outbox.add("1", to: "a") }
    task.cancel()
    _ = await task.result
    #expect(try await server.next().request.text == "1")
  }

  @Test func `the next launch sends what is left, before what comes`() async throws {
    let outbox = try await open()
    for number in 1...20 { try await outbox.add("\(number)", to: "a") }
    let call = try await server.next()
    await outbox.close()
    #expect(call.isCancelled)
    await #expect(throws: HistoryJournalError.self) { try await outbox.add("lost", to: "a") }

    let next = try await open()
    #expect(next.messages.map(\.text) == (1...20).map(String.init))
    try await next.add("21", to: "a")
    for number in 1...21 {
      let again = try await server.next()
      #expect(again.request.text == "\(number)")
      if number == 1 { #expect(again.request.idempotencyKey == call.request.idempotencyKey) }
      again.succeed(())
    }
  }

  @Test func `a row of another version stays, and its number is given to nobody`() async throws {
    let journal = try FileJournal(at: folder.journal)
    _ = try await journal.read()
    try await journal.write(HistoryChange(version: 0, rows: [.init(key: 7, bytes: [1, 2, 3])]))
    await journal.close()

    let outbox = try await open()
    #expect(outbox.unreadable == 1)
    #expect(outbox.messages.isEmpty)
    #expect(try await outbox.add("1", to: "a").id == 8)
    try await server.next().succeed(())
    await outbox.idle()
    await outbox.close()
    let rows = try await FileJournal(at: folder.journal).read().rows
    #expect(rows == [7: [1, 2, 3]])
  }

  @Test func `a second outbox on the file is refused`() async throws {
    let outbox = try await open()
    await #expect(throws: HistoryJournalError.self) { _ = try await open() }
    withExtendedLifetime(outbox) {}
  }
}

/// A folder that goes with the test.
final class Folder: Sendable {
  let url = FileManager.default.temporaryDirectory.appending(path: "outbox-\(UUID())")

  init() {
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch {
      fatalError("\(error)")
    }
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var journal: URL { url.appending(path: "outbox.journal") }
  var log: String { url.appending(path: "server.log").path }

  /// Nothing can be written meanwhile.
  @MainActor func withoutJournal(_ body: @MainActor () async throws -> Void) async throws {
    let aside = url.appending(path: "aside")
    try FileManager.default.moveItem(at: journal, to: aside)
    try await body()
    try FileManager.default.moveItem(at: aside, to: journal)
  }
}
