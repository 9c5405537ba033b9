import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct InsideABodyTests {
  private let queue = UseCaseQueue(.serial)
  private let log = Log<String>()

  private var answer: AnyUseCase<Int, Int> {
    AnyUseCase(queue: queue) { (number: Int) in number * 2 }
  }

  @Test(
    .holds("Calls share the slot"),
    arguments: [
      UseCaseQueue.Policy.serial, .limit(2), .cancelPrevious, .cancelPreviousAndWait,
      .dropWhileBusy, .keepLatest,
    ])
  func `the call form runs inside the slot of its caller, whatever the policy`(
    policy: UseCaseQueue.Policy
  ) async throws {
    let queue = UseCaseQueue(policy)
    let counts = Log<UseCaseActivity>()
    let inner = AnyUseCase(queue: queue) { (number: Int) in
      counts.append(queue.activity)
      return number * 2
    }
    let outer = AnyUseCase(queue: queue) { (number: Int) in try await inner(number) }
    #expect(try await outer.execute(21).value == 42)
    #expect(counts.elements.map(\.running) == [1])
    #expect(counts.elements.map(\.executed) == [1])
    #expect(queue.activity.executed == 1)
  }

  @Test(.holds("Calls share the slot"))
  func `the slot is the caller's also through another queue`() async throws {
    let other = UseCaseQueue(.serial)
    let (queue, answer) = (queue, answer)
    let middle = AnyUseCase(queue: other) { (number: Int) in
      #expect(queue.isHeldHere && other.isHeldHere)
      return try await answer(number)
    }
    let outer = AnyUseCase(queue: queue) { (number: Int) in
      #expect(queue.isHeldHere && !other.isHeldHere)
      return try await middle(number)
    }
    #expect(try await outer.execute(21).value == 42)
    #expect(queue.activity.executed == 1)
    #expect(other.activity.executed == 1)
  }

  @Test func `the call form runs inside the slot although the queue is suspended`() async throws {
    let (queue, answer) = (queue, answer)
    let outer = AnyUseCase(queue: queue) { (number: Int) in
      queue.suspend()
      return try await answer(number)
    }
    #expect(try await outer.execute(21).value == 42)
  }

  @Test func `the call form on a queue that is not held is admitted there`() async throws {
    let waits = Log<UseCaseOperationID>()
    let held = Held(.serial, waits: waits)
    let first = held.execute(1)
    let outer = AnyUseCase(queue: queue) { (number: Int) in try await held(number) }
    let operation = outer.execute(2)
    await waits.elements(atLeast: 1)
    held.open(1...2)
    #expect(try await operation.value == 2)
    await first.ended()
    #expect(held.queue.activity.executed == 2)
  }

  @Test func `an error and a cancellation of the inner body reach the outer body`() async {
    let gate = Gate()
    let queue = queue
    let inner = AnyUseCase(queue: queue) { (number: Int) in
      if number == 1 { throw Refused() }
      gate.open()
      try await Gate().pass()
    }
    let outer = AnyUseCase(queue: queue) { (number: Int) in try await inner(number) }
    let failing = outer.execute(1)
    await #expect(throws: Refused()) { try await failing.value }
    let cancelled = outer.execute(2)
    await gate.passIgnoringCancellation()
    cancelled.cancel()
    await cancelled.ended()
    #expect(fates([failing, cancelled]) == "FC")
    await queue.idle()
  }

  @Test(.holds("Calls are observed"))
  func `interceptors and observer see the inner execution, with an id of its own`() async throws {
    let events = Log<UseCaseEvent>()
    let ids = Log<UseCaseOperationID>()
    let queue = UseCaseQueue(
      .serial, interceptors: [Noting { id, _ in ids.append(id) }], observer: events.append)
    let inner = AnyUseCase(queue: queue) { (number: Int) in number * 2 }
    let outer = AnyUseCase(queue: queue) { (number: Int) in try await inner(number) }
    let operation = outer.execute(1)
    await operation.ended()
    #expect(ids.count == 2)
    #expect(ids.elements.first == operation.id)
    let innerID = try #require(ids.elements.last)
    #expect(innerID > operation.id)
    let seen = await events.elements(atLeast: 6)
    #expect(seen.filter { $0.id == operation.id }.map(\.kind) == [.running, .succeeded, .ended])
    #expect(seen.filter { $0.id == innerID }.map(\.kind) == [.running, .succeeded, .ended])
  }

  @Test(.holds("Deadlocks"))
  func `a deadlock is told through a chain of calls over two queues`() async {
    let answer = answer
    let middle = AnyUseCase(queue: UseCaseQueue(.serial)) { (number: Int) in
      try await answer.execute(number).value
    }
    let outer = AnyUseCase(queue: queue) { (number: Int) in try await middle(number) }
    let operation = outer.execute(1)
    await #expect(throws: UseCaseDeadlock.self) { try await operation.value }
    await queue.idle()
    #expect(queue.activity.succeeded == 1)
  }

  @Test func `awaiting an operation that waits behind others for the own slot is a deadlock`() async
  {
    let answer = answer
    let outer = AnyUseCase(queue: queue) { (number: Int) in
      let operations = [answer.execute(1), answer.execute(2)]
      return try await operations[1].value
    }
    await #expect(throws: UseCaseDeadlock.self) { try await outer.execute(1).value }
    await queue.idle()
  }

  @Test func `awaiting an operation that waits for the slot of another chain is no deadlock`()
    async throws
  {
    let held = Held(.limit(2))
    let other = held.execute(1)
    let outer = AnyUseCase(queue: held.queue) { (_: Int) in
      try await awaitValue(of: held.execute(2)) { held.open(1...2) }
    }
    #expect(try await outer.execute(0).value == 2)
    await other.ended()
  }

  /// Awaits the value, and calls the closure meanwhile.
  @MainActor private func awaitValue(
    of operation: Operation, _ meanwhile: @escaping @Sendable () -> Void
  ) async throws -> Int {
    // It runs when this function gives up the main actor: when it waits.
    Task { meanwhile() }
    return try await operation.value
  }

  @Test func `awaiting value outside of any slot is no deadlock`() async throws {
    let held = Held(.serial)
    let operations = held.executeFirst(2)
    let waiter = Task { try await operations[1].value }
    held.open(1...2)
    #expect(try await waiter.value == 2)
  }

  @Test(.holds("Independence"))
  func `an operation executed inside a body outlives the cancellation of that body`() async {
    let held = Held()
    let made = Log<Operation>()
    let outer = AnyUseCase(queue: queue) { (number: Int) in
      made.append(held.execute(number))
      try await Gate().pass()
    }
    let operation = outer.execute(1)
    await made.elements(atLeast: 1)
    operation.cancel()
    await operation.ended()
    held.open(1)
    await allEnded(made.elements)
    #expect(fates(made.elements) == "+")
  }
}
