import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// What can never return says so.
@Suite(.mustEnd)
struct NeverEndsTests {
  private let log = Log<String>()

  /// A use case whose body is told its own operation.
  private struct Own: UseCase {
    let queue: UseCaseQueue
    let own = Watched<Operation?>(nil)
    let told = Gate()
    let body: @Sendable (Operation) async throws -> Int

    func main(_ request: Int) async throws -> Int {
      await told.passIgnoringCancellation()
      guard let operation = own.update({ $0.take() }) else { return -1 }
      return try await body(operation)
    }

    func begin() -> Operation {
      let operation = execute(1)
      own.update { $0 = operation }
      told.open()
      return operation
    }
  }

  @Test(arguments: [UseCaseQueue.Policy.unlimited, .serial, .limit(2)])
  func `value of the own operation is a deadlock, on any queue`(
    policy: UseCaseQueue.Policy
  ) async {
    let operation = Own(queue: UseCaseQueue(policy)) { try await $0.value }.begin()
    await operation.catch(UseCaseDeadlock.self) { [log] _ in log.append("deadlock") }.ended()
    #expect(log.elements == ["deadlock"])
  }

  @Test func `a body may catch that, and go on`() async {
    let operation = Own(queue: UseCaseQueue()) { own in
      do { return try await own.value } catch is UseCaseDeadlock { return 7 }
    }
    .begin()
    let outcome = await operation.ended()
    #expect((try? outcome.get()) == 7)
  }

  @Test func `value of the own operation through a call is a deadlock, too`() async {
    let own = Own(queue: UseCaseQueue()) { operation in
      try await AnyUseCase(queue: UseCaseQueue()) { (_: Int) in try await operation.value }(1)
    }
    let operation = own.begin()
    await operation.catch(UseCaseDeadlock.self) { [log] _ in log.append("deadlock") }.ended()
    #expect(log.elements == ["deadlock"])
  }

  @Test func `valueOrCancel of the own operation is a deadlock, too`() async {
    let operation = Own(queue: UseCaseQueue()) { try await $0.valueOrCancel() }.begin()
    await operation.catch(UseCaseDeadlock.self) { [log] _ in log.append("deadlock") }.ended()
    #expect(log.elements == ["deadlock"])
  }

  @Test func `an operation that such a deadlock ends before it begins has no start`() async throws {
    let queue = UseCaseQueue(.serial)
    let later = Log<UseCaseOperation<Int, Int>>()
    let outer = AnyUseCase<Int, Int>(queue: queue) { [log] number in
      let waiting = AnyUseCase(queue: queue) { (number: Int) in number }.execute(number)
      later.append(waiting)
      do { return try await waiting.valueOrCancel() } catch { log.append("\(type(of: error))") }
      return 0
    }
    #expect(try await outer.execute(1).value == 0)
    let waiting = later.elements[0]
    await waiting.ended()
    await waiting.onStart { [log] in log.append("start") }.ended()
    #expect(log.elements == ["UseCaseDeadlock"])
  }

  @Test func `a cancel handler behind a time-out does not wait for the body`() async throws {
    let (clock, gate) = (ManualClock(), Gate())
    let queue = UseCaseQueue(.serial, clock: clock)
    let slow = AnyUseCase<Int, Void>(queue: queue, timeout: .seconds(1)) { _ in
      await gate.passIgnoringCancellation()
    }
    let operation = slow.execute(1)
    let cancelled = Gate()
    operation.onCancel { [log] _ in
      log.append("cancelled")
      cancelled.open()
    }
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    operation.cancel()
    await cancelled.passIgnoringCancellation()
    #expect(log.elements == ["cancelled"])
    gate.open()
    await operation.ended()
  }

  @Test func `in a Task of the body the end of the own operation comes`() async {
    let tasks = Log<Task<Void, Never>>()
    let queue = UseCaseQueue(.serial)
    let operation = Own(queue: queue) { [log] operation in
      tasks.append(
        Task {
          await operation.ended()
          log.append("ended")
          await queue.idle()
          log.append("idle")
        })
      return 1
    }
    .begin()
    await operation.ended()
    await tasks.elements[0].value
    #expect(log.elements == ["ended", "idle"])
  }

