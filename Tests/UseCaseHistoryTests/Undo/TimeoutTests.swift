import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// The timeouts of recorded use cases, around the undo and the redo as well.
@Suite(.mustEnd)
struct TimeoutTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }
  var clock: ManualClock { desk.clock }

  private func run(_ texts: String...) async {
    for text in texts {
      await history.execute(Edit(page: page, timeout: .seconds(1)), text).ended()
    }
  }

  /// Lets the action hang until it is cancelled.
  private func hang(_ action: String) -> Gate {
    let cancelled = Gate()
    page.script(action) {
      do { try await Gate().pass() } catch {
        cancelled.open()
        throw error
      }
    }
    return cancelled
  }

  private func timesOut(_ operation: UseCaseOperation<HistoryMove, some Sendable>) async throws {
    try await clock.sleeping(for: .seconds(1))
    await clock.advance(by: .seconds(1))
    await #expect(throws: UseCaseTimeout.self) { _ = try await operation.value }
  }

  @Test(.holds("Timeouts"), arguments: ["undo A1", "redo A1"])
  func `an undo or a redo that hangs is cancelled, and can be tried again`(
    action: String
  ) async throws {
    await run("A")
    if action == "redo A1" { await history.back(1) }
    let layout = history.layout
    let cancelled = hang(action)
    let operation = action == "redo A1" ? history.redo() : history.undo()
    try await timesOut(operation)
    try await cancelled.pass()
    await operation.ended()
    #expect(history.layout == layout)
    page.script(action) {}
    let again = action == "redo A1" ? history.redo() : history.undo()
    #expect(await again.ended().value??.title == "A")
  }

  @Test(.holds("Timeouts"))
  func `an undo that returns late has its effect`() async throws {
    await run("A")
    let gate = page.hold("undo A1")
    let undo = history.undo()
    try await timesOut(undo)
    #expect(history.state.isBusy)
    gate.open()
    await undo.ended()
    #expect(history.layout == "[| A]*")
  }

  @Test(.holds("Timeouts"))
  func `a step of a jump that returns late counts, and the jump ends there`() async throws {
    await run("A", "B", "C")
    let gate = page.hold("undo B2")
    let jump = history.move(to: nil)
    await page.began("undo B2")
    try await timesOut(jump)
    gate.open()
    await jump.ended()
    #expect(history.layout == "[A | B C]")
    #expect(page.actions.last == "undo B2")
  }

  @Test(.holds("Timeouts"))
  func `each step of a jump has a timeout of its own`() async throws {
    await run("A", "B")
    let gates = ["undo B2", "undo A1"].map { page.hold($0) }
    let jump = history.move(to: nil)
    for gate in gates {
      try await clock.sleeping(for: .seconds(1))
      await clock.advance(by: .milliseconds(900))
      gate.open()
    }
    #expect(await jump.ended().value?.map(\.title) == ["B", "A"])
  }

  private func group(_ texts: String..., failing failure: Failure? = nil)
    -> UseCaseOperation<String, Void>
  {
    let edit = Edit(page: page, timeout: .seconds(1)).recorded(in: history)
    return history.group("G") {
      for text in texts { _ = try await edit(text) }
      if let failure { throw failure }
    }
  }

  @Test(.holds("Timeouts"))
  func `a part that is undone late leaves the group half undone`() async throws {
    await group("a", "b", "c").ended()
    let gate = page.hold("undo b2")
    let undo = history.undo()
    await page.began("undo b2")
    try await timesOut(undo)
    gate.open()
    await undo.ended()
    #expect(history.layout == "[G(a | b c) |]")
    await history.back(1)
    #expect(history.layout == "[| G(a b c)]*")
  }

  @Test(.holds("Timeouts"))
  func `a part that turns out to be obsolete late leaves, and the undo ends there`() async throws {
    await group("a", "b", "c").ended()
    let gate = page.hold("undo b2")
    page.lose("undo b2")
    let undo = history.undo()
    await page.began("undo b2")
    try await timesOut(undo)
    gate.open()
    await undo.ended()
    #expect(history.layout == "[G(a | c) |]")
    await history.back(1)
    #expect(history.layout == "[| G(a c)]")
  }

  @Test(.holds("Timeouts"))
  func `a part whose undo hangs when its group fails is left as a residue`() async throws {
    let cancelled = hang("undo b2")
    let operation = group("a", "b", "c", failing: Failure("G"))
    await page.began("undo b2")
    try await clock.sleeping(for: .seconds(1))
    await clock.advance(by: .seconds(1))
    try await cancelled.pass()
    guard case .failure(let error) = await operation.ended() else {
      Issue.record("it has not failed")
      return
    }
    let groupError = try #require(error as? HistoryGroupError)
    #expect(groupError.cause as? Failure == Failure("G"))
    #expect(groupError.undoFailure is UseCaseTimeout)
    #expect(history.layout == "[G(a b) |]")
  }

  @Test(.holds("Timeouts"))
  func `the timeout covers the interceptors`() async throws {
    let retry = RetryInterceptor(attempts: 9, delay: .constant(.seconds(3)))
    let queue = UseCaseQueue(clock: clock, interceptors: [retry])
    let edit = Edit(page: page, timeout: .seconds(5), queue: queue)
    await history.execute(edit, "A").ended()
    page.fail("undo A1")
    let undo = history.undo()
    for seconds in [3, 2] {
      try await clock.sleeping(for: .seconds(seconds))
      await clock.advance(by: .seconds(seconds))
    }
    await #expect(throws: UseCaseTimeout.self) { _ = try await undo.value }
    await undo.ended()
    #expect(history.layout == "[A |]")
  }
}
