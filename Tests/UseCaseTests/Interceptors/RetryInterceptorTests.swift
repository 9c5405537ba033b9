import TestSupport
import Testing

@testable import UseCase

@Suite(.mustEnd)
struct RetryInterceptorTests {
  private struct Broken: Error, Equatable { let attempt: Int }

  private let clock = ManualClock()

  /// A use case that fails until the attempt with that number.
  private func failing(
    until success: Int, retry: RetryInterceptor, timeout: Duration = UseCaseTimeout.never,
    begun: Log<Int> = Log()
  ) -> AnyUseCase<String, Int> {
    let queue = UseCaseQueue(.unlimited, clock: clock, interceptors: [retry])
    return AnyUseCase(queue: queue, timeout: timeout) { _ in
      begun.append(begun.elements.count + 1)
      let attempt = begun.elements.count
      guard attempt >= success else { throw Broken(attempt: attempt) }
      return attempt
    }
  }

  @Test(.holds("Attempts"))
  func `the first attempt that succeeds is the response`() async throws {
    let useCase = failing(until: 3, retry: RetryInterceptor(attempts: 5))
    #expect(try await useCase("go") == 3)
  }

  @Test(.holds("Attempts"))
  func `the error of the last attempt is the failure`() async {
    let useCase = failing(until: 9, retry: RetryInterceptor(attempts: 3))
    await #expect(throws: Broken(attempt: 3)) { try await useCase("go") }
  }

  @Test(.holds("What is retried"))
  func `an error that the predicate refuses is not tried again`() async {
    let retry = RetryInterceptor(attempts: 5) { ($0 as? Broken)?.attempt != 2 }
    await #expect(throws: Broken(attempt: 2)) { try await failing(until: 9, retry: retry)("go") }
  }

