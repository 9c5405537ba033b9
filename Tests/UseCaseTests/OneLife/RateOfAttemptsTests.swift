import TestSupport
import Testing
import UseCase

/// A rate counts calls of `main`, those of retries included.
@Suite(.mustEnd)
struct RateOfAttemptsTests {
  private let clock = ManualClock()

  /// Fails as often as it is told to, and writes down when it was called.
  private struct Flaky: UseCase {
    let queue: UseCaseQueue
    let clock: ManualClock
    var timeout = UseCaseTimeout.never
    var failures: [Int: Int] = [:]
    let calls = Log<[Int]>()

    func main(_ request: Int) async throws -> Int {
      let second = Int(clock.now.offset.components.seconds)
      let before = calls.elements.count { $0[0] == request }
      calls.append([request, second])
      if before < failures[request, default: 0] { throw Refused() }
      return request
    }
  }

  private func flaky(
    _ policy: UseCaseQueue.Policy, failures: [Int: Int],
    timeout: Duration = UseCaseTimeout.never,
    interceptors: [any UseCaseInterceptor] = [RetryInterceptor(attempts: 9)]
  ) -> Flaky {
    Flaky(
      queue: UseCaseQueue(policy, clock: clock, interceptors: interceptors), clock: clock,
      timeout: timeout, failures: failures)
  }

  @Test(arguments: [UseCaseQueue.Policy.unlimited, .serial, .limit(3)])
  func `retries wait for the window as others do`(policy: UseCaseQueue.Policy) async throws {
    let flaky = flaky(policy.rate(2, per: .seconds(1)), failures: [1: 5])
    let operation = flaky.execute(1)
    for second in 0..<3 {
      await flaky.calls.elements(atLeast: 2 * second + 2)
      guard second < 2 else { break }
      try await clock.sleeping(for: .seconds(1))
      await clock.advance(by: .seconds(1))
    }
    await operation.ended()
    #expect(flaky.calls.elements.map { $0[1] } == [0, 0, 1, 1, 2, 2])
    #expect(operation.fate == "+")
  }

