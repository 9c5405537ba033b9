import TestSupport
import Testing
import UseCase

private enum Caller {
  @TaskLocal static var number = -1
}

@Suite(.mustEnd)
struct ObserverTests {
  private typealias Kind = UseCaseEvent.Kind
  private let events = Log<UseCaseEvent>()

  private func held(_ policy: UseCaseQueue.Policy) -> Held {
    Held(on: UseCaseQueue(policy, observer: events.append))
  }

  private func kinds<Response>(of operation: UseCaseOperation<Int, Response>) -> [Kind] {
    events.elements.filter { $0.id == operation.id }.map(\.kind)
  }

  @Test(.holds("Events"))
  func `each end is told once, in order, and ended comes last`() async {
    let gate = Gate()
    let useCase = AnyUseCase(queue: UseCaseQueue(.serial, observer: events.append)) {
      (number: Int) in
      await gate.passIgnoringCancellation()
      if number == 2 { throw Refused() }
      if number == 3 { throw CancellationError() }
    }
    let operations = (1...4).map { useCase.execute($0) }
    operations[3].cancel()
    gate.open()
    await allEnded(operations)
    await events.elements(atLeast: 3 + 4 + 4 + 3)
    #expect(kinds(of: operations[0]) == [.running, .succeeded, .ended])
    #expect(kinds(of: operations[1]) == [.waiting, .running, .failed, .ended])
    #expect(kinds(of: operations[2]) == [.waiting, .running, .cancelled(.thrown), .ended])
    #expect(kinds(of: operations[3]) == [.waiting, .cancelled(.requested), .ended])
    #expect(events.count == 14)
  }

  @Test func `an event names the type of the use case`() async {
    let held = held(.serial)
    held.open(1)
    await held.execute(1).ended()
    #expect(Set(events.elements.map(\.useCase)) == ["Held"])
    #expect(events.elements.allSatisfy { $0.type == Held.self })
  }

  @Test(.holds("Events in time"))
  func `the observer hears what execute decides before execute returns`() async {
    let held = held(.keepLatest)
    var operations = [held.execute(1)]
    #expect(kinds(of: operations[0]) == [.running])
    operations.append(held.execute(2))
    #expect(kinds(of: operations[1]) == [.waiting])
    operations.append(held.execute(3))
    #expect(kinds(of: operations[1]).starts(with: [.waiting, .cancelled(.superseded)]))
    #expect(kinds(of: operations[2]) == [.waiting])
    held.open(1...3)
    await allEnded(operations)
  }

  @Test(.holds("Events in time"))
  func `the observer hears what execute decides from its caller, though a slot gets free`() async {
    let callers = Watched<[UseCaseOperationID: Int]>([:])
    let queue = UseCaseQueue(.serial) { event in
      callers.update { $0[event.id] = $0[event.id] ?? Caller.number }
    }
    let useCase = AnyUseCase<Int, Int>(queue: queue) { $0 }
    for number in 1...2_000 {
      let operations = [0, number].map { caller in
        Caller.$number.withValue(caller) { useCase.execute(caller) }
      }
      await allEnded(operations)
      #expect(operations.map { callers.value[$0.id] } == [0, number])
    }
  }

  @Test func `the observer hears dropped and ended of a dropped operation before execute returns`()
    async
  {
    let held = held(.dropWhileBusy)
    let operations = held.executeFirst(2)
    #expect(kinds(of: operations[1]) == [.cancelled(.dropped), .ended])
    held.open(1)
    await operations[1].record(in: Log()).ended()
    await allEnded(operations)
    #expect(kinds(of: operations[1]) == [.cancelled(.dropped), .ended])
  }

  @Test func `the observer hears superseded of a running operation before execute returns`() async {
    let held = held(.cancelPrevious)
    let first = held.execute(1)
    await held.begun.elements(atLeast: 1)
    let second = held.execute(2)
    #expect(kinds(of: first) == [.running, .cancelled(.superseded)])
    #expect(kinds(of: second) == [.running])
    held.open(1...2)
    await allEnded([first, second])
    #expect(kinds(of: first) == [.running, .cancelled(.superseded), .ended])
  }

  @Test(.holds("Events in time"))
  func `a cancellation is told before cancel returns`() async {
    let held = held(.serial)
    let operations = held.executeFirst(2)
    await held.begun.elements(atLeast: 1)
    operations[1].cancel()
    #expect(kinds(of: operations[1]).starts(with: [.waiting, .cancelled(.requested)]))
    operations[0].cancel()
    #expect(kinds(of: operations[0]) == [.running, .cancelled(.requested)])
    operations[0].cancel()
    held.open(1)
    await allEnded(operations)
    await events.elements(atLeast: 6)
    #expect(kinds(of: operations[0]) == [.running, .cancelled(.requested), .ended])
  }

