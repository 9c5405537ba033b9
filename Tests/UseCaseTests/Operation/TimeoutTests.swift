import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct TimeoutTests {
  private let clock = ManualClock()
  private let log = Log<String>()

  private func held(_ policy: UseCaseQueue.Policy = .unlimited) -> Held {
    Held(on: UseCaseQueue(policy, clock: clock), timeout: .seconds(1))
  }

  @Test func `a use case has no timeout unless it says so`() {
    #expect(AnyUseCase { (_: Int) in }.timeout == UseCaseTimeout.never)
    #expect(AnyUseCase(timeout: .seconds(3)) { (_: Int) in }.timeout == .seconds(3))
    #expect(AnyUseCase(held()).timeout == .seconds(1))
  }

  @Test func `a timeout of more than a lifetime is a long timeout`() async throws {
    let gate = Gate()
    let forever = AnyUseCase(timeout: .seconds(Int64.max)) { (number: Int) in
      await gate.passIgnoringCancellation()
      return number
    }
    let operation = forever.execute(1)
    gate.open()
    #expect(try await operation.value == 1)
  }

  @Test(.holds("What is timed"))
  func `the time counts from the start of the body, not from execute`() async throws {
    let held = held(.serial)
    let operations = held.executeFirst(2)
    try await clock.sleeping()
    await clock.advance(by: .milliseconds(900))
    held.open(1)
    await operations[0].ended()
    await held.begun.elements(atLeast: 2)
    try await clock.sleeping()
    await clock.advance(by: .milliseconds(900))
    #expect(clock.sleepers == 1)
    #expect(fates(operations) == "+R")
    await clock.advance(by: .milliseconds(100))
    await #expect(throws: UseCaseTimeout.self) { try await operations[1].value }
    held.open(2)
    await allEnded(operations)
  }

  @Test(.holds("The slot"))
  func `the slot is free when the body has returned, not at the timeout`() async throws {
    let held = held(.serial)
    let first = held.execute(1)
      .finally { [log] in log.append("\(held.returned.elements)") }
    let operations = [first, held.execute(2)]
    await held.begun.elements(atLeast: 1)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    await #expect(throws: UseCaseTimeout.self) { try await operations[0].value }
    #expect(fates(operations) == "FW")
    held.open(1)
    await first.ended()
    #expect(log.elements == ["[1]"])
    held.open(2)
    await allEnded(operations)
    #expect(fates(operations) == "F+")
    #expect(held.queue.activity.failed == 1)
    #expect(held.crowd.peak == 1)
  }

  @Test(.holds("The body"))
  func `a body that throws after its timeout changes nothing`() async throws {
    for error in [CancellationError(), Refused()] as [any Error] {
      let gate = Gate()
      let queue = UseCaseQueue(clock: clock)
      let useCase = AnyUseCase(queue: queue, timeout: .seconds(1)) { (_: Int) -> Int in
        await gate.passIgnoringCancellation()
        throw error
      }
      let log = Log<String>()
      let operation = useCase.execute(1)
        .catch(UseCaseTimeout.self) { _ in log.append("timeout") }
        .catch(Refused.self) { _ in log.append("refused") }
        .onCancel { _ in log.append("onCancel") }
      try await clock.sleeping()
      await clock.advance(by: .seconds(1))
      _ = try? await operation.value
      gate.open()
      await operation.ended()
      #expect(log.elements == ["timeout"])
    }
  }

  @Test func `a cancellation before the timeout stays`() async throws {
    let held = held()
    let operation = held.execute(1).record(in: log)
    await held.begun.elements(atLeast: 1)
    try await clock.sleeping()
    operation.cancel()
    await clock.advance(by: .seconds(2))
    held.open(1)
    await operation.ended()
    #expect(operation.cancellation == .requested)
    #expect(log.elements == ["onCancel requested", "finally"])
  }

  @Test(.holds("cancel after a timeout"), arguments: [true, false]) @MainActor
  func `a cancellation after the timeout leaves out the handlers that have not begun`(
    ofAll: Bool
  ) async throws {
    let held = held()
    let operation = held.execute(1)
      .catch { [log] _ in log.append("catch") }
      .common { [log] in log.append("common") }
      .onCancel { [log] in log.append("onCancel \($0)") }
      .finally { [log] in log.append("finally") }
    await held.begun.elements(atLeast: 1)
    try await clock.sleeping()
    Task.detached { [clock] in await clock.advance(by: .seconds(1)) }
    holdThread { operation.state == .finished }
    if ofAll { held.queue.cancelAll() } else { operation.cancel() }
    held.open(1)
    await operation.ended()
    #expect(operation.fate == "F")
    #expect(log.elements == ["onCancel requested", "finally"])
  }

  @Test(.holds("Timeouts of calls"))
  func `the call form throws promptly although the body ignores its cancellation`() async throws {
    let held = held(.serial)
    let call = Task { try await held(1) }
    await held.begun.elements(atLeast: 1)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    let error = await #expect(throws: UseCaseTimeout.self) { try await call.value }
    #expect(error?.duration == .seconds(1))
    #expect(held.returned.count == 0)
    #expect(held.queue.activity.running == 1)
    held.open(1)
    await held.queue.idle()
  }

  @Test func `the call form inside the slot of its caller times out promptly, too`() async throws {
    let queue = UseCaseQueue(.serial, clock: clock) { [log] event in
      if event.kind == .succeeded { log.append("outer succeeded") }
    }
    let held = Held(on: queue, timeout: .seconds(1))
    let outer = AnyUseCase(queue: queue) { (number: Int) in
      do { return try await held(10) } catch is UseCaseTimeout { return number }
    }
    let operations = [outer.execute(1), held.execute(2)]
    await held.begun.elements(atLeast: 1)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    await log.elements(atLeast: 1)
    // The inner body is still there, so nobody else may run.
    #expect(held.begun.elements == [10])
    held.open(2)
    held.open(10)
    await allEnded(operations)
    #expect(held.begun.elements == [10, 2])
    #expect(fates(operations) == "++")
  }

  @Test func `no timeout sleeps on the clock when its operation has ended`() async throws {
    let held = held()
    let operations = held.executeFirst(20)
    try await clock.sleeping(20)
    held.open(1...20)
    await allEnded(operations)
    #expect(clock.sleepers == 0)
    #expect(held.queue.activity.succeeded == 20)
  }

  @Test func `in a race of timeout and response one wins, for every handler`() async throws {
    for round in 1...300 {
      let held = held()
      let log = Log<String>()
      let operation = held.execute(round)
        .then { _ in log.append("then") }
        .catch(UseCaseTimeout.self) { _ in log.append("catch") }
        .onCancel { _ in log.append("onCancel") }
      try await clock.sleeping()
      async let opened: Void = held.open(round)
      await clock.advance(by: .seconds(1))
      await opened
      await operation.ended()
      #expect(log.elements == [operation.fate == "+" ? "then" : "catch"])
      while clock.sleepers > 0 { await Task.yield() }
    }
  }
}