  @Test(.holds("Delays"))
  func `delays grow up to their cap, on the clock of the queue`() async throws {
    let retry = RetryInterceptor(
      attempts: 5, delay: .exponential(.seconds(1), factor: 3, cap: .seconds(5)))
    let operation = failing(until: 5, retry: retry).execute("go")
    var deadlines: [Duration] = []
    for delay in [1, 3, 5, 5] {
      try await clock.sleeping()
      deadlines.append(try #require(clock.deadlines.last?.offset) - clock.now.offset)
      await clock.advance(by: .seconds(delay))
    }
    #expect(deadlines == [.seconds(1), .seconds(3), .seconds(5), .seconds(5)])
    #expect(try await operation.value == 5)
  }

  @Test(.holds("Delays"))
  func `a delay sees the error and the number of the attempt that failed`() async throws {
    let seen = Log<[Int]>()
    let delay = RetryInterceptor.Delay.custom { error, attempt in
      seen.append([attempt, (error as? Broken)?.attempt ?? 0])
      return .seconds(10 * attempt)
    }
    let operation = failing(until: 3, retry: RetryInterceptor(attempts: 3, delay: delay))
      .execute("go")
    for seconds in [10, 20] {
      try await clock.sleeping(for: .seconds(seconds))
      await clock.advance(by: .seconds(seconds))
    }
    #expect(try await operation.value == 3)
    #expect(seen.elements == [[1, 1], [2, 2]])
  }

  @Test func `a delay below zero is none, however often it grows`() async {
    let delay = RetryInterceptor.Delay.exponential(.seconds(-1), cap: .seconds(5))
    let retry = RetryInterceptor(attempts: 200, delay: delay)
    let useCase = failing(until: 999, retry: retry)
    await #expect(throws: Broken(attempt: 200)) { try await useCase("go") }
    #expect(clock.sleepsBegun == 0)
  }

  @Test(.holds("Delays"))
  func `a clock of its own measures the delay`() async throws {
    let other = ManualClock()
    let retry = RetryInterceptor(attempts: 2, delay: .constant(.seconds(1)), clock: other)
    let operation = failing(until: 2, retry: retry).execute("go")
    try await other.sleeping()
    await other.advance(by: .seconds(1))
    #expect(try await operation.value == 2)
    #expect(clock.sleepsBegun == 0)
  }

  @Test(.holds("Interrupted delays"))
  func `cancellation ends a delay at once`() async throws {
    let begun = Log<Int>()
    let retry = RetryInterceptor(attempts: 5, delay: .constant(.seconds(60)))
    let operation = failing(until: 9, retry: retry, begun: begun).execute("go")
    try await clock.sleeping()
    operation.cancel()
    await operation.ended()
    #expect(begun.elements == [1])
  }

  @Test func `in a thousand races no pause outlives the flush that finds its sleeper`() async throws
  {
    final class Pauses: Sendable { let all = RetryPauses() }
    for _ in 0..<1_000 {
      let (pauses, clock) = (Pauses(), ManualClock())
      async let pause: Void = pauses.all.pause(for: .seconds(60), on: clock)
      try await clock.sleeping()
      pauses.all.end()
      try await pause
    }
  }

  @Test(.holds("Interrupted delays"))
  func `a timeout covers the delays and ends them`() async throws {
    let retry = RetryInterceptor(attempts: 9, delay: .constant(.seconds(60)))
    let operation = failing(until: 9, retry: retry, timeout: .seconds(90)).execute("go")
    try await clock.sleeping(2)
    await clock.advance(by: .seconds(60))
    try await clock.sleeping(2)
    await clock.advance(by: .seconds(30))
    await #expect(throws: UseCaseTimeout(duration: .seconds(90))) { try await operation.value }
    await operation.ended()
  }

  @Test(.holds("What is retried"))
  func `a cancelled body is not tried again`() async {
    let runs = Log<Int>()
    let queue = UseCaseQueue(interceptors: [RetryInterceptor(attempts: 5)])
    let useCase = AnyUseCase<Int, Int>(queue: queue) { number in
      runs.append(number)
      throw CancellationError()
    }
    await useCase.execute(1).ended()
    #expect(runs.elements == [1])
  }

  @Test(.holds("Jitter"))
  func `jitter shortens by no more than its fraction, the same for the same seed`() async throws {
    struct Seed: RandomNumberGenerator {
      mutating func next() -> UInt64 { 42 }
    }
    func delays() async throws -> [Duration] {
      let clock = ManualClock()
      let delay = RetryInterceptor.Delay.constant(.seconds(100)).jittered(by: 0.25, using: Seed())
      let retry = RetryInterceptor(attempts: 20, delay: delay, clock: clock)
      let operation = failing(until: 20, retry: retry).execute("go")
      var delays: [Duration] = []
      for _ in 1..<20 {
        try await clock.sleeping()
        delays.append((clock.deadlines.last?.offset ?? .zero) - clock.now.offset)
        await clock.advance(by: .seconds(100))
      }
      await operation.ended()
      return delays
    }
    let first = try await delays()
    #expect(first.allSatisfy { $0 > .seconds(75) && $0 <= .seconds(100) })
    #expect(Set(first).count > 10)
    #expect(try await delays() == first)
  }

  #if os(Linux) || os(macOS)
    @Test(.holds("Wrong values"))
    func `no attempt at all traps and says so`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = RetryInterceptor(attempts: 0)
      }
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(message?.contains("`attempts` must be 1 or more") == true)
    }
  #endif

  @Test(.holds("Delays"))
  func `a delay that grows beyond measure is its cap`() {
    let delay = RetryInterceptor.Delay.exponential(.seconds(1), factor: 1e300, cap: .seconds(5))
    #expect(
      (1...4).map { delay.duration(after: CancellationError(), attempt: $0) } == [
        .seconds(1), .seconds(5), .seconds(5), .seconds(5),
      ])
    let none = RetryInterceptor.Delay.exponential(.zero, cap: .seconds(5))
    #expect(none.duration(after: CancellationError(), attempt: 3) == .zero)
  }

  @Test func `the longest delay can be jittered`() {
    let longest = Duration(attoseconds: .max)
    for (delay, least) in [(longest, Duration.zero), (Duration(attoseconds: .min), .zero)] {
      for fraction in [0, 0.5, 1] {
        let jittered = RetryInterceptor.Delay.constant(delay)
          .jittered(by: fraction, using: SystemRandomNumberGenerator())
        for number in 1...50 {
          let pause = jittered.duration(after: Offline(), attempt: number)
          #expect(delay > least ? pause >= least && pause <= delay : pause <= least)
        }
      }
    }
  }

  #if os(Linux) || os(macOS)
    @Test(.holds("Wrong values"))
    func `a factor that is no number traps and says so`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = RetryInterceptor.Delay.exponential(.seconds(1), factor: .nan, cap: .seconds(5))
      }
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(message?.contains("`factor` must be finite and 0 or more, but it is nan") == true)
    }

    @Test(.holds("Wrong values"))
    func `a fraction above one traps and says so`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = RetryInterceptor.Delay.constant(.seconds(1))
          .jittered(by: 1.5, using: SystemRandomNumberGenerator())
      }
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(message?.contains("`fraction` must be from 0 to 1, but it is 1.5") == true)
    }
  #endif
}
