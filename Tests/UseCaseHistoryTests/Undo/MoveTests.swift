import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct MoveTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  private func prepare() async {
    await history.run(page, "A", "B", "C", "D", "E")
  }

  @Test(.holds("One change"))
  func `moving before the first undoes all, the newest first, in one change`() async {
    await prepare()
    page.script("undo C3") { [history] in
      #expect(history.layout == "[A B C D E |]")
    }
    let version = history.state.version
    let entries = await history.move(to: nil).ended().value
    #expect(entries?.map(\.title) == ["E", "D", "C", "B", "A"])
    #expect(entries?.contains(where: \.isApplied) == false)
    #expect(history.layout == "[| A B C D E]*")
    // One for being busy, and one at its end.
    #expect(history.state.version == version + 2)
  }

  @Test(.holds("One change"))
  func `moving over two entries does what two undos or redos do`() async {
    await prepare()
    await history.move(to: history.id("C")).ended()
    #expect(history.layout == "[A B C | D E]")
    #expect(page.actions.suffix(2) == ["undo E5", "undo D4"])
    let entries = await history.move(to: history.id("E")).ended().value
    #expect(entries?.map(\.title) == ["D", "E"])
    #expect(entries?.allSatisfy(\.isApplied) == true)
    #expect(history.layout == "[A B C D E |]")
    #expect(page.actions.suffix(2) == ["redo D4", "redo E5"])
  }

  @Test func `moving to the newest applied entry runs nothing`() async {
    await prepare()
    await history.back(2)
    let count = page.log.count
    #expect(await history.move(to: history.id("C")).ended().value == [])
    #expect(page.log.count == count)
  }

  @Test(.holds("Unknown entries"))
  func `what was truncated, evicted or cleared is unknown`() async throws {
    await prepare()
    let ids = history.entries.map(\.id)
    await history.back(1)
    await history.run(page, "F")
    history.limit = 4
    #expect(history.layout == "[B C D F |]")
    for id in [ids[4], ids[0]] {
      #expect(await history.move(to: id).ended().historyError == .unknownEntry(id))
    }
    #expect(history.layout == "[B C D F |]")
    history.clear()
    #expect(await history.move(to: ids[2]).ended().historyError == .unknownEntry(ids[2]))
    #expect(history.layout == "[|]")
  }

  @Test(.holds("Unknown entries"))
  func `an entry of another history is unknown, and nothing changes`() async throws {
    await prepare()
    let other = UseCaseHistory()
    await other.run(page, "X")
    let id = try #require(other.entries.last?.id)
    let (layout, count) = (history.layout, page.log.count)
    #expect(await history.move(to: id).ended().historyError == .unknownEntry(id))
    #expect(history.layout == layout && page.log.count == count)
  }

  @Test func `a part of a group is no place to go to`() async throws {
    await desk.group("G", "a", "b")
    let part = try #require(history.entries[0].children.first?.id)
    #expect(await history.move(to: part).ended().historyError == .unknownEntry(part))
  }

  @Test(.holds("A failing step"))
  func `a step that fails stops it at the last good place`() async {
    await prepare()
    page.fail("undo B2")
    #expect(await history.move(to: nil).ended().failure == Failure("undo B2"))
    #expect(history.layout == "[A B | C D E]")
    page.fail("redo D4")
    #expect(await history.move(to: history.id("E")).ended().failure == Failure("redo D4"))
    #expect(history.layout == "[A B C | D E]")
  }

  @Test func `a step that fails inside a group stops it there`() async {
    await desk.group("G", "a", "b")
    await history.run(page, "C")
    page.fail("undo a1")
    #expect(await history.move(to: nil).ended().failure == Failure("undo a1"))
    #expect(history.layout == "[G(a | b) | C]")
    let entries = await history.move(to: history.id("C")).ended().value
    #expect(entries?.map(\.title) == ["G", "C"])
    #expect(page.actions.suffix(2) == ["redo b2", "redo C3"])
    #expect(history.layout == "[G(a b) C |]")
  }

  @Test func `moving to a group that is half undone completes it`() async {
    await desk.group("G", "a", "b")
    page.fail("undo a1")
    await history.back(1)
    let entries = await history.move(to: history.id("G")).ended().value
    #expect(entries?.map(\.title) == ["G"])
    #expect(history.layout == "[G(a b) |]")
  }

  @Test func `a move takes its target from what is there when its turn comes`() async {
    await history.run(page, "A", "B")
    let (gate, id) = (page.hold("do C"), history.id("A"))
    let operation = history.execute(Edit(page: page), "C")
    let move = history.move(to: id)
    gate.open()
    await operation.ended()
    #expect(await move.ended().value?.map(\.title) == ["C", "B"])
    #expect(history.layout == "[A | B C]")
  }

  @Test func `a move that is cancelled goes on as far as the bodies let it`() async {
    await prepare()
    let gate = page.hold("undo D4")
    page.script("undo C3") { try Task.checkCancellation() }
    let move = history.move(to: nil)
    await page.began("undo D4")
    move.cancel()
    gate.open()
    #expect(await move.ended().isCancelled)
    #expect(history.layout == "[A B C | D E]")
  }
}
