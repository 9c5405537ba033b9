import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct OpenGroupTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }
  var edit: Edit { Edit(page: page) }

  @Test(.holds("Groups held open"))
  func `what is executed in an open group becomes one entry, in the order of the calls`() async {
    let drag = history.openGroup("Move")
    let gate = page.hold("do A")
    let operations = ["A", "B", "C"].map { drag.execute(edit, $0) }
    let close = drag.close()
    #expect(history.state.undoTitle == "Move" && history.state.isBusy)
    gate.open()
    let entry = await close.ended().value
    #expect(entry??.title == "Move" && entry??.children.map(\.title) == ["A", "B", "C"])
    for (index, operation) in operations.enumerated() {
      #expect(await operation.ended().value?.number == index + 1)
    }
    #expect(history.layout == "[Move(A B C) |]")
    await history.back(1)
    #expect(page.actions.suffix(3) == ["undo C3", "undo B2", "undo A1"])
  }

  @Test(.holds("End of a group"))
  func `in three hundred races with the end of the group around it, it ends`() async {
    for _ in 0..<300 {
      let parts = Log<UseCaseOperation<String, Answer>>()
      let group = history.group("Outer") { [history, edit] in
        // A group that is opened behind the end of the body fails, and so do its parts.
        Task {
          let inner = history.openGroup("Inner")
          parts.append(inner.execute(edit, "A"))
          inner.close()
        }
        await Task.yield()
      }
      await group.ended()
      await parts.elements(atLeast: 1)[0].ended()
    }
  }

  @Test(.holds("Groups held open"))
  func `others wait until it ends, and an undo is for the group`() async {
    let drag = history.openGroup("Move")
    await drag.execute(edit, "A").ended()
    let (other, undo) = (history.execute(edit, "X"), history.undo())
    await drag.execute(edit, "B").ended()
    #expect(page.actions == ["do A", "do B"])
    drag.close()
    await other.ended()
    #expect(await undo.ended().value??.title == "X")
    #expect(history.layout == "[Move(A B) | X]")
    let second = history.openGroup("Second")
    second.execute(edit, "C")
    let target = history.undo()
    second.close()
    #expect(await target.ended().value??.title == "Second")
  }

  @Test(.holds("Groups held open"))
  func `a group opened behind others waits for the lane, and so do its parts`() async {
    let gate = page.hold("do X")
    history.execute(edit, "X")
    let drag = history.openGroup("Move")
    let started = Log<String>()
    let part = drag.execute(edit, "A").onStart { started.append("A") }
    drag.close()
    #expect(started.elements.isEmpty)
    gate.open()
    await part.ended()
    await history.idle()
    #expect(history.layout == "[X Move(A) |]")
  }

  @Test(.holds("Groups held open"))
  func `without parts it leaves no trace, and a second close has the same answer`() async {
    await history.run(page, "A")
    await history.back(1)
    let drag = history.openGroup("Move")
    let (first, second) = (drag.close(), drag.close())
    #expect(first.id == second.id)
    #expect(await first.ended().value == .some(nil))
    #expect(history.layout == "[| A]*")
  }

  @Test(.holds("Groups held open"))
  func `a part that fails is no part, and the group goes on`() async {
    page.fail("do B")
    let drag = history.openGroup("Move")
    let operations = ["A", "B", "C"].map { drag.execute(edit, $0) }
    #expect(await operations[1].ended().failure == Failure("do B"))
    await drag.close().ended()
    #expect(history.layout == "[Move(A C) |]")
  }

  @Test(.holds("The end of an open group"))
  func `cancel undoes the parts in reverse, cancels those that wait, and records nothing`() async {
    await history.run(page, "X")
    await history.back(1)
    let drag = history.openGroup("Move")
    await drag.execute(edit, "A").ended()
    let gate = page.hold("do B")
    let (running, waiting) = (drag.execute(edit, "B"), drag.execute(edit, "C"))
    await page.began("do B")
    drag.cancel()
    #expect(await waiting.ended().isCancelled)
    gate.open()
    #expect(await running.ended().isCancelled)
    #expect(await drag.close().ended().isCancelled)
    await history.idle()
    #expect(page.actions.suffix(4) == ["do A", "do B", "undo B3", "undo A2"])
    #expect(history.layout == "[| X]*")
  }

  @Test(.holds("The end of an open group"))
  func `after the end nothing can be executed`() async {
    for cancels in [true, false] {
      let drag = history.openGroup("Move")
      if cancels { drag.cancel() } else { drag.close() }
      #expect(await drag.execute(edit, "A").ended().historyError == .outOfTurn)
      drag.cancel()
      await drag.close().ended()
    }
    #expect(page.actions.isEmpty && history.layout == "[|]*")
  }

  @Test(.holds("The end of an open group"))
  func `a cancel after the close changes nothing`() async {
    let drag = history.openGroup("Move")
    drag.execute(edit, "A")
    let close = drag.close()
    drag.cancel()
    #expect(await close.ended().value??.title == "Move")
  }

  @Test(.holds("The end of an open group"))
  func `one that is cancelled while it waits for the lane never begins`() async {
    let gate = page.hold("do X")
    history.execute(edit, "X")
    for cancelsOperation in [true, false] {
      let drag = history.openGroup("Move")
      let part = drag.execute(edit, "A")
      if cancelsOperation { drag.close().cancel() } else { drag.cancel() }
      #expect(await part.ended().isCancelled)
      #expect(await drag.close().ended().isCancelled)
    }
    gate.open()
    await history.idle()
    #expect(history.layout == "[X |]")
  }

  @Test(.holds("The end of an open group"))
  func `the last reference closes it`() async {
    var drag: HistoryGroup? = history.openGroup("Move")
    let part = drag?.execute(edit, "A")
    drag = nil
    await part?.ended()
    await history.idle()
    #expect(history.layout == "[Move(A) |]")
    _ = history.openGroup("Nothing")
    await history.idle()
    #expect(history.layout == "[Move(A) |]")
  }

  @Test(.holds("The end of an open group"))
  func `an undo of a part that fails when it is cancelled leaves a residue`() async throws {
    page.fail("undo A1")
    let drag = history.openGroup("Move")
    for text in ["A", "B"] { await drag.execute(edit, text).ended() }
    drag.cancel()
    guard case .failure(let error) = await drag.close().ended() else {
      Issue.record("The group has failed.")
      return
    }
    let group = try #require(error as? HistoryGroupError)
    #expect(history.layout == "[Move(A) |]" && history.entries[0].id == group.residue)
    #expect(!history.entries[0].isPartial)
  }

  @Test(.holds("The end of an open group"))
  func `a part that is cancelled is none`() async {
    let drag = history.openGroup("Move")
    let gate = page.hold("do A")
    let (running, waiting) = (drag.execute(edit, "A"), drag.execute(edit, "B"))
    await page.began("do A")
    waiting.cancel()
    running.cancel()
    gate.open()
    // Its body has returned all the same, so its effect is there.
    await drag.close().ended()
    #expect(history.layout == "[Move(A) |]")
    #expect(await running.ended().isCancelled)
  }

  @Test(.holds("Groups held open"), arguments: [true, false])
  func `the next part waits for the body of one that was cancelled or took too long`(
    isCancelled: Bool
  ) async {
    let drag = history.openGroup("Move")
    let gate = page.hold("do A")
    let part = drag.execute(Edit(page: page, timeout: .seconds(1)), "A")
    let next = drag.execute(edit, "B")
    await page.began("do A")
    if isCancelled { part.cancel() } else { await desk.clock.advance(by: .seconds(1)) }
    _ = try? await part.value
    #expect(next.state == .waiting && page.actions == ["do A"])
    gate.open()
    await drag.close().ended()
    #expect(history.layout == "[Move(A B) |]")
  }

  @Test(.holds("Groups held open"))
  func `inside the body of a group it is a nested one`() async {
    await history.group("Outer") { [history, edit, recorded = desk.edit] in
      _ = try await recorded("A")
      let inner = history.openGroup("Inner")
      inner.execute(edit, "B")
      let entry = try await inner.close().value
      #expect(entry?.title == "Inner" && entry?.children.map(\.title) == ["B"])
      _ = try await recorded("C")
      let dropped = history.openGroup("Dropped")
      _ = try? await dropped.execute(edit, "D").value
      dropped.cancel()
    }.ended()
    #expect(history.layout == "[Outer(A Inner(B) C) |]")
    #expect(page.actions.suffix(2) == ["do D", "undo D4"])
  }

  @Test(.holds("Groups held open"))
  func `inside a recorded body its operations are reentrant`() async {
    let errors = Log<HistoryError?>()
    page.script("do X") { [history, edit] in
      let drag = history.openGroup("Move")
      errors.append(await drag.execute(edit, "A").ended().historyError)
      errors.append(await drag.close().ended().historyError)
      drag.cancel()
    }
    await history.run(page, "X")
    #expect(errors.elements == [.reentrant, .reentrant])
    #expect(history.layout == "[X |]")
  }

  @Test(.holds("Groups held open"))
  func `a clear while it is open keeps it from being recorded`() async {
    let drag = history.openGroup("Move")
    await drag.execute(edit, "A").ended()
    history.clear()
    await drag.execute(edit, "B").ended()
    #expect(await drag.close().ended().value == .some(nil))
    #expect(history.layout == "[|]" && page.discarded == ["A1 cleared", "B2 cleared"])
  }

  private struct Steps: UndoableUseCase, ReportingUseCase {
    func main(
      _ count: Int, report: @escaping @Sendable (Int) -> Void
    ) async throws {
      for number in 1...count { report(number) }
    }
    func undo(_ count: Int, _: Void) async throws {}
  }

  @Test(.holds("Groups held open")) @MainActor
  func `a part reports its updates`() async {
    let updates = Log<Int>()
    let drag = history.openGroup("Steps")
    let part = drag.execute(Steps(), 3) { number in
      MainActor.assertIsolated()
      updates.append(number)
    }
    await part.ended()
    await drag.close().ended()
    #expect(updates.elements == [1, 2, 3] && history.entries[0].children.count == 1)
  }

  @Test(.holds("Half an undo"))
  func `a group that is half undone or half redone is partial`() async {
    await desk.group("G", "A", "B")
    #expect(!history.entries[0].isPartial)
    page.fail("undo A1")
    await history.back(1)
    #expect(history.entries[0].isPartial && history.entries[0].isApplied)
    page.repair("undo A1")
    await history.back(1)
    #expect(!history.entries[0].isPartial && !history.entries[0].isApplied)
    page.fail("redo B2")
    await history.forth(1)
    #expect(history.entries[0].isPartial && history.entries[0].isApplied)
    #expect(!history.entries[0].children[0].isPartial)
  }

  @Test(.holds("Groups held open"))
  func `nothing is left of many groups`() async {
    for number in 1...20 {
      let drag = history.openGroup("Move")
      for text in ["A", "B"] { drag.execute(edit, "\(text)\(number)") }
      if number.isMultiple(of: 2) { drag.close() }
      if number.isMultiple(of: 5) { drag.cancel() }
    }
    await history.idle()
    history.clear()
    await page.lifetime.over()
  }
}
