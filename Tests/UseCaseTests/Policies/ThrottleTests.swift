import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct ThrottleTests {
  private let clock = ManualClock()
  private let held: Held

  init() {
    held = Held(on: UseCaseQueue(.throttle(.seconds(1)), clock: clock))
  }

  /// Executes with this request, and returns when its body has returned.
  private func run(_ request: Int) async -> Operation {
    held.open(request)
    let operation = held.execute(request)
    await operation.ended()
    return operation
  }

  private func advance(byMilliseconds milliseconds: Int) async {
    await clock.advance(by: .milliseconds(milliseconds))
  }

  /// Advances the clock as soon as an operation sleeps on it.
  private func advanceSleeping(byMilliseconds milliseconds: Int) async throws {
    try await clock.sleeping()
    await advance(byMilliseconds: milliseconds)
  }

  @Test(.holds("throttle"))
  func `throttle starts the first of five at once, and the last after the interval`() async throws {
    let operations = held.executeFirst(5)
    #expect(fates(operations) == "RSSSW")
    #expect(held.queue.activity.waiting == 1)
    held.open(1...5)
    await allEnded(operations.dropLast())
    #expect(fates(operations) == "+SSSW")
    try await advanceSleeping(byMilliseconds: 999)
    #expect(clock.sleepers == 1)
    #expect(fates(operations) == "+SSSW")
    await advance(byMilliseconds: 1)
    await operations[4].ended()
    #expect(fates(operations) == "+SSS+")
    #expect(held.begun.elements == [1, 5])
  }

  @Test func `an operation starts at once when the last start is an interval ago`() async {
    let first = await run(1)
    await advance(byMilliseconds: 1_000)
    let operations = [first, held.execute(2)]
    #expect(fates(operations) == "+R")
    held.open(2)
    await allEnded(operations)
    #expect(clock.sleepsBegun == 0)
  }

  @Test(.holds("throttle"))
  func `in a long flood one operation starts in each interval, and the last one`() async throws {
    let starts = Log<String>()
    let useCase = AnyUseCase(queue: held.queue) { [clock] (number: Int) in
      starts.append("\(number) at \(clock.now.offset)")
      return number
    }
    for number in 0..<25 {
      let operation = useCase.execute(number)
      if operation.state == .waiting { try await clock.sleeping() } else { await operation.ended() }
      await advance(byMilliseconds: 100)
      if number % 10 == 9 { await operation.ended() }
    }
    await advance(byMilliseconds: 500)
    await held.queue.idle()
    #expect(
      starts.elements == [
        "0 at 0.0 seconds", "9 at 1.0 seconds", "19 at 2.0 seconds", "24 at 3.0 seconds",
      ])
  }

  @Test(.holds("The interval"))
  func `the interval is counted from the start of the last body, not from its end`() async throws {
    var operations = [held.execute(1)]
    await held.begun.elements(atLeast: 1)
    await advance(byMilliseconds: 600)
    held.open(1...2)
    await operations[0].ended()
    operations.append(held.execute(2))
    #expect(fates(operations) == "+W")
    try await advanceSleeping(byMilliseconds: 400)
    await allEnded(operations)
    #expect(fates(operations) == "++")
  }

  @Test func `the interval counts from execute, whatever its observer does`() async {
    let queue = UseCaseQueue(.throttle(.seconds(1)), clock: clock) { [clock] event in
      if event.kind == .cancelled(.superseded) { clock.beginAdvance(by: .seconds(1)) }
    }
    let useCase = AnyUseCase<Int, Int>(queue: queue) { $0 }
    let operations = (1...3).map { useCase.execute($0) }
    await allEnded(operations)
    #expect(fates(operations) == "+S+")
  }

  @Test(.holds("Slow throttled bodies"))
  func `a body that takes longer than the interval is not overlapped`() async throws {
    var operations = held.executeFirst(2)
    await held.begun.elements(atLeast: 1)
    try await advanceSleeping(byMilliseconds: 5_000)
    operations.append(held.execute(3))
    #expect(fates(operations) == "RSW")
    held.open(1...4)
    await operations[0].ended()
    #expect(fates(operations.dropLast()) == "+S")
    await operations[2].ended()
    // The third has started at five seconds.
    operations.append(held.execute(4))
    #expect(fates(operations) == "+S+W")
    try await advanceSleeping(byMilliseconds: 1_000)
    await allEnded(operations)
    #expect(held.crowd.peak == 1)
  }

  @Test(.holds("The interval"))
  func `an operation that is cancelled while it waits is no start`() async throws {
    let first = await run(1)
    let second = held.execute(2)
    try await advanceSleeping(byMilliseconds: 400)
    second.cancel()
    #expect(held.queue.activity.isIdle)
    await second.ended()
    #expect(clock.sleepers == 0)
    await advance(byMilliseconds: 600)
    let operations = [first, second, held.execute(3)]
    #expect(fates(operations) == "+CR")
    held.open(3)
    await allEnded(operations)
    #expect(held.begun.elements == [1, 3])
  }

  @Test(.holds("The interval"))
  func `an operation that is superseded while it waits is no start`() async throws {
    let first = await run(1)
    let second = held.execute(2)
    try await advanceSleeping(byMilliseconds: 400)
    let operations = [first, second, held.execute(3)]
    #expect(fates(operations) == "+SW")
    await second.ended()
    try await clock.sleeping()
    held.open(3)
    await advance(byMilliseconds: 600)
    await allEnded(operations)
    #expect(held.begun.elements == [1, 3])
  }

  @Test(.holds("The interval"))
  func `the interval goes on when the running operation is cancelled`() async throws {
    let first = held.execute(1)
    await held.begun.elements(atLeast: 1)
    first.cancel()
    let operations = [first, held.execute(2)]
    #expect(fates(operations) == "CW")
    held.open(1...2)
    await first.ended()
    try await advanceSleeping(byMilliseconds: 999)
    #expect(fates(operations) == "CW")
    await advance(byMilliseconds: 1)
    await allEnded(operations)
    #expect(fates(operations) == "C+")
  }

  @Test(.holds("Suspended throttles"))
  func `a throttled queue that resumes within the interval goes on waiting`() async throws {
    let first = await run(1)
    held.queue.suspend()
    let operations = [first, held.execute(2), held.execute(3)]
    #expect(fates(operations) == "+SW")
    held.queue.resume()
    #expect(fates(operations) == "+SW")
    await operations[1].ended()
    try await clock.sleeping()
    held.open(3)
    await advance(byMilliseconds: 1_000)
    await allEnded(operations)
    #expect(fates(operations) == "+S+")
  }

  @Test(.holds("Suspended throttles"))
  func `a throttled queue that resumes after the interval starts the newest at once`() async throws
  {
    var operations = [await run(1)]
    await advance(byMilliseconds: 1_000)
    held.queue.suspend()
    operations += [held.execute(2), held.execute(3)]
    #expect(fates(operations) == "+SW")
    await advance(byMilliseconds: 1_000)
    held.queue.resume()
    #expect(fates(operations) == "+SR")
    held.open(3...4)
    await operations[2].ended()
    // The interval is counted from the start, which was at two seconds.
    operations.append(held.execute(4))
    #expect(fates(operations) == "+S+W")
    try await advanceSleeping(byMilliseconds: 1_000)
    await allEnded(operations)
  }

  @Test(.holds("The end of a throttled wait"))
  func `cancelAll cancels the operation that waits for the interval`() async throws {
    let operations = [await run(1), held.execute(2)]
    try await clock.sleeping()
    held.queue.cancelAll()
    #expect(fates(operations) == "+C")
    #expect(held.queue.activity.isIdle)
    await held.queue.idle()
    await allEnded(operations)
    #expect(clock.sleepers == 0)
  }

  @Test @MainActor func `idle waits for the operation that waits for the interval`() async {
    _ = await run(1)
    held.open(2)
    held.execute(2)
    // It runs when the test gives up the main actor: when it waits.
    Task { await advance(byMilliseconds: 1_000) }
    await held.queue.idle()
    #expect(held.returned.elements == [1, 2])
  }

  @Test(.holds("The interval"))
  func `a clock that jumps over many intervals starts one operation`() async throws {
    var operations = [await run(1), held.execute(2)]
    held.open(2...3)
    try await clock.sleeping()
    await clock.advance(by: .seconds(3_600))
    await operations[1].ended()
    operations.append(held.execute(3))
    #expect(fates(operations) == "++W")
    try await advanceSleeping(byMilliseconds: 1_000)
    await allEnded(operations)
  }

  @Test(.holds("throttle"))
  func `throttle with an interval of zero is keepLatest`() async {
    #expect(UseCaseQueue.Policy.throttle(.zero) == .keepLatest)
    let held = Held(on: UseCaseQueue(.throttle(.zero), clock: clock))
    let operations = held.executeFirst(5)
    #expect(fates(operations) == "RSSSW")
    held.open(1...5)
    await allEnded(operations)
    #expect(fates(operations) == "+SSS+")
    #expect(clock.sleepsBegun == 0)
  }

  @Test(.holds("The end of a throttled wait"))
  func `a throttled operation still runs when its queue was let go`() async throws {
    let lifetime = Lifetime()
    var useCase: AnyUseCase<Int, Int>? = AnyUseCase(
      queue: UseCaseQueue(.throttle(.seconds(1)), clock: clock)
    ) { [token = lifetime.track()] number in
      withExtendedLifetime(token) {}
      return number
    }
    weak let queue = useCase?.queue
    let operations = (1...3).compactMap { useCase?.execute($0) }
    useCase = nil
    await allEnded(operations.dropLast())
    try await advanceSleeping(byMilliseconds: 1_000)
    await allEnded(operations)
    #expect(fates(operations) == "+S+")
    #expect(lifetime.alive == 0)
    withExtendedLifetime(operations) { #expect(queue != nil) }
  }

  @Test(.holds("The end of a throttled wait"))
  func `nothing sleeps and nothing is left when the waiting operation is cancelled`() async throws {
    let lifetime = Lifetime()
    weak var queue: UseCaseQueue?
    do {
      let useCase = AnyUseCase(queue: UseCaseQueue(.throttle(.seconds(1)), clock: clock)) {
        [token = lifetime.track()] (number: Int) in
        withExtendedLifetime(token) {}
        return number
      }
      queue = useCase.queue
      let operations = [useCase.execute(1), useCase.execute(2)]
      await operations[0].ended()
      try await clock.sleeping()
      operations[1].cancel()
      await operations[1].ended()
    }
    #expect(clock.sleepers == 0)
    await lifetime.over()
    while queue != nil { await Task.yield() }
  }

  @Test func `a body that awaits its successor in a throttled queue fails as a deadlock`() async {
    let queue = held.queue
    let useCase = AnyUseCase(queue: queue) { (number: Int) in
      number == 1 ? try await AnyUseCase(queue: queue) { $0 }.execute(2).value : number
    }
    let outcome = await useCase.execute(1).ended()
    #expect(throws: UseCaseDeadlock.self) { try outcome.get() }
    queue.cancelAll()
  }

  @Test func `a throttled operation is told as waiting, then as running`() async throws {
    let events = Log<String>()
    let queue = UseCaseQueue(.throttle(.seconds(1)), clock: clock) { event in
      events.append("\(event.kind)")
    }
    let useCase = AnyUseCase(queue: queue) { (number: Int) in number }
    await useCase.execute(1).ended()
    let second = useCase.execute(2)
    try await advanceSleeping(byMilliseconds: 1_000)
    await second.ended()
    let told = ["running", "succeeded", "ended"]
    #expect(events.elements == told + ["waiting"] + told)
  }

  @Test(.holds("throttle"))
  func `the last operation of a burst from eight tasks runs`() async {
    let queue = UseCaseQueue(.throttle(.milliseconds(1)))
    let useCase = AnyUseCase(queue: queue) { (number: Int) in number }
    for _ in 1...20 {
      await withTaskGroup { group in
        for _ in 1...8 { group.addTask { for number in 1...20 { useCase.execute(number) } } }
      }
      let last = useCase.execute(0)
      await last.ended()
      #expect(fates([last]) == "+")
    }
    await queue.idle()
    #expect(queue.activity.executed == 20 * 161)
  }

  #if os(Linux) || os(macOS)
    @Test(.holds("Invalid policies"))
    func `a negative interval traps and says so`() async {
      let trap = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) { _ = UseCaseQueue.Policy.throttle(.nanoseconds(-1)) }
      let output = String(decoding: trap?.standardErrorContent ?? [], as: UTF8.self)
      #expect(output.contains("interval"), "\(output)")
    }
  #endif
}
