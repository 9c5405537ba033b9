import TestSupport
import Testing
import UseCase

/// An attempt that an interceptor has begun and not awaited is a part of the body.
@Suite(.mustEnd)
struct AttemptsTests {
  /// Answers at once, and lets the attempt go on: stale while revalidate.
  private struct Stale: UseCaseInterceptor {
    let begun: Log<Int>
    let revalidated = Log<String>()

    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      guard let number = request as? Int, let stale = -number as? Response else {
        return try await next(request)
      }
      let count = begun.count
      Task { [revalidated] in
        _ = try? await next(request)
        revalidated.append("revalidated \(request)")
      }
      await begun.elements(atLeast: count + 1)
      return stale
    }
  }

  /// Calls twice, and takes the answer of the second attempt without awaiting the first.
  private struct Hedge: UseCaseInterceptor {
    let begun: Log<Int>

    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      let count = begun.count
      Task { try await next(request) }
      await begun.elements(atLeast: count + 1)
      guard let number = request as? Int, let other = number + 100 as? Request else {
        return try await next(request)
      }
      return try await next(other)
    }
  }

  /// Makes each attempt in a task that inherits nothing.
  private struct Detached: UseCaseInterceptor {
    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      try await Task.detached { try await next(request) }.value
    }
  }

  private let begun = Log<Int>()

  /// A body at a gate for each request, which writes down that it has begun.
  private struct Work: UseCase {
    let held: Held
    let begun: Log<Int>
    let queue: UseCaseQueue

    func main(_ request: Int) async -> Int {
      begun.append(request)
      return await held.main(request)
    }
  }

  private func stale(_ policy: UseCaseQueue.Policy) -> (work: Work, stale: Stale) {
    let stale = Stale(begun: begun)
    let queue = UseCaseQueue(policy, interceptors: [stale])
    return (Work(held: Held(), begun: begun, queue: queue), stale)
  }

  @Test func `then runs when the outermost interceptor has returned, finally when all has`() async {
    let (work, _) = stale(.serial)
    let log = Log<String>()
    let operation = work.execute(1).then { log.append("then \($0)") }
      .common { log.append("common") }
      .finally { log.append("finally after \(work.held.returned.elements)") }
    await log.elements(atLeast: 2)
    #expect(log.elements == ["then -1", "common"])
    #expect(operation.fate == "+" && work.queue.activity.running == 1)
    work.held.open(1)
    await operation.ended()
    #expect(log.elements == ["then -1", "common", "finally after [1]"])
    #expect(!work.queue.isBusy)
  }

  @Test(arguments: [false, true])
  func `an attempt that is left behind holds the slot with its retries`(isInside: Bool) async {
    let stale = Stale(begun: begun)
    let outer: [any UseCaseInterceptor] = isInside ? [Detached()] : []
    let queue = UseCaseQueue(
      .serial, interceptors: outer + [stale, RetryInterceptor(attempts: 3)])
    let (begun, mayFail) = (begun, Gate())
    let work = AnyUseCase<Int, Int>(queue: queue) { request in
      begun.append(request)
      await mayFail.passIgnoringCancellation()
      if begun.count < 3 { throw Offline() }
      return request
    }
    let operation = work.execute(1)
    let answered = Gate()
    operation.then { _ in answered.open() }
    await answered.passIgnoringCancellation()
    #expect(operation.fate == "+" && queue.isBusy)
    mayFail.open()
    await operation.ended()
    #expect(begun.elements == [1, 1, 1])
    await stale.revalidated.elements(atLeast: 1)
  }

  @Test func `catch runs when the outermost interceptor has thrown`() async {
    struct Impatient: UseCaseInterceptor {
      let begun: Log<Int>

      func intercept<Request: Sendable, Response: Sendable>(
        _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
      ) async throws -> Response {
        Task { try await next(request) }
        await begun.elements(atLeast: 1)
        throw Offline()
      }
    }
    let queue = UseCaseQueue(.serial, interceptors: [Impatient(begun: begun)])
    let work = Work(held: Held(), begun: begun, queue: queue)
    let log = Log<String>()
    let operation = work.execute(1).catch(Offline.self) { _ in log.append("catch") }
      .finally { log.append("finally after \(work.held.returned.elements)") }
    await log.elements(atLeast: 1)
    #expect(operation.fate == "F" && queue.activity.running == 1)
    work.held.open(1)
    await operation.ended()
    #expect(log.elements == ["catch", "finally after [1]"])
  }

  @Test func `a serial queue never runs two bodies at once, though answers come early`() async {
    let (work, _) = stale(.serial)
    let log = Log<Int>()
    let operations = (1...3).map { work.execute($0).then { log.append($0) } }
    await log.elements(atLeast: 1)
    #expect(fates(operations) == "+WW")
    #expect(begun.elements == [1])
    work.held.open(1)
    await log.elements(atLeast: 2)
    #expect(begun.elements == [1, 2])
    work.held.open(2...3)
    await allEnded(operations)
    #expect(work.held.crowd.peak == 1)
    #expect(log.elements == [-1, -2, -3])
  }

  @Test func `attempts of one operation may overlap, those of two never`() async {
    let queue = UseCaseQueue(.serial, interceptors: [Hedge(begun: begun)])
    let work = Work(held: Held(), begun: begun, queue: queue)
    let log = Log<String>()
    let operations = (1...2).map { number in
      work.execute(number).then { log.append("then \($0)") }
        .finally { log.append("finally \(number)") }
    }
    await begun.elements(atLeast: 2)
    work.held.open(101)
    await log.elements(atLeast: 1)
    #expect(log.elements == ["then 101"])
    #expect(fates(operations) == "+W" && begun.elements == [1, 101])
    work.held.open(1)
    await operations[0].ended()
    work.held.open(2)
    work.held.open(102)
    await allEnded(operations)
    #expect(log.elements == ["then 101", "finally 1", "then 102", "finally 2"])
    #expect(begun.elements == [1, 101, 2, 102])
  }

  @Test func `value, ended and idle wait for the attempts`() async throws {
    let (work, _) = stale(.serial)
    let log = Log<String>()
    let operation = work.execute(1)
    await begun.elements(atLeast: 1)
    await withTaskGroup { group in
      group.addTask {
        let value = try? await operation.value
        log.append("value \(value ?? 0) after \(work.held.returned.elements)")
      }
      group.addTask {
        await operation.ended()
        log.append("ended after \(work.held.returned.elements)")
      }
      group.addTask {
        await work.queue.idle()
        log.append("idle after \(work.held.returned.elements)")
      }
      group.addTask {
        while operation.state != .finished { await Task.yield() }
        work.held.open(1)
      }
    }
    #expect(
      log.elements.sorted() == ["ended after [1]", "idle after [1]", "value -1 after [1]"])
  }

  @Test func `a newcomer of a handler gets the slot when the attempt has returned`() async {
    let (work, _) = stale(.dropWhileBusy)
    let again = Log<Operation>()
    let first = work.execute(1).then { _ in again.append(work.execute(2)) }
    await again.elements(atLeast: 1)
    #expect(fates([first] + again.elements) == "+W" && begun.elements == [1])
    #expect(work.execute(3).fate == "D")
    work.held.open(1...2)
    await first.ended()
    await allEnded(again.elements)
    #expect(fates([first] + again.elements) == "++" && work.held.crowd.peak == 1)
  }

  @Test func `a cancel lets the attempt hold the slot for as long as it takes`() async {
    let (work, _) = stale(.dropWhileBusy)
    let log = Log<String>()
    let operation = work.execute(1).onCancel { _ in log.append("onCancel") }
      .finally { log.append("finally") }
    await begun.elements(atLeast: 1)
    operation.cancel()
    #expect(work.execute(2).fate == "D")
    work.held.open(1)
    await operation.ended()
    #expect(log.elements.last == "finally")
    #expect(!work.queue.isBusy)
  }

  @Test func `a call returns when its attempts have`() async throws {
    let (work, _) = stale(.dropWhileBusy)
    for number in 1...50 {
      work.held.open(number)
      #expect(try await work(number) == -number)
      #expect(work.held.returned.count == number && !work.queue.isBusy)
    }
  }

  @Test func `an interceptor that awaits its attempts changes nothing`() async throws {
    struct Twice: UseCaseInterceptor {
      func intercept<Request: Sendable, Response: Sendable>(
        _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
      ) async throws -> Response {
        async let first = next(request)
        async let second = next(request)
        _ = try await first
        return try await second
      }
    }
    let queue = UseCaseQueue(.serial, interceptors: [Twice()])
    let work = Work(held: Held(), begun: begun, queue: queue)
    work.held.open(1...3)
    let operations = (1...3).map { work.execute($0) }
    await allEnded(operations)
    #expect(fates(operations) == "+++")
    #expect(begun.elements == [1, 1, 2, 2, 3, 3])
  }

  @Test func `a body whose attempt runs in a detached task is in its slot`() async throws {
    let queue = UseCaseQueue(.serial, interceptors: [Detached()])
    let inner = AnyUseCase<Int, Int>(queue: queue) { $0 + 1 }
    let outer = AnyUseCase<Int, Int>(queue: queue) { try await inner($0) * 10 }
    #expect(try await outer(1) == 20)
    #expect(queue.activity.executed == 1)
  }
}
