import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

/// What is interrupted, and then undone, redone or opened once more.
@Suite(.mustEnd)
struct InterruptedTwiceTests {
  private let disk = Disk()
  private let paper = Paper()

  private func open(
    _ disk: Disk, _ interrupted: HistoryInterruption = .compensate
  ) async throws -> UseCaseHistory {
    try await UseCaseHistory.open(disk, paper, interrupted: interrupted)
  }

  /// Opens it in an app that cannot read what `Write` has written.
  private func openWithLetters(_ disk: Disk) async throws -> UseCaseHistory {
    paper.live(with: disk)
    return try await UseCaseHistory.open(disk, for: [Letters(paper: paper)])
  }

  /// The next launch of a process that ends between the undo of B and that of A, the parts of a group.
  private func openHalfUndone(
    _ history: UseCaseHistory
  ) async throws -> (history: UseCaseHistory, disk: Disk, rest: () async -> Void) {
    let gate = paper.hold("undo A1")
    let undo = history.undo()
    await paper.began("undo A1")
    let disk = disk.next()
    let next = try await open(disk, .keep)
    return (
      next, disk,
      {
        gate.open()
        await undo.ended()
      }
    )
  }

  private func group(_ history: UseCaseHistory) async {
    let write = Write(paper: paper).recorded(in: history)
    await history.group("G") { _ = try await (write("A"), write("B")) }.ended()
  }

