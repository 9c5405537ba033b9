import Synchronization
import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

/// Tasks that a body has left behind: they go on in its slot when it has returned.
@Suite(.mustEnd)
struct LeftBehindTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  /// Lets the action leave a task behind that executes X, which is held, and another that does
  /// something when `gate` is open.
  private func leave(
    by action: String, until gate: Gate, first: @escaping @Sendable () -> Void = {},
    _ body: @escaping @Sendable () async -> Void
  ) -> (x: Gate, tasks: Watched<[Task<Void, Never>]>) {
    let tasks = Watched<[Task<Void, Never>]>([])
    let x = page.hold("do X")
    page.script(action) { [page, edit = desk.edit] in
      first()
      let holding = Task { _ = try? await edit("X") }
      let later = Task {
        await gate.passIgnoringCancellation()
        await body()
      }
      tasks.update { $0 = [holding, later] }
      await page.began("do X")
    }
    return (x, tasks)
  }

  /// Executes A, which leaves a task behind that executes X, and returns when A is recorded.
  private func leaveX() async {
    page.script("do A") { [page, edit = desk.edit] in
      Task { _ = try? await edit("X") }
      await page.began("do X")
    }
    history.execute(Edit(page: page), "A")
    for await state in history.states() where state.undoCount == 1 { break }
  }

  /// Returns when so many wait for the lane.
  private func waiting(_ count: Int) async {
    for await activity in desk.edit.queue.activities() where activity.waiting == count { break }
  }

  @Test(.holds("Tasks that outlive a body"))
  func `a call that begins as its body returns holds nobody up`() async {
    for _ in 0..<500 {
      let desk = Desk()
      desk.page.script("do A") { [edit = desk.edit] in Task { _ = try? await edit("X") } }
      await desk.history.run(desk.page, "A")
      await desk.history.idle()
      #expect(desk.history.layout.hasPrefix("[A "))
    }
  }

  @Test(.holds("Tasks that outlive a body"))
  func `a call that a cancelled group has left behind goes on when the parts have ended`() {
    var parts = GroupPartsMachine<Int>()
    let (execution, call) = (UseCaseOperationID(number: 1), UseCaseOperationID(number: 2))
    parts.admit(execution, title: "", isExecuted: true, isObserved: false)
    _ = parts.cancel()
    parts.admit(call, title: "", isExecuted: false, isObserved: false)
    #expect(parts.awaitEarlier(call, 1) == nil)
    #expect(parts.awaitParts(2) == nil)
    parts.leave(execution)
    #expect(parts.takeWaiters() == [1, 2])
  }

  @Test(.holds("clear in a body"))
  func `what begins after a clear in an undo is recorded`() async {
    await history.run(page, "A")
    let gate = Gate()
    let left = leave(by: "undo A1", until: gate, first: history.clear) { [edit = desk.edit] in
      _ = try? await edit("Y")
    }
    let undo = history.undo()
    for await state in history.states() where state.undoCount == 0 && !state.isBusy { break }
    gate.open()
    left.x.open()
    await left.tasks.value[1].value
    #expect(history.layout == "[Y |]")
    await undo.ended()
    #expect(page.discarded == ["A1 cleared"])
  }

  @Test(.holds("Tasks that outlive a body"), arguments: [false, true])
  func `what it calls waits for the slot to be free, and is an entry`(
    byWayOfAnotherHistory: Bool
  ) async {
    let (other, gate, second) = (Desk(), Gate(), page.hold("do Y"))
    let wrapper = AnyUseCase<String, Void>(queue: UseCaseQueue()) { [edit = desk.edit] text in
      _ = try await edit.main(text)
    }
    other.page.script("do b") { try await wrapper("Y") }
    let left = leave(by: "do A", until: gate) { [edit = other.edit] in
      if byWayOfAnotherHistory { _ = try? await edit("b") } else { try? await wrapper("Y") }
    }
    history.execute(Edit(page: page), "A")
    for await state in history.states() where state.undoCount == 1 { break }
    gate.open()
    await waiting(1)
    let undo = history.undo()
    #expect(!page.log.elements.contains("do Y"))
    left.x.open()
    await page.began("do Y")
    #expect(undo.state == .waiting)
    second.open()
    #expect(await undo.ended().value??.title == "Y")
    await left.tasks.value[1].value
    #expect(history.layout == "[A | Y]")
  }

  @Test(.holds("Calls in a body"))
  func `it is inside of a recorded body, whoever has called it has ended`() async {
    let (gate, log) = (Gate(), Log<String>())
    page.script("do X") { [history, edit = desk.edit] in
      await gate.passIgnoringCancellation()
      do { _ = try await history.undo().value } catch { log.append("\(error)") }
      _ = try? await edit("Z")
    }
    await leaveX()
    gate.open()
    #expect(await log.elements(atLeast: 1) == ["\(HistoryError.reentrant)"])
    await desk.edit.queue.idle()
    #expect(history.layout == "[A |]")
  }

  @Test(.holds("clear in a body"))
  func `it clears at once if nothing is recorded in its slot`() async {
    let gate = Gate()
    page.script("do X") { [history] in
      await gate.passIgnoringCancellation()
      history.clear()
    }
    await leaveX()
    gate.open()
    await desk.edit.queue.idle()
    #expect(history.layout == "[|]")
    #expect(page.discarded == ["A1 cleared"])
  }

  @Test(.holds("Undo during a body"), arguments: [false, true])
  func `an undo of the body comes before what it has left behind`(isEarly: Bool) async {
    let (body, gate) = (page.hold("do A"), Gate())
    let left = leave(by: "do A", until: gate) { [edit = desk.edit] in _ = try? await edit("Y") }
    history.execute(Edit(page: page), "A")
    await page.began("do A")
    let early = isEarly ? history.undo() : nil
    body.open()
    for await state in history.states() where state.undoCount == 1 { break }
    let undo = early ?? history.undo()
    gate.open()
    await waiting(2)
    left.x.open()
    #expect(await undo.ended().value??.title == "A")
    await left.tasks.value[1].value
    #expect(history.layout == "[Y |]")
  }

  @Test(.holds("Tasks that outlive a body"))
  func `what a body in it executes is an entry, though this body goes on`() async {
    let (gate, done) = (Gate(), Gate())
    page.script("do Y") { [page, history] in
      await gate.passIgnoringCancellation()
      await history.execute(Edit(page: page), "Z").ended()
      done.open()
    }
    page.script("do A") { [page, edit = desk.edit] in
      Task { _ = try? await edit.main("Y") }
      await page.began("do Y")
    }
    await history.run(page, "A")
    gate.open()
    await done.passIgnoringCancellation()
    #expect(history.layout == "[A Z |]")
  }

  @Test(.holds("Handlers"), arguments: [false, true])
  func `what a handler calls by way of a wrapper is an entry, though the body goes on`(
    isCancelled: Bool
  ) async {
    let body = page.hold("do A")
    let (gate, asked) = (Gate(), Watched<UseCaseOperation<String, Answer>?>(nil))
    let wrapper = AnyUseCase<String, Answer> { [edit = desk.edit] text in try await edit(text) }
    page.script("do A") {
      let plain = AnyUseCase<Int, Int> { number in
        try await gate.pass()
        return number
      }
      let operation = plain.execute(1).common {
        asked.update { $0 = wrapper.execute("Z") }
      }.onCancel { _ in asked.update { $0 = wrapper.execute("Z") } }
      if isCancelled { operation.cancel() } else { gate.open() }
      await operation.ended()
    }
    let recorded = history.execute(Edit(page: page), "A")
    await page.began("do A")
    body.open()
    await recorded.ended()
    while asked.value == nil { await Task.yield() }
    await asked.value?.ended()
    #expect(history.layout == "[A Z |]")
  }

  @Test(.holds("Tasks that outlive a body"))
  func `it never begins beside the next one in its slot`() async {
    for round in 0..<3_000 {
      let desk = Desk()
      let bodies = Watched((now: 0, most: 0))
      let (stage, stray) = (Stage(), Watched<Task<Void, any Error>?>(nil))
      desk.page.direct { action in
        guard action != "do A" else { return }
        bodies.update { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        spin(1_000)
        bodies.update { $0.now -= 1 }
      }
      desk.page.script("do A") { [edit = desk.edit] in
        let task = Task {
          stage.isThere.store(true, ordering: .releasing)
          while !stage.mayGo.load(ordering: .acquiring) { await Task.yield() }
          spin(round % 1_000)
          _ = try await edit.main("Y")
        }
        stray.update { $0 = task }
        while !stage.isThere.load(ordering: .acquiring) { await Task.yield() }
        stage.mayGo.store(true, ordering: .releasing)
      }
      desk.history.execute(Edit(page: desk.page), "A")
      await desk.history.execute(Edit(page: desk.page), "B").ended()
      _ = await stray.value?.result
      // With two entries, Y was inside of A, which answers for it.
      #expect(desk.history.entries.count == 2 || bodies.value.most == 1)
    }
  }

  @Test(arguments: [false, true])
  func `what a handler of an undo executes is recorded, whoever asked for the undo`(
    isAttachedLate: Bool
  ) async {
    await history.run(page, "Q")
    let gate = Gate()
    let later = Watched<UseCaseOperation<String, Answer>?>(nil)
    let asked = Gate()
    page.script("do Y") { [page, history] in
      await gate.passIgnoringCancellation()
      let undo = history.undo()
      if isAttachedLate { await undo.ended() }
      await undo.then { _ in
        later.update { $0 = history.execute(Edit(page: page), "Z") }
      }.ended()
      asked.open()
    }
    page.script("do A") { [page, edit = desk.edit] in
      Task { _ = try? await edit.main("Y") }
      await page.began("do Y")
    }
    await history.run(page, "A")
    gate.open()
    await asked.passIgnoringCancellation()
    await later.value?.ended()
    #expect(history.layout == "[Q Z |]")
  }
}

private final class Stage: Sendable {
  let isThere = Atomic(false)
  let mayGo = Atomic(false)
}

/// Lets a moment pass that no gate can reach.
private func spin(_ count: Int) {
  let rest = Atomic(count)
  while rest.subtract(1, ordering: .relaxed).newValue > 0 {}
}
