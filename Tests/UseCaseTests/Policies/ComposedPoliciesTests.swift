import TestSupport
import Testing
import UseCase

/// Policies made of parts, on a clock that a test advances.
@Suite(.mustEnd)
struct ComposedPoliciesTests {
  private let clock = ManualClock()

  private func held(_ policy: UseCaseQueue.Policy) -> Held {
    Held(on: UseCaseQueue(policy, clock: clock))
  }

  /// Advances the clock as soon as a queue sleeps for that long.
  private func pass(_ duration: Duration) async throws {
    try await clock.sleeping(for: duration)
    await clock.advance(by: duration)
  }

  @Test(.holds("Debounce"))
  func `an autosave waits for a pause, never overlaps, and saves the last text`() async throws {
    let held = held(.keepLatest.debounced(by: .seconds(1), atMost: .seconds(10)))
    var operations = [held.execute(1), held.execute(2)]
    #expect(fates(operations) == "SW")
    await clock.advance(by: .milliseconds(500))
    operations.append(held.execute(3))
    try await pass(.seconds(1))
    await held.begun.elements(atLeast: 1)
    #expect(fates(operations) == "SSR")
    // The save takes longer than the pause of the next one.
    operations.append(held.execute(4))
    try await pass(.seconds(1))
    #expect(fates(operations) == "SSRW")
    held.open(3...4)
    await allEnded(operations)
    #expect(fates(operations) == "SS++")
    #expect(held.crowd.peak == 1 && clock.sleepers == 0)
  }

  @Test(.holds("Debounce"))
  func `a burst that never pauses is saved in between`() async throws {
    let held = held(.keepLatest.debounced(by: .seconds(2), atMost: .seconds(3)))
    var operations: [Operation] = []
    for number in 1...4 {
      operations.append(held.execute(number))
      try await clock.sleeping()
      await clock.advance(by: .seconds(1))
    }
    await held.begun.elements(atLeast: 1)
    #expect(fates(operations) == "SSRW")
    try await pass(.seconds(1))
    held.open(1...4)
    await allEnded(operations)
    #expect(held.begun.elements == [3, 4])
  }

  @Test(.holds("Debounce and rate"))
  func `a debounce and a rate end with the later of both`() async throws {
    let policy = UseCaseQueue.Policy.keepLatest.debounced(by: .seconds(1))
    let held = held(policy.spaced(by: .seconds(3)))
    held.open(1...3)
    var operations = [held.execute(1)]
    try await pass(.seconds(1))
    await operations[0].ended()
    operations.append(held.execute(2))
    try await pass(.seconds(3))
    await operations[1].ended()
    await clock.advance(by: .seconds(3))
    operations.append(held.execute(3))
    try await pass(.seconds(1))
    await allEnded(operations)
    #expect(fates(operations) == "+++")
  }

  @Test(.holds("Rate"))
  func `requests go out so many a second, in order, and none is lost`() async throws {
    let held = held(.unlimited.rate(2, per: .seconds(1)))
    held.open(1...5)
    let operations = held.executeFirst(5)
    await allEnded(Array(operations[..<2]))
    #expect(fates(operations) == "++WWW")
    try await pass(.seconds(1))
    await allEnded(Array(operations[..<4]))
    #expect(fates(operations) == "++++W")
    try await pass(.seconds(1))
    await allEnded(operations)
    #expect(held.begun.elements.sorted() == [1, 2, 3, 4, 5] && clock.sleepers == 0)
  }

  @Test(.holds("Rate"))
  func `a button that is spaced acts on the leading edge only`() async {
    let held = held(.dropWhileBusy.spaced(by: .seconds(1)))
    held.open(1...3)
    var operations = [held.execute(1)]
    await operations[0].ended()
    operations.append(held.execute(2))
    #expect(fates(operations) == "+D" && clock.sleepers == 0)
    await clock.advance(by: .seconds(1))
    operations.append(held.execute(3))
    await allEnded(operations)
    #expect(fates(operations) == "+D+")
  }

  @Test(.holds("Rate"))
  func `a search with a rate cancels at once, and starts when the window allows`() async throws {
    let held = held(.cancelPrevious.spaced(by: .seconds(1)))
    var operations = held.executeFirst(3)
    #expect(fates(operations) == "SSW")
    #expect(held.queue.activity.waiting == 1)
    try await pass(.seconds(1))
    operations.append(held.execute(4))
    #expect(fates(operations) == "SSSW")
    held.open(1...4)
    try await pass(.seconds(1))
    await allEnded(operations)
    #expect(fates(operations) == "SSS+")
  }

