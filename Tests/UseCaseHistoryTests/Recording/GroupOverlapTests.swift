import Foundation
import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

/// What goes on in a group at the same time: calls beside a roll-back, calls behind executions, tasks
/// that a part has left behind, and a body that goes on though its group is cancelled.
@Suite(.mustEnd)
struct GroupOverlapTests {
  let page = Page()
  let started = Log<String>()
  let history: UseCaseHistory
  var edit: RecordedUseCase<Edit> { Edit(page: page).recorded(in: history) }

  init() {
    history = UseCaseHistory { [started] event in
      if case .running = event.kind { started.append("\(event.type)") }
    }
  }

  /// Returns when so many operations have their slots.
  private func started(_ count: Int) async { _ = await started.elements(atLeast: count) }

  @Test(.holds("Nested groups"), arguments: [false, true])
  func `a call that ends while a group beside it is taken back has no part in that`(
    fails: Bool
  ) async {
    let (x, undo, xHasEnded) = (page.hold("do X"), page.hold("undo a1"), Gate())
    if fails { page.fail("do X") }
    let group = history.group("G") { [edit, history, page] in
      let call = Task {
        _ = try? await edit("X")
        xHasEnded.open()
      }
      await page.began("do X")
      await history.group("N") {
        _ = try await edit("a")
        throw Failure("N")
      }.ended()
      await call.value
      _ = try await edit("b")
    }
    await page.began("undo a1")
    x.open()
    await xHasEnded.passIgnoringCancellation()
    undo.open()
    #expect(await group.ended().isSuccess)
    #expect(history.layout == (fails ? "[G(b) |]" : "[G(X b) |]"))
    await history.back(1)
    #expect(page.actions.suffix(2) == (fails ? ["do b", "undo b2"] : ["undo b3", "undo X2"]))
  }

  @Test(.holds("A cancelled group"))
  func `what the body of a cancelled group asks for never begins`() async {
    let (began, gate, log) = (Gate(), Gate(), Log<String>())
    let group = history.group("G") { [edit] in
      began.open()
      await gate.passIgnoringCancellation()
      log.append(await edit.execute("x").ended().isCancelled ? "cancelled" : "ended")
      do { _ = try await edit("y") } catch { log.append("\(error)") }
    }
    await began.passIgnoringCancellation()
    group.cancel()
    gate.open()
    await group.ended()
    #expect(log.elements == ["cancelled", "CancellationError()"])
    #expect(page.actions.isEmpty)
    #expect(history.layout == "[|]*")
  }

  @Test(.holds("A cancelled group"), arguments: [false, true])
  func `what comes first of the end and the cancellation of a group counts`(isCancelled: Bool) {
    var parts = GroupPartsMachine<Int>()
    _ = parts.hold(7)
    let ending = isCancelled ? parts.cancel().1 : parts.close()
    #expect(ending.isFirst && ending.holder == 7)
    let isRecorded = parts.record()
    #expect(isRecorded == !isCancelled)
    // Too late: nothing is undone for it.
    _ = parts.cancel()
    #expect(parts.record() == isRecorded)
  }

  @Test(.holds("A cancelled group"))
  func `a group that is cancelled when its body returns is not recorded`() async {
    let (began, gate) = (Gate(), Gate())
    let history = Watched<UseCaseHistory?>(nil)
    let observed = UseCaseHistory { event in
      guard case .cancelled = event.kind else { return }
      // The body returns while this is told.
      gate.open()
      for _ in 0..<10_000 where history.value?.entries.isEmpty == true { sched_yield() }
    }
    history.update { $0 = observed }
    let group = observed.group("G") { [page] in
      await observed.execute(Edit(page: page), "a").ended()
      began.open()
      await gate.passIgnoringCancellation()
    }
    await began.passIgnoringCancellation()
    group.cancel()
    #expect(await group.ended().isCancelled)
    #expect(observed.layout == "[|]*")
    #expect(page.actions == ["do a", "undo a1"])
    history.update { $0 = nil }
  }

  @Test(.holds("Tasks that outlive a body"), arguments: [false, true])
  func `what a part has left behind calls is a part, beside it in its slot`(
    isByMain: Bool
  ) async {
    let (x, gate, done) = (page.hold("do X"), Gate(), Gate())
    page.script("do A") { [edit, page] in
      Task { _ = try? await edit("X") }
      Task {
        await gate.passIgnoringCancellation()
        _ = isByMain ? try? await edit.main("Y") : try? await edit("Y")
        done.open()
      }
      await page.began("do X")
    }
    let group = history.group("G") { [edit] in
      edit.execute("A")
      await done.passIgnoringCancellation()
    }
    // The body of A has returned, and X is a guest in its slot.
    await page.began("do X")
    while page.lastResponse == 0 { await Task.yield() }
    gate.open()
    await done.passIgnoringCancellation()
    x.open()
    #expect(await group.ended().isSuccess)
    #expect(history.layout == "[G(A Y) |]")
    await history.back(1)
    #expect(page.actions.suffix(2) == ["undo Y2", "undo A1"])
  }

  @Test(.holds("execute in a group"))
  func `a call that is cancelled while it waits for executions never begins`() async {
    let gate = page.hold("do A")
    let group = history.group("G") { [edit, page] in
      edit.execute("A")
      let call = Task { _ = try await edit("B") }
      await page.began("do A")
      await started(3)
      call.cancel()
      gate.open()
      await #expect(throws: CancellationError.self) { try await call.value }
    }
    #expect(await group.ended().isSuccess)
    #expect(page.actions == ["do A"])
    #expect(history.layout == "[G(A) |]")
  }

  @Test(.holds("execute in a group"))
  func `a call does not wait for what was asked for later`() async {
    let gate = page.hold("do A")
    let group = history.group("G") { [edit, history, page] in
      edit.execute("A")
      let call = Task { _ = try await edit("B") }
      await started(3)
      let later = history.openGroup("N")
      gate.open()
      try await call.value
      later.execute(Edit(page: page), "C")
      later.close()
    }
    #expect(await group.ended().isSuccess)
    // Both wait for A alone, so either may begin first.
    #expect(["[G(A B N(C)) |]", "[G(A N(C) B) |]"].contains(history.layout))
  }

  #if os(Linux) || os(macOS)
    @Test(.holds("Strangers on the lane"), arguments: [false, true])
    func `a use case that borrows the queue of a recorded one stops the program in a group`(
      isCalled: Bool
    ) async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        [isCalled] in
        struct Borrowing: UseCase {
          let edit: RecordedUseCase<Edit>
          func queue(for text: String) -> UseCaseQueue { edit.queue(for: text) }
          func main(_ text: String) async throws -> Answer { try await edit.main(text) }
        }
        let history = UseCaseHistory()
        let borrowing = Borrowing(edit: Edit(page: Page()).recorded(in: history))
        await history.group("G") {
          if isCalled { _ = try await borrowing("x") } else { borrowing.execute("x") }
        }.ended()
      }
      let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(text?.contains("has the lane of a history as its queue, and is not recorded") == true)
    }
  #endif
}

extension UseCaseOutcome {
  fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
