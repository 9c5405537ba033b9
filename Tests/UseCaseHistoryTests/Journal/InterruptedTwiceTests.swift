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

  @Test(.holds("What counts"))
  func `an undo that waits passes over what will be evicted, and no interrupted group`()
    async throws
  {
    let history = try await open(disk)
    await group(history)
    let (next, _, end) = try await openHalfUndone(history)
    next.limit = 1
    await next.write(paper, "E")
    let gate = paper.hold("do F")
    let execution = next.execute(Write(paper: paper), "F")
    let undos = (next.undo(), next.undo())
    gate.open()
    await end()
    await execution.ended()
    _ = await (undos.0.ended(), undos.1.ended())
    #expect(next.layout == "[| G(A B) F]")
  }

  @Test(.holds("What counts"))
  func `an interrupted group that will be undone and redone counts from then on`() async throws {
    let history = try await open(disk)
    await group(history)
    let (next, _, end) = try await openHalfUndone(history)
    let id = try #require(next.id("G"))
    next.limit = 0
    let (undo, redo) = (next.undo(id), next.redo(id))
    let execution = next.execute(Write(paper: paper), "E")
    #expect(!next.state.canUndo)
    let last = next.undo()
    await end()
    await undo.ended()
    await redo.ended()
    await execution.ended()
    #expect(await last.ended().value == .some(nil))
    #expect(next.layout == "[|]")
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

  @Test(.holds("In doubt"))
  func `an execution that is settled later drops nothing that was undone after it`() async throws {
    let history = try await open(disk)
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.write(paper, "A")
    let second = disk.next()
    let other = try await openWithLetters(second)
    for text in ["B", "C"] { await other.execute(Letters(paper: paper), text).ended() }
    await other.back(2)
    let next = try await open(second.next())
    #expect(next.layout == "[A | B C]")
    #expect(paper.discarded == [])
  }

  @Test(.holds("In doubt"))
  func `an execution that is settled later drops what it contradicts below another`() async throws {
    struct Key: JournaledUseCase {
      static let journalName = "key"
      let paper: Paper
      func main(_ text: String) async throws -> StoredAnswer { try await paper.add("do", text) }
      func undo(_: String, _ answer: StoredAnswer) async throws {
        try await paper.remove("undo", answer)
      }
      func footprint(of text: String) -> HistoryFootprint? { .keys(text) }
      func settle(
        _ doubt: HistoryDoubt<String, StoredAnswer>
      ) async throws -> HistorySettlement<StoredAnswer> { try paper.settle(doubt) }
    }
    let (write, key) = (Write(paper: paper), Key(paper: paper))
    paper.live(with: disk)
    let history = try await UseCaseHistory.open(disk, for: [write, key])
    await history.write(paper, "A@a")
    await history.back(1)
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.execute(key, "a").ended()
    let second = disk.next()
    let other = try await open(second)
    await other.write(paper, "T@t")
    #expect(other.entries.map(\.isApplied) == [true, true, false])
    let next = try await UseCaseHistory.open(second.next(), for: [write, key])
    #expect(next.entries.map(\.isApplied) == [true, true])
    #expect(next.entries.map(\.standing) == [.normal, .normal])
  }

  @Test(.holds("In doubt"))
  func `an undo that is settled below another entry is not redone over that`() async throws {
    let history = try await open(disk)
    await history.write(paper, "A")
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.back(1)
    let second = disk.next()
    let other = try await openWithLetters(second)
    await other.execute(Letters(paper: paper), "B").ended()
    #expect(other.layout == "[A B |]")
    let next = try await open(second.next())
    #expect(next.layout == "[B |]")
  }

  @Test(.holds("What is there"))
  func `a redo that is settled above a half undone group opens, now and later`() async throws {
    let history = try await open(disk)
    let letters = Letters(paper: paper).recorded(in: history)
    await history.group("H") { for text in ["A", "B"] { _ = try await letters(text) } }.ended()
    await history.write(paper, "X")
    await history.back(1)
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.forth(1)
    let second = disk.next()
    let other = try await openWithLetters(second)
    paper.fail("undo A1")
    await other.back(1)
    #expect(other.layout == "[H(A | B) | X]")
    let third = second.next()
    let next = try await open(third)
    #expect(next.layout == "[H(A | B) X |]")
    #expect(next.entries.map(\.standing) == [.interrupted, .normal])
    let last = try await open(third.next())
    #expect(last.entries == next.entries)
    paper.repair("undo A1")
    await last.back(2)
    #expect(last.layout == "[| H(A B) X]" && paper.violations.elements == [])
  }

  @Test(.holds("Interrupted groups"))
  func `an undo behind the redo of an interrupted group is for the group`() async throws {
    let history = try await open(disk)
    let write = Write(paper: paper).recorded(in: history)
    await history.group("G") { _ = try await (write("A@g"), write("B@g")) }.ended()
    let (next, _, end) = try await openHalfUndone(history)
    await next.write(paper, "E@e")
    #expect(next.layout == "[G(A | B) E |]")
    let gate = paper.hold("redo B2")
    let redo = next.redo(try #require(next.id("G")))
    await paper.began("redo B2")
    #expect(next.state.undoTitle == "G")
    let undo = next.undo()
    gate.open()
    await end()
    #expect(await redo.ended().error == nil)
    #expect(await undo.ended().error == nil)
    #expect(next.layout == "[E | G(A B)]")
  }

  @Test(.holds("Interrupted groups"))
  func `a group that was never complete is an entry once it is redone to its end`() async throws {
    let history = try await open(disk)
    let write = Write(paper: paper).recorded(in: history)
    let body = paper.hold("do C")
    let group = history.group("G") { for text in ["A", "B", "C"] { _ = try await write(text) } }
    await paper.began("do C")
    paper.fail("undo A1")
    let next = try await open(disk.next())
    #expect(next.layout == "[G(A | B) |]")
    paper.repair("undo A1")
    let gate = paper.hold("redo B2")
    let redo = next.redo(try #require(next.id("G")))
    await paper.began("redo B2")
    let undo = next.undo()
    #expect(next.state.redoTitle == "G")
    let again = next.redo()
    gate.open()
    await redo.ended()
    #expect(await undo.ended().error == nil)
    #expect(await again.ended().value??.title == "G")
    #expect(next.layout == "[G(A B) |]")
    body.open()
    await group.ended()
  }

  @Test(.holds("Interrupted"))
  func `an undo of an interrupted redo that fails once is tried again`() async throws {
    let history = try await open(disk)
    let write = Write(paper: paper).recorded(in: history)
    await history.group("G") { for text in ["A", "B", "C"] { _ = try await write(text) } }.ended()
    await history.back(1)
    paper.fail("redo C3")
    paper.script("redo C3") { [disk] in disk.kill() }
    await history.forth(1)
    paper.script("redo C3") {}
    var next = disk.next()
    let launched = try await open(next)
    #expect(launched.layout == "[G(A B | C) |]")
    paper.script("undo A4") { [next] in next.kill() }
    await launched.back(1)
    paper.script("undo A4") {}
    paper.fail("undo A4")
    next = next.next()
    #expect(try await open(next).recovery.failed.count == 1)
    paper.repair("undo A4")
    let last = try await open(next.next())
    #expect(last.recovery.finished.count == 1 && last.layout == "[| G(A B C)]*")
  }

  @Test(.holds("Interrupted groups"))
  func `a group in which a roll-back was interrupted is taken back, also if groups are kept`()
    async throws
  {
    let history = try await open(disk)
    let write = Write(paper: paper).recorded(in: history)
    let gate = paper.hold("undo B2")
    let group = history.group("G") {
      _ = try await write("A")
      await history.group("N") {
        _ = try await (write("B"), write("C"))
        throw Failure("N")
      }.ended()
    }
    await paper.began("undo B2")
    let next = disk.next()
    paper.live(with: next)
    gate.open()
    let opened = try await open(next, .keep)
    #expect(opened.layout.hasPrefix("[|]") && opened.recovery.kept.isEmpty)
    disk.kill()
    await group.ended()
  }

  @Test(.holds("Clean"))
  func `a group that stays half undone is never clean`() async throws {
    let history = try await open(disk)
    await group(history)
    let (next, _, end) = try await openHalfUndone(history)
    next.save()
    #expect(next.layout == "[G(A | B) |]")
    await end()
  }

  @Test(.holds("Forgetting"))
  func `a forgotten group that no recovery came to leaves all the same`() throws {
    var rows: [HistoryRow<Int>] = (1...UInt64(3)).map { number in
      var row = HistoryRow(id: .init(number: number), title: "", step: 1)
      (row.stamp, row.parent) = (number, number == 1 ? .nobody : .init(number: 1))
      return row
    }
    rows[0].marks = [.group, .interrupted, .leavesLater]
    rows[2].state = .undone
    var table = try HistoryTable(rows, head: .init())
    #expect(try table.finishOpening([:], keepsGroups: false).recoverable.count == 1)
    var machine = HistoryMachine<Int>(limit: nil, mergeWindow: .zero)
    machine.take(table)
    #expect(machine.table.applied.count == 1)
    machine.endRecovery()
    #expect(machine.table.applied.isEmpty)
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

  private typealias Found = (state: HistoryRow<Int>.State, keys: HistoryFootprint)

  /// Opens a table in which all executions and undos were interrupted, and had an effect.
  private func settled(_ found: [Found]) throws -> HistoryTable<Int> {
    let rows = found.enumerated().map { index, found in
      let number = UInt64(index + 1)
      var row = HistoryRow(
        id: .init(number: number), title: "", step: 1, footprint: found.keys)
      (row.stamp, row.state) = (number, found.state)
      return row
    }
    var table = try HistoryTable(rows, head: .init())
    let answers = table.doubts.map { ($0.id, HistoryTable.Settlement.hadEffect(2, $0.footprint)) }
    _ = try table.finishOpening(Dictionary(uniqueKeysWithValues: answers), keepsGroups: false)
    return table
  }

  @Test(.holds("In doubt"))
  func `executions that are settled at once drop what was undone before each`() throws {
    let (a, b) = (HistoryFootprint.keys("a"), HistoryFootprint.keys("b"))
    let table = try settled([
      (.undone, a), (.executing, a), (.undone, a), (.executing, b), (.undone, b),
      (.undone, a.union(b)),
    ])
    #expect(table.applied.map(\.id.number) == [2, 4])
    #expect(table.undone.map(\.id.number) == [3, 5, 6])
  }

  @Test(.holds("In doubt"))
  func `what is redone after a dropped entry is dropped only if it was undone before, too`() throws
  {
    let (a, b) = (HistoryFootprint.keys("a"), HistoryFootprint.keys("b"))
    let table = try settled([(.undone, b), (.undone, a.union(b)), (.executing, a), (.undone, b)])
    #expect(table.undone.map(\.id.number) == [4])
  }

  @Test(.holds("In doubt"))
  func `an execution of everything that is settled drops what touches nothing, too`() throws {
    let table = try settled([(.undone, .keys()), (.executing, .everything), (.undone, .keys())])
    #expect(table.undone.map(\.id.number) == [3])
  }

  @Test(.holds("In doubt"))
  func `ten thousand executions and undos are settled at once`() throws {
    func rows(_ state: HistoryRow<Int>.State, _ name: String) -> [Found] {
      (0..<10_000).map { (state, .keys("\(name)\($0)")) }
    }
    let table = try settled(
      rows(.undone, "a") + rows(.undoing, "b") + rows(.executing, "c") + rows(.applied, "d")
        + [(.applied, .keys("b0"))])
    #expect(table.applied.count == 20_001)
    #expect(table.undone.count == 19_999)
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
