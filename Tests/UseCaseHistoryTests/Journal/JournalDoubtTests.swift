import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

/// Executions that had begun when the process ended.
@Suite(.mustEnd)
struct JournalDoubtTests {
  private let disk = Disk()
  private let paper = Paper()

  private func open(
    _ disk: Disk, _ interrupted: HistoryInterruption = .compensate
  ) async throws -> UseCaseHistory {
    try await UseCaseHistory.open(disk, paper, interrupted: interrupted)
  }

  private var settled: [String] { paper.log.elements.filter { $0.hasPrefix("settle") } }

  // MARK: Executions

  @Test(.holds("In doubt"))
  func `an execution that had no effect was never asked for`() async throws {
    let history = try await open(disk)
    await history.write(paper, "A")
    let gate = paper.hold("do B")
    let operation = history.execute(Write(paper: paper), "B")
    await paper.began("do B")
    let next = try await open(disk.next())
    #expect(next.layout == "[A |]")
    #expect(settled == ["settle execution(\"B\")"])
    #expect(paper.asked.elements == [HistoryEntry.ID(operation.id)])
    #expect(next.entries.allSatisfy { $0.standing == .normal })
    gate.open()
    await operation.ended()
  }

  @Test(.holds("In doubt"))
  func `an execution that had an effect is an entry`() async throws {
    let history = try await open(disk)
    await history.write(paper, "A")
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.write(paper, "B")
    let next = try await open(disk.next())
    #expect(next.layout == "[A B |]")
    await next.back(2)
    #expect(paper.lines.value == [])
  }

  @Test(.holds("Unknown"), arguments: [false, true])
  func `an execution of which nobody knows is no entry if the history was cleared`(
    isPart: Bool
  ) async throws {
    let history = try await open(disk)
    await history.write(paper, "A")
    let gate = paper.hold("do B")
    let write = Write(paper: paper).recorded(in: history)
    let running = Task {
      if isPart {
        await history.group("G") { _ = try await write("B") }.ended()
      } else {
        await write.execute("B").ended()
      }
    }
    await paper.began("do B")
    history.clear()
    while paper.discarded.isEmpty { await Task.yield() }
    disk.kill()
    gate.open()
    await running.value
    paper.settle(by: .unknown)
    let next = try await open(disk.next())
    #expect(settled == ["settle execution(\"B\")"])
    #expect(next.entries.isEmpty && !next.state.isClean)
  }

  @Test(.holds("Unknown"), arguments: [Paper.Settling.unknown, .failure])
  func `an execution of which nobody knows is in doubt and blocks nothing`(
    settling: Paper.Settling
  ) async throws {
    let history = try await open(disk)
    await history.write(paper, "A")
    history.save()
    await history.idle()
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.write(paper, "B")
    paper.settle(by: settling)
    let next = try await open(disk.next())
    #expect(next.layout == "[A B |]")
    #expect(next.entries.map(\.standing) == [.normal, .inDoubt])
    #expect(next.state.undoTitle == "A")
    await next.write(paper, "C")
    #expect(next.layout == "[A B C |]")
    await next.back(2)
    #expect(next.layout == "[B | A C]")
    await next.forth(1)
    let doubted = try #require(next.id("B"))
    #expect(await next.undo(doubted).ended().journalReason == .inDoubt)
    #expect(await next.redo(doubted).ended().journalReason == .inDoubt)
    #expect(await next.move(to: doubted).ended().journalReason == .inDoubt)
    #expect(next.layout == "[B A | C]")
    let gate = paper.hold("do D")
    let (execution, move) = (next.execute(Write(paper: paper), "D"), next.move(to: doubted))
    #expect(next.state.undoTitle == "D")
    gate.open()
    #expect(await move.ended().journalReason == .inDoubt)
    await execution.ended()
    await next.back(1)
    next.forget(doubted)
    #expect(next.layout == "[A | D]")
    await next.idle()
  }

  @Test(.holds("In doubt"))
  func `a group of which nothing is left is no failure of the recovery`() async throws {
    let history = try await open(disk)
    let gate = paper.hold("do B")
    let group = history.group("G") { [paper] in
      _ = try await Tag(paper: paper).recorded(in: history)("a")
      _ = try await Write(paper: paper).recorded(in: history)("B")
    }
    await paper.began("do B")
    let disk = disk.next()
    paper.fail("undo a1")
    let next = try await open(disk)
    #expect(paper.log.elements.contains("undo a1"))
    #expect(next.entries.isEmpty)
    #expect(next.recovery.failed.isEmpty && next.recovery.takenBack.isEmpty)
    gate.open()
    await group.ended()
  }

