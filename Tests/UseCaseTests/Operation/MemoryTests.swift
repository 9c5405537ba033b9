import TestSupport
import Testing

@testable import UseCase

@Suite(.mustEnd)
struct MemoryTests {
  private let lifetime = Lifetime()

  /// A use case that keeps a token in itself, and one in its body.
  private func tracked(
    on queue: UseCaseQueue = UseCaseQueue(), gate: Gate = Gate(), error: (any Error)? = nil
  ) -> AnyUseCase<Int, Int> {
    AnyUseCase(queue: queue) { [token = lifetime.track()] (number: Int) in
      let local = token
      await gate.passIgnoringCancellation()
      withExtendedLifetime(local) {}
      if let error { throw error }
      return number
    }
  }

  /// Attaches a handler of each kind that keeps a token.
  @discardableResult
  private func attachAll(to operation: Operation) -> Operation {
    let token = lifetime.track()
    return
      operation
      .then { _ in withExtendedLifetime(token) {} }
      .catch { _ in withExtendedLifetime(token) {} }
      .catch(Offline.self) { _ in withExtendedLifetime(token) {} }
      .common { withExtendedLifetime(token) {} }
      .onCancel { _ in withExtendedLifetime(token) {} }
      .finally { withExtendedLifetime(token) {} }
  }

  @Test(.holds("Nothing retained"), arguments: ["success", "failure", "cancellation", "thrown"])
  func `nothing of handlers, use case and body is left when the operation has ended`(
    end: String
  ) async {
    let gate = Gate()
    let errors: [String: any Error] = ["failure": Refused(), "thrown": CancellationError()]
    let operation = attachAll(to: tracked(gate: gate, error: errors[end]).execute(1))
    if end == "cancellation" { operation.cancel() }
    gate.open()
    await operation.ended()
    #expect(lifetime.alive == 0)
    #expect(operation.state == .finished)
  }

  @Test(.holds("Nothing retained"))
  func `nothing is left of handlers attached late`() async {
    let gate = Gate()
    gate.open()
    let operation = tracked(gate: gate).execute(1)
    await operation.ended()
    await attachAll(to: operation).ended()
    #expect(lifetime.alive == 0)
  }

  @Test
  func `nothing is left of an operation dropped, superseded or cancelled while waiting`()
    async
  {
    for policy in [UseCaseQueue.Policy.dropWhileBusy, .keepLatest, .serial] {
      let held = Held(policy)
      let running = held.execute(1)
      let operation = attachAll(to: tracked(on: held.queue).execute(2))
      let last = held.execute(3)
      if policy == .serial { operation.cancel() }
      await operation.ended()
      #expect(lifetime.alive == 0)
      held.open(1...3)
      await allEnded([running, last])
    }
  }

  @Test func `nothing is left of an operation that has timed out`() async throws {
    let (clock, gate) = (ManualClock(), Gate())
    let queue = UseCaseQueue(clock: clock)
    func execute() -> Operation {
      let token = lifetime.track()
      return AnyUseCase(queue: queue, timeout: .seconds(1)) { (number: Int) in
        await gate.passIgnoringCancellation()
        withExtendedLifetime(token) {}
        return number
      }.execute(1)
    }
    let operation = attachAll(to: execute())
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    _ = try? await operation.value
    gate.open()
    await operation.ended()
    #expect(lifetime.alive == 0)
  }

  @Test func `nothing is left of the updates and their receiver`() async {
    let counting = Counting(on: UseCaseQueue())
    func execute() -> Operation {
      let token = lifetime.track()
      return counting.execute(100) { _ in withExtendedLifetime(token) {} }
    }
    let operation = execute()
    counting.gate.open()
    await operation.ended()
    #expect(lifetime.alive == 0)
  }

  @Test(.holds("Nothing retained")) @MainActor
  func `nothing of a handler or of a receiver is left when the observer hears of the end`() async {
    let alive = Log<Int>()
    let queue = UseCaseQueue { [lifetime] in
      if $0.kind == .ended { alive.append(lifetime.alive) }
    }
    func execute(receives: Bool) -> Operation {
      let (token, counting) = (lifetime.track(), Counting(on: queue))
      defer { counting.gate.open() }
      guard receives else {
        return counting.execute(3).then { _ in withExtendedLifetime(token) {} }
      }
      return counting.execute(3) { _ in withExtendedLifetime(token) {} }
    }
    await execute(receives: false).ended()
    await execute(receives: true).ended()
    #expect(alive.elements == [0, 0])
  }