  @Test func `in any second no more start than the rate allows, whoever retries`() async throws {
    let flaky = flaky(
      UseCaseQueue.Policy.serial.rate(2, per: .seconds(1)), failures: [1: 2, 2: 1, 4: 3])
    let operations = (1...5).map { flaky.execute($0) }
    // Eleven calls, two in each second.
    for second in 0...5 {
      await flaky.calls.elements(atLeast: min(2 * second + 2, 11))
      guard second < 5 else { break }
      try await clock.sleeping(for: .seconds(1))
      await clock.advance(by: .seconds(1))
    }
    await allEnded(operations)
    #expect(
      flaky.calls.elements == [
        [1, 0], [1, 0], [1, 1], [2, 1], [2, 2], [3, 2], [4, 3], [4, 3], [4, 4], [4, 4], [5, 5],
      ])
    #expect(fates(operations) == "+++++")
  }

  @Test func `a retry at the end of the window leaves nobody behind who waits for it`() async throws
  {
    for _ in 0..<200 {
      let retry = RetryInterceptor(attempts: 2, delay: .constant(.seconds(1)))
      let (clock, gate, calls) = (ManualClock(), Gate(), Log<Int>())
      let useCase = AnyUseCase<Int, Int>(
        queue: UseCaseQueue(
          .limit(4).rate(2, per: .seconds(1)), clock: clock, interceptors: [retry])
      ) { request in
        calls.append(request)
        if request == 1, clock.now.offset == .zero { throw Refused() }
        await gate.passIgnoringCancellation()
        return request
      }
      let operations = (1...3).map { useCase.execute($0) }
      // The alarm of the third one, and the pause of the first. The second call counts in this second.
      try await clock.sleeping(2)
      await calls.elements(atLeast: 2)
      await clock.advance(by: .seconds(1))
      while operations[2].state == .waiting { await Task.yield() }
      gate.open()
      await allEnded(operations)
    }
  }

  @Test func `a retry waits for the window, and not for a debounce`() async throws {
    let flaky = flaky(
      .keepLatest.debounced(by: .seconds(3)).spaced(by: .seconds(1)), failures: [1: 1])
    let first = flaky.execute(1)
    try await clock.sleeping(for: .seconds(3))
    await clock.advance(by: .seconds(3))
    await flaky.calls.elements(atLeast: 1)
    let second = flaky.execute(2)
    try await clock.sleeping(for: .seconds(1))
    await clock.advance(by: .seconds(1))
    await first.ended()
    #expect(flaky.calls.elements == [[1, 3], [1, 4]])
    try await clock.sleeping(for: .seconds(2))
    await clock.advance(by: .seconds(2))
    await second.ended()
    #expect(flaky.calls.elements == [[1, 3], [1, 4], [2, 6]])
  }

  @Test func `an attempt that asks as the window passes lets those go that wait`() async {
    let (clock, gate) = (SilentClock(), Gate())
    let calls = Log<Int>()
    let useCase = AnyUseCase<Int, Int>(
      queue: UseCaseQueue(
        .limit(2).rate(2, per: .seconds(1)), clock: clock,
        interceptors: [RetryInterceptor(attempts: 2)])
    ) { number in
      let isRetry = calls.elements.contains(number)
      calls.append(number)
      if isRetry { return number }
      if number == 2 { await gate.passIgnoringCancellation() }
      throw Refused()
    }
    let operations = (1...2).map { useCase.execute($0) }
    // The retry of the first waits for the window.
    await clock.sleeps.wait { $0 > 0 }
    clock.seconds.update { $0 = 1 }
    gate.open()
    for operation in operations { await operation.ended() }
    #expect(fates(operations) == "++")
  }

  @Test func `flush ends the wait of an attempt`() async throws {
    let flaky = flaky(UseCaseQueue.Policy.serial.spaced(by: .seconds(60)), failures: [1: 1])
    let operation = flaky.execute(1)
    await flaky.calls.elements(atLeast: 1)
    try await clock.sleeping()
    flaky.queue.flush()
    await operation.ended()
    #expect(flaky.calls.elements == [[1, 0], [1, 0]])
    // A start that was flushed is a start: what comes later pauses again.
    let next = flaky.execute(2)
    #expect(next.fate == "W")
    next.cancel()
    await next.ended()
  }

  @Test func `the timeout of an attempt that waits goes on`() async throws {
    let flaky = flaky(
      UseCaseQueue.Policy.serial.spaced(by: .seconds(60)), failures: [1: 1],
      timeout: .seconds(5))
    let operation = flaky.execute(1)
    await flaky.calls.elements(atLeast: 1)
    try await clock.sleeping(2)
    await clock.advance(by: .seconds(5))
    await #expect(throws: UseCaseTimeout.self) { try await operation.value }
    await operation.ended()
    #expect(flaky.calls.count == 1 && !flaky.queue.isBusy)
  }

  @Test func `an attempt that waits ends with the cancellation of its operation`() async throws {
    let flaky = flaky(UseCaseQueue.Policy.serial.spaced(by: .seconds(60)), failures: [1: 1])
    let operation = flaky.execute(1)
    await flaky.calls.elements(atLeast: 1)
    try await clock.sleeping()
    operation.cancel()
    await operation.ended()
    #expect(operation.fate == "C" && flaky.calls.count == 1 && !flaky.queue.isBusy)
  }

  /// Answers what it knows, without a call of `main`.
  private struct Cache: UseCaseInterceptor {
    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      if let number = request as? Int, number < 0, let known = number as? Response { return known }
      return try await next(request)
    }
  }

  @Test(arguments: [UseCaseQueue.Policy.serial, .limit(3), .unlimited])
  func `an operation that never calls main gives its place back`(
    policy: UseCaseQueue.Policy
  ) async {
    let flaky = flaky(
      policy.spaced(by: .seconds(60)), failures: [:], interceptors: [Cache()])
    // None of them waits for the clock, which stands.
    let operations = [-1, -2, -3, 4].map { flaky.execute($0) }
    await allEnded(operations)
    #expect(fates(operations) == "++++")
    #expect(flaky.calls.elements == [[4, 0]])
    let next = flaky.execute(5)
    #expect(next.fate == "W")
    next.cancel()
    await next.ended()
  }

  @Test func `one with a slot that has not called main yet counts as a start`() async throws {
    struct Slow: UseCaseInterceptor {
      let gate: Gate

      func intercept<Request: Sendable, Response: Sendable>(
        _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
      ) async throws -> Response {
        await gate.passIgnoringCancellation()
        return try await next(request)
      }
    }
    let gate = Gate()
    let flaky = flaky(
      UseCaseQueue.Policy.limit(3).spaced(by: .seconds(1)), failures: [:],
      interceptors: [Slow(gate: gate)])
    let operations = [flaky.execute(1), flaky.execute(2)]
    #expect(fates(operations) == "RW")
    gate.open()
    await operations[0].ended()
    #expect(fates(operations) == "+W")
    try await clock.sleeping(for: .seconds(1))
    await clock.advance(by: .seconds(1))
    await operations[1].ended()
    #expect(flaky.calls.elements == [[1, 0], [2, 1]])
  }

  @Test func `a call inside a held slot is no start`() async throws {
    let queue = UseCaseQueue(.serial.spaced(by: .seconds(60)), clock: clock)
    let flaky = Flaky(queue: queue, clock: clock)
    let outer = AnyUseCase(queue: queue) { (number: Int) in
      var sum = 0
      for inner in 1...5 { sum += try await flaky(number + inner) }
      return sum
    }
    // The clock stands.
    #expect(try await outer.execute(0).value == 15)
    #expect(flaky.calls.count == 5)
  }

  @Test func `a leading edge drops until the window of the last attempt is over`() async throws {
    let flaky = flaky(.dropWhileBusy.spaced(by: .seconds(2)), failures: [1: 1])
    let first = flaky.execute(1)
    await flaky.calls.elements(atLeast: 1)
    try await clock.sleeping(for: .seconds(2))
    #expect(flaky.execute(2).fate == "D")
    await clock.advance(by: .seconds(2))
    await first.ended()
    #expect(flaky.calls.elements == [[1, 0], [1, 2]])
    #expect(flaky.execute(3).fate == "D")
    await clock.advance(by: .seconds(2))
    let last = flaky.execute(4)
    await last.ended()
    #expect(last.fate == "+")
  }
}

/// A clock that tells the time, and never wakes anybody.
private struct SilentClock: Clock {
  let seconds = Watched(0)
  let sleeps = Watched(0)

  var now: ManualClock.Instant { .init(offset: .seconds(seconds.value)) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
    sleeps.update { $0 += 1 }
    try await Gate().pass()
  }
}
