import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// Two histories over the rows of one journal.
@Suite(.mustEnd)
struct TwoWritersTests {
  /// A journal of a process of its own.
  private struct Process: HistoryJournal {
    let disk: Disk
    var coder: any HistoryCoder { disk.coder }
    func read() async throws -> HistoryRows { try await disk.read() }
    func write(_ change: HistoryChange) async throws { try await disk.write(change) }
  }

  private let disk = Disk()
  private let paper = Paper()

  private func open() async throws -> UseCaseHistory {
    try await UseCaseHistory.open(Process(disk: disk), for: [Write(paper: paper)])
  }

  @Test(.holds("Two writers"))
  func `the history that writes second is stale for good, and runs no body`() async throws {
    let (first, second) = (try await open(), try await open())
    await first.write(paper, "A")
    for text in ["B", "C"] {
      #expect(await second.write(paper, text)?.journalReason == .stale)
    }
    #expect((second.journalError as? HistoryJournalError)?.reason == .stale)
    second.clear()
    await second.idle()
    await first.write(paper, "D")
    #expect(first.journalError == nil)
    #expect(paper.log.elements == ["do A", "do D"])
    #expect(try await open().layout == "[A D |]")
  }

  @Test(.holds("Two writers"))
  func `an undo of a stale history does not run`() async throws {
    await (try await open()).write(paper, "A", "B")
    let (first, second) = (try await open(), try await open())
    await first.back(1)
    #expect(await second.undo().ended().journalReason == .stale)
    #expect(paper.log.elements == ["do A", "do B", "undo B2"])
    #expect(try await open().layout == "[A | B]")
  }
}
