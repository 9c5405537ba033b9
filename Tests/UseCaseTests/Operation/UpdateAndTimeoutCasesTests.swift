import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct UpdateCasesTests {
  private let log = Log<String>()

  private func execute(_ counting: Counting, _ request: Int) -> Operation {
    counting.gate.open()
    return counting.execute(request) { [log] in log.append("update \($0)") }
  }

  @Test func `updates arrive in the order in which they are reported`() async {
    await execute(Counting(on: UseCaseQueue()), 3).ended()
    #expect(log.elements == ["update 1", "update 2", "update 3"])
  }

  @Test(.holds("Before the end"))
  func `all updates come before the response`() async {
    await execute(Counting(on: UseCaseQueue()), 3).record(in: log).ended()
    #expect(
      log.elements == ["update 1", "update 2", "update 3", "then 3", "common", "finally"])
  }

  @Test(.holds("Before the end"))
  func `all updates come before catch and common`() async {
    await execute(Counting(on: UseCaseQueue(), failure: Refused()), 2).record(in: log).ended()
    #expect(
      log.elements == [
        "update 1", "update 2", "catch Refused(reason: \"no\")", "common", "finally",
      ])
  }

  @Test @MainActor
  func `update, then and finally written on the main actor run there`() async {
    var calls: [String] = []
    let counting = Counting(on: UseCaseQueue())
    counting.gate.open()
    await counting.execute(2) { calls.append("update \($0) \(isOnMainActor())") }
      .then { calls.append("then \($0) \(isOnMainActor())") }
      .finally { calls.append("finally \(isOnMainActor())") }
      .ended()
    #expect(calls == ["update 1 true", "update 2 true", "then 2 true", "finally true"])
  }
}

@Suite(.mustEnd)
struct TimeoutCasesTests {
  private let log = Log<String>()
  private let clock = ManualClock()
  private let held: Held

  init() {
    held = Held(on: UseCaseQueue(clock: clock), timeout: .seconds(2))
  }

  /// Executes, and returns when the body has begun and its time is being counted.
  private func begin() async throws -> Operation {
    let operation = held.execute(1)
    await held.begun.elements(atLeast: 1)
    try await clock.sleeping()
    return operation
  }

  @Test func `a timeout longer than the work is never heard of`() async throws {
    let operation = try await begin().record(in: log)
    await clock.advance(by: .seconds(1))
    held.open(1)
    await operation.ended()
    await clock.advance(by: .seconds(10))
    await operation.ended()
    #expect(operation.fate == "+")
    #expect(log.elements == ["then 1", "common", "finally"])
  }

  @Test(.holds("Too late"))
  func `a timeout shorter than the work is the failure, with its duration`() async throws {
    let operation = try await begin()
    await clock.advance(by: .seconds(2))
    let thrown = await #expect(throws: UseCaseTimeout.self) { try await operation.value }
    #expect(thrown?.duration == .seconds(2))
    held.open(1)
    guard case .failure(let error) = await operation.ended() else {
      Issue.record("not a failure: \(operation.fate)")
      return
    }
    #expect(error as? UseCaseTimeout == thrown)
  }

  @Test(.holds("Too late"))
  func `catch, common and finally run after a timeout, onCancel does not`() async throws {
    let operation = try await begin()
      .common { [log] in log.append("common") }
      .catch(UseCaseTimeout.self) { [log] in log.append("timeout \($0.duration)") }
      .catch { [log] _ in log.append("catch") }
      .onCancel { [log] _ in log.append("onCancel") }
      .finally { [log] in log.append("finally") }
    await clock.advance(by: .seconds(2))
    _ = try? await operation.value
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["common", "timeout 2.0 seconds", "catch", "finally"])
  }

  @Test func `catch of the timeout does not run when it did not pass`() async throws {
    let operation = try await begin()
      .catch(UseCaseTimeout.self) { [log] _ in log.append("timeout") }
      .finally { [log] in log.append("finally") }
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["finally"])
  }

  @Test func `finally does not wait for the rest of a body that honours cancellation`() async throws
  {
    let gate = Gate()
    let useCase = AnyUseCase(queue: UseCaseQueue(clock: clock), timeout: .seconds(2)) {
      (_: Int) in try await gate.pass()
    }
    let operation = useCase.execute(1).finally { [log] in log.append("finally") }
    try await clock.sleeping()
    await clock.advance(by: .seconds(2))
    await operation.ended()
    #expect(log.elements == ["finally"])
    #expect(operation.fate == "F")
    #expect(!gate.isOpen)
  }

  @Test(.holds("The body"))
  func `a body that looks at its cancellation sees the timeout`() async throws {
    let seen = Log<Bool>()
    let useCase = AnyUseCase(queue: UseCaseQueue(clock: clock), timeout: .seconds(2)) {
      (_: Int) in
      seen.append(Task.isCancelled)
      try? await Gate().pass()
      seen.append(Task.isCancelled)
    }
    let operation = useCase.execute(1)
    await seen.elements(atLeast: 1)
    try await clock.sleeping()
    await clock.advance(by: .seconds(2))
    await operation.ended()
    #expect(seen.elements == [false, true])
  }
}