  @Test(.holds("No leak"))
  func `an operation in its own handlers is no leak`() async {
    func execute(_ gate: Gate, cancels: Bool) -> UseCaseOperation<Lifetime.Token, Int> {
      let operation = AnyUseCase { (_: Lifetime.Token) in
        await gate.passIgnoringCancellation()
        return 1
      }.execute(lifetime.track())
      operation
        .then { [operation] _ in withExtendedLifetime(operation) {} }
        .catch { [operation] _ in withExtendedLifetime(operation) {} }
        .common { [operation] in withExtendedLifetime(operation) {} }
        .onCancel { [operation] _ in withExtendedLifetime(operation) {} }
        .finally { [operation] in withExtendedLifetime(operation) {} }
      if cancels { operation.cancel() }
      return operation
    }
    for cancels in [true, false] {
      let gate = Gate()
      let operation = execute(gate, cancels: cancels)
      gate.open()
      await operation.ended()
    }
    await lifetime.over()
  }

  @Test func `the response goes with the operation`() async {
    func execute() async {
      let useCase = AnyUseCase { [lifetime] (_: Int) in lifetime.track() }
      let operation = useCase.execute(1).then { _ in }
      await operation.ended()
      #expect(lifetime.alive == 1)
    }
    await execute()
    await lifetime.over()
  }

  @Test(.holds("Independence"), arguments: [false, true])
  func `an operation executed in a body does not keep the operation of that body`(
    isShared: Bool
  ) async {
    let queue = UseCaseQueue(.serial)
    queue.suspend()
    let base = AnyUseCase(queue: queue) { (_: Int) in }
    let other: any UseCase<Int, Void> = isShared ? base.shared() : base
    let maker = AnyUseCase { (token: Lifetime.Token) in
      other.execute(1)
      return token
    }
    await maker.execute(lifetime.track()).ended()
    await lifetime.over()
    #expect(queue.activity.waiting == 1)
    queue.cancelAll()
    await queue.idle()
  }

  @Test(.holds("Independence"))
  func `a shared run that goes on does not keep the operation whose call began it`() async {
    let (gate, entered) = (Gate(), Gate())
    let shared = AnyUseCase(queue: UseCaseQueue()) { (_: Int) in
      entered.open()
      await gate.passIgnoringCancellation()
    }.shared()
    let maker = AnyUseCase { (_: Lifetime.Token) in try await shared(1) }
    let rider = await {
      let operation = maker.execute(lifetime.track())
      await entered.passIgnoringCancellation()
      let rider = shared.execute(1)
      operation.cancel()
      await operation.ended()
      return rider
    }()
    await lifetime.over()
    #expect(rider.state == .running)
    gate.open()
    await rider.ended()
  }

  @Test func `the late response of a cancelled operation is let go at once`() async {
    let (gate, entered) = (Gate(), Gate())
    let operation = AnyUseCase { [lifetime] (_: Int) in
      entered.open()
      await gate.passIgnoringCancellation()
      return lifetime.track()
    }.execute(1)
    await entered.passIgnoringCancellation()
    operation.cancel()
    gate.open()
    await operation.ended()
    #expect(lifetime.alive == 0)
  }

  @Test func `a late response is let go before the slot is free`() async {
    let (gate, entered) = (Gate(), Gate())
    let seen = Watched<[Int]>([])
    let queue = UseCaseQueue(.serial) { [lifetime] event in
      if case .running = event.kind { seen.update { $0.append(lifetime.alive) } }
    }
    let useCase = AnyUseCase(queue: queue) { [lifetime] (number: Int) in
      entered.open()
      await gate.passIgnoringCancellation()
      return lifetime.track()
    }
    let late = useCase.execute(1).finally {}
    let next = useCase.execute(2)
    await entered.passIgnoringCancellation()
    late.cancel()
    gate.open()
    await next.ended()
    #expect(seen.value == [0, 0])
  }

  @Test func `an operation that is asked again and again does not grow`() async {
    let operation = AnyUseCase { (number: Int) in number }.execute(1)
    for _ in 1...1_000 {
      let tracked = lifetime.track()
      operation.then { _ in withExtendedLifetime(tracked) {} }.finally {}.onCancel { _ in }
      await operation.ended()
    }
    #expect(lifetime.alive == 0)
  }

  @Test func `a queue goes away with its last operation`() async {
    func execute() -> Operation {
      let observed = lifetime.track()
      let queue = UseCaseQueue(.serial) { _ in withExtendedLifetime(observed) {} }
      let gate = Gate()
      gate.open()
      let operations = (1...3).map { tracked(on: queue, gate: gate).execute($0) }
      return operations[2]
    }
    await execute().ended()
    await lifetime.over()
  }

