import Foundation
import Observation
import UseCase
import UseCaseHistory
import UseCaseJournal

// MARK: - The app's

/// A message that is kept until the server has taken or refused it.
struct Message: Codable, Identifiable, Sendable {
  let id: Int64  // the key of its row, which grows from message to message
  let idempotencyKey: UUID  // the same each time that it is sent
  let chat: String  // its messages are sent in order
  let text: String
  var refusal: String?
}

/// An answer of the server that another attempt won't change.
struct Refused: Error {
  let reason: String
}

// MARK: - Keep

/// Writes one row at a time: each write names the version that the one before it has left.
actor Rows: UseCase {
  enum Request: Sendable {
    case keep(Message)
    case remove(Message)
  }

  nonisolated let queue = UseCaseQueue(.serial)
  private let journal: FileJournal
  private var version: Int64

  init(_ journal: FileJournal, version: Int64) {
    self.journal = journal
    self.version = version
  }

  func main(_ request: Request) async throws {
    let row: HistoryChange.Row =
      switch request {
      case .keep(let message):
        .init(key: message.id, bytes: try journal.coder.encode(message))
      case .remove(let message):
        .init(key: message.id, bytes: nil)
      }
    try await journal.write(HistoryChange(version: version, rows: [row]))
    version += 1
  }
}

// MARK: - Send

/// Sends the messages of each chat one after the other, and each one until the server answers.
struct Send: UseCase {
  let outbox: Outbox

  func queue(for message: Message) -> UseCaseQueue { outbox.lanes[message.chat] }

  func main(_ message: Message) async throws {
    do {
      try await outbox.server(message)
      try await outbox.rows(.remove(message))
      await outbox.replace(message, with: nil)
    } catch let refused as Refused {
      var setAside = message
      setAside.refusal = refused.reason
      try await outbox.rows(.keep(setAside))
      await outbox.replace(message, with: setAside)
    } catch is CancellationError where !Task.isCancelled {
      throw Interrupted()  // an error is retried; a cancellation, here of that call alone, is not
    }
  }
}

private struct Interrupted: Error {}

// MARK: - Show

/// Messages that survive the process, from the moment when ``add(_:to:)`` returns.
@MainActor @Observable
final class Outbox {
  /// The messages that were not sent yet, and those that were refused.
  private(set) var messages: [Message]
  /// How many rows only another version of the app can read. They stay.
  let unreadable: Int

  let server: any UseCase<Message, Void>  // with a timeout
  let rows: Rows
  let lanes: UseCaseLanes<String>
  private let journal: FileJournal
  private var newest: Message.ID

  /// Opens the outbox, and sends what is left from the launches before.
  init(
    _ journal: FileJournal, server: any UseCase<Message, Void>,
    delay: RetryInterceptor.Delay = .exponential(.seconds(1), cap: .seconds(60)),
    clock: any Clock<Duration> = ContinuousClock()
  ) async throws {
    let kept = try await journal.read()
    let messages = kept.rows.values
      .compactMap { try? journal.coder.decode(Message.self, from: $0) }
      .sorted { $0.id < $1.id }
    rows = Rows(journal, version: kept.version)
    self.messages = messages
    self.journal = journal
    self.server = server
    unreadable = kept.rows.count - messages.count
    newest = kept.rows.keys.max() ?? 0
    lanes = UseCaseLanes(
      .serial, clock: clock, interceptors: [RetryInterceptor(attempts: .max, delay: delay)])
    for message in messages where message.refusal == nil { Send(outbox: self).execute(message) }
  }

  /// Keeps a message, and then sends it. If it can't be kept, this throws, and nothing is sent.
  ///
  /// The cancellation of the calling task changes nothing.
  @discardableResult
  func add(_ text: String, to chat: String) async throws -> Message {
    newest += 1
    let message = Message(id: newest, idempotencyKey: UUID(), chat: chat, text: text)
    // One body, so that messages are sent in the order of their rows. A write may be over before a
    // `then` is attached to it.
    let keep = AnyUseCase<Message, Void>(queue: rows.queue) { message in
      try await self.rows(.keep(message))
      await self.deliver(message)
    }
    try await keep.execute(message).ended().get()
    return message
  }

  private func deliver(_ message: Message) {
    messages.append(message)
    Send(outbox: self).execute(message)
  }

  func retryNow() {
    lanes.flush(retries: true)  // "we are online again": the pauses between retries end
  }

  fileprivate func replace(_ message: Message, with new: Message?) {
    guard let index = messages.firstIndex(where: { $0.id == message.id }) else { return }
    messages.replaceSubrange(index...index, with: [new].compactMap { $0 })
  }

  /// Removes a message that was refused. Another one stays: it may be on its way.
  func discard(_ message: Message) async throws {
    guard message.refusal != nil else { return }
    try await rows.execute(.remove(message)).value
    replace(message, with: nil)
  }

  /// Returns when nothing is left to send.
  func idle() async {
    await rows.queue.idle()
    await lanes.idle()
  }

  /// Sends nothing more, and closes the journal. The next outbox sends what is left.
  func close() async {
    lanes.close()
    lanes.cancelAll()
    await idle()
    await journal.close()
  }
}
