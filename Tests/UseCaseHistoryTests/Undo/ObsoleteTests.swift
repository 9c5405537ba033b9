import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct ObsoleteTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("Obsolete"))
  func `what can never be undone leaves, and the next undo is for the next entry`() async {
    await history.run(page, "A", "B")
    page.lose("undo B2")
    let outcome = await history.undo().ended()
    #expect(outcome.obsolete?.cause as? Failure == Failure("undo B2"))
    #expect(history.layout == "[A |]" && page.discarded == ["B2 obsolete"])
    #expect(await history.undo().ended().value??.title == "A")
  }

  @Test(.holds("Obsolete"))
  func `what can never be redone leaves, and the next redo is for the next entry`() async {
    await history.run(page, "A", "B")
    await history.back(2)
    page.lose("redo A1")
    #expect(await history.redo().ended().obsolete != nil)
    #expect(history.layout == "[| B]*" && page.discarded == ["A1 obsolete"])
    #expect(await history.redo().ended().value??.title == "B")
  }

  @Test(.holds("Obsolete"))
  func `an undo bound to what is obsolete does not take the next entry in its place`() async {
    await history.run(page, "A", "B")
    let gate = page.hold("undo B2")
    page.lose("undo B2")
    let b = history.entries[1].id
    let (first, redo, again) = (history.undo(), history.redo(), history.undo(b))
    gate.open()
    #expect(await first.ended().obsolete != nil)
    #expect(await redo.ended().historyError == .outOfTurn)
    #expect(await again.ended().historyError == .unknownEntry(b))
    #expect(history.layout == "[A |]")
  }

  @Test(.holds("Obsolete"))
  func `what is undone alone and obsolete leaves the others as they are`() async {
    await history.run(page, "A@x", "B@y", "C@z")
    page.lose("undo B2")
    #expect(await history.undo(history.entries[1].id).ended().obsolete != nil)
    #expect(history.layout == "[A C |]" && page.discarded == ["B2 obsolete"])
  }

  @Test(.holds("Obsolete in a jump"))
  func `a jump stops at what is obsolete, at the last good place`() async {
    await history.run(page, "A", "B", "C")
    page.lose("undo B2")
    #expect(await history.move(to: nil).ended().obsolete != nil)
    #expect(history.layout == "[A | C]")
    #expect(await history.move(to: nil).ended().value?.map(\.title) == ["A"])
    page.lose("redo C3")
    #expect(await history.move(to: history.id("C")).ended().obsolete != nil)
    #expect(history.layout == "[A |]" && page.discarded == ["B2 obsolete", "C3 obsolete"])
  }

  @Test(.holds("Obsolete parts"))
  func `of a group only the obsolete part leaves, and the undo goes on`() async {
    await desk.group("G", "a", "b", "c")
    page.lose("undo b2")
    let entry = await history.undo().ended().value
    #expect(entry??.layout == "G(a c)" && entry??.isApplied == false)
    #expect(history.layout == "[| G(a c)]" && page.discarded == ["b2 obsolete"])
    #expect(page.actions.suffix(3) == ["undo c3", "undo b2", "undo a1"])
    page.lose("redo a1")
    await history.forth(1)
    #expect(history.layout == "[G(c) |]")
    #expect(page.discarded == ["b2 obsolete", "a1 obsolete"])
    #expect(page.actions.suffix(2) == ["redo a1", "redo c3"])
    await history.back(1)
    #expect(history.layout == "[| G(c)]" && page.actions.last == "undo c4")
  }

  @Test(.holds("Obsolete parts"))
  func `a group of which nothing is left leaves, too, and the undo fails`() async {
    await history.run(page, "A")
    await desk.group("G", "b", "c")
    page.lose("undo b2")
    page.lose("undo c3")
    #expect(await history.undo().ended().obsolete?.cause as? Failure == Failure("undo c3"))
    #expect(history.layout == "[A |]")
    #expect(Set(page.discarded) == ["b2 obsolete", "c3 obsolete"])
    #expect(await history.undo().ended().value??.title == "A")
  }

  @Test(.holds("Obsolete in a jump"))
  func `a jump goes on past a group of which nothing is left`() async {
    await history.run(page, "A")
    await history.group("G") { [edit = desk.edit] in _ = try await edit("b") }.ended()
    await history.run(page, "C")
    page.lose("undo b2")
    #expect(await history.move(to: nil).ended().value?.map(\.title) == ["C", "A"])
    #expect(history.layout == "[| A C]")
  }

  @Test(.holds("Obsolete in a jump"))
  func `a redo is not bound to a group of which a jump has found no part`() async {
    await history.run(page, "A")
    await desk.group("G", "b")
    page.script("undo b2") { [history] in
      #expect(history.state.canRedo)
      throw HistoryObsolete()
    }
    let gate = page.hold("undo A1")
    let jump = history.move(to: nil)
    await page.began("undo A1")
    let redos = [history.redo(), history.redo()]
    #expect(!history.state.canRedo)
    gate.open()
    await jump.ended()
    #expect(await redos[0].ended().value??.title == "A")
    #expect(await redos[1].ended().value == .some(nil))
    #expect(history.layout == "[A |]")
  }

  @Test(.holds("Obsolete parts"))
  func `a nested group loses its obsolete part as well`() async {
    await history.group("G") { [history, edit = desk.edit] in
      _ = try await edit("a")
      try await history.group("N") { _ = try await edit("b") }.value
      _ = try await edit("c")
    }.ended()
    page.lose("undo b2")
    await history.back(1)
    #expect(history.layout == "[| G(a c)]")
  }

  @Test(.holds("Obsolete parts"))
  func `an undo that loses a part and then fails goes on from there`() async {
    await desk.group("G", "a", "b", "c")
    page.lose("undo c3")
    page.fail("undo b2")
    await history.back(1)
    #expect(history.layout == "[G(a b) |]" && page.discarded == ["c3 obsolete"])
    page.repair("undo b2")
    page.lose("undo b2")
    page.fail("undo a1")
    await history.back(1)
    #expect(history.layout == "[G(a) |]")
    page.repair("undo a1")
    await history.back(1)
    #expect(history.layout == "[| G(a)]")
  }

  @Test(.holds("Obsolete parts"))
  func `a redo that loses a part and then fails keeps what was redone`() async {
    await desk.group("G", "a", "b", "c")
    await history.back(1)
    page.lose("redo b2")
    page.fail("redo c3")
    await history.forth(1)
    #expect(history.layout == "[G(a | c) |]" && page.discarded == ["b2 obsolete"])
    page.repair("redo c3")
    await history.forth(1)
    #expect(history.layout == "[G(a c) |]")
    await history.back(1)
    page.lose("redo a4")
    page.fail("redo c5")
    await history.forth(1)
    #expect(history.layout == "[| G(c)]*")
    page.repair("redo c5")
    await history.forth(1)
    #expect(history.layout == "[G(c) |]")
  }

  @Test(.holds("Obsolete parts"))
  func `a roll-back goes on past an obsolete part`() async {
    page.lose("undo b2")
    let outcome = await desk.group("G", "a", "b", "c", failing: Failure("G"))
    #expect(outcome.failure == Failure("G"))
    #expect(history.layout == "[|]")
    #expect(Set(page.discarded) == ["a1 truncated", "b2 obsolete", "c3 truncated"])
    page.lose("undo d4")
    #expect(await desk.group("H", "d", failing: Failure("H")).failure == Failure("H"))
    #expect(page.discarded.last == "d4 obsolete" && history.entries.isEmpty)
  }

  @Test func `a clear behind a group that was obsolete leaves nothing in the journal`() async throws
  {
    let (disk, paper) = (Disk(), Paper())
    let history = try await UseCaseHistory.open(disk, paper)
    await history.write(paper, "A")
    await history.group("G") {
      _ = try await Tag(paper: paper).recorded(in: history)("t")
    }.ended()
    paper.fail("undo t2")
    let gate = paper.hold("undo A1")
    let move = history.move(to: nil)
    await paper.began("undo A1")
    history.clear()
    gate.open()
    await move.ended()
    await history.idle()
    #expect(history.entries.isEmpty)
    #expect(try await UseCaseHistory.open(disk.next(), paper).entries.isEmpty)
  }

  @Test func `an obsolete part and a clear discard each pair once`() async {
    await desk.group("G", "a", "b", "c")
    page.lose("undo c3")
    let gate = page.hold("undo b2")
    let undo = history.undo()
    await page.began("undo b2")
    history.clear()
    gate.open()
    await undo.ended()
    #expect(Set(page.discarded) == ["a1 cleared", "b2 cleared", "c3 obsolete"])
    #expect(page.discarded.count == 3)
  }
}
