import Foundation
import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseJournal

/// The code in the comments of what has to do with journals.
@Suite(.mustEnd)
struct JournalSymbolTests {
  @Test func `a history in a file is there again`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "symbols-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let document = Document()
    func show(_ entry: HistoryEntry, _ error: any Error) { Issue.record("\(entry): \(error)") }
    func open() async throws -> (FileJournal, UseCaseHistory) {
      let journal = try FileJournal(at: folder.appending(path: "undo.journal"))
      let history = try await UseCaseHistory.open(
        journal, for: [Rename(document: document)])
      for failure in history.recovery.failed { show(failure.entry, failure.error) }
      return (journal, history)
    }
    let (journal, first) = try await open()
    await first.execute(Rename(document: document), "Report").ended()
    await journal.close()
    let (_, history) = try await open()
    await history.undo().ended()
    #expect(await document.name == "Untitled")
  }
}

private actor Document {
  private(set) var name = "Untitled"

  func rename(to new: String) -> String {
    defer { name = new }
    return name
  }
}

private struct Rename: JournaledUseCase {
  static let journalName = "rename"
  let document: Document

  func main(_ name: String) async throws -> String {
    await document.rename(to: name)
  }

  func undo(_ name: String, _ old: String) async throws {
    _ = await document.rename(to: old)
  }
}