  @Test(.holds("Rate"))
  func `a line with an end counts those that wait for the window`() async throws {
    let held = held(.unlimited.spaced(by: .seconds(1)).waiting(atMost: 2))
    held.open(1...4)
    let operations = held.executeFirst(4)
    #expect(fates(Array(operations[1...])) == "WWD")
    held.queue.flush()
    await allEnded(operations)
    #expect(fates(operations) == "+++D" && clock.sleepers == 0)
  }

  @Test(.holds("Flush"))
  func `a flush saves at once what a debounce holds back, and nothing later`() async throws {
    let held = held(.keepLatest.debounced(by: .seconds(1), atMost: .seconds(10)))
    held.open(1...2)
    var operations = [held.execute(1)]
    held.queue.flush()
    await operations[0].ended()
    #expect(clock.sleepers == 0)
    operations.append(held.execute(2))
    #expect(fates(operations) == "+W")
    try await pass(.seconds(1))
    await allEnded(operations)
    #expect(fates(operations) == "++")
  }

  @Test(.holds("Flush"))
  func `a flush passes over neither a slot nor a suspension`() async {
    let held = held(.serial.spaced(by: .seconds(1)))
    held.queue.suspend()
    let operations = held.executeFirst(3)
    held.queue.flush()
    #expect(fates(operations) == "WWW")
    held.queue.resume()
    #expect(fates(operations) == "RWW")
    held.open(1...3)
    await allEnded(operations)
    #expect(held.begun.elements == [1, 2, 3] && clock.sleepers == 0)
  }

  @Test(.holds("Flush"))
  func `a flush of lanes flushes each lane`() async {
    let lanes = UseCaseLanes<Int>(.keepLatest.debounced(by: .seconds(1)), clock: clock)
    let operations = (1...3).map { key in
      AnyUseCase<Int, Int>(queue: lanes[key]) { $0 }.execute(key)
    }
    #expect(fates(operations) == "WWW")
    lanes.flush()
    await lanes.idle()
    #expect(fates(operations) == "+++")
  }

  @Test(.holds("Line by priority", "Raised priority"))
  func `an urgent operation goes before those that wait, and so does one that is raised`() async {
    let held = held(.serial.byPriority)
    held.open(2...5)
    let operations = [
      held.execute(1), held.execute(2, priority: .background),
      held.execute(3, priority: .background), held.execute(4, priority: .high),
      held.execute(5, priority: .background),
    ]
    operations[4].raise(to: .medium)
    operations[4].raise(to: .low)
    #expect(operations[3].priority == .high && operations[4].priority == .medium)
    held.open(1)
    await allEnded(operations)
    #expect(held.begun.elements == [1, 4, 5, 2, 3])
  }

  @Test(.holds("Raised priority"))
  func `the task of an operation that is raised is escalated, also while it waits`() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let gate = Gate()
    let queue = UseCaseQueue(.serial)
    let useCase = AnyUseCase<Int, TaskPriority>(queue: queue) { _ in
      try await gate.pass()
      return Task.currentPriority
    }
    let operations = (1...3).map { useCase.execute($0, priority: .background) }
    operations[0].raise(to: .high)
    operations[1].raise(to: .medium)
    gate.open()
    for (operation, priority) in zip(operations, [TaskPriority.high, .medium, .background]) {
      #expect(try await operation.value == priority)
    }
  }

  @Test func `an operation that pauses and is cancelled leaves no timer`() async throws {
    let held = held(.serial.spaced(by: .seconds(1)))
    held.open(1)
    let operations = held.executeFirst(3)
    try await clock.sleeping()
    operations[1].cancel()
    #expect(clock.sleepers == 1)
    operations[2].cancel()
    #expect(clock.sleepers == 0)
    await allEnded(operations)
    #expect(fates(operations) == "+CC")
  }

  @Test func `a clock that cannot sleep keeps nothing waiting`() async {
    struct Broken: Clock {
      struct Failed: Error {}
      let base = ManualClock()
      var now: ManualClock.Instant { base.now }
      var minimumResolution: Duration { .zero }
      func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        throw Failed()
      }
    }
    let queue = UseCaseQueue(.serial.spaced(by: .seconds(1)), clock: Broken())
    let useCase = AnyUseCase<Int, Int>(queue: queue) { $0 }
    let operations = (1...3).map { useCase.execute($0) }
    await allEnded(operations)
    #expect(fates(operations) == "+++")
  }
}
