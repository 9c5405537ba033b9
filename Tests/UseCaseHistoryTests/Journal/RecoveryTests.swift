import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// The undos of an opening: which of them are tried, in which order, and what waits for them.
@Suite(.mustEnd)
struct RecoveryTests {
  private let disk = Disk()
  private let paper = Paper()

  private func open(
    _ disk: Disk, _ interrupted: HistoryInterruption = .compensate, limit: Int? = nil
  ) async throws -> UseCaseHistory {
    try await UseCaseHistory.open(disk, paper, interrupted: interrupted, limit: limit)
  }

  private var undos: [String] { paper.log.elements.filter { $0.hasPrefix("undo") } }

  // MARK: What is tried

  @Test(.holds("Interrupted groups"))
  func `a recovery stops at an undo that nobody knows, also below a part that overlapped it`()
    async throws
  {
    let history = try await open(disk)
    let write = Write(paper: paper).recorded(in: history)
    let (x, c) = (paper.hold("do X"), paper.hold("undo C2"))
    paper.fail("undo A1")
    let group = history.group("G") { [paper] in
      async let overlapping = write("X")
      await paper.began("do X")
      await history.group("N") {
        for text in ["A", "C"] { _ = try await write(text) }
        throw Failure("N")
      }.ended()
      _ = try await overlapping
    }
    await paper.began("undo C2")
    let writes = disk.writes
    x.open()
    while disk.writes == writes { await Task.yield() }
    let next = disk.next()
    c.open()
    await group.ended()
    #expect(paper.lines.value == [1, 3])
    paper.settle(by: .unknown)
    let opened = try await open(next)
    #expect(opened.layout == "[G(N(A C) | X) |]")
    #expect(undos == ["undo C2", "undo A1", "undo X3"] && paper.violations.elements == [])
    let errors = opened.recovery.failed.map { ($0.error as? HistoryJournalError)?.reason }
    #expect(errors == [.inDoubt])
  }

  @Test(.holds("Interrupted groups"))
  func `a recovery stops at an undo that nobody knows, also below a part that was redone`()
    async throws
  {
    let history = try await open(disk)
    let write = Write(paper: paper).recorded(in: history)
    await history.group("G") { for text in ["A", "B", "C"] { _ = try await write(text) } }.ended()
    paper.script("undo B2") { [disk] in disk.kill() }
    await history.back(1)
    paper.script("undo B2") {}
    paper.settle(by: .unknown)
    let second = disk.next()
    let doubted = try await open(second)
    #expect(doubted.layout == "[G(A B | C) |]")
    await doubted.redo(try #require(doubted.id("G"))).ended()
    paper.script("undo C4") { second.kill() }
    await doubted.back(1)
    paper.script("undo C4") {}
    paper.settle(by: .truth)
    let next = try await open(second.next())
    #expect(next.layout == "[G(A B | C) |]")
    #expect(undos == ["undo C3", "undo B2", "undo C4", "undo C4"])
    let errors = next.recovery.failed.map { ($0.error as? HistoryJournalError)?.reason }
    #expect(errors == [.inDoubt])
    await next.back(1)
    #expect(next.layout.hasPrefix("[| G(A B C)]") && paper.lines.value == [])
  }

  @Test(.holds("Interrupted groups"), arguments: [HistoryInterruption.compensate, .keep])
  func `a part that is settled comes behind those that had ended`(
    interrupted: HistoryInterruption
  ) async throws {
    let history = try await open(disk)
    let write = Write(paper: paper).recorded(in: history)
    let (gate, ended) = (paper.hold("do A"), Gate())
    let group = history.group("G") { [paper] in
      async let overlapping = write("A")
      await paper.began("do A")
      _ = try await write("B")
      ended.open()
      _ = try await overlapping
    }
    await ended.passIgnoringCancellation()
    disk.fail(.crash(at: disk.writes + 1, isWritten: false))
    gate.open()
    await group.ended()
    #expect(paper.lines.value == [1, 2])
    let next = disk.next()
    let opened = try await open(next, interrupted)
    if interrupted == .keep {
      #expect(opened.layout == "[G(B A) |]")
      #expect(try await open(next.next(), .keep).layout == "[G(B A) |]")
      await opened.back(1)
    }
    #expect(undos == ["undo A2", "undo B1"])
  }

  // MARK: What waits

  @Test(.holds("Interrupted"))
  func `a redo waits for an interrupted group of which nothing was taken back`() async throws {
    let history = try await open(disk)
    await history.write(paper, "X")
    await history.back(1)
    let write = Write(paper: paper).recorded(in: history)
    paper.script("do B") { [disk] in disk.kill() }
    await history.group("G") { for text in ["A", "B"] { _ = try await write(text) } }.ended()
    paper.fail("undo A2")
    let next = try await open(disk.next())
    #expect(next.layout == "[G(A) | X]" && !next.state.canRedo)
    let (group, x) = (try #require(next.id("G")), try #require(next.id("X")))
    let blocked = HistoryError.blocked(by: [group])
    #expect(await next.redo(x).ended().error as? HistoryError == blocked)
    paper.repair("undo A2")
    await next.back(1)
    await next.forth(1)
    #expect(next.layout == "[X |]" && paper.violations.elements == [])
  }
}
