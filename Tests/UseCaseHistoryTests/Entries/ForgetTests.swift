import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct ForgetTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("Forgetting"))
  func `a forgotten entry leaves at once, applied or undone, and its effect stays`() async {
    await history.run(page, "A", "B", "C", "D")
    await history.back(2)
    history.drop("A")
    #expect(history.layout == "[B | C D]")
    history.drop("D")
    #expect(history.layout == "[B | C]")
    history.drop("C")
    history.drop("B")
    #expect(history.layout == "[|]")
    #expect(
      page.discarded == ["A1 forgotten", "D4 forgotten", "C3 forgotten", "B2 forgotten"])
    #expect(page.actions.count == 6)
  }

  @Test(.holds("Forgetting"))
  func `what is not there is not forgotten`() async {
    await history.run(page, "A")
    let id = history.entries[0].id
    UseCaseHistory().forget(id)
    history.forget(id)
    history.forget(id)
    #expect(page.discarded == ["A1 forgotten"])
  }

  @Test func `to forget what is not there changes nothing, and what is typed still merges`() async {
    await history.run(page, "A")
    let id = history.entries[0].id
    history.forget(id)
    await history.type(page, "b")
    let state = history.state
    history.forget(id)
    #expect(history.state == state)
    await history.type(page, "c")
    #expect(history.layout == "[bc |]")
  }

  @Test(.holds("Forgetting"))
  func `an undo bound to a forgotten entry does not take the next one in its place`() async {
    await history.run(page, "A", "B")
    let b = history.entries[1].id
    let held = page.hold("redo B2")
    await history.back(1)
    let (redo, undo, one) = (history.redo(), history.undo(), history.undo(b))
    await page.began("redo B2")
    history.forget(b)
    #expect(history.layout == "[A | B]")
    held.open()
    #expect(await redo.ended().value??.title == "B")
    #expect(await undo.ended().historyError == .outOfTurn)
    #expect(await one.ended().historyError == .unknownEntry(b))
    #expect(history.layout == "[A |]" && page.discarded == ["B3 forgotten"])
  }

  @Test(.holds("Forgetting"))
  func `a redo bound to a forgotten entry does not take the next one in its place`() async {
    await history.run(page, "A", "B", "C")
    await history.back(2)
    let gate = page.hold("undo A1")
    let (undo, redo, again) = (history.undo(), history.redo(), history.redo())
    await page.began("undo A1")
    history.drop("B")
    gate.open()
    await undo.ended()
    #expect(await redo.ended().value??.title == "A")
    #expect(await again.ended().historyError == .outOfTurn)
    #expect(history.layout == "[A | C]")
  }

  @Test(.holds("Forgetting"), arguments: [true, false])
  func `what is being undone leaves when that is over`(fails: Bool) async {
    await history.run(page, "A@x", "B@y")
    let gate = page.hold("undo A1")
    if fails { page.fail("undo A1") }
    let undo = history.undo(history.entries[0].id)
    await page.began("undo A1")
    history.drop("A")
    #expect(page.discarded.isEmpty && history.layout == "[A B |]")
    gate.open()
    #expect((await undo.ended().value != nil) == !fails)
    #expect(page.discarded == ["A1 forgotten"] && history.layout == "[B |]")
  }

  @Test func `another entry is forgotten while one is undone`() async {
    await history.run(page, "A", "B", "C")
    let gate = page.hold("undo C3")
    let undo = history.undo()
    await page.began("undo C3")
    history.drop("A")
    #expect(history.layout == "[B C |]")
    gate.open()
    await undo.ended()
    #expect(history.layout == "[B | C]")
    await history.back(1)
    #expect(history.layout == "[| B C]")
  }

  @Test(.holds("Forgetting"))
  func `a forgotten half undone group leaves with all of its parts`() async {
    await desk.group("G", "a", "b")
    page.fail("undo a1")
    await history.back(1)
    history.drop("G")
    #expect(Set(page.discarded) == ["a1 forgotten", "b2 forgotten"])
    #expect(history.layout == "[|]" && !history.state.canRedo)
    await history.run(page, "C")
    #expect(history.layout == "[C |]")
  }

  @Test(.holds("Forgetting"))
  func `an undo behind the redo of a forgotten half undone group is for the entry below`() async {
    await history.run(page, "A")
    await desk.group("G", "b", "c")
    page.fail("undo b2")
    await history.back(1)
    #expect(history.layout == "[A G(b | c) |]")
    let gate = page.hold("redo c3")
    let redo = history.redo()
    await page.began("redo c3")
    history.drop("G")
    #expect(history.state.undoTitle == "A")
    let undo = history.undo()
    gate.open()
    await redo.ended()
    #expect(await undo.ended().value??.title == "A")
    #expect(history.layout == "[| A]")
  }

  @Test(.holds("Removed entries"))
  func `what is clean when something is forgotten stays clean`() async {
    await history.run(page, "A", "B", "C")
    await history.back(1)
    history.save()
    history.drop("A")
    #expect(history.layout == "[B | C]*")
    history.drop("B")
    #expect(history.layout == "[| C]*")
    history.drop("C")
    #expect(history.layout == "[|]*")
  }

  @Test(.holds("Removed entries"))
  func `a place without the effect of what was forgotten is never clean again`() async {
    await history.run(page, "A", "B")
    history.drop("A")
    await history.back(1)
    #expect(history.layout == "[| B]")
    await history.forth(1)
    history.save()
    history.drop("B")
    await history.run(page, "C")
    await history.back(1)
    #expect(history.layout == "[| C]*")
  }

  @Test(.holds("Removed entries"))
  func `a place with what was forgotten undone is never clean again`() async {
    await history.run(page, "A@x", "B@y")
    history.save()
    await history.take("A")
    history.drop("A")
    #expect(history.layout == "[B |]")
    await history.back(1)
    #expect(history.layout == "[| B]")
  }

  @Test(.holds("Removed entries"))
  func `a group that has lost a part is clean only where the document is as saved`() async {
    history.save()
    await desk.group("G", "a", "b")
    page.lose("undo b2")
    await history.back(1)
    #expect(history.layout == "[| G(a)]")
    await history.forth(1)
    history.save()
    await history.back(1)
    page.lose("redo a3")
    #expect(await history.redo().ended().obsolete != nil)
    #expect(history.layout == "[|]")
  }

  @Test(.holds("Removed entries"))
  func `what is undone below a lost effect and redone above it is another place`() async {
    await history.run(page, "A", "B")
    history.save()
    history.drop("B")
    #expect(history.layout == "[A |]*")
    await history.back(1)
    await history.forth(1)
    #expect(history.layout == "[A |]")
    history.save()
    await history.back(1)
    await history.forth(1)
    #expect(history.layout == "[A |]*")
    await desk.group("G", "c", "d")
    history.save()
    page.lose("undo d6")
    await history.back(1)
    await history.forth(1)
    #expect(history.layout == "[A G(c) |]")
  }

  @Test(.holds("Removed entries"))
  func `what is obsolete and clean stays clean`() async {
    await history.run(page, "A", "B")
    history.save()
    page.lose("undo B2")
    await history.back(1)
    #expect(history.layout == "[A |]*")
    await history.back(1)
    #expect(history.layout == "[| A]")
  }
}