  @Test(.holds("Interrupted groups"), arguments: [false, true])
  func `a group that was redone to its end is not taken back`(isWritten: Bool) async throws {
    let history = try await open(disk)
    await group(history)
    let (kept, second, end) = try await openHalfUndone(history)
    #expect(kept.layout == "[G(A | B) |]" && kept.entries.map(\.standing) == [.interrupted])
    second.fail(.crash(at: second.writes + 2, isWritten: isWritten))
    await kept.redo(try #require(kept.id("G"))).ended()
    let undos = paper.undos
    let third = second.next()
    for disk in [third, third.next()] {
      let next = try await open(disk)
      #expect(next.layout == "[G(A B) |]" && next.entries.map(\.standing) == [.normal])
      #expect(next.recovery.finished.isEmpty)
    }
    #expect(paper.undos == undos)
    await end()
  }

  @Test(.holds("Interrupted groups"))
  func `a move waits for an interrupted group as a redo does`() async throws {
    let history = try await open(disk)
    await group(history)
    await history.write(paper, "E")
    await history.back(1)
    let (next, _, end) = try await openHalfUndone(history)
    let (group, e) = (try #require(next.id("G")), try #require(next.id("E")))
    let blocked = HistoryError.blocked(by: [group])
    #expect(await next.redo(e).ended().error as? HistoryError == blocked)
    #expect(await next.move(to: e).ended().error as? HistoryError == blocked)
    #expect(next.layout == "[G(A | B) | E]")
    await end()
  }

  @Test(.holds("Unknown"), arguments: [false, true])
  func `a redo of which nobody knows leads where the history has never been`(
    isReadable: Bool
  ) async throws {
    let history = try await open(disk)
    await history.execute(Letters(paper: paper), "a").ended()
    await history.write(paper, "B")
    await history.back(2)
    await history.forth(1)
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.forth(1)
    paper.settle(by: .unknown)
    let next = try await isReadable ? open(disk.next()) : openWithLetters(disk.next())
    next.save()
    #expect(next.layout == "[a | B]*")
    await next.back(1)
    await next.forth(1)
    #expect(next.state.isClean == false)
  }

  @Test(.holds("Unknown"))
  func `an undo that is made again is not in doubt any more`() async throws {
    let history = try await open(disk)
    await history.write(paper, "A")
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.back(1)
    paper.settle(by: .unknown)
    let second = disk.next()
    let next = try await open(second)
    #expect(next.entries.map(\.standing) == [.inDoubt])
    second.fail(.crash(at: second.writes + 2, isWritten: false))
    await next.back(1)
    paper.settle(by: .truth)
    let last = try await open(second.next())
    #expect(last.layout == "[| A]" && last.entries.map(\.standing) == [.normal])
  }

  @Test(.holds("Unknown"))
  func `a doubt that was settled once is none of another app`() async throws {
    let history = try await open(disk)
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.write(paper, "A")
    paper.settle(by: .unknown)
    let second = disk.next()
    let next = try await open(second)
    next.save()
    await next.idle()
    let other = try await openWithLetters(second.next())
    #expect(other.entries.map(\.standing) == [.unreadable])
    #expect(other.state.isClean)
  }

  @Test(.holds("In doubt"))
  func `executions of two processes that are settled at once keep their order`() async throws {
    let history = try await open(disk)
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.write(paper, "A")
    let second = disk.next()
    let other = try await openWithLetters(second)
    second.fail(.crash(at: second.writes + 2, isWritten: false))
    await other.execute(Letters(paper: paper), "b").ended()
    let next = try await open(second.next())
    #expect(next.layout == "[A b |]")
    #expect(paper.lines.value == [1, 2])
    await next.back(1)
    #expect(paper.lines.value == [1])
  }

  @Test(.holds("What ends merging"))
  func `an entry that is evicted before the next one merges takes no other`() async throws {
    struct Shrinking: JournaledUseCase, Equatable {
      static let journalName = "shrinking"
      let history: Watched<UseCaseHistory?>
      static func == (_: Self, _: Self) -> Bool { true }
      func main(_ text: String) async throws -> String { text }
      func undo(_: String, _: String) async throws {}
      func title(for text: String) -> String { text }
      func merge(
        _ earlier: (request: String, response: String), _ later: (request: String, response: String)
      ) -> HistoryMerge<String, String> {
        history.value?.limit = 0
        return .merged(earlier.request + later.request, later.response)
      }
    }
    let history = try await open(disk)
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.write(paper, "A")
    paper.settle(by: .unknown)
    let shrinking = Shrinking(history: Watched(nil))
    let next = try await UseCaseHistory.open(
      disk.next(), for: [Write(paper: paper), shrinking], mergeWindow: .seconds(3_600))
    shrinking.history.update { $0 = next }
    for text in ["x", "y"] {
      #expect(await next.execute(shrinking, text).ended().error == nil)
    }
    #expect(next.layout == "[A |]")
    shrinking.history.update { $0 = nil }
  }

  @Test(.holds("What is there"))
  func `a response that is encoded later does not take its entry from a move`() async throws {
    struct Late: JournaledUseCase {
      struct Reply: Codable, Sendable {
        let isReady: Watched<Bool>?
        init(_ isReady: Watched<Bool>) { self.isReady = isReady }
        init(from decoder: any Decoder) throws { isReady = nil }
        func encode(to encoder: any Encoder) throws {
          if isReady?.value == false { throw Failure("encode") }
          var container = encoder.singleValueContainer()
          try container.encode(0)
        }
      }
      static let journalName = "late"
      let isReady: Watched<Bool>
      let undoing: Gate
      let gate: Gate
      func main(_: String) async throws -> Reply { Reply(isReady) }
      func undo(_: String, _: Reply) async throws {
        undoing.open()
        await gate.passIgnoringCancellation()
      }
    }
    let late = Late(isReady: Watched(false), undoing: Gate(), gate: Gate())
    let history = try await UseCaseHistory.open(disk, for: [late])
    let operation = history.execute(late, "a")
    await operation.ended()
    let key = Int64(HistoryEntry.ID(operation.id).number)
    let undo = history.undo()
    await late.undoing.passIgnoringCancellation()
    let writes = disk.writes
    history.clear()
    while disk.writes == writes { await Task.yield() }
    late.isReady.update { $0 = true }
    history.markSaved(history.savePoint())
    while history.journalError != nil { await Task.yield() }
    #expect(disk.rows.rows[key] != nil)
    late.gate.open()
    await undo.ended()
    await history.idle()
    while disk.rows.rows[key] != nil { await Task.yield() }
  }

  @Test(.holds("What counts")) func `a hundred thousand entries are evicted above one in doubt`()
    throws
  {
    var rows: [HistoryRow<Int>] = (1...UInt64(100_000)).map { number in
      var row = HistoryRow(id: .init(number: number), title: "", step: 1)
      row.stamp = number
      return row
    }
    (rows[0].state, rows[0].marks) = (.executing, .inDoubt)
    var table = try HistoryTable(rows, head: .init())
    _ = try table.finishOpening([:], keepsGroups: false)
    table.setLimit(10)
    #expect(table.applied.map(\.id.number) == [1] + (99_991...UInt64(100_000)))
  }
}
