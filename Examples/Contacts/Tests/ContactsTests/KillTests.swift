import Foundation
import Testing
import UseCase
import UseCaseHistory

@testable import ContactBook
@testable import contacts

/// The program is killed at any moment. At the next start nothing is lost that it had said was done,
/// nothing is there twice, and the contacts are those of the steps that are not undone.
///
/// `CONTACTS_KILLS=1000 swift test --filter Kill` kills more of them.
struct KillTests {
  private static let kills =
    ProcessInfo.processInfo.environment["CONTACTS_KILLS"].flatMap { Int($0) } ?? 50

  @Test func `after a kill the contacts and the steps agree`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "contacts-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let people = folder.appending(path: "people.csv")
    try Data((1...250).map { "Person \($0), p\($0)@example.org\n" }.joined().utf8).write(to: people)

    var answers = 0
    for round in 1...Self.kills {
      let commands = ["undo"] + (0..<60).map { _ in Self.command(people.path) }
      let file = folder.appending(path: "\(round).sqlite").path
      let count = try await kill(commands, file, after: .random(in: 0...50_000))
      answers += count
      let book = try await Book(file)
      let interrupted = book.history.entries.filter { $0.standing == .interrupted }
      #expect(book.history.entries.allSatisfy { [.normal, .interrupted].contains($0.standing) })
      #expect(book.history.journalError == nil)
      let expected = try await Self.snapshots(commands.prefix(count + 1))
      // An undo of an import was carried on when the book was opened. A redo waits to be asked for.
      let isPartial = !interrupted.isEmpty
      for entry in interrupted { _ = try await book.history.redo(entry.id).value }
      let found = try await Snapshot(book)
      let agrees = isPartial ? found == expected.last : expected.suffix(2).contains(found)
      try #require(agrees, "round \(round), after \(count) answers: \(commands)")
      // All can be undone, and redone.
      _ = try await book.history.move(to: nil).value
      #expect(try await book.contacts == [])
      guard let newest = found.newest else { continue }
      _ = try await book.history.move(to: book.history.entries[newest].id).value
      let redone = try await Snapshot(book) == found
      #expect(redone, "round \(round)")
    }
    print("\(Self.kills) kills, behind \(answers) steps")
  }

  /// The contacts, and the steps.
  private struct Snapshot: Equatable {
    let contacts: [Contact]
    let steps: [String]
    /// The index of the newest step that is not undone.
    let newest: Int?

    init(_ book: Book) async throws {
      contacts = try await book.contacts
      let entries = book.history.entries
      steps = entries.map { "\($0.title) \($0.isApplied)" }
      newest = entries.lastIndex { $0.isApplied }
    }
  }

  private static func command(_ people: String) -> String {
    switch Int.random(in: 0..<20) {
    case 0..<6: "add \"Name \(Int.random(in: 0..<100))\" a@example.org"
    case 6..<9: "rename \(Int.random(in: 1..<9)) New\(Int.random(in: 0..<100))"
    case 9..<11: "merge \(Int.random(in: 1..<9)) \(Int.random(in: 1..<9))"
    case 11..<15: "undo"
    case 15..<16: "undo \(Int.random(in: 1..<9))"
    case 16..<19: "redo"
    default: "import \(people)"
    }
  }

  /// Returns what is there before the first command, and after each.
  private static func snapshots(_ commands: some Sequence<String>) async throws -> [Snapshot] {
    let book = try await Book(":memory:")
    var snapshots = [try await Snapshot(book)]
    for command in commands {
      await run(command, in: book)
      snapshots.append(try await Snapshot(book))
    }
    return snapshots
  }

  private static func run(_ command: String, in book: Book) async {
    _ = try? await Command(try Command.words(command)).run(in: book) { _ in }
  }

  /// Runs the program with these commands, and kills it so many microseconds after its first answer.
  /// Returns how many it has given.
  private func kill(
    _ commands: [String], _ file: String, after delay: UInt32
  ) async throws -> Int {
    let process = Process()
    process.executableURL = try Self.program
    process.arguments = ["--file", file]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    process.standardError = FileHandle.nullDevice
    try process.run()
    let pid = process.processIdentifier
    try input.fileHandleForWriting.write(
      contentsOf: Data(commands.map { $0 + "\n" }.joined().utf8))
    var answers = output.fileHandleForReading.availableData
    Thread {
      usleep(delay)
      Foundation.kill(pid, SIGKILL)
    }.start()
    answers += try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    // The answer to each ends with an empty line.
    return String(decoding: answers, as: UTF8.self).components(separatedBy: "\n\n").count - 1
  }

  private static var program: URL {
    get throws {
      let tests = try #require(CommandLine.arguments.first.map { URL(fileURLWithPath: $0) })
      return tests.deletingLastPathComponent().appending(path: "contacts")
    }
  }
}