  @Test(.holds("running"))
  func `running is heard before the body begins`() async {
    let heard = Log<UseCaseOperationID>()
    let early = Log<UseCaseOperationID>()
    let queue = UseCaseQueue(
      .serial,
      interceptors: [
        Noting { id, _ in if !heard.elements.contains(id) { early.append(id) } }
      ]
    ) { event in if event.kind == .running { heard.append(event.id) } }
    let useCase = AnyUseCase(queue: queue) { (_: Int) in }
    for _ in 1...100 { await allEnded((1...20).map { useCase.execute($0) }) }
    #expect(early.elements.isEmpty)
    #expect(heard.count == 2_000)
  }

  @Test func `a body waits for a slow observer that hears running`() async throws {
    let heard = Watched(0)
    let queue = UseCaseQueue(.serial) { event in
      guard event.kind == .running else { return }
      for _ in 1...500 { yieldThread() }
      heard.update { $0 += 1 }
    }
    let useCase = AnyUseCase(queue: queue) { (_: Int) in heard.value }
    for round in 1...50 {
      queue.suspend()
      let operation = useCase.execute(round)
      // The task of the body comes to its start while the observer is being told.
      queue.resume()
      #expect(try await operation.value == round)
    }
  }

  @Test func `a timeout is told as a failure, at once`() async throws {
    let clock = ManualClock()
    let queue = UseCaseQueue(clock: clock, observer: events.append)
    let held = Held(on: queue, timeout: .seconds(1))
    let operation = held.execute(1)
    await held.begun.elements(atLeast: 1)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    await events.elements(atLeast: 2)
    #expect(kinds(of: operation) == [.running, .failed])
    held.open(1)
    await operation.ended()
    await events.elements(atLeast: 3)
    #expect(kinds(of: operation) == [.running, .failed, .ended])
  }

  @Test func `ended is told after the handlers have run`() async {
    let log = Log<String>()
    let queue = UseCaseQueue { event in if event.kind == .ended { log.append("ended") } }
    let held = Held(on: queue)
    let operation = held.execute(1).finally { log.append("finally") }
    held.open(1)
    await operation.ended()
    #expect(await log.elements(atLeast: 2) == ["finally", "ended"])
  }

  @Test func `late handlers do not make the observer hear the end again`() async {
    let held = held(.serial)
    held.open(1)
    let operation = held.execute(1)
    await operation.ended()
    // An event of a late handler would be told before the next handler runs.
    for _ in 1...3 { await operation.finally {}.ended() }
    #expect(kinds(of: operation) == [.running, .succeeded, .ended])
  }

  @Test(.holds("Nothing retained"))
  func `an observer that hears of the end finds nothing of the handlers that did not run`() async {
    let (lifetime, alive, gate) = (Lifetime(), Log<Int>(), Gate())
    let queue = UseCaseQueue { event in
      if event.kind == .ended { alive.append(lifetime.alive) }
    }
    let operation = AnyUseCase(queue: queue) { (_: Int) in await gate.passIgnoringCancellation() }
      .execute(1)
      .catch { [token = lifetime.track()] _ in withExtendedLifetime(token) {} }
    gate.open()
    await operation.ended()
    #expect(alive.elements == [0])
  }

  @Test(
    .holds("Events"),
    arguments: [
      UseCaseQueue.Policy.limit(2), .cancelPrevious, .cancelPreviousAndWait, .dropWhileBusy,
      .keepLatest, .cancelPrevious(debounce: .zero), .throttle(.microseconds(50)),
    ])
  func `in races each operation is told in order, and running before its body`(
    policy: UseCaseQueue.Policy
  ) async {
    let (heard, early) = (Watched(Set<UseCaseOperationID>()), Log<UseCaseOperationID>())
    let ends = Watched(0)
    let queue = UseCaseQueue(
      policy, interceptors: [Noting { id, _ in if !heard.value.contains(id) { early.append(id) } }]
    ) { [events] event in
      events.append(event)
      if event.kind == .running { heard.update { _ = $0.insert(event.id) } }
      if event.kind == .ended { ends.update { $0 += 1 } }
    }
    let useCase = AnyUseCase(queue: queue) { (number: Int) in
      await Task.yield()
      if number % 5 == 0 { throw Refused() }
    }
    await withTaskGroup { group in
      for worker in 1...8 {
        group.addTask {
          let operations = (1...50).map { number in
            if worker == 1, number % 20 == 0 { queue.cancelAll() }
            let operation = useCase.execute(number)
            if number % 3 == 0 { operation.cancel() }
            return operation
          }
          await allEnded(operations)
        }
      }
    }
    // A thread that still tells an earlier event tells the end, too, after `ended()` has returned.
    await ends.wait { $0 == 400 }
    #expect(early.elements.isEmpty)
    let byOperation = Dictionary(grouping: events.elements, by: \.id).mapValues { $0.map(\.kind) }
    #expect(byOperation.count == 400)
    for kinds in byOperation.values {
      let end = kinds.drop { $0 == .waiting }.drop { $0 == .running }
      #expect(kinds.count - end.count <= 2)
      #expect(end.count == 2)
      #expect(end.last == .ended)
    }
  }
}
