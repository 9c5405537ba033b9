import TestSupport
import Testing
import UseCase
import UseCaseTesting

@Suite(.mustEnd)
struct ManualClockTests {
  private let clock = ManualClock()
  private let log = Log<Int>()
  private let executor = SerialExecutor()

  /// Returns when a task sleeps that logs the number afterwards. All of them run on one thread, one
  /// after the other, so that the log shows the order in which they were resumed.
  private func addSleeper(_ number: Int, for duration: Duration) async throws {
    let sleepers = clock.sleepers
    Task(executorPreference: executor) { [clock, log] in
      try await clock.sleep(for: duration)
      log.append(number)
    }
    try await clock.sleeping(sleepers + 1)
  }

  /// Sleeps, then logs the number.
  private func sleeper(_ number: Int, for duration: Duration) -> Task<Void, any Error> {
    Task { [clock, log] in
      try await clock.sleep(for: duration)
      log.append(number)
    }
  }

  @Test func `a task sleeps until the clock shows its deadline, and no longer`() async throws {
    let tasks = [sleeper(2, for: .seconds(2)), sleeper(1, for: .seconds(1))]
    try await clock.sleeping(2)
    await clock.advance(by: .milliseconds(999))
    #expect(clock.sleepers == 2)
    await clock.advance(by: .milliseconds(1))
    #expect(clock.sleepers == 1)
    try await tasks[1].value
    await clock.advance(by: .seconds(1))
    try await tasks[0].value
    #expect(clock.sleepers == 0)
    #expect(log.elements == [1, 2])
    #expect(clock.now == .init(offset: .seconds(2)))
  }

  @Test func `one advance resumes the earliest deadline first`() async throws {
    for seconds in [3, 1, 4, 2] { try await addSleeper(seconds, for: .seconds(seconds)) }
    await clock.advance(by: .seconds(10))
    #expect(await log.elements(atLeast: 4) == [1, 2, 3, 4])
  }

  @Test func `tasks with one deadline are resumed in the order in which they fell asleep`()
    async throws
  {
    for number in 1...8 { try await addSleeper(number, for: .seconds(1)) }
    await clock.advance(by: .seconds(1))
    #expect(await log.elements(atLeast: 8) == [1, 2, 3, 4, 5, 6, 7, 8])
  }

