import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// Operations on the lane that are not recorded.
@Suite(.mustEnd)
struct UnrecordedTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  /// Uses the lane on purpose. Its body does what the test says, when the gate opens.
  private func other(
    _ gate: Gate, _ body: @escaping @Sendable () async throws -> Void = {}
  ) -> UseCaseOperation<Void, Void> {
    AnyUseCase<Void, Void>(queue: desk.edit.queue) {
      await gate.passIgnoringCancellation()
      try await body()
    }.execute()
  }

  /// [A B | C]
  private func prepare() async {
    await history.run(page, "A", "B", "C")
    await history.back(1)
  }

  @Test(.holds("Not recorded on purpose"))
  func `it disturbs no title and no redo while it waits and runs`() async {
    await prepare()
    let (first, second) = (Gate(), Gate())
    let operations = [other(first), other(second)]
    for _ in 0..<2 {
      let state = history.state
      #expect(state.undoTitle == "B" && state.redoTitle == "C")
      #expect(state.canUndo && state.canRedo && state.isBusy)
      first.open()
      await operations[0].ended()
    }
    second.open()
    await operations[1].ended()
    #expect(history.layout == "[A B | C]" && !history.state.isBusy)
  }

  @Test(.holds("Not recorded on purpose"))
  func `undos and redos behind it are for the entries below`() async {
    await prepare()
    let gate = Gate()
    let operation = other(gate)
    let undos = [history.undo(), history.undo()]
    #expect(!history.state.canUndo && history.state.redoTitle == "A")
    let redo = history.redo()
    #expect(history.state.undoTitle == "A" && history.state.redoTitle == "B")
    gate.open()
    await operation.ended()
    #expect(await undos[0].ended().value??.title == "B")
    #expect(await undos[1].ended().value??.title == "A")
    #expect(await redo.ended().value??.title == "A")
    #expect(history.layout == "[A | B C]")
  }

  @Test(.holds("Not recorded on purpose"))
  func `an undo that finds nothing below it finds nothing`() async {
    let gate = Gate()
    let operation = other(gate)
    #expect(!history.state.canUndo && history.state.undoTitle == nil)
    let undo = history.undo()
    gate.open()
    await operation.ended()
    #expect(await undo.ended().value == .some(nil))
  }

  @Test(.holds("A wrapper on the lane"))
  func `an undo behind one that records is for its entry`() async {
    await prepare()
    let gate = Gate()
    let operation = other(gate) { [edit = desk.edit] in _ = try await edit("D") }
    let undo = history.undo()
    gate.open()
    await operation.ended()
    #expect(await undo.ended().value??.title == "D")
    #expect(history.layout == "[A B | D]")
  }

  @Test(.holds("A wrapper on the lane"))
  func `an undo behind one that fails or is cancelled, and records nothing, is out of turn`() async
  {
    await prepare()
    let gate = Gate()
    let operations = [other(gate) { throw Failure("other") }, other(gate)]
    operations[1].cancel()
    let failing = history.undo()
    let cancelled = other(gate)
    let undo = history.undo()
    cancelled.cancel()
    gate.open()
    #expect(await operations[0].ended().failure == Failure("other"))
    #expect(await failing.ended().historyError == .outOfTurn)
    #expect(await undo.ended().historyError == .outOfTurn)
    #expect(history.layout == "[A B | C]")
  }

  @Test(.holds("A wrapper on the lane"))
  func `once a recorded body has begun in it, the redo is gone until that is over`() async {
    await prepare()
    let (gate, held) = (Gate(), page.hold("do D"))
    let operation = other(gate) { [edit = desk.edit] in _ = try await edit("D") }
    #expect(history.state.canRedo)
    gate.open()
    await page.began("do D")
    #expect(history.state.canUndo && !history.state.canRedo)
    held.open()
    await operation.ended()
    #expect(history.layout == "[A B D |]")
  }

  @Test(.holds("Not recorded on purpose"))
  func `between recorded ones it changes nothing`() async {
    let (held, gate) = (page.hold("do A"), Gate())
    let first = history.execute(Edit(page: page), "A")
    let operation = other(gate)
    let second = history.execute(Edit(page: page), "B")
    let undos = [history.undo(), history.undo(), history.undo()]
    #expect(history.state.undoTitle == nil && history.state.redoTitle == nil)
    held.open()
    gate.open()
    await first.ended()
    await operation.ended()
    await second.ended()
    #expect(await undos[0].ended().value??.title == "B")
    #expect(await undos[1].ended().value??.title == "A")
    #expect(await undos[2].ended().value == .some(nil))
  }

  @Test(.holds("Not recorded on purpose"))
  func `a clean history stays clean`() async {
    await prepare()
    history.save()
    let gate = Gate()
    let operation = other(gate)
    #expect(history.state.isClean)
    history.save()
    gate.open()
    await operation.ended()
    #expect(history.state.isClean)
  }
}