  @Test func `idle of a queue that the body does not hold is no trap`() async {
    let (other, queue) = (UseCaseQueue(.serial), UseCaseQueue(.serial))
    let useCase = AnyUseCase(queue: queue) { (_: Int) in await other.idle() }
    let operation = useCase.execute(1)
    await operation.ended()
    #expect(queue.activity.succeeded == 1)
  }

  @Test func `idle and ended in a handler's task wait for the end`() async {
    let held = Held(.serial)
    let first = held.execute(1)
    let tasks = Log<Task<Void, Never>>()
    first.then { [log] _ in
      tasks.append(
        Task {
          await held.queue.idle()
          log.append("idle")
        })
    }
    .finally { [log] in log.append("finally") }
    held.open(1)
    await first.ended()
    await tasks.elements[0].value
    #expect(log.elements == ["finally", "idle"])
  }

  #if DEBUG && (os(Linux) || os(macOS))
    @Test func `to await the end of the own operation traps and says so`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let operation = Own(queue: UseCaseQueue()) { own in
          await own.ended()
          return 1
        }
        .begin()
        await operation.ended()
      }
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(message?.contains("ended()") == true)
    }

    @Test func `to await the end of what waits for the slot of the body traps and says so`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        let queue = UseCaseQueue(.serial)
        let waiting = AnyUseCase<Int, Int>(queue: queue) { $0 }
        let useCase = AnyUseCase<Int, Void>(queue: queue) { number in
          await waiting.execute(number).ended()
        }
        await useCase.execute(1).ended()
      }
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(message?.contains("waits for the slot of the body") == true)
    }

    @Test(arguments: [true, false])
    func `to await idle of a queue that the body holds a slot of traps and says so`(
      isSerial: Bool
    ) async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        [isSerial] in
        let queue = UseCaseQueue(isSerial ? .serial : .unlimited)
        let useCase = AnyUseCase(queue: queue) { (_: Int) in await queue.idle() }
        await useCase.execute(1).ended()
      }
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(message?.contains("idle()") == true)
    }

    @Test func `to await idle through a call in the slot traps, too`() async {
      await #expect(processExitsWith: .failure) {
        let queue = UseCaseQueue(.serial)
        let inner = AnyUseCase(queue: UseCaseQueue()) { (_: Int) in await queue.idle() }
        let outer = AnyUseCase(queue: queue) { (number: Int) in try await inner(number) }
        await outer.execute(1).ended()
      }
    }

    private struct OptionalQueue: UseCase {
      let queue: UseCaseQueue?
      func main(_ request: Int) async -> Int { request }
    }

    private struct OptionalTimeout: UseCase {
      let timeout: Duration?
      func main(_ request: Int) async -> Int { request }
    }

    private struct NumberAsTimeout: UseCase {
      let timeout = 0.5
      func main(_ request: Int) async -> Int { request }
    }

    private struct OptionalOfReporting: ReportingUseCase {
      let queue: UseCaseQueue?
      func main(_ request: Int, report: @escaping @Sendable (Int) -> Void) async -> Int { request }
    }

    @Test func `a stored queue that is optional traps and says so`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        OptionalQueue(queue: UseCaseQueue(.serial)).execute(1)
      }
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(message?.contains("OptionalQueue") == true)
      #expect(message?.contains("queue") == true && message?.contains("optional") == true)
      await #expect(processExitsWith: .failure) { OptionalQueue(queue: nil).execute(1) }
      await #expect(processExitsWith: .failure) { _ = try await OptionalQueue(queue: nil)(1) }
      await #expect(processExitsWith: .failure) {
        OptionalOfReporting(queue: nil).execute(1) { _ in }
      }
    }

    @Test func `a stored timeout that is optional traps and says so`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        OptionalTimeout(timeout: .seconds(5)).execute(1)
      }
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(message?.contains("OptionalTimeout") == true)
      #expect(message?.contains("timeout") == true && message?.contains("optional") == true)
      await #expect(processExitsWith: .failure) { _ = try await OptionalTimeout(timeout: nil)(1) }
    }

    @Test func `a stored timeout that is a number traps and says so`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        NumberAsTimeout().execute(1)
      }
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(message?.contains("NumberAsTimeout.timeout is of the type Double") == true)
    }
  #endif
}