  @Test func `every resumed task sees the time to which the clock was advanced`() async throws {
    let clock = clock
    let tasks = [1, 2].map { seconds in
      Task {
        try await clock.sleep(for: .seconds(seconds))
        return clock.now.offset
      }
    }
    try await clock.sleeping(2)
    await clock.advance(by: .seconds(5))
    for task in tasks { #expect(try await task.value == .seconds(5)) }
  }

  @Test func `a resumed task that sleeps again counts from the time that the clock shows`()
    async throws
  {
    let clock = clock
    let task = Task {
      for _ in 1...3 { try await clock.sleep(for: .seconds(1)) }
      return clock.now.offset
    }
    for _ in 1...3 {
      try await clock.sleeping()
      await clock.advance(by: .seconds(10))
    }
    #expect(try await task.value == .seconds(30))
  }

  @Test func `a deadline that an advance has passed suspends nobody`() async throws {
    let clock = clock
    let task = Task {
      for second in 1...5 { try await clock.sleep(until: .init(offset: .seconds(second))) }
    }
    try await clock.sleeping()
    await clock.advance(by: .seconds(5))
    try await task.value
    #expect(clock.sleepsBegun == 1)
  }

  @Test func `a sleep of zero or into the past returns at once`() async throws {
    await clock.advance(by: .seconds(5))
    try await clock.sleep(until: clock.now)
    try await clock.sleep(for: .seconds(-1))
    #expect(clock.sleepsBegun == 0)
  }

  @Test func `a sleeping task that is cancelled throws at once`() async throws {
    let task = sleeper(1, for: .seconds(1))
    try await clock.sleeping()
    task.cancel()
    #expect(clock.sleepers == 0)
    await #expect(throws: CancellationError.self) { try await task.value }
    await clock.advance(by: .seconds(1))
    #expect(log.count == 0)
  }

  @Test func `a cancelled task never falls asleep`() async {
    let clock = clock
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleep(for: .seconds(1))
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(clock.sleepsBegun == 0)
  }

  @Test func `a sleep that was over before it was cancelled ends without an error`() async throws {
    let task = sleeper(1, for: .seconds(1))
    try await clock.sleeping()
    clock.beginAdvance(by: .seconds(1))
    task.cancel()
    try await task.value
  }

  @Test func `in races of advance and cancel every task goes on, and every advance ends`()
    async throws
  {
    for round in 0..<1_000 {
      let clock = ManualClock()
      let tasks = (1...4).map { number in
        Task { try await clock.sleep(for: .seconds(number % 2 + 1)) }
      }
      if round % 2 == 0 { try await clock.sleeping(4) }
      async let advanced: Void = clock.advance(by: .seconds(1))
      for task in tasks[..<(round % 5)] { task.cancel() }
      await advanced
      await clock.advance(by: .seconds(9))
      for (index, task) in tasks.enumerated() {
        // A task that came after the advances sleeps on.
        if round % 2 == 1 { task.cancel() }
        if case .failure = await task.result { #expect(index < round % 5 || round % 2 == 1) }
      }
      #expect(clock.sleepers == 0)
    }
  }

  @Test func `advances from several tasks add up, and resume every task that is due`() async throws
  {
    for _ in 0..<200 {
      let clock = ManualClock()
      let tasks = (1...8).map { number in Task { try await clock.sleep(for: .seconds(number)) } }
      try await clock.sleeping(8)
      await withTaskGroup { group in
        for _ in 1...8 { group.addTask { await clock.advance(by: .seconds(1)) } }
      }
      #expect(clock.now.offset == .seconds(8))
      #expect(clock.sleepers == 0)
      for task in tasks { try await task.value }
    }
  }

  @Test func `an advance ends after the one before it`() async throws {
    for number in 1...8 { try await addSleeper(number, for: .seconds(1)) }
    let first = clock.beginAdvance(by: .seconds(1))
    await clock.advance(by: .zero)
    #expect(first.isFulfilled)
  }

  @Test func `an advance in a cancelled task advances all the same`() async throws {
    let (clock, task) = (clock, sleeper(1, for: .seconds(1)))
    try await clock.sleeping()
    await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      await clock.advance(by: .seconds(1))
    }.value
    try await task.value
  }

  @Test func `a resumed task may advance the clock`() async throws {
    let clock = clock
    let first = Task {
      try await clock.sleep(for: .seconds(1))
      await clock.advance(by: .seconds(1))
    }
    let second = sleeper(2, for: .seconds(2))
    try await clock.sleeping(2)
    await clock.advance(by: .seconds(1))
    try await first.value
    try await second.value
  }

  @Test func `sleeping returns when the last of several tasks falls asleep`() async throws {
    let (clock, log) = (clock, log)
    let waiters = [1, 2, 3].map { count in
      Task {
        try await clock.sleeping(count)
        log.append(clock.sleepers - count)
      }
    }
    var tasks: [Task<Void, any Error>] = []
    for count in 1...3 {
      tasks.append(Task { try await clock.sleep(for: .seconds(1)) })
      try await waiters[count - 1].value
    }
    try await clock.sleeping(0)
    #expect(log.elements.allSatisfy { $0 >= 0 })
    await clock.advance(by: .seconds(1))
    for task in tasks { try await task.value }
  }

  @Test func `a wait for sleepers ends when its task is cancelled`() async throws {
    let clock = clock
    let waits: [@Sendable () async throws -> Void] = [
      { try await clock.sleeping() }, { try await clock.sleeping(for: .seconds(1)) },
    ]
    for wait in waits {
      let waiter = Task { try await wait() }
      waiter.cancel()
      await #expect(throws: CancellationError.self) { try await waiter.value }
    }
    let task = sleeper(1, for: .seconds(1))
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    try await task.value
  }

  @Test func `a cancelled task does not wait for sleepers, whether or not they are there`() async {
    let clock = clock
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.sleeping(0)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `a wait for a certain sleep lets the others be`() async throws {
    let (clock, log) = (clock, log)
    try await addSleeper(5, for: .seconds(5))
    let waiter = Task(executorPreference: executor) {
      try await clock.sleeping(for: .seconds(1))
      log.append(clock.sleepers)
    }
    await Task(executorPreference: executor) {}.value
    try await addSleeper(2, for: .seconds(2))
    #expect(log.count == 0)
    try await addSleeper(1, for: .seconds(1))
    try await waiter.value
    #expect(log.elements == [3])
    try await clock.sleeping(for: .seconds(5))
    await clock.advance(by: .seconds(5))
    #expect(await log.elements(atLeast: 4) == [3, 1, 2, 5])
  }

  @Test func `a certain sleep is counted from the time that the clock shows`() async throws {
    let clock = clock
    try await addSleeper(5, for: .seconds(5))
    let waiter = Task(executorPreference: executor) { try await clock.sleeping(for: .seconds(2)) }
    await Task(executorPreference: executor) {}.value
    // The sleep began with five seconds; three of them have passed.
    await clock.advance(by: .seconds(3))
    try await waiter.value
    try await clock.sleeping(for: .seconds(2))
    await clock.advance(by: .seconds(2))
    #expect(await log.elements(atLeast: 1) == [5])
  }

  @Test func `an operation whose pause is over runs when the advance returns`() async throws {
    for _ in 0..<500 {
      let queue = UseCaseQueue(.throttle(.seconds(1)), clock: clock)
      let useCase = AnyUseCase<Int, Int>(queue: queue) { $0 }
      await useCase.execute(1).ended()
      let operation = useCase.execute(2)
      try await clock.sleeping()
      await clock.advance(by: .seconds(1))
      #expect(operation.state != .waiting)
      await operation.ended()
    }
  }

  @Test func `an operation whose time has passed has its outcome when the advance returns`()
    async throws
  {
    for _ in 0..<500 {
      let gate = Gate()
      let useCase = AnyUseCase<Int, Int>(queue: UseCaseQueue(clock: clock), timeout: .seconds(1)) {
        try await gate.pass()
        return $0
      }
      let operation = useCase.execute(1)
      try await clock.sleeping()
      await clock.advance(by: .seconds(1))
      #expect(operation.outcome != nil)
      await operation.ended()
    }
  }

  @Test func `a hundred sleepers are resumed by one advance`() async throws {
    let tasks = (0..<100).map { sleeper($0, for: .seconds(1 + $0 % 7)) }
    try await clock.sleeping(100)
    await clock.advance(by: .seconds(7))
    for task in tasks { try await task.value }
    #expect(log.count == 100)
  }

  #if os(Linux) || os(macOS)
    @Test func `an advance of less than zero traps and says so`() async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        await ManualClock().advance(by: .seconds(-1))
      }
      let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(output.contains("it never goes back"))
    }

    @Test func `a wait for less than zero sleepers traps and says so`() async throws {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        try await ManualClock().sleeping(-1)
      }
      let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(output.contains("Wait for zero sleepers or more"))
    }

    @Test func `a wait for a sleep of zero traps and says so`() async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        try await ManualClock().sleeping(for: .zero)
      }
      let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(output.contains("Wait for a sleep of more than zero"))
    }
  #endif
}
