import Foundation
import UseCase

/// A server that takes a message once, whatever comes how often. It writes each arrival into a file,
/// and knows at the next launch what it has taken.
actor FakeServer: UseCase {
  /// The answer of the server to a message that arrives.
  enum Answer: String, Codable {
    case taken
    case again
    case refused
  }

  /// A line of the file.
  struct Arrival: Codable {
    let answer: Answer
    let message: Message
  }

  private struct Offline: Error {}

  nonisolated let timeout = Duration.seconds(5)
  private let file: FileHandle
  private let isFlaky: Bool
  private var known: Set<UUID>
  private(set) var isOnline = true

  /// Opens the file, or creates it. A flaky server is slow, and loses some calls and some answers.
  init(_ path: String, isFlaky: Bool = false) throws {
    let arrivals = try Self.arrivals(in: path)
    known = Set(arrivals.filter { $0.answer == .taken }.map(\.message.idempotencyKey))
    file = FileHandle(
      fileDescriptor: open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600), closeOnDealloc: true)
    self.isFlaky = isFlaky
  }

  /// Returns all that has arrived, in order.
  static func arrivals(in path: String) throws -> [Arrival] {
    guard let data = FileManager.default.contents(atPath: path) else { return [] }
    return try data.split(separator: UInt8(ascii: "\n")).map {
      try JSONDecoder().decode(Arrival.self, from: $0)
    }
  }

  func goOnline(_ isOnline: Bool) { self.isOnline = isOnline }

  func main(_ message: Message) async throws {
    if isFlaky { try await Task.sleep(for: .microseconds(.random(in: 0...4_000))) }
    guard isOnline, !isFault else { throw Offline() }  // the call is lost
    try receive(message)
    if isFault { throw Offline() }  // the answer is lost
  }

  private var isFault: Bool { isFlaky && Int.random(in: 0..<8) == 0 }

  private func receive(_ message: Message) throws {
    if message.text.hasPrefix("spam") {
      try write(.refused, message)
      throw Refused(reason: "The server takes no spam.")
    }
    try write(known.insert(message.idempotencyKey).inserted ? .taken : .again, message)
  }

  private func write(_ answer: Answer, _ message: Message) throws {
    let line = try JSONEncoder().encode(Arrival(answer: answer, message: message))
    try file.write(contentsOf: line + [UInt8(ascii: "\n")])  // one call: whole, or not there
  }
}
