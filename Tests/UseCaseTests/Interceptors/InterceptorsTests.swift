import TestSupport
import Testing
import UseCase

private enum Locals {
  @TaskLocal static var name = "nobody"
}

@Suite(.mustEnd)
struct InterceptorsTests {
  private let log = Log<String>()

  private func double(_ interceptors: [any UseCaseInterceptor]) -> AnyUseCase<Int, Int> {
    AnyUseCase(queue: UseCaseQueue(.serial, interceptors: interceptors)) { [log] (number: Int) in
      log.append("body \(number)")
      return number * 2
    }
  }

  @Test(.holds("Order of interceptors"))
  func `the first interceptor is the outermost`() async throws {
    let useCase = double([Wrapping(name: "a", log: log), Wrapping(name: "b", log: log)])
    #expect(try await useCase.execute(1).value == 2)
    #expect(log.elements == ["a begins", "b begins", "body 1", "b ends", "a ends"])
  }

  @Test(.holds("Order of interceptors"))
  func `interceptors wrap the call form, and each body of the queue`() async throws {
    let useCase = double([Wrapping(name: "a", log: log)])
    _ = try await useCase(1)
    _ = try await useCase.execute(2).value
    #expect(
      log.elements == ["a begins", "body 1", "a ends", "a begins", "body 2", "a ends"])
  }

  @Test(.holds("What they can do"))
  func `an interceptor may change the request`() async throws {
    let useCase = double([Adding(1), Adding(10)])
    #expect(try await useCase.execute(1).value == 24)
    #expect(log.elements == ["body 12"])
  }

  @Test(.holds("What they can do"))
  func `an interceptor may answer without the body`() async throws {
    let operation = double([Answering { 7 }, Wrapping(name: "inner", log: log)]).execute(1)
    #expect(try await operation.value == 7)
    #expect(log.elements.isEmpty)
  }

  @Test(.holds("What they can do"))
  func `an interceptor may call next several times`() async throws {
    struct Thrice: UseCaseInterceptor {
      func intercept<Request: Sendable, Response: Sendable>(
        _ request: Request, of execution: UseCaseExecution,
        next: UseCaseNext<Request, Response>
      ) async throws -> Response {
        for _ in 1...2 { _ = try? await next(request) }
        return try await next(request)
      }
    }
    let useCase = double([Thrice(), Wrapping(name: "inner", log: log)])
    #expect(try await useCase.execute(1).value == 2)
    #expect(log.elements.filter { $0 == "body 1" }.count == 3)
    #expect(log.elements.filter { $0 == "inner ends" }.count == 3)
    #expect(useCase.queue.activity.succeeded == 1)
  }

  @Test(.holds("What they can do"))
  func `an interceptor may map an error, swallow it, or throw one`() async throws {
    struct Mapping: UseCaseInterceptor {
      func intercept<Request: Sendable, Response: Sendable>(
        _ request: Request, of execution: UseCaseExecution,
        next: UseCaseNext<Request, Response>
      ) async throws -> Response {
        do {
          return try await next(request)
        } catch is Refused {
          if request as? Int == 1, let answer = 0 as? Response { return answer }
          throw Offline()
        }
      }
    }
    let queue = UseCaseQueue(interceptors: [Mapping()])
    let useCase = AnyUseCase(queue: queue) { (_: Int) -> Int in throw Refused() }
    #expect(try await useCase.execute(1).value == 0)
    await #expect(throws: Offline()) { try await useCase.execute(2).value }
    #expect([queue.activity.succeeded, queue.activity.failed] == [1, 1])
  }

  @Test func `a cancelled operation stays cancelled although an interceptor answers`() async {
    let held = Held(on: UseCaseQueue(interceptors: [Wrapping(name: "a", log: log)]))
    let operation = held.execute(1)
    await held.begun.elements(atLeast: 1)
    operation.cancel()
    held.open(1)
    await operation.ended()
    #expect(operation.cancellation == .requested)
    #expect(log.elements == ["a begins", "a ends"])
  }

  @Test(.holds("Inside the timeout"))
  func `a timeout covers the interceptors`() async throws {
    struct Waiting: UseCaseInterceptor {
      let gate: Gate

      func intercept<Request: Sendable, Response: Sendable>(
        _ request: Request, of execution: UseCaseExecution,
        next: UseCaseNext<Request, Response>
      ) async throws -> Response {
        try await gate.pass()
        return try await next(request)
      }
    }
    let clock = ManualClock()
    let queue = UseCaseQueue(clock: clock, interceptors: [Waiting(gate: Gate())])
    let held = Held(on: queue, timeout: .seconds(1))
    let operation = held.execute(1)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    await operation.ended()
    #expect(operation.fate == "F")
    #expect(held.begun.count == 0)
  }

  @Test func `an interceptor sees the id and the name of the use case`() async {
    let seen = Log<String>()
    let ids = Log<UseCaseOperationID>()
    let queue = UseCaseQueue(interceptors: [
      Noting { id, name in
        ids.append(id)
        seen.append(name)
      }
    ])
    let held = Held(on: queue)
    held.open(1)
    let counting = Counting(on: queue)
    counting.gate.open()
    let first = held.execute(1)
    await first.ended()
    let second = counting.execute(1) { _ in }
    await second.ended()
    #expect(seen.elements == ["Held", "Counting"])
    #expect(ids.elements == [first.id, second.id])
  }

  @Test func `interceptors do not see operations that never start`() async {
    let held = Held(
      on: UseCaseQueue(.keepLatest, interceptors: [Wrapping(name: "a", log: log)]))
    let operations = held.executeFirst(3)
    operations[2].cancel()
    held.open(1...3)
    await allEnded(operations)
    #expect(log.elements == ["a begins", "a ends"])
  }

  @Test func `task-local values reach interceptors, and through them the body`() async throws {
    struct Naming: UseCaseInterceptor {
      func intercept<Request: Sendable, Response: Sendable>(
        _ request: Request, of execution: UseCaseExecution,
        next: UseCaseNext<Request, Response>
      ) async throws -> Response {
        try await Locals.$name.withValue(Locals.name + "!") { try await next(request) }
      }
    }
    let queue = UseCaseQueue(interceptors: [Naming(), Naming()])
    let useCase = AnyUseCase(queue: queue) { (_: Int) in Locals.name }
    let operation = Locals.$name.withValue("harry") { useCase.execute(1) }
    #expect(try await operation.value == "harry!!")
  }

  @Test func `updates pass interceptors by`() async {
    let counting = Counting(on: UseCaseQueue(interceptors: [Wrapping(name: "a", log: log)]))
    counting.gate.open()
    await counting.execute(2) { [log] in log.append("update \($0)") }.ended()
    #expect(Set(log.elements) == ["a begins", "update 1", "update 2", "a ends"])
  }
}

private struct Wrapping: UseCaseInterceptor {
  let name: String
  let log: Log<String>

  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution,
    next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    log.append("\(name) begins")
    defer { log.append("\(name) ends") }
    return try await next(request)
  }
}

/// Adds to each request that is a number.
private struct Adding: UseCaseInterceptor {
  let addend: Int

  init(_ addend: Int) {
    self.addend = addend
  }

  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution,
    next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    let changed = (request as? Int).flatMap { $0 + addend as? Request }
    return try await next(changed ?? request)
  }
}
