import TestSupport
import Testing

@Suite(.mustEnd)
struct TestSupportTests {
  @Test func `a gate lets through whoever came before and after it opened`() async {
    let gate = Gate()
    let log = Log<Int>()
    async let early: Void = {
      await gate.pass()
      log.append(1)
    }()
    #expect(log.elements.isEmpty)
    #expect(!gate.isOpen)
    gate.open()
    gate.open()
    await early
    await gate.pass()
    #expect(gate.isOpen)
    #expect(log.elements == [1])
  }

  @Test func `a gate holds a cancelled task that ignores its cancellation`() async {
    let (entered, gate, log) = (Gate(), Gate(), Log<Bool>())
    let task = Task {
      entered.open()
      await gate.pass()
      log.append(Task.isCancelled)
    }
    await entered.pass()
    task.cancel()
    #expect(log.count == 0)
    gate.open()
    await task.value
    #expect(log.elements == [true])
  }

  @Test func `a gate lets a cancelled task that honours its cancellation go`() async {
    let gate = Gate()
    let task = Task { try await gate.passUnlessCancelled() }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!gate.isOpen)
  }

  @Test func `a wait and its cancellation race, and it always ends`() async throws {
    for _ in 1...2_000 {
      let gate = Gate()
      let task = Task { try await gate.passUnlessCancelled() }
      async let opened: Void = gate.open()
      task.cancel()
      await opened
      _ = await task.result
    }
  }

  @Test func `a log wakes its reader at the count asked for`() async {
    let log = Log<Int>()
    let reader = Task { await log.elements(atLeast: 3) }
    for number in 1...3 { log.append(number) }
    #expect(await reader.value == [1, 2, 3])
    #expect(await log.elements(atLeast: 2) == [1, 2, 3])
  }

  @Test func `a log loses nothing that eight threads write`() async {
    let log = Log<Int>()
    await withTaskGroup { group in
      for writer in 0..<8 {
        group.addTask { for number in 0..<250 { log.append(writer * 250 + number) } }
      }
    }
    #expect(log.elements.sorted() == Array(0..<2_000))
  }

  @Test func `a lifetime counts what is alive`() async {
    let (lifetime, log) = (Lifetime(), Log<Int>())
    var token: Lifetime.Token? = lifetime.track { log.append(1) }
    let other = lifetime.track()
    #expect(lifetime.alive == 2)
    withExtendedLifetime(token) {}
    token = nil
    #expect(lifetime.alive == 1)
    #expect(log.elements == [1])
    let over = Task { await lifetime.over() }
    withExtendedLifetime(other) {}
    _ = consume other
    await over.value
    #expect(lifetime.alive == 0)
  }

  @Test func `a test that hangs stops the run with its name, one that ends does not`() async throws
  {
    try await stopUnlessItEnds("quick", within: .seconds(60)) {}
    let result = await #expect(
      processExitsWith: .failure, observing: [\.standardErrorContent]
    ) {
      try await stopUnlessItEnds("slow", within: .milliseconds(1)) { await Gate().pass() }
    }
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains("“slow” hangs"))
  }
}

@Suite(.mustEnd)
struct ManualClockTests {
  @Test func `sleepers wake when their time has come, and not before`() async throws {
    let (clock, log) = (ManualClock(), Log<Int>())
    for seconds in [2, 1] {
      Task {
        try await clock.sleep(for: .seconds(seconds))
        log.append(seconds)
      }
    }
    await clock.sleepers(atLeast: 2)
    clock.advance(by: .milliseconds(999))
    #expect(clock.sleepers == 2)
    clock.advance(by: .milliseconds(1))
    #expect(clock.sleepers == 1)
    await log.elements(atLeast: 1)
    clock.advance(by: .seconds(1))
    #expect(clock.sleepers == 0)
    #expect(await log.elements(atLeast: 2) == [1, 2])
    #expect(clock.now == .init(offset: .seconds(2)))
    #expect(clock.sleeps.count == 2)
  }

  @Test func `a cancelled sleeper wakes at once with an error`() async {
    let clock = ManualClock()
    let task = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.sleepers(atLeast: 1)
    task.cancel()
    #expect(clock.sleepers == 0)
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `a sleep that was over before it was cancelled ends without an error`() async throws {
    let clock = ManualClock()
    let task = Task { try await clock.sleep(for: .seconds(1)) }
    await clock.sleepers(atLeast: 1)
    clock.advance(by: .seconds(1))
    task.cancel()
    try await task.value
  }

  @Test func `a sleep into the past does not wait`() async throws {
    let clock = ManualClock()
    clock.advance(by: .seconds(5))
    try await clock.sleep(until: clock.now, tolerance: nil)
    try await clock.sleep(for: .seconds(-1))
    #expect(clock.sleepers == 0)
  }
}
