import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct LimitTests {
  @Test func `without a limit everything can be undone`() async {
    let desk = Desk()
    for number in 1...300 { await desk.history.run(desk.page, "\(number)") }
    await desk.history.back(300)
    #expect(desk.history.state.redoCount == 300 && !desk.history.state.canUndo)
  }

  @Test(.holds("The oldest go"), arguments: 1...4)
  func `a limit of n keeps exactly n`(limit: Int) async {
    let desk = Desk(limit: limit)
    for number in 1...6 { await desk.history.run(desk.page, "\(number)") }
    #expect(desk.history.limit == limit)
    var undone = 0
    while await desk.history.undo().ended().value != .some(nil) { undone += 1 }
    #expect(undone == limit)
  }

  @Test(.holds("The oldest go"))
  func `the oldest goes first, and the rest is as before`() async {
    let desk = Desk(limit: 3)
    await desk.history.run(desk.page, "A", "B", "C", "D")
    #expect(desk.history.layout == "[B C D |]")
    #expect(desk.page.discarded == ["A1 evicted"])
    await desk.history.back(3)
    await desk.history.forth(3)
    #expect(desk.history.layout == "[B C D |]")
  }

  @Test(.holds("Changing it"))
  func `lowering the limit drops the oldest at once, and raising it brings nothing back`() async {
    let desk = Desk()
    await desk.history.run(desk.page, "A", "B", "C", "D", "E")
    let version = desk.history.state.version
    desk.history.limit = 3
    #expect(desk.history.layout == "[C D E |]")
    #expect(desk.page.discarded == ["A1 evicted", "B2 evicted"])
    #expect(desk.history.state.version > version)
    desk.history.limit = nil
    #expect(desk.history.layout == "[C D E |]")
  }

  @Test(.holds("Changing it"))
  func `raising the limit, or setting it again, drops nothing`() async {
    let desk = Desk()
    await desk.history.run(desk.page, "A", "B", "C")
    await desk.history.back(3)
    desk.history.limit = 1
    await desk.history.forth(3)
    for limit in [1, 2, nil] {
      desk.history.limit = limit
      #expect(desk.history.layout == "[A B C |]")
    }
    desk.history.limit = 2
    #expect(desk.history.layout == "[B C |]")
  }

  @Test(.holds("What counts"))
  func `undone entries do not count`() async {
    let desk = Desk()
    await desk.history.run(desk.page, "A", "B", "C")
    await desk.history.back(2)
    desk.history.limit = 1
    #expect(desk.history.layout == "[A | B C]")
    await desk.history.forth(2)
    #expect(desk.history.layout == "[A B C |]")
    await desk.history.run(desk.page, "D")
    #expect(desk.history.layout == "[D |]")
  }

  @Test(.holds("What counts"))
  func `a group counts one, and leaves as a whole`() async {
    let desk = Desk(limit: 2)
    await desk.history.run(desk.page, "A", "B")
    await desk.group("G", "c", "d", "e")
    #expect(desk.history.layout == "[B G(c d e) |]")
    await desk.history.run(desk.page, "F", "H")
    #expect(desk.history.layout == "[F H |]")
    #expect(
      desk.page.discarded == [
        "A1 evicted", "B2 evicted", "c3 evicted", "d4 evicted", "e5 evicted",
      ])
  }

  @Test func `nothing is evicted before the group is recorded`() async {
    let desk = Desk(limit: 2)
    await desk.history.run(desk.page, "A", "B")
    await desk.history.group("G") { [edit = desk.edit, history = desk.history] in
      for text in ["c", "d", "e"] { _ = try await edit(text) }
      #expect(history.layout == "[A B |]")
    }.ended()
    #expect(desk.history.layout == "[B G(c d e) |]")
  }

  @Test(.holds("The branch goes first"))
  func `the branch goes before anything is evicted`() async {
    let desk = Desk(limit: 3)
    await desk.history.run(desk.page, "A", "B", "C")
    await desk.history.back(2)
    await desk.history.run(desk.page, "D")
    #expect(desk.history.layout == "[A D |]")
    #expect(desk.page.discarded == ["B2 truncated", "C3 truncated"])
  }

  @Test(.holds("Zero", "Never recorded"))
  func `a limit of zero records nothing`() async {
    let desk = Desk(limit: 0)
    await desk.history.run(desk.page, "A")
    await desk.group("G", "b")
    #expect(desk.page.actions == ["do A", "do b"])
    #expect(desk.history.layout == "[|]")
    #expect(desk.page.discarded == ["A1 evicted", "b2 evicted"])
    #expect(await desk.history.undo().ended().value == .some(nil))
  }

  @Test(.holds("Running entries"))
  func `what runs is not evicted`() async {
    let desk = Desk()
    await desk.history.run(desk.page, "A", "B", "C")
    let gate = desk.page.hold("undo C3")
    let undo = desk.history.undo()
    await desk.page.began("undo C3")
    desk.history.limit = 0
    #expect(desk.history.layout == "[C |]")
    gate.open()
    await undo.ended()
    #expect(desk.history.layout == "[| C]")
    #expect(desk.page.discarded == ["A1 evicted", "B2 evicted"])
  }

  @Test func `what ran while the limit was lowered is evicted after it has failed`() async {
    let desk = Desk()
    await desk.history.run(desk.page, "A", "B")
    let gate = desk.page.hold("undo B2")
    desk.page.fail("undo B2")
    let undo = desk.history.undo()
    await desk.page.began("undo B2")
    desk.history.limit = 0
    gate.open()
    await undo.ended()
    #expect(desk.history.layout == "[|]")
    #expect(desk.page.discarded == ["A1 evicted", "B2 evicted"])
  }

  @Test func `an undo is not bound to what will be evicted when the undo of another is over`()
    async throws
  {
    let desk = Desk()
    await desk.history.run(desk.page, "A@x", "B@y", "C@z")
    let gate = desk.page.hold("undo A1")
    let first = desk.history.undo(try #require(desk.history.id("A")))
    await desk.page.began("undo A1")
    desk.history.limit = 1
    #expect(desk.history.layout == "[A B C |]")
    let undos = [desk.history.undo(), desk.history.undo()]
    #expect(!desk.history.state.canUndo)
    gate.open()
    #expect(await first.ended().value??.title == "A")
    #expect(await undos[0].ended().value??.title == "C")
    #expect(await undos[1].ended().value == .some(nil))
    #expect(desk.history.layout == "[| C A]")
  }

  @Test func `an undo is not bound to what the limit is about to evict`() async {
    let desk = Desk(limit: 1)
    await desk.history.run(desk.page, "A")
    let gate = desk.page.hold("do B")
    let operation = desk.history.execute(Edit(page: desk.page), "B")
    let undos = [desk.history.undo(), desk.history.undo()]
    gate.open()
    await operation.ended()
    #expect(await undos[0].ended().value??.title == "B")
    #expect(await undos[1].ended().value == .some(nil))
  }

  #if os(Linux) || os(macOS)
    @Test(.holds("Zero"))
    func `a limit below zero is a mistake`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = UseCaseHistory(limit: -1)
      }
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(message?.contains("`limit` must be 0 or more, or nil") == true)
      await #expect(processExitsWith: .failure) { UseCaseHistory().limit = -1 }
    }
  #endif
}
