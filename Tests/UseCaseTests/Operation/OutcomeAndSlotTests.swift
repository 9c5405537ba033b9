import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct OutcomeAndSlotTests {
  @Test(.holds("When a slot is free"))
  func `a slot is not free at the mere call of cancel`() async {
    let held = Held(.serial)
    let operations = held.executeFirst(2)
    await held.begun.elements(atLeast: 1)
    operations[0].cancel()
    #expect(fates(operations) == "CW")
    #expect(held.begun.elements == [1])
    #expect(held.queue.activity.running == 1)
    held.open(1...2)
    await allEnded(operations)
    #expect(held.crowd.peak == 1)
  }

  @Test(.holds("Over for its handlers"))
  func `every handler finds its slot free and itself counted`() async {
    for end in ["success", "failure", "cancellation"] {
      let queue = UseCaseQueue(.dropWhileBusy)
      let gate = Gate()
      let useCase = AnyUseCase(queue: queue) { (_: Int) in
        await gate.passIgnoringCancellation()
        if end == "failure" { throw Refused() }
      }
      let found = Log<UseCaseActivity>()
      // An `onCancel` runs at once, also while the body still has its slot.
      let operation = useCase.execute(1)
        .then { found.append(queue.activity) }
        .catch { _ in found.append(queue.activity) }
        .finally { found.append(queue.activity) }
        .finally { found.append(queue.activity) }
      if end == "cancellation" { operation.cancel() }
      gate.open()
      await operation.ended()
      let count = end == "cancellation" ? 2 : 3
      #expect(found.elements.map(\.isIdle) == Array(repeating: true, count: count))
      #expect(found.elements.map(\.executed) == Array(repeating: 1, count: count))
    }
  }

  @Test(.holds("In the queue until the end"))
  func `the slot is free and the operation counted when value returns or throws`() async {
    let queue = UseCaseQueue(.dropWhileBusy)
    let useCase = AnyUseCase(queue: queue) { (number: Int) in
      if number.isMultiple(of: 2) { throw Refused() }
    }
    for number in 1...200 {
      _ = try? await useCase.execute(number).value
      #expect(queue.activity.isIdle)
      #expect(queue.activity.succeeded + queue.activity.failed == number)
    }
  }

  @Test func `value does not return between the outcome and the freeing of the slot`() async {
    let current = Watched<Operation?>(nil)
    let found = Log<Bool>()
    let queueOfObserver = Watched<UseCaseQueue?>(nil)
    // The body has returned, and its queue has not yet been told.
    let queue = UseCaseQueue(.serial) { event in
      guard event.kind == .succeeded else { return }
      Task.detached {
        _ = try? await current.value?.value
        found.append(queueOfObserver.value?.activity.isIdle == true)
      }
      for _ in 1...500 { yieldThread() }
    }
    queueOfObserver.update { $0 = queue }
    let held = Held(on: queue)
    for round in 1...50 {
      let operation = held.execute(round)
      current.update { $0 = operation }
      held.open(round)
      await operation.ended()
      await found.elements(atLeast: round)
    }
    queueOfObserver.update { $0 = nil }
    current.update { $0 = nil }
    #expect(found.elements == Array(repeating: true, count: 50))
  }

  @Test(.holds("In the queue until the end"))
  func `a slot is held until the handlers have run`() async {
    let held = Held(.serial)
    held.open(2)
    await onMainActor {
      let first = held.execute(1).then { _ in }
      held.open(1)
      let second = held.execute(2)
      holdThread { first.state == .finished }
      // The handler of the first cannot run while the main actor is busy here.
      for _ in 1...1_000 { yieldThread() }
      #expect(fates([first, second]) == "+W")
      #expect(held.queue.activity.running == 1)
      return [first, second]
    }
    #expect(held.returned.elements == [1, 2])
  }

  @MainActor private func onMainActor(_ body: @MainActor () -> [Operation]) async {
    await allEnded(body())
  }

  @Test func `eight tasks that await one operation all get its value`() async throws {
    let held = Held()
    let operation = held.execute(7)
    let waiters = (1...8).map { _ in Task { try await operation.value } }
    await held.begun.elements(atLeast: 1)
    held.open(7)
    for waiter in waiters { #expect(try await waiter.value == 7) }
  }

  @Test @MainActor
  func `idle waits for running and for waiting operations`() async {
    let held = Held(.serial)
    await held.queue.idle()
    let operations = held.executeFirst(3)
    held.open(1)
    await operations[0].ended()
    #expect(fates(operations) == "+RW")
    // It runs when the test gives up the main actor: when it waits.
    Task { held.open(2...3) }
    await held.queue.idle()
    #expect(held.returned.elements == [1, 2, 3])
  }

  @Test(.holds("Failing and slow bodies"))
  func `a cancelled or timed-out value throws at once, and ended waits for the body`() async throws
  {
    let clock = ManualClock()
    let held = Held(on: UseCaseQueue(clock: clock), timeout: .seconds(1))
    let operations = held.executeFirst(2)
    await held.begun.elements(atLeast: 2)
    try await clock.sleeping(2)
    operations[0].cancel()
    await #expect(throws: CancellationError.self) { try await operations[0].value }
    await clock.advance(by: .seconds(1))
    await #expect(throws: UseCaseTimeout.self) { try await operations[1].value }
    #expect(held.returned.count == 0)
    #expect(held.queue.activity.running == 2)
    held.open(1...2)
    await allEnded(operations)
    #expect(held.returned.count == 2)
    #expect(held.queue.activity.isIdle)
  }
}