  @Test(.holds("In doubt"))
  func `settle is asked once, also if it does not know`() async throws {
    let history = try await open(disk)
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.write(paper, "A")
    paper.settle(by: .unknown)
    let (second, third) = (disk.next(), Watched<Disk?>(nil))
    _ = try await open(second)
    third.update { $0 = second.next() }
    let next = try await open(try #require(third.value))
    #expect(settled.count == 1)
    #expect(next.entries.map(\.standing) == [.inDoubt])
    next.clear()
    await next.idle()
    #expect(next.entries == [])
  }

  @Test(.holds("In doubt"))
  func `an execution that can be read later is below those that were recorded meanwhile`()
    async throws
  {
    let history = try await open(disk)
    await history.write(paper, "A")
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.execute(Letters(paper: paper), "b").ended()
    let second = disk.next()
    paper.live(with: second)
    let without = try await UseCaseHistory.open(second, for: [Write(paper: paper)])
    await without.write(paper, "C", "D", "E")
    await without.back(2)
    let next = try await open(second.next())
    #expect(next.layout == "[A b C | D E]")
    #expect(!paper.discarded.contains { $0.hasPrefix("D") })
    await next.forth(2)
    await next.back(5)
    #expect(paper.lines.value == [] && paper.violations.elements == [])
  }

  @Test(.holds("In doubt"))
  func `an execution that can be read later counts for the limit`() async throws {
    let history = try await open(disk)
    disk.fail(.crash(at: disk.writes + 2, isWritten: false))
    await history.execute(Letters(paper: paper), "b").ended()
    let second = disk.next()
    paper.live(with: second)
    let without = try await UseCaseHistory.open(second, for: [Write(paper: paper)], limit: 2)
    await without.write(paper, "C", "D")
    let next = try await UseCaseHistory.open(second.next(), paper, limit: 2)
    await next.idle()
    #expect(next.layout == "[C D |]")
    #expect(paper.discarded == ["b1 evicted"])
  }

  // MARK: Undo and redo

  @Test(.holds("In doubt"), arguments: [true, false])
  func `an undo that is settled is done or not`(hadEffect: Bool) async throws {
    let history = try await open(disk)
    await history.write(paper, "A", "B")
    let next = try await interrupt(history, "undo B2", hadEffect: hadEffect) { history.undo() }
    #expect(settled.count == 1)
    #expect(next.layout == (hadEffect ? "[A | B]" : "[A B |]"))
    #expect(next.entries.allSatisfy { $0.standing == .normal })
  }

  @Test(.holds("In doubt"), arguments: [true, false])
  func `a redo that is settled is done or not`(hadEffect: Bool) async throws {
    let history = try await open(disk)
    await history.write(paper, "A", "B")
    await history.back(1)
    let next = try await interrupt(history, "redo B2", hadEffect: hadEffect) { history.redo() }
    #expect(next.layout == (hadEffect ? "[A B |]" : "[A | B]"))
    if hadEffect {
      await next.back(1)
      #expect(paper.log.elements.last == "undo B3")
    }
  }

  @Test(.holds("Unknown"))
  func `an undo of which nobody knows can be tried again`() async throws {
    let history = try await open(disk)
    await history.write(paper, "A", "B")
    paper.settle(by: .unknown)
    let next = try await interrupt(history, "undo B2", hadEffect: true) { history.undo() }
    #expect(next.layout == "[A B |]")
    #expect(next.entries.map(\.standing) == [.normal, .inDoubt])
    await next.back(1)
    #expect(next.layout == "[A | B]")
    #expect(next.entries.map(\.standing) == [.normal, .normal])
  }

  /// Ends the process at the end of the action, or in its middle. Returns the next one.
  private func interrupt(
    _ history: UseCaseHistory, _ action: String, hadEffect: Bool,
    _ body: () -> UseCaseOperation<HistoryMove, HistoryEntry?>
  ) async throws -> UseCaseHistory {
    if hadEffect {
      disk.fail(.crash(at: disk.writes + 2, isWritten: false))
      await body().ended()
      return try await open(disk.next())
    }
    let gate = paper.hold(action)
    let operation = body()
    await paper.began(action)
    disk.kill()
    gate.open()
    await operation.ended()
    return try await open(disk.next())
  }

  // MARK: Groups

  /// Ends the process in the third part of a group, the second of which is a group.
  private func interruptGroup() async throws -> Disk {
    let history = try await open(disk)
    await history.write(paper, "Z")
    history.save()
    let write = Write(paper: paper).recorded(in: history)
    let gate = paper.hold("do D")
    let operation = history.group("G") {
      _ = try await write("A")
      try await history.group("H") {
        _ = try await write("B")
        _ = try await write("C")
      }.value
      _ = try await write("D")
    }
    await paper.began("do D")
    let next = disk.next()
    disk.kill()
    gate.open()
    await operation.ended()
    return next
  }

  @Test(.holds("Interrupted groups"))
  func `an interrupted group is undone in reverse, and nothing is recorded`() async throws {
    let next = try await open(try await interruptGroup())
    #expect(next.layout == "[Z |]*")
    #expect(
      paper.log.elements.filter { $0.hasPrefix("undo") } == ["undo C4", "undo B3", "undo A2"])
    #expect(paper.lines.value == [1])
    #expect(paper.discarded == ["A2 truncated", "B3 truncated", "C4 truncated"])
  }

