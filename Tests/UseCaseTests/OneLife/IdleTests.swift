import TestSupport
import Testing
import UseCase

/// `idle()` returns when all have ended, handlers included.
@Suite(.mustEnd)
struct IdleTests {
  private let log = Log<String>()

  @Test(arguments: [UseCaseQueue.Policy.unlimited, .serial, .limit(2), .keepLatest])
  func `close, flush and idle mean that the last then has run`(
    policy: UseCaseQueue.Policy
  ) async {
    for round in 1...200 {
      let queue = UseCaseQueue(policy)
      let useCase = AnyUseCase(queue: queue) { (number: Int) in
        for _ in 0..<number % 3 { await Task.yield() }
        return number
      }
      let ends = await executeOnMainActor(useCase, count: 1 + round % 4)
      queue.close()
      queue.flush()
      await queue.idle()
      #expect(ends.count == 1 + round % 4)
      #expect(!queue.isBusy)
    }
  }

  @MainActor private func executeOnMainActor(
    _ useCase: AnyUseCase<Int, Int>, count: Int
  ) -> Log<Int> {
    let ends = Log<Int>()
    for number in 1...count {
      // A body that answers at once may have ended before its handler is attached.
      let gate = Gate()
      let gated = AnyUseCase(queue: useCase.queue) { (number: Int) in
        await gate.passIgnoringCancellation()
        return try await useCase.main(number)
      }
      gated.execute(number).finally { ends.append(number) }
      gate.open()
    }
    return ends
  }

  @Test func `idle waits for a handler on an actor that is busy`() async {
    let (held, desk) = (Held(.serial), Desk())
    let operation = held.execute(1)
    await desk.attachThen(to: operation) { _ in }
    desk.executor.hold()
    held.open(1)
    await desk.executor.jobs(atLeast: 1)
    let idle = Task.detached { [log] in
      await held.queue.idle()
      log.append("idle after \(desk.log.elements)")
    }
    // The queue counts the operation, so idle cannot have returned.
    #expect(held.queue.activity.running == 1 && log.count == 0)
    await desk.executor.step()
    desk.executor.release()
    await idle.value
    #expect(log.elements == ["idle after [\"then 1\"]"])
  }

  @Test(arguments: [UseCaseQueue.Policy.keepLatest, .serial])
  func `idle waits for the handlers of those that never got a slot`(
    policy: UseCaseQueue.Policy
  ) async {
    let (held, desk) = (Held(policy), Desk())
    var operations = held.executeFirst(2)
    await desk.record(operations[1])
    desk.executor.hold()
    if policy == .keepLatest {
      operations.append(held.execute(3))
    } else {
      operations[1].cancel()
    }
    #expect(operations[1].state == .finished)
    held.open(1...3)
    await operations[0].ended()
    if policy == .keepLatest { await operations[2].ended() }
    // Nothing is in a slot or waits for one, and yet handlers are to run.
    #expect(held.queue.activity.isIdle && desk.log.count == 0)
    let idle = Task.detached { [log] in
      await held.queue.idle()
      log.append("idle after \(desk.log.count)")
    }
    await desk.executor.jobs(atLeast: 1)
    desk.executor.release()
    await idle.value
    #expect(log.elements == ["idle after 2"])
    await operations[1].ended()
  }

  @Test func `idle does not wait for an operation that waits in a suspended queue`() async {
    let held = Held(.serial)
    held.queue.suspend()
    let operation = held.execute(1)
    await held.queue.idle()
    #expect(operation.fate == "W")
    held.queue.resume()
    held.open(1)
    await held.queue.idle()
    #expect(operation.fate == "+")
  }

  @Test func `idle of a suspended queue waits for what runs`() async {
    let held = Held(.serial)
    let operations = held.executeFirst(2)
    held.queue.suspend()
    await held.begun.elements(atLeast: 1)
    let idle = Task.detached { [log] in
      await held.queue.idle()
      log.append("idle after \(held.returned.elements)")
    }
    held.open(1)
    await idle.value
    #expect(log.elements == ["idle after [1]"])
    #expect(fates(operations) == "+W")
    operations[1].cancel()
    await operations[1].ended()
  }

  @Test @MainActor
  func `idle returns when the queue is suspended and nothing but what waits is left`() async {
    let clock = ManualClock()
    let queue = UseCaseQueue(.cancelPrevious(debounce: .seconds(1)), clock: clock)
    let held = Held(on: queue)
    let operation = held.execute(1)
    // It runs when the test gives up the main actor: when it waits.
    Task { queue.suspend() }
    await queue.idle()
    #expect(operation.fate == "W" && queue.isSuspended)
    operation.cancel()
    await operation.ended()
  }

  @Test func `idle of a resumed queue waits for what has waited in it`() async {
    let held = Held(.limit(2))
    held.queue.suspend()
    let operations = held.executeFirst(3)
    held.open(1...3)
    held.queue.resume()
    await held.queue.idle()
    #expect(fates(operations) == "+++")
  }

  @Test func `idle of lanes waits for the handlers in each lane`() async {
    struct Load: UseCase {
      let lanes = UseCaseLanes<Int>()
      func queue(for request: Int) -> UseCaseQueue { lanes[request] }
      func main(_ request: Int) async -> Int { request }
    }
    let load = Load()
    for _ in 1...50 {
      let log = Log<Int>()
      let gates = (1...4).map { _ in Gate() }
      let queues = (0..<4).map { load.lanes[$0] }
      for number in 0..<4 {
        let gated = AnyUseCase(queue: queues[number]) { (number: Int) in
          await gates[number].passIgnoringCancellation()
        }
        let operation = gated.execute(number)
        await thenOnMainActor(operation) { log.append(number) }
        gates[number].open()
      }
      await load.lanes.idle()
      #expect(log.count == 4)
    }
  }

  @MainActor private func thenOnMainActor(
    _ operation: UseCaseOperation<Int, Void>, _ handler: @escaping @Sendable () -> Void
  ) {
    operation.then { handler() }
  }

  @Test func `what a handler executes is waited for, too`() async {
    let held = Held(.serial)
    held.open(1...5)
    let counted = Log<Int>()
    @Sendable func goOn(_ number: Int) {
      held.execute(number).then { response in
        counted.append(response)
        if response < 5 { goOn(response + 1) }
      }
    }
    let gate = Gate()
    let first = AnyUseCase(queue: held.queue) { (_: Int) in await gate.passIgnoringCancellation() }
    first.execute(0).then { goOn(1) }
    gate.open()
    await held.queue.idle()
    // A body that answers at once may have ended before its handler is attached: the next is
    // executed in that handler, which holds nothing then.
    await counted.elements(atLeast: 5)
    #expect(counted.elements == [1, 2, 3, 4, 5])
  }
}
