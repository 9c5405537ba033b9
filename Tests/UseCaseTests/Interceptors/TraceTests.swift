import TestSupport
import Testing
import UseCase

/// The parent and the error that events and executions tell of.
@Suite(.mustEnd)
struct TraceTests {
  private let events = Log<UseCaseEvent>()

  private func parent(of id: UseCaseOperationID) -> UseCaseOperationID?? {
    let parents = Set(events.elements.filter { $0.id == id }.map(\.parent))
    return parents.count == 1 ? parents.first : nil
  }

  @Test func `an operation that nobody's body executes has no parent`() async {
    let useCase = AnyUseCase<Int, Int>(queue: UseCaseQueue(observer: events.append)) { $0 }
    let operation = useCase.execute(1).then { _ in }
    await operation.ended()
    #expect(parent(of: operation.id) == .some(nil))
  }

  @Test(.holds("Parents and errors"))
  func `the parent of a call is the operation whose body calls, through several queues`()
    async throws
  {
    let queue = UseCaseQueue(.serial, observer: events.append)
    let other = UseCaseQueue(.serial, observer: events.append)
    let leaf = AnyUseCase<String, Int>(queue: queue) { $0.count }
    let middle = AnyUseCase<Int8, Int>(queue: other) { number in
      try await leaf("leaf") + Int(number)
    }
    let root = AnyUseCase<Int, Int>(queue: queue) { _ in try await middle(1) }
    let operation = root.execute(1)
    #expect(try await operation.value == 5)
    await operation.ended()
    let ids = Array(Set(events.elements.map(\.id))).sorted()
    try #require(ids.count == 3)
    #expect(ids[0] == operation.id)
    #expect(parent(of: ids[0]) == .some(nil))
    #expect(parent(of: ids[1]) == ids[0])
    #expect(parent(of: ids[2]) == ids[1])
  }

  @Test(.holds("Parents and errors"))
  func `the parent of what a body executes is its operation, also from a child task`()
    async throws
  {
    let queue = UseCaseQueue(observer: events.append)
    let inner = AnyUseCase<Int, Int>(queue: queue) { $0 }
    let outer = AnyUseCase<Int, [Operation]>(queue: queue) { _ in
      async let child = inner.execute(2)
      return await [inner.execute(1), child]
    }
    let operation = outer.execute(1)
    let inners = try await operation.value
    await allEnded(inners)
    #expect(inners.map { parent(of: $0.id) } == [operation.id, operation.id])
  }

  @Test func `what a handler or a detached task executes has no parent`() async throws {
    let queue = UseCaseQueue(observer: events.append)
    let inner = AnyUseCase<Int, Int>(queue: queue) { $0 }
    let executed = Log<Operation>()
    let outer = AnyUseCase<Int, Int>(queue: queue) { number in
      await Task.detached { executed.append(inner.execute(1)) }.value
      return number
    }
    await outer.execute(1).then { _ in executed.append(inner.execute(2)) }.ended()
    await allEnded(executed.elements)
    #expect(executed.elements.map { parent(of: $0.id) } == [.some(nil), .some(nil)])
  }

  @Test(.holds("Parents and errors"))
  func `an interceptor is told of the same parent`() async throws {
    struct Parents: UseCaseInterceptor {
      let log: Log<[UseCaseOperationID?]>
      func intercept<Request: Sendable, Response: Sendable>(
        _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
      ) async throws -> Response {
        log.append([execution.id, execution.parent])
        return try await next(request)
      }
    }
    let log = Log<[UseCaseOperationID?]>()
    let queue = UseCaseQueue(interceptors: [Parents(log: log)])
    let inner = AnyUseCase<Int, Int>(queue: queue) { $0 }
    let outer = AnyUseCase<Int, Int>(queue: queue) { number in try await inner(number) }
    let operation = outer.execute(1)
    _ = try await operation.value
    #expect(log.elements[0] == [operation.id, nil])
    #expect(log.elements[1][1] == operation.id)
  }

  @Test(.holds("Parents and errors"))
  func `the event of a failure has its error, and no other event has one`() async {
    let gate = Gate()
    let useCase = AnyUseCase<Int, Int>(queue: UseCaseQueue(.serial, observer: events.append)) {
      number in
      await gate.passIgnoringCancellation()
      if number == 2 { throw Refused() }
      if number == 3 { throw CancellationError() }
      return number
    }
    let operations = (1...3).map { useCase.execute($0) }
    gate.open()
    await allEnded(operations)
    await events.elements(atLeast: 3 + 4 + 4)
    let errors = events.elements.filter { $0.error != nil }
    #expect(errors.map(\.id) == [operations[1].id])
    #expect(errors.map(\.kind) == [.failed])
    #expect(errors.first?.error is Refused)
  }

  @Test func `the event of a timeout has it as its error`() async throws {
    let clock = ManualClock()
    let held = Held(
      on: UseCaseQueue(clock: clock, observer: events.append), timeout: .seconds(5))
    let operation = held.execute(1)
    try await clock.sleeping()
    await clock.advance(by: .seconds(5))
    await events.elements(atLeast: 2)
    #expect(events.elements[1].error as? UseCaseTimeout == UseCaseTimeout(duration: .seconds(5)))
    held.open(1)
    await operation.ended()
  }
}
