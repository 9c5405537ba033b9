import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct CursorTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("Nothing to undo"))
  func `in an empty history there is nothing to undo or redo, and nobody hears of it`() async {
    let before = history.state
    #expect(await history.undo().ended().value == .some(nil))
    #expect(await history.redo().ended().value == .some(nil))
    #expect(history.layout == "[|]*")
    #expect(history.state == before)
    #expect(!before.canUndo && !before.canRedo && !before.isBusy)
  }

  @Test func `an execution is applied, and the history is dirty`() async {
    await history.run(page, "A")
    #expect(page.log.elements == ["do A"])
    #expect(history.layout == "[A |]")
  }

  @Test func `an undo moves the cursor, and tells what it has undone`() async throws {
    await history.run(page, "A", "B")
    let entry = try #require(try await history.undo().value)
    #expect(entry.title == "B" && !entry.isApplied && entry.id == history.id("B"))
    #expect(history.layout == "[A | B]")
    let state = history.state
    #expect(state.undoTitle == "A" && state.redoTitle == "B")
    #expect(state.undoCount == 1 && state.redoCount == 1)
  }

  @Test(.holds("The branch goes first"))
  func `a new entry drops the undone ones for good`() async {
    await history.run(page, "A", "B")
    await history.back(1)
    await history.run(page, "C")
    #expect(history.layout == "[A C |]")
    #expect(page.discarded == ["B2 truncated"])
    #expect(!history.state.canRedo)
  }

  @Test func `undo and redo name an entry alike`() async {
    await history.run(page, "A", "B")
    var titles = [[history.state.undoTitle, history.state.redoTitle]]
    for move in [HistoryMove.undo, .undo, .redo] {
      await (move == .undo ? history.undo() : history.redo()).ended()
      titles.append([history.state.undoTitle, history.state.redoTitle])
    }
    #expect(titles == [["B", nil], ["A", "B"], [nil, "A"], ["A", "B"]])
  }

  @Test func `the undo and the redo too many find nothing`() async {
    await history.run(page, "A", "B")
    var outcomes: [Bool] = []
    for _ in 1...3 { outcomes.append(await history.undo().ended().value.flatMap(\.self) != nil) }
    #expect(history.layout == "[| A B]*")
    for _ in 1...3 { outcomes.append(await history.redo().ended().value.flatMap(\.self) != nil) }
    #expect(outcomes == [true, true, false, true, true, false])
    #expect(history.layout == "[A B |]")
  }

  @Test func `a redo does not cost the rest of the branch`() async {
    await history.run(page, "A", "B", "C")
    await history.back(2)
    await history.forth(1)
    #expect(history.layout == "[A B | C]")
  }

  @Test func `undoing below the first entry changes nothing`() async {
    await history.run(page, "A")
    await history.back(1)
    let before = history.state
    await history.back(2)
    #expect(history.state == before && history.layout == "[| A]*")
    await history.forth(1)
    #expect(history.layout == "[A |]")
  }

  @Test func `without a redo of its own a use case is asked the same again`() async {
    await history.execute(Bare(page: page), "A").ended()
    await history.back(1)
    await history.forth(1)
    #expect(page.log.elements == ["do A", "undo A", "do A"])
    #expect(history.state.undoTitle == "Bare")
  }

  @Test func `what is not recorded never touches the branch`() async throws {
    await history.run(page, "A", "B")
    await history.back(1)
    _ = try await Edit(page: page)("X")
    #expect(history.layout == "[A | B]")
    await history.forth(1)
    await history.back(2)
    #expect(history.layout == "[| A B]*")
  }

  @Test func `the same request twice makes two entries`() async {
    await history.run(page, "A", "A")
    #expect(history.layout == "[A A |]")
  }

  @Test func `before the first entry a redo brings the first`() async {
    await history.run(page, "A", "B", "C")
    await history.move(to: nil).ended()
    #expect(history.layout == "[| A B C]*")
    await history.forth(1)
    #expect(history.layout == "[A | B C]")
  }

  @Test func `the counts follow the cursor`() async {
    await history.run(page, "A")
    var counts: [[Int]] = []
    for move in [HistoryMove.undo, .redo, .undo] {
      await (move == .undo ? history.undo() : history.redo()).ended()
      counts.append([history.state.undoCount, history.state.redoCount])
    }
    #expect(counts == [[0, 1], [1, 0], [0, 1]])
  }

  @Test func `each round of undos and redos ends where it began`() async {
    await history.run(page, "A", "B", "C", "D", "E")
    let (ids, before) = (history.entries.map(\.id), history.layout)
    for _ in 1...6 {
      let done = page.log.count
      await history.back(4)
      await history.forth(4)
      let actions = page.log.elements[done...].map { $0.filter { !$0.isNumber } }
      #expect(
        actions == [
          "undo E", "undo D", "undo C", "undo B", "redo B", "redo C", "redo D", "redo E",
        ])
      #expect(history.entries.map(\.id) == ids && history.layout == before)
    }
  }

  @Test(.holds("Fresh responses"))
  func `undo gets the response of the last redo`() async {
    await history.run(page, "A")
    await history.back(1)
    await history.forth(1)
    await history.back(1)
    #expect(page.log.elements == ["do A", "undo A1", "redo A1", "undo A2"])
  }

  @Test func `an undo that clears ends in an empty history`() async {
    await history.run(page, "A", "B")
    page.script("undo B2") { [history] in
      history.clear()
      #expect(history.layout == "[A B |]")
    }
    #expect(await history.undo().ended().value??.title == "B")
    #expect(history.layout == "[|]")
    #expect(page.discarded == ["A1 cleared", "B2 cleared"])
  }
}

@Suite(.mustEnd)
struct FailureTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("What is not"))
  func `a failed action does not cost the branch`() async {
    await history.run(page, "A", "B")
    await history.back(1)
    page.fail("do C")
    #expect(await history.run(page, "C")?.failure == Failure("do C"))
    #expect(history.layout == "[A | B]")
    #expect(await history.redo().ended().value??.title == "B")
  }

  @Test(.holds("What is not"))
  func `a failed action leaves a clean history clean`() async {
    await history.run(page, "A")
    history.save()
    page.fail("do B")
    await history.run(page, "B")
    #expect(history.layout == "[A |]*")
    #expect(page.discarded.isEmpty)
  }

  @Test(.holds("A failed undo"))
  func `a failed undo changes nothing, and can be tried again`() async {
    await history.run(page, "A", "B", "C")
    await history.back(1)
    page.fail("undo B2")
    #expect(await history.undo().ended().failure == Failure("undo B2"))
    #expect(history.layout == "[A B | C]")
    page.repair("undo B2")
    #expect(await history.undo().ended().value??.title == "B")
    #expect(history.layout == "[A | B C]")
  }

  @Test(.holds("A failed undo"))
  func `a failed redo changes nothing, and can be tried again`() async {
    await history.run(page, "A", "B")
    await history.back(1)
    page.fail("redo B2")
    #expect(await history.redo().ended().failure == Failure("redo B2"))
    #expect(history.layout == "[A | B]")
    page.repair("redo B2")
    #expect(await history.redo().ended().value??.title == "B")
    #expect(page.log.elements.suffix(2) == ["redo B2", "redo B2"])
  }

  @Test func `what has failed is never undone or redone`() async {
    page.fail("do B")
    await history.run(page, "A", "B")
    await history.back(2)
    await history.forth(2)
    #expect(page.actions == ["do A", "do B", "undo A1", "redo A1"])
  }
}
