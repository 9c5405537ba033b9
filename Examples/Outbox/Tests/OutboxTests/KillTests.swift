import Foundation
import Testing

@testable import outbox

/// The program is killed at any moment. All that it had said was kept is sent in the end: in order,
/// and once, or again with the key by which the server knows it.
///
/// `OUTBOX_RUNS=10 swift test --filter Kill` kills it ten times as often.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct KillTests {
  private static let kills = 200
  private static let runs =
    ProcessInfo.processInfo.environment["OUTBOX_RUNS"].flatMap { Int($0) } ?? 1

  private let folder = Folder()

  /// A message that the program was asked to keep.
  private struct Asked {
    let chat: String
    let text: String
    let isKept: Bool
  }

  @Test(arguments: 1...Self.runs)
  func `what was kept is sent, in order, whenever the program is killed`(_: Int) throws {
    var asked = Self.adds(0, count: 300, isKept: true)
    var longest = 0
    #expect(try run("offline\n" + Self.commands(asked), killed: false).count == asked.count)
    for round in 1...Self.kills {
      let adds = Self.adds(round, count: 40)
      let answers = try run("list\n" + Self.commands(adds), killed: true)
      let kept = answers.count { $0.hasPrefix("Kept ") }
      let listed = answers.filter { $0.contains(" chat") }
      #expect(kept + listed.count == answers.count, "\(answers)")
      longest = max(longest, listed.count { !$0.contains("(refused") })
      // The next one may be kept, too: its answer may be what was cut off.
      for (index, add) in adds.enumerated() where index <= kept {
        asked.append(Asked(chat: add.chat, text: add.text, isKept: index < kept))
      }
    }
    let left = try run("wait\nlist\n", killed: false)
    let arrivals = try FakeServer.arrivals(in: folder.log)

    // One key for each message, taken once.
    let taken = arrivals.filter { $0.answer == .taken }.map(\.message)
    #expect(Set(taken.map(\.idempotencyKey)).count == taken.count)
    #expect(Set(taken.map(\.text)).count == taken.count)
    // All that was kept has arrived, in the order of its chat. What comes again comes before its
    // successor.
    for chat in Set(asked.map(\.chat)) {
      let found = arrivals.filter { $0.message.chat == chat }.map(\.message)
      let texts = zip(found, [nil] + found)
        .filter { $0.idempotencyKey != $1?.idempotencyKey }.map { $0.0.text }
      let known = Set(texts)
      let expected = asked.filter { $0.chat == chat && ($0.isKept || known.contains($0.text)) }
      #expect(texts.difference(from: expected.map(\.text)).isEmpty, "\(chat)")
    }
    // The messages that the server has refused are shown.
    let refused = Set(arrivals.filter { $0.answer == .refused }.map(\.message.text))
    #expect(left.count == refused.count)
    #expect(left.allSatisfy { line in refused.contains { line.contains($0 + " (refused") } })

    let again = arrivals.count { $0.answer == .again }
    #expect(again > 0)
    #expect(longest > 200)
    print(
      """
      \(Self.kills) kills, behind \(asked.count { $0.isKept }) messages, of which up to \(longest) \
      waited; \(again) came again with their keys, and \(refused.count) were refused
      """)
  }

  private static func adds(_ round: Int, count: Int, isKept: Bool = false) -> [Asked] {
    (1...count).map { number in
      let kind = Int.random(in: 0..<20) == 0 ? "spam" : "text"
      return Asked(
        chat: "chat\(Int.random(in: 1...6))", text: "\(kind) \(round).\(number)",
        isKept: isKept)
    }
  }

  private static func commands(_ adds: [Asked]) -> String {
    adds.map { "add \($0.chat) \($0.text)\n" }.joined()
  }

  /// Runs the program with these commands, and kills it at any moment: while it opens its file, too.
  /// Returns the whole lines of its answers.
  private func run(_ commands: String, killed: Bool) throws -> [String] {
    let process = Process()
    process.executableURL = try program
    process.arguments = ["--flaky", folder.url.path]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    let pid = process.processIdentifier
    try input.fileHandleForWriting.write(contentsOf: Data(commands.utf8))
    var answers = Data()
    if killed {
      if Int.random(in: 0..<4) > 0 { answers = output.fileHandleForReading.availableData }
      Thread {
        usleep(.random(in: 0...40_000))
        kill(pid, SIGKILL)
      }.start()
    } else {
      try input.fileHandleForWriting.close()
    }
    answers += try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: answers, as: UTF8.self).components(separatedBy: "\n").dropLast()
  }

  private var program: URL {
    get throws {
      let tests = try #require(CommandLine.arguments.first.map { URL(fileURLWithPath: $0) })
      return tests.deletingLastPathComponent().appending(path: "outbox")
    }
  }
}
