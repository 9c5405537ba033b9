import Synchronization
import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct RecordingTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("What is recorded"))
  func `an execution that was cancelled is recorded if its body returns`() async {
    let gate = page.hold("do A")
    let operation = history.execute(Edit(page: page), "A")
    await page.began("do A")
    operation.cancel()
    #expect(history.layout == "[|]" && history.state.isBusy && history.state.canUndo)
    gate.open()
    #expect(await operation.ended().isCancelled)
    #expect(history.layout == "[A |]")
  }

  @Test(.holds("What is not"))
  func `an execution that was cancelled is not recorded if its body throws`() async {
    await history.run(page, "A")
    await history.back(1)
    let gate = page.hold("do B")
    page.script("do B") { try Task.checkCancellation() }
    let operation = history.execute(Edit(page: page), "B")
    await page.began("do B")
    operation.cancel()
    gate.open()
    await operation.ended()
    #expect(history.layout == "[| A]*")
  }

  @Test(.holds("Every way counts"))
  func `an execution counts, whatever the way in which it is asked for`() async throws {
    let edit = desk.edit
    await edit.execute("A").ended()
    _ = try await edit("B")
    _ = try await AnyUseCase(edit)("C")
    await AnyUseCase(AnyUseCase(edit)).execute("D").ended()
    _ = try await edit.shared()("E")
    let wrapper = AnyUseCase<String, Answer>(queue: UseCaseQueue()) { try await edit.main($0) }
    _ = try await wrapper("F")
    #expect(history.layout == "[A B C D E F |]")
  }

  #if os(Linux) || os(macOS)
    @Test(.holds("Strangers on the lane"))
    func `a use case that is not recorded stops the program if it is executed on the lane`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let history = UseCaseHistory()
        let queue = Edit(page: Page()).recorded(in: history).queue
        await AnyUseCase<Void, Void>(queue: queue) { _ in }.execute().ended()
        _ = history.state
      }
      let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(text?.contains("has the lane of a history as its queue, and is not recorded") == true)
    }

    @Test(.holds("Strangers on the lane"))
    func `it does so in a recorded body, too, if it is called there`() async {
      await #expect(processExitsWith: .failure) {
        let (history, page) = (UseCaseHistory(), Page())
        let queue = Edit(page: page).recorded(in: history).queue
        page.script("do a") { try await AnyUseCase<Void, Void>(queue: queue) { _ in }() }
        await history.execute(Edit(page: page), "a").ended()
      }
    }
  #endif

  #if DEBUG && (os(Linux) || os(macOS))
    @Test(.holds("Kept policies"))
    func `a policy that the lane does not keep traps in a debug build`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Pay().recorded(in: UseCaseHistory())
      }
      let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(text?.contains("which a history does not keep") == true)
      await #expect(processExitsWith: .failure) {
        UseCaseHistory().execute(Pay(), ())
      }
    }
  #endif

  /// Its request and its response are those of an undo.
  private struct UndoElsewhere: UndoableUseCase {
    let other: UseCaseHistory

    func main(_: HistoryMove) async throws -> HistoryEntry? { try await other.undo().value }

    func undo(_: HistoryMove, _: HistoryEntry?) async throws {
      _ = try await other.redo().value
    }
  }

  @Test func `an undo of another history can be recorded`() async throws {
    let other = UseCaseHistory()
    await other.run(page, "A")
    let operation = history.execute(UndoElsewhere(other: other), .undo)
    #expect(history.state.isBusy && history.state.canUndo)
    _ = try await operation.value
    #expect(history.entries.count == 1 && other.layout == "[| A]*")
    await history.back(1)
    #expect(history.state.redoCount == 1 && other.layout == "[A |]")
  }

  @Test(.holds("What is not"))
  func `an execution that never starts leaves everything as it was`() async {
    await history.run(page, "A", "B")
    await history.back(1)
    let gate = page.hold("redo B2")
    let redo = history.redo()
    let operation = history.execute(Edit(page: page), "C")
    #expect(!history.state.canRedo)
    operation.cancel()
    gate.open()
    await redo.ended()
    await history.back(1)
    #expect(history.layout == "[A | B]" && !history.state.isBusy)
  }

  @Test(.holds("What is recorded"))
  func `a response that comes after the timeout is recorded`() async throws {
    let gate = page.hold("do A")
    let operation = history.execute(Edit(page: page, timeout: .seconds(1)), "A")
    try await desk.clock.sleeping()
    await desk.clock.advance(by: .seconds(1))
    await #expect(throws: UseCaseTimeout.self) { try await operation.value }
    #expect(history.layout == "[|]" && history.state.canUndo)
    gate.open()
    await operation.ended()
    #expect(history.layout == "[A |]")
  }

  @Test(.holds("Before the handlers"))
  func `when a handler runs its execution is recorded`() async {
    let layouts = Log<String>()
    await history.execute(Edit(page: page), "A").then { [history] _ in
      layouts.append(history.layout)
      history.undo().then { _ in layouts.append(history.layout) }
    }.ended()
    #expect(await layouts.elements(atLeast: 2) == ["[A |]", "[| A]*"])
  }

  @Test(.holds("The lane"))
  func `recorded executions use the lane and not the queue of their use case`() async {
    let elsewhere = UseCaseQueue()
    struct Placed: UndoableUseCase {
      let queue: UseCaseQueue
      let gate: Gate

      func main(_: Void) async throws { await gate.passIgnoringCancellation() }
      func undo(_: Void, _: Void) async throws {}
    }
    let gate = Gate()
    let placed = Placed(queue: elsewhere, gate: gate)
    let operations = [history.execute(placed, ()), history.execute(placed, ())]
    #expect(elsewhere.activity.executed == 0)
    #expect(operations.map(\.state) == [.running, .waiting])
    gate.open()
    for operation in operations { await operation.ended() }
  }

  @Test func `cancelling all that waits on the lane leaves a history that works`() async {
    let gate = page.hold("do A")
    let first = history.execute(Edit(page: page), "A")
    await page.began("do A")
    let others = (1...1000).map { history.execute(Edit(page: page), "\($0)") }
    let undo = history.undo()
    desk.edit.queue.cancelAll()
    gate.open()
    for other in others { await other.ended() }
    await undo.ended()
    await first.ended()
    #expect(history.layout == "[A |]" && !history.state.isBusy)
    await history.back(1)
    #expect(history.layout == "[| A]*")
  }
}

/// Calls what it wraps in the call form, on any queue.
private struct Shouting: UseCase {
  let base: RecordedUseCase<Edit>
  var queue = UseCaseQueue.default

  func main(_ text: String) async throws -> Answer { try await base(text.uppercased()) }
}

/// Calls the body of what it wraps, on any queue.
private struct Direct: UseCase {
  let base: RecordedUseCase<Edit>
  var queue = UseCaseQueue.default

  func main(_ text: String) async throws -> Answer { try await base.main(text) }
}

/// A payment is dropped while another one runs.
private struct Pay: UndoableUseCase {
  let queue = UseCaseQueue(.dropWhileBusy)

  func main(_: Void) async throws {}
  func undo(_: Void, _: Void) async throws {}
}
