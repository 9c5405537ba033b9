import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

/// The part of a history that survives the end of a process.
@Suite(.mustEnd)
struct JournalTests {
  private let disk = Disk()
  private let paper = Paper()

  private func open(_ disk: Disk) async throws -> UseCaseHistory {
    try await UseCaseHistory.open(disk, paper)
  }

  @Test func `an empty journal is an empty history, which is clean`() async throws {
    let history = try await open(disk)
    #expect(history.layout == "[|]*")
    #expect(history.journalError == nil)
  }

  @Test(.holds("What is there"))
  func `entries, the cursor and the branch survive`() async throws {
    let history = try await open(disk)
    await history.write(paper, "A", "B", "C", "D")
    await history.back(2)
    await history.forth(1)
    let next = try await open(disk.next())
    #expect(next.layout == "[A B C | D]")
    #expect(next.entries == history.entries)
    await next.back(2)
    await next.forth(3)
    #expect(next.layout == "[A B C D |]")
    #expect(
      paper.log.elements.suffix(5) == ["undo C5", "undo B2", "redo B2", "redo C5", "redo D4"])
  }

  @Test(.holds("Nothing is repeated"))
  func `open calls no use case when no body and no group was interrupted`() async throws {
    let history = try await open(disk)
    await history.write(paper, "A", "B")
    await history.back(1)
    let before = paper.log.elements
    _ = try await open(disk.next())
    #expect(paper.log.elements == before)
  }

  @Test(.holds("What is there"))
  func `groups, merges and the clean place survive`() async throws {
    let history = try await open(disk)
    let write = Write(paper: paper).recorded(in: history)
    await history.group("G") {
      _ = try await write("A")
      try await history.group("H") {
        _ = try await write("B")
        _ = try await write("C")
      }.value
    }.ended()
    for text in ["a", "b", "x", "X", "c"] {
      await history.execute(Letters(paper: paper), text).ended()
    }
    history.save()
    await history.write(paper, "D")
    await history.back(1)
    await history.idle()
    #expect(history.layout == "[G(A H(B C)) abx Xc | D]*")
    let next = try await open(disk.next())
    #expect(next.layout == "[G(A H(B C)) abx Xc | D]*")
    #expect(next.entries == history.entries)
    await next.back(3)
    #expect(next.layout == "[| G(A H(B C)) abx Xc D]")
  }

  @Test(.holds("What is there"))
  func `a group that is half undone survives`() async throws {
    let history = try await open(disk)
    let write = Write(paper: paper).recorded(in: history)
    await history.group("G") { for text in ["A", "B", "C"] { _ = try await write(text) } }.ended()
    paper.fail("undo B2")
    await history.back(1)
    #expect(history.layout == "[G(A B | C) |]")
    let next = try await open(disk.next())
    #expect(next.layout == "[G(A B | C) |]")
    paper.repair("undo B2")
    await next.back(1)
    await next.forth(1)
    #expect(next.layout == "[G(A B C) |]")
    #expect(paper.lines.value == [1, 2, 3])
  }

  @Test(.holds("What is there"))
  func `a limit, a clear and a lower limit survive`() async throws {
    let history = try await UseCaseHistory.open(disk, paper, limit: 3)
    await history.write(paper, "A", "B", "C", "D")
    let next = try await UseCaseHistory.open(disk.next(), paper, limit: 3)
    #expect(next.layout == "[B C D |]")
    next.limit = 1
    await next.idle()
    let third = try await UseCaseHistory.open(disk.next(), paper, limit: 1)
    #expect(third.layout == "[D |]")
    third.clear()
    await third.idle()
  }

  @Test(.holds("What is there"))
  func `the greatest limit survives`() async throws {
    let history = try await UseCaseHistory.open(disk, paper, limit: .max)
    await history.write(paper, "A")
    let second = disk.next()
    let next = try await UseCaseHistory.open(second, paper)
    next.limit = .max
    await next.write(paper, "B")
    #expect(try await UseCaseHistory.open(second.next(), paper).layout == "[A B |]")
  }

  @Test(.holds("What is there"))
  func `an undo of one entry survives, and what entries touch`() async throws {
    let history = try await open(disk)
    for text in ["A", "B", "C", "D"] { await history.execute(Tag(paper: paper), text).ended() }
    await history.undo(try #require(history.id("B"))).ended()
    let second = disk.next()
    let next = try await open(second)
    #expect(next.layout == "[A C D | B]")
    await next.undo(try #require(next.id("A"))).ended()
    await next.forth(1)
    #expect(next.layout == "[C D A | B]")
    #expect(try await open(second.next()).layout == "[C D A | B]")
    #expect(paper.violations.elements == [])
  }

  @Test(.holds("What is there"))
  func `what is obsolete or forgotten does not come back`() async throws {
    let history = try await open(disk)
    let tag = Tag(paper: paper).recorded(in: history)
    await history.write(paper, "Z")
    await history.group("G") { for text in ["A", "B", "C"] { _ = try await tag(text) } }.ended()
    for text in ["D", "E"] { await history.execute(Tag(paper: paper), text).ended() }
    history.forget(try #require(history.id("D")))
    history.save()
    paper.fail("undo E6")
    await history.back(1)
    paper.fail("undo B3")
    #expect(history.layout == "[Z G(A B C) |]*")
    await history.back(1)
    #expect(history.layout == "[Z | G(A C)]")
    await history.idle()
    let next = try await open(disk.next())
    #expect(next.layout == "[Z | G(A C)]")
    await next.forth(1)
    #expect(next.layout == "[Z G(A C) |]")
    #expect(
      paper.discarded.sorted() == ["B3 obsolete", "D5 forgotten", "E6 obsolete"])
  }

  @Test func `what a roll-back has left is clean at the same places after a launch`() async throws {
    let history = try await open(disk)
    let write = Write(paper: paper).recorded(in: history)
    let tag = Tag(paper: paper).recorded(in: history)
    for action in ["undo A1", "undo B2"] { paper.fail(action) }
    await history.group("G") {
      _ = try await write("A")
      _ = try await tag("B")
      throw Failure("G")
    }.ended()
    history.save()
    await history.idle()
    let next = try await open(disk.next())
    paper.repair("undo A1")
    for history in [history, next] {
      #expect(history.layout == "[G(A) |]*")
      await history.back(1)
      await history.forth(1)
      #expect(history.layout == "[G(A) |]")
    }
  }

  @Test(.holds("Order of records"))
  func `what is asked for all at once is written in its order`() async throws {
    var random = SeededGenerator(seed: 11)
    for round in 0..<60 {
      let (disk, paper) = (Disk(), Paper())
      let history = try await UseCaseHistory.open(disk, paper)
      let write = Write(paper: paper).recorded(in: history)
      paper.script("do clear") { history.clear() }
      for number in 0..<40 {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<4: write.execute("e\(round)_\(number)")
        case 4..<6: history.execute(Tag(paper: paper), "t\(number)")
        case 6: history.execute(Letters(paper: paper), ["a", "x", "X"][number % 3])
        case 7, 8, 9: history.undo()
        case 10, 11: history.redo()
        case 12: history.undo(history.entries.randomElement(using: &random)?.id ?? .nobody)
        case 13: history.move(to: history.entries.randomElement(using: &random)?.id)
        case 14: history.limit = number % 5 + 2
        case 15: if number % 4 == 0 { history.clear() } else { history.save() }
        case 16: history.entries.randomElement(using: &random).map { history.forget($0.id) }
        case 17: write.execute("clear")
        default:
          let fails = Bool.random(using: &random)
          history.group("G") {
            async let (first, second) = (write("g\(number)"), write("h\(number)"))
            _ = try await (first, second)
            if fails { throw Failure("G") }
          }
        }
        if number % 8 == 0 { await Task.yield() }
      }
      await history.idle()
      let next = try await UseCaseHistory.open(disk.next(), paper, limit: history.limit)
      #expect(next.entries == history.entries)
      #expect(next.state.isClean == history.state.isClean)
      #expect(paper.violations.elements == [])
    }
  }

  @Test(.holds("Ids"))
  func `ids go on growing over launches`() async throws {
    let history = try await open(disk)
    await history.write(paper, "A")
    let old = try #require(history.entries.first?.id)
    let next = try await open(disk.next())
    await next.write(paper, "B")
    #expect(next.entries.map(\.id)[0] == old)
    #expect(next.entries.map(\.id)[1] > old)
  }

  @Test(.holds("Only known use cases"))
  func `what is not journaled does not run`() async throws {
    let page = Page()
    let history = try await open(disk)
    let outcome = await history.execute(Bare(page: page), "A").ended()
    #expect(outcome.journalReason == .notJournaled("Bare"))
    #expect(page.log.elements == [])
    #expect(history.layout == "[|]*")
    let other = try await UseCaseHistory.open(Disk(), for: [Letters(paper: paper)])
    #expect(await other.write(paper, "A")?.journalReason == .notJournaled("Write"))
  }

  @Test(.holds("Only known use cases"))
  func `two use cases with one name are refused`() async throws {
    await #expect(throws: HistoryJournalError.self) {
      try await UseCaseHistory.open(disk, for: [Write(paper: paper), Write(paper: paper)])
    }
    #expect(disk.writes == 0)
  }

  @Test(.holds("Written ahead"))
  func `the intent is written before the body, the end before a handler`() async throws {
    let history = try await open(disk)
    let writes = disk.writes
    paper.script("do A") { [disk] in #expect(disk.writes == writes + 1) }
    await withCheckedContinuation { continuation in
      history.execute(Write(paper: paper), "A").then { [disk] _ in
        #expect(disk.writes == writes + 2)
        continuation.resume()
      }
    }
    paper.script("undo A1") { [disk] in #expect(disk.writes == writes + 3) }
    await withCheckedContinuation { continuation in
      history.undo().then { [disk] _ in
        #expect(disk.writes == writes + 4)
        continuation.resume()
      }
    }
  }

  @Test(.holds("No intent"))
  func `in five hundred races with an intent that fails, the parts of an open group end`()
    async throws
  {
    let history = try await UseCaseHistory.open(disk, paper)
    disk.kill()
    for _ in 0..<500 {
      let group = history.openGroup("Group")
      let parts = (0..<9).map { group.execute(Write(paper: paper), "\($0)") }
      for part in parts { await part.ended() }
      await group.close().ended()
    }
    #expect(paper.lines.value == [])
  }

  @Test(.holds("No intent"), arguments: [true, false])
  func `without its intent nothing runs`(isWritten: Bool) async throws {
    let history = try await open(disk)
    await history.write(paper, "A")
    disk.fail(.full(from: disk.writes + 1, count: 3, isWritten: isWritten))
    #expect(await history.write(paper, "B")?.journalReason == .cannotWrite)
    #expect(history.journalError != nil)
    disk.fail(.full(from: disk.writes + 1, count: 3, isWritten: isWritten))
    #expect(await history.undo().ended().journalReason == .cannotWrite)
    #expect(paper.log.elements == ["do A"])
    disk.fail(.none)
    await history.write(paper, "C")
    #expect(history.journalError == nil)
    let next = try await open(disk.next())
    #expect(next.layout == "[A C |]")
    #expect(!paper.log.elements.contains { $0.hasPrefix("settle") })
  }

  @Test(.holds("No end"), arguments: [true, false])
  func `an end that cannot be written is written before the next intent`(
    isWritten: Bool
  ) async throws {
    let history = try await open(disk)
    await history.write(paper, "A")
    disk.fail(.full(from: disk.writes + 2, count: 1, isWritten: isWritten))
    #expect(await history.write(paper, "B")?.value == StoredAnswer(2))
    #expect(history.layout == "[A B |]")
    #expect((history.journalError as? HistoryJournalError)?.reason == .cannotWrite)
    await history.write(paper, "C")
    #expect(history.journalError == nil)
    #expect(try await open(disk.next()).layout == "[A B C |]")
  }

  @Test(.holds("No end"))
  func `while an end cannot be written no intent is`() async throws {
    let history = try await open(disk)
    disk.fail(.full(from: disk.writes + 2, count: 2, isWritten: false))
    await history.write(paper, "A")
    #expect(await history.write(paper, "B")?.journalReason == .cannotWrite)
    #expect(paper.log.elements == ["do A"])
    await history.idle()
    #expect(history.journalError == nil)
    #expect(try await open(disk.next()).layout == "[A |]")
  }
}
