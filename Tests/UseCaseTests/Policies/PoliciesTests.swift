import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct PoliciesTests {
  typealias Policy = UseCaseQueue.Policy

  @Test func `the names stand for limits and what happens when busy`() {
    #expect(Policy.serial == Policy(limit: 1, whenBusy: .wait))
    #expect(Policy.cancelPrevious == Policy(limit: 1, whenBusy: .cancelPrevious))
    #expect(Policy.cancelPreviousAndWait == Policy(limit: 1, whenBusy: .cancelPreviousAndWait))
    #expect(Policy.dropWhileBusy == Policy(limit: 1, whenBusy: .drop))
    #expect(Policy.keepLatest == Policy(limit: 1, whenBusy: .keepLatest))
    #expect(Policy.cancelPrevious(debounce: .seconds(1)) != Policy.cancelPrevious)
    #expect(UseCaseQueue(.serial).policy == .serial)
    #expect(UseCaseQueue().policy == .unlimited)
    #expect(UseCaseQueue.default.policy == .unlimited)
  }

  @Test(.holds("Shared queues"))
  func `a copied use case shares its queue`() async {
    let held = Held(.serial)
    let copy = held
    let operations = [held.execute(1), copy.execute(2)]
    #expect(fates(operations) == "RW")
    held.open(1...2)
    await allEnded(operations)
  }

  @Test func `use cases without a queue share the unlimited queue of the process`() async {
    let gate = Gate()
    let useCase = AnyUseCase { (_: Int) in await gate.passIgnoringCancellation() }
    #expect(useCase.queue === UseCaseQueue.default)
    let operations = (1...3).map { useCase.execute($0) }
    #expect(fates(operations) == "RRR")
    gate.open()
    await allEnded(operations)
  }

  @Test func `cancelPreviousAndWait with two slots supersedes the oldest, running or waiting`()
    async
  {
    let held = Held(.init(limit: 2, whenBusy: .cancelPreviousAndWait))
    var operations = held.executeFirst(2)
    await held.begun.elements(atLeast: 2)
    operations.append(held.execute(3))
    #expect(fates(operations) == "SRW")
    operations.append(held.execute(4))
    #expect(fates(operations) == "SSWW")
    operations.append(held.execute(5))
    #expect(fates(operations) == "SSSWW")
    held.open(2)
    await operations[1].ended()
    #expect(fates(operations) == "SSSRW")
    held.open(1...5)
    await allEnded(operations)
    #expect(fates(operations) == "SSS++")
    #expect(held.crowd.peak == 2)
  }

  @Test func `a superseded body sees its cancellation, its successor does not`() async {
    let seen = Log<String>()
    let gate = Gate()
    let useCase = AnyUseCase(queue: UseCaseQueue(.cancelPrevious)) { (number: Int) in
      if number == 1 {
        seen.append("first began")
        try? await gate.pass()
      }
      seen.append("\(number) \(Task.isCancelled)")
    }
    let first = useCase.execute(1)
    await seen.elements(atLeast: 1)
    let second = useCase.execute(2)
    await allEnded([first, second])
    #expect(Set(seen.elements) == ["first began", "1 true", "2 false"])
  }

  @Test func `a body that unwinds under cancelPrevious does not count as busy`() async {
    let held = Held(.cancelPrevious)
    let first = held.execute(1)
    await held.begun.elements(atLeast: 1)
    first.cancel()
    let operations = [first, held.execute(2), held.execute(3)]
    #expect(fates(operations) == "CSR")
    held.open(1...3)
    await allEnded(operations)
  }

  @Test func `a body that unwinds under drop and keepLatest does count as busy`() async {
    for (policy, expected) in [(Policy.dropWhileBusy, "CD"), (.keepLatest, "CW"), (.serial, "CW")] {
      let held = Held(policy)
      let first = held.execute(1)
      await held.begun.elements(atLeast: 1)
      first.cancel()
      let operations = [first, held.execute(2)]
      #expect(fates(operations) == expected)
      held.open(1...2)
      await allEnded(operations)
    }
  }
}

@Suite(.mustEnd)
struct DebounceTests {
  private let clock = ManualClock()
  private let held: Held

  init() {
    held = Held(on: UseCaseQueue(.cancelPrevious(debounce: .seconds(1)), clock: clock))
    held.open(1...9)
  }