  @Test(.holds("Interrupted groups"))
  func `an interrupted group is kept if the app likes`() async throws {
    let next = try await open(try await interruptGroup(), .keep)
    #expect(next.layout == "[Z G(A H(B C)) |]")
    await next.back(1)
    #expect(paper.lines.value == [1])
  }

  @Test(.holds("Interrupted groups"))
  func `an interrupted group is undone once, however often that is interrupted`() async throws {
    var after = try await interruptGroup()
    var crashes = 0
    while true {
      // Each process comes one write further than the last.
      crashes += 1
      let disk = after
      disk.fail(.crash(at: crashes + 1, isWritten: crashes.isMultiple(of: 2)))
      let history = try? await open(disk)
      if !disk.isDead {
        #expect(history?.layout == "[Z |]*")
        break
      }
      after = disk.next()
    }
    #expect(crashes > 3)
    #expect(paper.lines.value == [1])
    let undos = paper.log.elements.filter { $0.hasPrefix("undo") }
    #expect(Set(undos) == ["undo C4", "undo B3", "undo A2"])
  }

  /// A group in it may have ended, and have no parts left.
  @Test(.holds("Interrupted groups"), arguments: [false, true])
  func `an interrupted roll-back leaves no row of the groups in it`(isWritten: Bool) async throws {
    for write in 1... {
      let (disk, paper) = (Disk(), Paper())
      let history = try await UseCaseHistory.open(disk, paper)
      let edit = Write(paper: paper).recorded(in: history)
      disk.fail(.crash(at: write, isWritten: isWritten))
      await history.group("G") {
        _ = try await edit("A")
        try await history.group("H") { _ = try await edit("B") }.value
        throw Failure("G")
      }.ended()
      await history.idle()
      if !disk.isDead { return #expect(write > 8) }
      var next = disk.next()
      for _ in 1...2 {
        let history = try await UseCaseHistory.open(next, paper)
        await history.idle()
        #expect(history.entries == [] && paper.lines.value == [], "write \(write)")
        next = next.next()
      }
    }
  }

  // MARK: Again and again

  /// Runs a session that ends at each of its writes, and opens what it has left again and again.
  private func openAgain(
    _ interrupted: HistoryInterruption,
    _ session: (UseCaseHistory, Paper) async -> Void
  ) async throws {
    for write in 1... {
      let (disk, paper) = (Disk(), Paper())
      let history = try await UseCaseHistory.open(disk, paper)
      disk.fail(.crash(at: write, isWritten: true))
      await session(history, paper)
      await history.idle()
      guard disk.isDead else { return #expect(write > 8) }
      paper.settle(by: .unknown)
      var next = disk.next()
      let first = try await UseCaseHistory.open(next, paper, interrupted: interrupted)
      await first.idle()
      for _ in 1...2 {
        next = next.next()
        let later = try await UseCaseHistory.open(next, paper, interrupted: interrupted)
        #expect(later.layout == first.layout, "write \(write)")
      }
    }
  }

  @Test(.holds("Crashes"), arguments: [HistoryInterruption.compensate, .keep])
  func `a roll-back of a group in a group opens again`(
    interrupted: HistoryInterruption
  ) async throws {
    try await openAgain(interrupted) { history, paper in
      let write = Write(paper: paper).recorded(in: history)
      await history.group("G") {
        _ = try await write("A")
        try await history.group("N") { _ = try await write("B") }.value
        _ = try await write("C")
        throw Failure("G")
      }.ended()
    }
  }

  @Test(.holds("Crashes"), arguments: [HistoryInterruption.compensate, .keep])
  func `a group over one that is half undone opens again`(
    interrupted: HistoryInterruption
  ) async throws {
    try await openAgain(interrupted) { history, paper in
      let write = Write(paper: paper).recorded(in: history)
      await history.group("G") { for text in ["A", "B"] { _ = try await write(text) } }.ended()
      paper.fail("undo A1")
      await history.back(1)
      await history.group("H") { for text in ["C", "D"] { _ = try await write(text) } }.ended()
    }
  }
}
