import TestSupport
import Testing
import UseCase

/// `value` returns when the operation has ended.
@Suite(.mustEnd)
struct ValueTests {
  private let log = Log<String>()

  @MainActor private func attach(to operation: Operation, _ log: Log<String>) {
    operation.then { log.append("then \($0)") }.catch { _ in log.append("catch") }
      .finally { log.append("finally") }
  }

  @Test(arguments: [
    UseCaseQueue.Policy.dropWhileBusy, .limit(1, waiting: 0), .init(limit: 2, whenBusy: .drop),
  ])
  func `after value the next execute finds room`(policy: UseCaseQueue.Policy) async throws {
    let held = Held(policy)
    for number in 1...500 {
      let operation = held.execute(number)
      await attach(to: operation, log)
      held.open(number)
      #expect(try await operation.value == number)
    }
    #expect(log.count == 1_000)
    #expect(held.queue.activity.succeeded == 500)
  }

  @Test func `after value has thrown the failure of the body the next execute finds room`() async {
    let queue = UseCaseQueue(.dropWhileBusy)
    for _ in 1...500 {
      let gate = Gate()
      let failing = AnyUseCase<Int, Int>(queue: queue) { _ in
        await gate.passIgnoringCancellation()
        throw Refused()
      }
      let operation = failing.execute(1)
      await attach(to: operation, log)
      gate.open()
      await #expect(throws: Refused.self) { try await operation.value }
    }
    #expect(queue.activity.failed == 500)
    #expect(log.elements.count { $0 == "catch" } == 500)
  }

  @Test func `value returns when the handlers have run, on whatever isolation`() async throws {
    let held = Held()
    let desk = Desk()
    for number in 1...200 {
      let operation = held.execute(number)
      await attach(to: operation, log)
      await desk.record(operation)
      held.open(number)
      _ = try await operation.value
      #expect(log.count == 2 * number && desk.log.count == 3 * number)
    }
  }

  @Test func `a cancellation of the body is thrown when the handlers have run`() async {
    for number in 1...200 {
      let gate = Gate()
      let thrown = AnyUseCase<Int, Int>(queue: UseCaseQueue()) { _ in
        await gate.passIgnoringCancellation()
        throw CancellationError()
      }
      let operation = thrown.execute(1)
      await attach(to: operation, log)
      gate.open()
      await #expect(throws: CancellationError.self) { try await operation.value }
      #expect(log.count == number)
    }
  }

  @Test func `an early outcome is thrown while handlers wait for a busy actor`() async throws {
    let clock = ManualClock()
    let held = Held(on: UseCaseQueue(clock: clock), timeout: .seconds(1))
    let desk = Desk()
    let operations = held.executeFirst(2)
    for operation in operations { await desk.record(operation) }
    desk.executor.hold()
    await held.begun.elements(atLeast: 2)
    try await clock.sleeping(2)
    operations[0].cancel()
    await #expect(throws: CancellationError.self) { try await operations[0].value }
    await clock.advance(by: .seconds(1))
    await #expect(throws: UseCaseTimeout.self) { try await operations[1].value }
    #expect(desk.log.count == 0)
    held.open(1...2)
    desk.executor.release()
    await allEnded(operations)
    #expect(desk.log.count == 5)
  }

  @Test func `a call returns when its slot is free`() async throws {
    let held = Held(.dropWhileBusy)
    for number in 1...500 {
      held.open(number)
      #expect(try await held(number) == number)
    }
    #expect(held.queue.activity.succeeded == 500)
  }

  @Test func `a call returns when the handlers of reactions have run`() async throws {
    let reactions = UseCaseReactions()
    let held = Held(on: UseCaseQueue(.dropWhileBusy, reactions: reactions))
    reactions.to(Held.self) { [log] operation in
      operation.then { log.append("then \($0)") }.finally { log.append("finally") }
    }
    for number in 1...200 {
      held.open(number)
      #expect(try await held(number) == number)
      #expect(log.count == 2 * number && !held.queue.isBusy)
    }
  }
}