  @Test func `an operation waits for the whole debounce, then starts`() async throws {
    let operation = held.execute(1)
    try await clock.sleeping()
    await clock.advance(by: .milliseconds(999))
    #expect(clock.sleepers == 1)
    #expect(fates([operation]) == "W")
    await clock.advance(by: .milliseconds(1))
    await operation.ended()
    #expect(fates([operation]) == "+")
  }

  @Test func `the debounce counts from execute, whatever its observer does`() async {
    let debounce = Duration.seconds(1)
    let queue = UseCaseQueue(.cancelPrevious(debounce: debounce), clock: clock) { [clock] event in
      if event.kind == .cancelled(.superseded) { clock.beginAdvance(by: debounce) }
    }
    let useCase = AnyUseCase<Int, Int>(queue: queue) { $0 }
    useCase.execute(1)
    let second = useCase.execute(2)
    await second.ended()
    #expect(fates([second]) == "+")
  }

  @Test(.holds("debounce"))
  func `of five quick operations only the last one ever starts`() async throws {
    let operations = held.executeFirst(5)
    #expect(fates(operations) == "SSSSW")
    #expect(held.queue.activity.waiting == 1)
    await allEnded(operations.dropLast())
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    await allEnded(operations)
    #expect(fates(operations) == "SSSS+")
    #expect(held.begun.elements == [5])
  }

  @Test func `the debounce of an incoming operation counts from its own execute`() async throws {
    let first = held.execute(1)
    try await clock.sleeping()
    await clock.advance(by: .milliseconds(600))
    let second = held.execute(2)
    #expect(fates([first, second]) == "SW")
    await first.ended()
    try await clock.sleeping()
    await clock.advance(by: .milliseconds(600))
    #expect(clock.sleepers == 1)
    #expect(fates([first, second]) == "SW")
    await clock.advance(by: .milliseconds(400))
    await allEnded([first, second])
    #expect(held.begun.elements == [2])
  }

  @Test(.holds("debounce"))
  func `an incoming operation supersedes the running one at once, and still waits`() async throws {
    let clock = clock
    let gates = [Gate(), Gate()]
    let begun = Log<Int>()
    let useCase = AnyUseCase(queue: held.queue) { (number: Int) in
      begun.append(number)
      await gates[number].passIgnoringCancellation()
    }
    let first = useCase.execute(0)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    await begun.elements(atLeast: 1)
    let second = useCase.execute(1)
    #expect(fates([first, second]) == "SW")
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    // The old body is still there: the new one overlaps it.
    await begun.elements(atLeast: 2)
    for gate in gates { gate.open() }
    await allEnded([first, second])
    #expect(fates([first, second]) == "S+")
  }

  @Test func `an operation cancelled during its debounce ends at once and never starts`()
    async throws
  {
    let operation = held.execute(1)
    try await clock.sleeping()
    operation.cancel()
    #expect(held.queue.activity.isIdle)
    await operation.ended()
    #expect(clock.sleepers == 0)
    await clock.advance(by: .seconds(5))
    let later = held.execute(2)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    await later.ended()
    #expect(held.begun.elements == [2])
  }

  @Test func `a suspended queue starts the debounced operation when it resumes`() async throws {
    held.queue.suspend()
    let operations = held.executeFirst(2)
    #expect(fates(operations) == "SW")
    await operations[0].ended()
    try await clock.sleeping()
    // A later debounce on the same clock: when its operation has ended, this one is long over.
    let later = Held(on: UseCaseQueue(.cancelPrevious(debounce: .seconds(1)), clock: clock))
    later.open(1)
    let operation = later.execute(1)
    try await clock.sleeping(2)
    await clock.advance(by: .seconds(1))
    await operation.ended()
    #expect(fates(operations) == "SW")
    held.queue.resume()
    await allEnded(operations)
    #expect(held.begun.elements == [2])
  }

  @Test func `a queue that resumes does not shorten the debounce`() async throws {
    held.queue.suspend()
    let operation = held.execute(1)
    held.queue.resume()
    try await clock.sleeping()
    #expect(fates([operation]) == "W")
    await clock.advance(by: .seconds(1))
    await operation.ended()
  }

  #if os(Linux) || os(macOS)
    @Test(.holds("Invalid policies"))
    func `a negative debounce traps`() async {
      await #expect(processExitsWith: .failure) {
        _ = UseCaseQueue.Policy.cancelPrevious(debounce: .seconds(-1))
      }
    }
  #endif
}
