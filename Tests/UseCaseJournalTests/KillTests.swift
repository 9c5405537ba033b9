import Foundation
import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseJournal

/// A process that changes a document, and is killed at a random moment. Document and history agree
/// when it is opened again.
///
/// `JOURNAL_KILLS=1000 swift test` kills more of them.
@Suite(.mustEnd)
struct KillTests {
  private static let kills =
    ProcessInfo.processInfo.environment["JOURNAL_KILLS"].flatMap { Int($0) } ?? 20

  #if os(Linux) || os(macOS)
    @Test(.holds("Kills"))
    func `document and history agree after each kill`() async throws {
      let folder = try Folder()
      let shelf = Shelf(folder: folder.url.appending(path: "shelf"))
      try FileManager.default.createDirectory(at: shelf.folder, withIntermediateDirectories: false)
      var random = SystemRandomNumberGenerator()
      for round in 1...Self.kills {
        let delay = UInt32.random(in: 0...20_000, using: &random)
        await #expect(processExitsWith: .signal(SIGKILL)) {
          [file = folder.file as URL, url = shelf.folder as URL, delay = delay as UInt32] in
          let history = try await Shelf(folder: url).open(try FileJournal(at: file))
          Thread {
            usleep(delay)
            kill(getpid(), SIGKILL)
          }.start()
          await Shelf(folder: url).change(history)
        }
        let journal = try FileJournal(at: folder.file)
        let history = try await shelf.open(journal)
        let (applied, names) = (Set(Shelf.applied(history.entries)), Set(try shelf.names))
        #expect(applied.subtracting(names) == [], "not in the document, round \(round)")
        #expect(names.subtracting(applied) == [], "not in the history, round \(round)")
        if applied != names { return }
        #expect(history.entries.allSatisfy { $0.standing == .normal })
        #expect(history.journalError == nil)
        if round.isMultiple(of: 10) {
          await history.move(to: nil).ended()
          #expect(try shelf.names == [])
        }
        // The task of an undo may keep the journal, and its file, beyond this round.
        await history.idle()
        await journal.close()
      }
    }
  #endif
}

/// A document of which each entry is a folder, which is made and removed in one step.
private struct Shelf: Sendable {
  let folder: URL

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  func open(_ journal: FileJournal) async throws -> UseCaseHistory {
    try await UseCaseHistory.open(journal, for: [Put(shelf: self)])
  }

  /// The names of the folders that the applied entries have made.
  static func applied(_ entries: [HistoryEntry]) -> [String] {
    func leaves(_ entry: HistoryEntry) -> [String] {
      guard entry.isApplied else { return [] }
      return entry.children.isEmpty ? [entry.title] : entry.children.flatMap(leaves)
    }
    return entries.flatMap(leaves).sorted()
  }

  /// Changes the document for ever.
  func change(_ history: UseCaseHistory) async {
    let put = Put(shelf: self).recorded(in: history)
    while true {
      switch Int.random(in: 0..<10) {
      case 0..<4: await put.execute("\(UUID())").ended()
      case 4, 5: await history.undo().ended()
      case 6: await history.redo().ended()
      case 7: await history.move(to: history.entries.randomElement()?.id).ended()
      default:
        let fails = Bool.random()
        await history.group("group") {
          for _ in 0..<3 { _ = try await put("\(UUID())") }
          if fails { throw CancellationError() }
        }.ended()
      }
    }
  }
}

private struct Put: JournaledUseCase {
  struct Done: Codable, Sendable {}

  static let journalName = "put"
  let shelf: Shelf

  private func file(_ name: String) -> URL { shelf.folder.appending(path: name) }
  private func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: file(name).path)
  }

  func main(_ name: String) async throws -> Done {
    try FileManager.default.createDirectory(at: file(name), withIntermediateDirectories: false)
    return Done()
  }

  func undo(_ name: String, _: Done) async throws {
    try FileManager.default.removeItem(at: file(name))
  }

  func title(for name: String) -> String { name }

  func settle(_ doubt: HistoryDoubt<String, Done>) async throws -> HistorySettlement<Done> {
    switch doubt {
    case .execution(let name), .redo(let name, _): exists(name) ? .hadEffect(Done()) : .hadNoEffect
    case .undo(let name, _): exists(name) ? .hadNoEffect : .hadEffect(Done())
    }
  }
}