  @Test(.holds("Nothing under a lock", "Released outside"))
  func `objects that call the queue when they are released find no lock held`() async {
    let queue = UseCaseQueue(.keepLatest)
    let calls = Watched(0)
    @Sendable func callBack() {
      calls.update { $0 += 1 }
      _ = queue.activity
      queue.resume()
      queue.cancelAll()
    }
    func execute() -> [UseCaseOperation<Lifetime.Token, Lifetime.Token>] {
      let (first, gate) = (lifetime.track(onRelease: callBack), Gate())
      let useCase = AnyUseCase(queue: queue) { [lifetime] (request: Lifetime.Token) in
        withExtendedLifetime(first) {}
        await gate.passIgnoringCancellation()
        return lifetime.track(onRelease: callBack)
      }
      return (1...4).map { _ in
        let handled = lifetime.track(onRelease: callBack)
        let operation = useCase.execute(lifetime.track(onRelease: callBack))
          .then { _ in withExtendedLifetime(handled) {} }
          .onCancel { _ in withExtendedLifetime(handled) {} }
        gate.open()
        return operation
      }
    }
    func run() async {
      for operation in execute() { await operation.ended() }
    }
    await run()
    await lifetime.over()
    // The use case, four requests, four handlers, and the responses of those that ran.
    #expect(calls.value >= 9)
  }

  @Test(.holds("Nothing under a lock"))
  func `objects that use their operation when they are released find no lock held`() async {
    let held = Held()
    let operation = held.execute(1)
    func attach() {
      let token = lifetime.track { [operation] in
        operation.cancel()
        operation.finally {}
        _ = (operation.state, operation.outcome)
      }
      operation.catch { _ in withExtendedLifetime(token) {} }
        .then { _ in withExtendedLifetime(token) {} }
    }
    attach()
    held.open(1)
    await operation.ended()
    #expect(lifetime.alive == 0)
  }

  @Test(.holds("No recursion"))
  func `a hundred thousand that wait are cancelled without recursion`() async {
    let held = Held(.serial)
    let running = held.execute(0)
    let operations = (1...100_000).map { held.execute($0) }
    #expect(held.queue.activity.waiting == 100_000)
    held.queue.cancelAll()
    #expect(held.queue.activity.waiting == 0)
    #expect(held.queue.activity.cancelled >= 100_000)
    held.open(0)
    await running.ended()
    await allEnded(operations)
    #expect(held.queue.activity.isIdle)
    #expect(held.begun.count <= 1)
  }

  @Test func `a hundred thousand that wait are let go without recursion`() async {
    func execute() {
      let queue = UseCaseQueue(.serial)
      queue.suspend()
      let useCase = AnyUseCase(queue: queue) { (_: Lifetime.Token) in }
      for _ in 1...100_000 { useCase.execute(lifetime.track()) }
      queue.cancelAll()
    }
    execute()
    await lifetime.over()
  }

  @Test func `a hundred thousand handlers that never run are let go without recursion`() async {
    let operation = AnyUseCase { (_: Int) in }.execute(1)
    for _ in 1...100_000 {
      operation.catch { [token = lifetime.track()] _ in withExtendedLifetime(token) {} }
    }
    await operation.ended()
    #expect(lifetime.alive == 0)
  }

  /// Calls itself on the other of two queues, in a task that it leaves behind: when its own slot is
  /// free, or while it holds it still.
  private struct Chain: UseCase {
    let queues: [UseCaseQueue]
    let lifetime: Lifetime
    let waits: Bool
    let last: Log<Int>
    var turn = 0

    var queue: UseCaseQueue { queues[turn % 2] }

    func main(_ request: (token: Lifetime.Token, begun: Gate)) async throws {
      request.begun.open()
      guard turn < 3_000 else { return last.append(lifetime.alive) }
      var next = self
      next.turn += 1
      let begun = Gate()
      Task { [self, next] in
        while waits, queue.isHeldHere { await Task.yield() }
        try await next((lifetime.track(), begun))
      }
      if !waits { await begun.passIgnoringCancellation() }
    }
  }

  @Test(.holds("Nothing retained"), arguments: [false, true])
  func `an operation does not keep its callers that have ended`(waits: Bool) async {
    let chain = Chain(
      queues: [UseCaseQueue(), UseCaseQueue()], lifetime: lifetime, waits: waits, last: Log())
    chain.execute((lifetime.track(), Gate()))
    #expect(await chain.last.elements(atLeast: 1)[0] < 100)
    await lifetime.over()
  }

  @Test func `a task that stops waiting for value leaves nothing`() async {
    let held = Held()
    let operation = held.execute(1)
    for _ in 1...1_000 {
      let waiter = Task { [token = lifetime.track()] in
        defer { withExtendedLifetime(token) {} }
        return try await operation.value
      }
      waiter.cancel()
      _ = await waiter.result
    }
    await lifetime.over()
    held.open(1)
    await operation.ended()
  }
}
