import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct AdmissionTests {
  @Test(.holds("Decided at once"))
  func `running or waiting is decided, and counted, when execute returns`() async {
    let held = Held(.limit(2))
    var operations: [Operation] = []
    for (number, counts) in [(1, [1, 0]), (2, [2, 0]), (3, [2, 1]), (4, [2, 2])] {
      operations.append(held.execute(number))
      #expect([held.queue.activity.running, held.queue.activity.waiting] == counts)
      #expect(held.queue.activity.executed == number)
      #expect(operations[number - 1].state == (number <= 2 ? .running : .waiting))
    }
    held.open(1...4)
    await allEnded(operations)
  }

  @Test(.holds("Order of calls"))
  func `ids grow in order of execute, also across queues`() async {
    let first = Held(.serial)
    let second = Held(.unlimited)
    let operations = (1...20).map { ($0.isMultiple(of: 2) ? first : second).execute($0) }
    let ids = operations.map(\.id)
    #expect(ids == ids.sorted())
    #expect(Set(ids).count == 20)
    first.open(1...20)
    second.open(1...20)
    await allEnded(operations)
  }

  @Test(.holds("Order of calls"))
  func `bodies start in the order of the ids when eight tasks execute`() async {
    let started = Log<UseCaseOperationID>()
    let queue = UseCaseQueue(.serial, interceptors: [Noting { id, _ in started.append(id) }])
    let useCase = AnyUseCase(queue: queue) { (_: Int) in }
    queue.suspend()
    let operations = await withTaskGroup { group in
      for _ in 1...8 { group.addTask { (1...2_000).map { useCase.execute($0) } } }
      return await group.reduce(into: []) { $0 += $1 }
    }
    queue.resume()
    await queue.idle()
    await allEnded(operations)
    #expect(started.count == 16_000)
    let elements = started.elements
    #expect(zip(elements, elements.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test(.holds("Nothing under a lock"))
  func `an observer may use its queue, so no lock is held`() async {
    let queueOfObserver = Watched<UseCaseQueue?>(nil)
    let seen = Log<UseCaseActivity>()
    let queue = UseCaseQueue(.keepLatest) { _ in
      guard let queue = queueOfObserver.value else { return }
      queue.resume()
      seen.append(queue.activity)
    }
    queueOfObserver.update { $0 = queue }
    let held = Held(on: queue)
    let operations = held.executeFirst(4)
    operations[3].cancel()
    queue.cancelAll()
    held.open(1...4)
    await allEnded(operations)
    queueOfObserver.update { $0 = nil }
    #expect(seen.elements.first?.running == 1)
    #expect(fates(operations) == "CSSC")
  }

  @Test(.holds("Events"))
  func `an observer may execute on its queue`() async {
    let again = Watched<AnyUseCase<Int, Int>?>(nil)
    let made = Log<Operation>()
    let queue = UseCaseQueue(.serial) { event in
      guard event.kind == .running, made.count < 3, let useCase = again.value else { return }
      made.append(useCase.execute(1))
    }
    let useCase = AnyUseCase(queue: queue) { (number: Int) in number }
    again.update { $0 = useCase }
    await useCase.execute(0).ended()
    await allEnded(made.elements(atLeast: 3))
    again.update { $0 = nil }
    #expect(fates(made.elements) == "+++")
  }

  @Test(
    .holds("Nothing under a lock"),
    arguments: [
      UseCaseQueue.Policy.cancelPrevious(debounce: .seconds(1)), .throttle(.seconds(1)),
    ])
  func `a clock may use the queue that sleeps on it`(policy: UseCaseQueue.Policy) async {
    let clock = CallingClock()
    let queue = UseCaseQueue(policy, clock: clock)
    clock.call.update { $0 = { _ = queue.activity } }
    let useCase = AnyUseCase(queue: queue, timeout: .seconds(9)) { (number: Int) in number }
    queue.suspend()
    let operations = (1...3).map { useCase.execute($0) }
    queue.resume()
    await allEnded(operations)
    clock.call.update { $0 = {} }
    #expect(fates(operations) == "SS+")
  }
}

/// A clock which calls back whenever it is used, and on which two seconds pass at once, more of
/// them never.
private struct CallingClock: Clock {
  let call = Watched<@Sendable () -> Void>({})

  var now: ManualClock.Instant {
    call.value()
    return .init(offset: .zero)
  }

  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    call.value()
    if deadline.offset > .seconds(2) { try await Gate().pass() }
  }
}
