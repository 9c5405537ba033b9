import Foundation
import KilledApp
import Testing
import UseCase
import UseCaseHistory

@testable import NotesModels

/// The app is killed at random moments and launched again: nothing is lost that it has answered, the
/// undo stack and the notes agree, and the server gets what they say.
///
/// `NOTES_KILLS=1000 swift test --filter Kill` kills it more often.
@MainActor
struct KillTests {
  private static let kills =
    ProcessInfo.processInfo.environment["NOTES_KILLS"].flatMap { Int($0) } ?? 30

  @Test func `after a kill the notes, their undo and the server agree`() async throws {
    let folder = try Folder()
    let server = try TestServer((1...50).map { Note(id: $0 * 10, text: "Note \($0)") })
    var answers = 0
    for round in 1...Self.kills {
      let before = try Folder(copy: folder)
      let lines = ["undo"] + (0..<60).map { _ in Self.line() }
      for _ in 0..<8 { server.fail("PUT", Bool.random() ? .refused : .unanswered) }
      let count = try await kill(lines, folder, server, after: .random(in: 0...50_000))
      server.forget()
      answers += count

      let expected = try await Self.snapshots(lines.prefix(count + 1), in: before)
      let test = try await TestApp(server, in: Folder(copy: folder))
      let notebook = test.app.notebook
      let found = Snapshot(test.app)
      try #require(
        expected.suffix(2).contains(found), "round \(round), after \(count) answers: \(lines)")
      #expect(notebook.history.entries.allSatisfy { $0.standing == .normal })

      await notebook.saveNow()
      #expect(notebook.content.unsent.isEmpty)
      for id in 1...4 { #expect(server.content.notes[id] == notebook.content.notes[id]) }

      let newest = notebook.history.entries.last { $0.isApplied }
      _ = try await notebook.follow(notebook.history.move(to: nil)).value
      _ = try await notebook.follow(notebook.history.move(to: newest?.id)).value
      #expect(Snapshot(test.app) == found, "round \(round)")
    }
    print("\(Self.kills) kills, behind \(answers) answers")
  }

  /// The notes that the lines are about, and the steps.
  private struct Snapshot: Equatable {
    let texts: [String?]
    let steps: [String]

    @MainActor
    init(_ app: AppModel) {
      let notes = (1...4).map { app.notebook.content.notes[$0] }
      texts = notes.map { $0.flatMap { $0.isDeleted ? nil : $0.text } }
      steps = app.notebook.history.entries.map { "\($0.title) \($0.isApplied)" }
    }
  }

  private static func line() -> String {
    let (one, other) = (Int.random(in: 1...2), Int.random(in: 3...4))
    return switch Int.random(in: 0..<20) {
    case 0..<7: "type \([one, other].randomElement() ?? 1) Text\(Int.random(in: 0..<100))"
    case 7..<9: "delete \(one)"
    case 9..<11: "move \(one) \(other)"
    case 11..<12: "toast"
    case 12..<14: "undo"
    case 14..<15: "undo \(other)"
    case 15..<17: "redo"
    case 17..<18: "redo \(one)"
    case 18..<19: "load"
    default: "star \(one)"
    }
  }

  /// Returns what is there before the first line, and after each.
  private static func snapshots(
    _ lines: some Sequence<String>, in folder: Folder
  ) async throws -> [Snapshot] {
    let app = try await TestApp(TestServer(), in: folder).app
    var snapshots = [Snapshot(app)]
    for line in lines {
      await Script.run(line, in: app)
      snapshots.append(Snapshot(app))
    }
    return snapshots
  }

  /// Runs the app with these lines, and kills it so many microseconds after its first answer. Returns
  /// how many it has given.
  private func kill(
    _ lines: [String], _ folder: Folder, _ server: TestServer, after delay: UInt32
  ) async throws -> Int {
    let process = Process()
    process.executableURL = try Self.program
    process.arguments = [folder.url.path, server.address]
    // Else what prints the stack of a crash would keep the output open.
    process.environment = ["SWIFT_BACKTRACE": "enable=no"]
    let (input, output) = (Pipe(), Pipe())
    (process.standardInput, process.standardOutput) = (input, output)
    try process.run()
    let pid = process.processIdentifier
    try input.fileHandleForWriting.write(contentsOf: Data(lines.map { $0 + "\n" }.joined().utf8))
    var answers = output.fileHandleForReading.availableData
    Thread {
      usleep(delay)
      Foundation.kill(pid, SIGKILL)
    }.start()
    answers += try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationReason == .uncaughtSignal)
    try #require(process.terminationStatus == SIGKILL, "The app has crashed.")
    return String(decoding: answers, as: UTF8.self).split(separator: "\n").count
  }

  private static var program: URL {
    get throws {
      let tests = try #require(CommandLine.arguments.first.map { URL(fileURLWithPath: $0) })
      return tests.deletingLastPathComponent().appending(path: "KilledApp")
    }
  }
}
