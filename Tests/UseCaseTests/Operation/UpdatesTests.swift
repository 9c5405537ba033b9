import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct UpdatesTests {
  private let log = Log<String>()

  private actor Desk {
    private(set) var notes: [Int] = []

    func execute(_ counting: Counting, _ request: Int) -> Operation {
      counting.execute(request) {
        self.preconditionIsolated()
        self.notes.append($0)
      }
    }
  }

  @Test(.holds("Order of updates"))
  func `ten thousand updates arrive in order on the actor in which they are received`() async {
    let (desk, counting) = (Desk(), Counting(on: UseCaseQueue()))
    counting.gate.open()
    await desk.execute(counting, 10_000).ended()
    #expect(await desk.notes == Array(1...10_000))
  }

  @Test func `updates written on no actor do not run on the main actor`() async {
    let counting = Counting(on: UseCaseQueue())
    counting.gate.open()
    let operation = counting.execute(3) { [log] _ in log.append("\(isOnMainActor())") }
    await operation.ended()
    #expect(log.elements == ["false", "false", "false"])
  }

  @Test(.holds("Never waits")) @MainActor
  func `report returns at once while the receiver is busy`() async {
    let reported = Gate()
    let useCase = Reporting { report in
      for number in 1...1_000 { report(number) }
      reported.open()
    }
    var received: [Int] = []
    let operation = useCase.execute(()) { received.append($0) }
    // The receiver cannot run before the body is through with reporting.
    holdThread { reported.isOpen }
    #expect(received.isEmpty)
    await operation.ended()
    #expect(received == Array(1...1_000))
  }

  @Test @MainActor func `updates on the main actor come before handlers on no actor`() async {
    let counting = Counting(on: UseCaseQueue())
    counting.gate.open()
    let operation = counting.execute(2) { [log] in
      log.append("update \($0) \(isOnMainActor())")
    }
    await recordElsewhere(operation).ended()
    #expect(
      log.elements == ["update 1 true", "update 2 true", "then 2", "common", "finally"])
  }

  private nonisolated func recordElsewhere(_ operation: Operation) -> Operation {
    operation.record(in: log)
  }

  @Test(.holds("Dropped updates")) @MainActor
  func `updates not delivered when the operation is cancelled are dropped`() async {
    let (reported, gate) = (Gate(), Gate())
    let useCase = Reporting { report in
      for number in 1...3 { report(number) }
      reported.open()
      await gate.passIgnoringCancellation()
    }
    let operation = useCase.execute(()) { [log] in log.append("update \($0)") }
      .finally { [log] in log.append("finally") }
    holdThread { reported.isOpen }
    operation.cancel()
    gate.open()
    await operation.ended()
    #expect(log.elements == ["finally"])
  }

  @Test func `a receiver that cancels gets no further update`() async {
    let (start, gate) = (Gate(), Gate())
    let useCase = Reporting { report in
      await start.passIgnoringCancellation()
      for number in 1...5 { report(number) }
      await gate.passIgnoringCancellation()
    }
    let received = Watched<UseCaseOperation<Void, Void>?>(nil)
    let operation = useCase.execute(()) { [log] number in
      log.append("update \(number)")
      if number == 2 {
        received.value?.cancel()
        gate.open()
      }
    }
    received.update { $0 = operation }
    start.open()
    await operation.ended()
    received.update { $0 = nil }
    #expect(log.elements == ["update 1", "update 2"])
    #expect(operation.cancellation == .requested)
  }

  @Test(.holds("Dropped updates"))
  func `an update reported after the outcome is dropped`() async {
    let late = Log<@Sendable (Int) -> Void>()
    let useCase = Reporting { report in
      late.append(report)
      report(1)
    }
    let operation = useCase.execute(()) { [log] in log.append("update \($0)") }
    await operation.ended()
    late.elements[0](2)
    // Handlers run in order: this one would come after the update.
    await operation.finally { [log] in log.append("finally") }.ended()
    #expect(log.elements == ["update 1", "finally"])
  }

  @Test func `updates come before catch at a timeout`() async throws {
    let (clock, reported, gate) = (ManualClock(), Gate(), Gate())
    let useCase = Reporting(on: UseCaseQueue(clock: clock), timeout: .seconds(1)) { report in
      report(1)
      reported.open()
      await gate.passIgnoringCancellation()
      report(2)
    }
    let operation = useCase.execute(()) { [log] in log.append("update \($0)") }
      .catch { [log] error in log.append("catch \(error is UseCaseTimeout)") }
      .finally { [log] in log.append("finally") }
    await reported.passIgnoringCancellation()
    await log.elements(atLeast: 1)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    _ = try? await operation.value
    gate.open()
    await operation.ended()
    #expect(log.elements == ["update 1", "catch true", "finally"])
  }

  @Test func `handlers wait for the slot also when the last update has just been delivered`() async
  {
    // The body has returned, and its queue has not yet been told.
    let queue = UseCaseQueue(.serial) { event in
      guard event.kind == .succeeded else { return }
      for _ in 1...500 { yieldThread() }
    }
    let useCase = Reporting(on: queue) { report in report(1) }
    let found = Log<Bool>()
    for _ in 1...50 {
      await useCase.execute(()) { _ in }.then { found.append(queue.activity.isIdle) }.ended()
    }
    #expect(found.elements == Array(repeating: true, count: 50))
  }

  @Test func `no update is lost that eight tasks report`() async {
    let useCase = Reporting { report in
      await withTaskGroup { group in
        for worker in 0..<8 {
          group.addTask { for number in 0..<100 { report(worker * 100 + number) } }
        }
      }
    }
    let received = Log<Int>()
    await useCase.execute(()) { received.append($0) }.ended()
    #expect(received.elements.sorted() == Array(0..<800))
    for worker in 0..<8 {
      let own = received.elements.filter { $0 / 100 == worker }
      #expect(own == own.sorted())
    }
  }

  @Test func `without a receiver the updates go to nobody`() async throws {
    let counting = Counting(on: UseCaseQueue())
    counting.gate.open()
    #expect(try await counting.execute(3).value == 3)
    #expect(try await counting(3) == 3)
    #expect(try await AnyUseCase(counting).execute(3).value == 3)
  }
}

/// A use case that reports what its closure does.
private struct Reporting: ReportingUseCase {
  let queue: UseCaseQueue
  let timeout: Duration
  let body: @Sendable (@escaping @Sendable (Int) -> Void) async -> Void

  init(
    on queue: UseCaseQueue = UseCaseQueue(), timeout: Duration = UseCaseTimeout.never,
    body: @escaping @Sendable (@escaping @Sendable (Int) -> Void) async -> Void
  ) {
    self.queue = queue
    self.timeout = timeout
    self.body = body
  }

  func main(_ request: Void, report: @escaping @Sendable (Int) -> Void) async {
    await body(report)
  }
}
