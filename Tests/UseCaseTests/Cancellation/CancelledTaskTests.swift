import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct CancelledTaskTests {
  @Test func `the call form in a cancelled task executes nothing`() async {
    let queue = UseCaseQueue(.cancelPrevious)
    let gate = Gate()
    let useCase = AnyUseCase<Int, Int>(queue: queue) { number in
      await gate.passIgnoringCancellation()
      return number
    }
    let shown = useCase.execute(1)
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await useCase(2)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(shown.state == .running && queue.activity.executed == 1)
    gate.open()
    await shown.ended()
  }

  @Test func `a call that throws because its task is cancelled is cancelled by then`() async {
    let queue = UseCaseQueue(.serial)
    queue.suspend()
    let useCase = AnyUseCase<Int, Int>(queue: queue) { $0 }
    for number in 1...tries("RACES", or: 2_000) {
      let waiting = Task.detached {
        _ = try? await useCase(number)
        return queue.activity.waiting
      }
      for _ in 0..<number % 7 { yieldThread() }
      waiting.cancel()
      #expect(await waiting.value == 0)
    }
  }

  @Test func `handlers run in no cancelled task`() async throws {
    let clock = ManualClock()
    let queue = UseCaseQueue(clock: clock)
    let gate = Gate()
    let useCase = AnyUseCase<Int, Int>(queue: queue, timeout: .seconds(1)) { number in
      await gate.passIgnoringCancellation()
      return number
    }
    let flags = Log<Bool>()
    let cancelled = useCase.execute(1)
      .onCancel { _ in flags.append(Task.isCancelled) }
      .finally { flags.append(Task.isCancelled) }
    let late = useCase.execute(2)
      .catch { _ in flags.append(Task.isCancelled) }
    try await clock.sleeping(2)
    cancelled.cancel()
    await clock.advance(by: .seconds(1))
    _ = try? await late.value
    gate.open()
    await cancelled.ended()
    await late.ended()
    #expect(flags.elements == [false, false, false])
  }

  @Test func `an operation cancelled by its own handler keeps the order of its other handlers`()
    async
  {
    let log = Log<String>()
    let gate = Gate()
    let useCase = AnyUseCase<Int, Int> { number in
      await gate.passIgnoringCancellation()
      return number
    }
    let operation = useCase.execute(1)
    operation
      .onCancel { _ in log.append("onCancel") }
      .then { [operation] _ in
        log.append("then")
        operation.cancel()
      }
      .finally { log.append("finally") }
      .then { _ in log.append("second then") }
    gate.open()
    await operation.ended()
    #expect(log.elements == ["then", "onCancel", "finally"])
  }

  @Test func `an observer that hears of a cancellation sees the queue without the operation`()
    async
  {
    let waiting = Log<Int>()
    let made = Watched<UseCaseQueue?>(nil)
    let queue = UseCaseQueue(.serial) { event in
      guard case .cancelled = event.kind, let queue = made.value else { return }
      waiting.append(queue.activity.waiting)
    }
    made.update { $0 = queue }
    let gate = Gate()
    let useCase = AnyUseCase<Int, Int>(queue: queue) { number in
      await gate.passIgnoringCancellation()
      return number
    }
    let operations = [useCase.execute(1), useCase.execute(2)]
    operations[1].cancel()
    #expect(waiting.elements == [0])
    gate.open()
    for operation in operations { await operation.ended() }
    made.update { $0 = nil }
  }

  @Test func `a report that escapes its body does not keep the use case`() async {
    struct Leaky: ReportingUseCase {
      let token: Lifetime.Token
      let escaped: Log<@Sendable (Int) -> Void>

      func main(_ request: Int, report: @escaping @Sendable (Int) -> Void) async throws -> Int {
        escaped.append(report)
        return request
      }
    }
    let lifetime = Lifetime()
    let escaped = Log<@Sendable (Int) -> Void>()
    await Leaky(token: lifetime.track(), escaped: escaped).execute(1) { _ in }.ended()
    await lifetime.over()
    #expect(escaped.elements.count == 1)
  }
}
