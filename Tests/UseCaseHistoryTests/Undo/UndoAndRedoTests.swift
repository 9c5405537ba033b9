import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct UndoAndRedoTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("The target of undo"))
  func `an undo meant for what fails never takes the entry below`() async {
    await history.run(page, "A")
    let gate = page.hold("do B")
    page.fail("do B")
    let operation = history.execute(Edit(page: page), "B")
    let undo = history.undo()
    gate.open()
    await operation.ended()
    #expect(await undo.ended().historyError == .outOfTurn)
    #expect(history.layout == "[A |]")
    #expect(await history.undo().ended().value??.title == "A")
  }

  @Test(.holds("Quick undos"))
  func `quick undos run one after the other, and those behind one that fails do nothing`() async {
    await history.run(page, "A", "B", "C")
    let gate = page.hold("undo C3")
    page.fail("undo B2")
    let undos = [history.undo(), history.undo(), history.undo()]
    gate.open()
    #expect(await undos[0].ended().value??.title == "C")
    #expect(await undos[1].ended().failure == Failure("undo B2"))
    #expect(await undos[2].ended().historyError == .outOfTurn)
    #expect(history.layout == "[A B | C]")
    #expect(page.actions.suffix(2) == ["undo C3", "undo B2"])
  }

  @Test func `quick redos run one after the other, and those behind one that fails do nothing`()
    async
  {
    await history.run(page, "A", "B", "C")
    await history.back(3)
    let gate = page.hold("redo A1")
    page.fail("redo B2")
    let redos = [history.redo(), history.redo(), history.redo()]
    gate.open()
    #expect(await redos[0].ended().value??.title == "A")
    #expect(await redos[1].ended().failure == Failure("redo B2"))
    #expect(await redos[2].ended().historyError == .outOfTurn)
    #expect(history.layout == "[A | B C]")
  }

  @Test func `what was to be undone after an undo that fails can still be redone`() async {
    await history.run(page, "A", "B")
    let gate = page.hold("undo B2")
    page.fail("undo B2")
    let (undo, redo, again) = (history.undo(), history.redo(), history.undo())
    gate.open()
    #expect(await undo.ended().failure == Failure("undo B2"))
    #expect(await redo.ended().historyError == .outOfTurn)
    #expect(await again.ended().failure == Failure("undo B2"))
    #expect(history.layout == "[A B |]")
  }

  @Test(.holds("The target of undo"))
  func `undo and redo bind to what waits to be undone`() async {
    await history.run(page, "A", "B")
    let gate = page.hold("undo B2")
    let moves = [history.undo(), history.undo(), history.redo(), history.redo()]
    gate.open()
    var titles: [String?] = []
    for move in moves { titles.append(await move.ended().value??.title) }
    #expect(titles == ["B", "A", "A", "B"])
    #expect(history.layout == "[A B |]")
  }

  @Test func `an undo with nothing to undo succeeds though something has stayed`() async {
    await history.run(page, "A")
    page.fail("undo A1")
    let gate = page.hold("undo A1")
    let undos = [history.undo(), history.undo()]
    gate.open()
    #expect(await undos[0].ended().failure == Failure("undo A1"))
    #expect(await undos[1].ended().value == .some(nil))
    #expect(history.layout == "[A |]")
  }

  @Test(.holds("The target of redo"))
  func `a redo behind an execution is out of turn, since that has dropped its target`() async {
    await history.run(page, "A", "B", "C")
    await history.back(2)
    let gate = page.hold("do D")
    let operation = history.execute(Edit(page: page), "D")
    let redos = [history.redo(), history.redo()]
    gate.open()
    await operation.ended()
    for redo in redos { #expect(await redo.ended().historyError == .outOfTurn) }
    #expect(history.layout == "[A D |]")
  }

  @Test(.holds("The target of redo"))
  func `redos behind an execution that fails find their targets`() async {
    await history.run(page, "A", "B", "C")
    await history.back(2)
    let gate = page.hold("do D")
    page.fail("do D")
    history.execute(Edit(page: page), "D")
    let redos = [history.redo(), history.redo()]
    gate.open()
    #expect(await redos[0].ended().value??.title == "B")
    #expect(await redos[1].ended().value??.title == "C")
    #expect(history.layout == "[A B C |]")
  }

  @Test func `a redo behind an execution and its undo brings that back`() async {
    await history.run(page, "A")
    let gate = page.hold("do B")
    let operation = history.execute(Edit(page: page), "B")
    let (undo, redo) = (history.undo(), history.redo())
    gate.open()
    await operation.ended()
    #expect(await undo.ended().value??.title == "B")
    #expect(await redo.ended().value??.title == "B")
    #expect(history.layout == "[A B |]")
  }

  @Test func `an undo meant for what merges undoes the merged entry, and the next finds it gone`()
    async
  {
    await history.run(page, "A")
    let gate = page.hold("do b")
    let first = history.execute(Typing(page: page), "b")
    history.execute(Typing(page: page), "c")
    let undos = [history.undo(), history.undo(), history.undo()]
    gate.open()
    await first.ended()
    #expect(await undos[0].ended().value??.title == "bc")
    #expect(await undos[1].ended().historyError == .outOfTurn)
    #expect(await undos[2].ended().value??.title == "A")
    #expect(history.layout == "[| A bc]*")
  }

  @Test func `an undo meant for what is annulled is out of turn`() async {
    await history.run(page, "A")
    let gate = page.hold("do x")
    let first = history.execute(Typing(page: page), "x")
    history.execute(Typing(page: page), "X")
    let undo = history.undo()
    gate.open()
    await first.ended()
    #expect(await undo.ended().historyError == .outOfTurn)
    #expect(history.layout == "[A |]")
  }

  @Test func `an undo meant for a group that fails is out of turn, also if it left something`()
    async
  {
    await history.run(page, "A")
    page.fail("undo b2")
    let gate = page.hold("do b")
    let group = history.group("G") { [edit = desk.edit] in
      _ = try await edit("b")
      throw Failure("G")
    }
    let undo = history.undo()
    gate.open()
    await group.ended()
    #expect(await undo.ended().historyError == .outOfTurn)
    #expect(history.layout == "[A G(b) |]")
  }

  @Test func `an undo meant for an empty group is out of turn`() async {
    await history.run(page, "A")
    let gate = Gate()
    let group = history.group("G") { await gate.passIgnoringCancellation() }
    let undo = history.undo()
    gate.open()
    await group.ended()
    #expect(await undo.ended().historyError == .outOfTurn)
    #expect(history.layout == "[A |]")
  }

  @Test(.holds("Cancellation"))
  func `an undo that is cancelled while it waits has not happened`() async {
    await history.run(page, "A", "B")
    let gate = page.hold("do C")
    let operation = history.execute(Edit(page: page), "C")
    let undos = [history.undo(), history.undo()]
    undos[0].cancel()
    gate.open()
    await operation.ended()
    #expect(await undos[0].ended().isCancelled)
    #expect(await undos[1].ended().historyError == .outOfTurn)
    #expect(history.layout == "[A B C |]" && !history.state.isBusy)
  }

  @Test(.holds("From a handler"))
  func `an undo asked for by a handler of what was cancelled is in its turn`() async {
    // Mostly the body has not begun when it is cancelled, and never does. Until its operation has
    // ended, an undo would be bound as if it had succeeded.
    func cancel<Request, Response>(_ operation: UseCaseOperation<Request, Response>) async {
      let undo = Watched<UseCaseOperation<HistoryMove, HistoryEntry?>?>(nil)
      operation.finally { [history] in undo.update { $0 = history.undo() } }
      operation.cancel()
      await operation.ended()
      #expect(await undo.value?.ended().historyError == nil)
    }
    for _ in 0..<20 {
      await history.run(page, "A", "B", "C", "D", "E", "F", "G")
      await cancel(history.execute(Edit(page: page), "H"))
      await cancel(history.undo())
      await cancel(history.group("I") {})
    }
  }

  @Test(.holds("Cancellation"))
  func `an undo that is cancelled while it runs counts if its body returns`() async {
    await history.run(page, "A")
    let gate = page.hold("undo A1")
    let undo = history.undo()
    await page.began("undo A1")
    undo.cancel()
    #expect(history.layout == "[A |]")
    gate.open()
    #expect(await undo.ended().isCancelled)
    #expect(history.layout == "[| A]*")
  }

  @Test(.holds("Cancellation"))
  func `an undo that is cancelled while it runs does not count if its body throws`() async {
    await history.run(page, "A")
    let gate = page.hold("undo A1")
    page.script("undo A1") { try Task.checkCancellation() }
    let undo = history.undo()
    await page.began("undo A1")
    undo.cancel()
    gate.open()
    #expect(await undo.ended().isCancelled)
    #expect(history.layout == "[A |]")
  }

  @Test func `a redo that is cancelled while it runs keeps its new response`() async {
    await history.run(page, "A")
    await history.back(1)
    let gate = page.hold("redo A1")
    let redo = history.redo()
    await page.began("redo A1")
    redo.cancel()
    gate.open()
    await redo.ended()
    await history.back(1)
    #expect(page.actions.last == "undo A2")
  }

  @Test(.holds("Quick undos"))
  func `bodies never overlap, whoever asks`() async {
    let running = Watched(0)
    let most = Watched(0)
    for text in ["A", "B", "C", "D"] {
      page.script("do \(text)") {
        let now = running.update {
          $0 += 1; return $0
        }
        most.update { $0 = max($0, now) }
        await Task.yield()
        running.update { $0 -= 1 }
      }
    }
    await withTaskGroup { group in
      for text in ["A", "B", "C", "D"] {
        group.addTask { [history, page] in
          for _ in 1...25 {
            history.execute(Edit(page: page), text)
            await history.undo().ended()
          }
        }
      }
    }
    await desk.edit.queue.idle()
    #expect(most.value == 1)
    #expect(!history.state.isBusy)
  }
}
