import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// The call form that does not throw.
@Suite(.mustEnd)
struct OutcomeOfTests {
  @Test func `it tells success and failure`() async {
    let useCase = AnyUseCase(queue: UseCaseQueue()) { (number: Int) in
      if number == 1 { throw Refused() }
      return number
    }
    guard case .success(2) = await useCase.outcome(of: 2) else {
      return #expect(Bool(false), "a success")
    }
    guard case .failure(let error) = await useCase.outcome(of: 1) else {
      return #expect(Bool(false), "a failure")
    }
    #expect(error is Refused)
  }

  @Test func `it says busy apart from failed`() async {
    let held = Held(.dropWhileBusy)
    let first = held.execute(1)
    guard case .cancelled(.dropped) = await held.outcome(of: 2) else {
      return #expect(Bool(false), "dropped")
    }
    held.open(1)
    await first.ended()
  }

  @Test func `it says superseded`() async {
    let held = Held(.cancelPrevious)
    let old = Task { await held.outcome(of: 1) }
    await held.begun.elements(atLeast: 1)
    let new = held.execute(2)
    guard case .cancelled(.superseded) = await old.value else {
      return #expect(Bool(false), "superseded")
    }
    held.open(1...2)
    await new.ended()
  }

  @Test func `it says that a body threw CancellationError`() async {
    let useCase = AnyUseCase<Int, Int>(queue: UseCaseQueue()) { _ in throw CancellationError() }
    guard case .cancelled(.thrown) = await useCase.outcome(of: 1) else {
      return #expect(Bool(false), "thrown")
    }
  }

  @Test func `it says time-out promptly, though the body goes on`() async throws {
    let clock = ManualClock()
    let held = Held(on: UseCaseQueue(clock: clock), timeout: .seconds(1))
    let call = Task { await held.outcome(of: 1) }
    try await clock.sleeping(for: .seconds(1))
    await clock.advance(by: .seconds(1))
    guard case .failure(let error) = await call.value else {
      return #expect(Bool(false), "a failure")
    }
    #expect(error is UseCaseTimeout && held.queue.isBusy)
    held.open(1)
    await held.queue.idle()
  }

  @Test func `in a cancelled task nothing is executed`() async {
    let held = Held()
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await held.outcome(of: 1)
    }
    guard case .cancelled(.requested) = await call.value else {
      return #expect(Bool(false), "requested")
    }
    #expect(held.queue.activity.executed == 0)
  }

  @Test func `the operation is cancelled with the task that awaits it`() async {
    let held = Held()
    let call = Task { await held.outcome(of: 1) }
    await held.begun.elements(atLeast: 1)
    call.cancel()
    guard case .cancelled(.requested) = await call.value else {
      return #expect(Bool(false), "requested")
    }
    held.open(1)
    await held.queue.idle()
    #expect(held.queue.activity.cancelled == 1)
  }

  @Test func `it runs inside the slot that its caller holds`() async {
    let held = Held(.serial)
    held.open(2)
    let outer = AnyUseCase(queue: held.queue) { (_: Int) in
      if case .success(let number) = await held.outcome(of: 2) { number } else { 0 }
    }
    let operation = outer.execute(1)
    await operation.ended()
    #expect((try? operation.outcome?.get()) == 2)
    #expect(held.queue.activity == UseCaseActivity(succeeded: 1))
  }

  @Test @MainActor func `it comes back to the isolation of its caller`() async {
    let useCase = AnyUseCase(queue: UseCaseQueue()) { (number: Int) in number }
    _ = await useCase.outcome(of: 1)
    #expect(isOnMainActor())
  }

  @Test func `a failure that is told so is handled`() async {
    // Nothing but the call has asked for it.
    let useCase = AnyUseCase<Int, Int>(queue: UseCaseQueue()) { _ in throw Refused() }
    let outcome = await useCase.outcome(of: 1)
    #expect(throws: Refused.self) { try outcome.get() }
  }
}

/// The wait that cancels what it waits for.
@Suite(.mustEnd)
struct ValueOrCancelTests {
  @Test func `it returns the response or throws the failure`() async throws {
    let useCase = AnyUseCase(queue: UseCaseQueue()) { (number: Int) in
      if number == 1 { throw Refused() }
      return number
    }
    #expect(try await useCase.execute(2).valueOrCancel() == 2)
    await #expect(throws: Refused.self) { try await useCase.execute(1).valueOrCancel() }
  }

  @Test func `it returns when the handlers have run`() async throws {
    let (held, desk) = (Held(), Desk())
    for number in 1...100 {
      let operation = held.execute(number)
      await desk.record(operation)
      held.open(number)
      #expect(try await operation.valueOrCancel() == number)
      #expect(desk.log.count == 3 * number)
    }
  }

  @Test func `a cancelled task cancels the operation, for all who wait`() async {
    let held = Held()
    let operation = held.execute(1)
    let others = (1...3).map { _ in Task { try await operation.value } }
    let waiter = Task { try await operation.valueOrCancel() }
    await held.begun.elements(atLeast: 1)
    waiter.cancel()
    await #expect(throws: CancellationError.self) { try await waiter.value }
    #expect(operation.cancellation == .requested)
    for other in others {
      await #expect(throws: CancellationError.self) { try await other.value }
    }
    held.open(1)
    await operation.ended()
  }

  @Test func `in a cancelled task the operation is cancelled at once`() async {
    let held = Held()
    let operation = held.execute(1)
    let waiter = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await operation.valueOrCancel()
    }
    await #expect(throws: CancellationError.self) { try await waiter.value }
    #expect(operation.cancellation == .requested)
    held.open(1)
    await operation.ended()
  }

  @Test func `it throws promptly, though the body takes its time to return`() async {
    let held = Held(.serial)
    let operations = held.executeFirst(2)
    let waiter = Task { try await operations[0].valueOrCancel() }
    await held.begun.elements(atLeast: 1)
    waiter.cancel()
    await #expect(throws: CancellationError.self) { try await waiter.value }
    #expect(held.returned.count == 0 && fates(operations) == "CW")
    held.open(1...2)
    await allEnded(operations)
  }

  @Test func `an operation that has ended stays as it is`() async throws {
    let held = Held()
    held.open(1)
    let operation = held.execute(1)
    await operation.ended()
    #expect(try await operation.valueOrCancel() == 1)
    let waiter = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await operation.valueOrCancel()
    }
    _ = await waiter.result
    #expect(operation.fate == "+")
  }
}

/// Who waits for an end in a test.
@Suite(.mustEnd)
struct SettledTests {
  @Test func `settled returns the outcome when the operation has ended`() async throws {
    let (held, desk) = (Held(), Desk())
    let operation = held.execute(1)
    await desk.record(operation)
    held.open(1)
    guard case .success(1) = try await operation.settled() else {
      return #expect(Bool(false), "a success")
    }
    #expect(desk.log.count == 3)
  }

  @Test func `settled throws when its task is cancelled, and the operation goes on`() async {
    let held = Held()
    let operation = held.execute(1)
    let waiter = Task { try await operation.settled() }
    await held.begun.elements(atLeast: 1)
    waiter.cancel()
    await #expect(throws: CancellationError.self) { try await waiter.value }
    #expect(operation.fate == "R")
    held.open(1)
    await operation.ended()
    #expect(operation.fate == "+")
  }

  @Test func `settled of a cancelled operation waits for its body`() async throws {
    let held = Held()
    let operation = held.execute(1)
    await held.begun.elements(atLeast: 1)
    operation.cancel()
    let waiter = Task { () -> [Int] in
      _ = try await operation.settled()
      return held.returned.elements
    }
    held.open(1)
    #expect(try await waiter.value == [1])
  }
}

/// What a use case is called.
@Suite(.mustEnd)
struct NameTests {
  private struct Search: UseCase {
    let queue: UseCaseQueue
    func main(_ request: Int) async -> Int { request }
  }

  private struct Named: UseCase {
    let queue: UseCaseQueue
    var useCaseName: String { "Look for it" }
    func main(_ request: Int) async -> Int { request }
  }

  @MainActor private struct OnMainActor: UseCase {
    let queue: UseCaseQueue
    nonisolated var useCaseName: String { "On the main actor" }
    func main(_ request: Int) async -> Int { request }
  }

  private struct NamedCount: ReportingUseCase {
    let queue: UseCaseQueue
    var useCaseName: String { "Count" }
    func main(_ request: Int, report: @escaping @Sendable (Int) -> Void) async -> Int { request }
  }

  private let log = Log<String>()
  private let queue: UseCaseQueue

  init() {
    queue = UseCaseQueue(interceptors: [Noting { [log] _, name in log.append("around \(name)") }]) {
      [log] event in
      if event.kind == .running { log.append("event \(event.useCase)") }
    }
  }

  private func named(_ useCase: some UseCase<Int, Int>) async -> String? {
    let before = log.count
    await useCase.execute(1).ended()
    let lines = log.elements.dropFirst(before)
    let names = Set(lines.map { $0.split(separator: " ", maxSplits: 1)[1] })
    return lines.count == 2 && names.count == 1 ? names.first.map { "\($0)" } : nil
  }

  @Test func `by default a use case is called as its type`() async {
    #expect(Search(queue: queue).useCaseName == "Search")
    #expect(await named(Search(queue: queue)) == "Search")
  }

  @Test func `events and interceptors are told the name that a use case has given itself`() async {
    #expect(await named(Named(queue: queue)) == "Look for it")
    #expect(await named(NamedCount(queue: queue)) == "Count")
  }

  @Test func `a use case on the main actor has a name for everybody`() async {
    let useCase = OnMainActor(queue: queue)
    #expect(useCase.useCaseName == "On the main actor")
    #expect(await named(useCase) == "On the main actor")
  }

  @Test func `a closure has the name that it was given`() async {
    let upload = AnyUseCase(queue: queue, name: "Upload") { (number: Int) in number }
    #expect(upload.useCaseName == "Upload")
    #expect(await named(upload) == "Upload")
    let count = AnyReportingUseCase<Int, Int, Int>(queue: queue, name: "Count") { number, _ in
      number
    }
    #expect(count.useCaseName == "Count")
    #expect(await named(count) == "Count")
  }

  @Test func `an eraser and a wrapper are called as their base`() async {
    #expect(await named(AnyUseCase(Search(queue: queue))) == "Search")
    #expect(await named(AnyUseCase(AnyUseCase(Named(queue: queue)))) == "Look for it")
    #expect(await named(AnyReportingUseCase(NamedCount(queue: queue))) == "Count")
    let upload = AnyUseCase(queue: queue, name: "Upload") { (number: Int) in number }
    #expect(await named(AnyUseCase(upload)) == "Upload")
    #expect(Search(queue: queue).shared().useCaseName == "Search")
    #expect(await named(Named(queue: queue).shared()) == "Look for it")
  }

  @Test func `an interceptor is told that next runs main`() async {
    struct Purposes: UseCaseInterceptor {
      let log: Log<UseCaseExecution.Purpose>

      func intercept<Request: Sendable, Response: Sendable>(
        _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
      ) async throws -> Response {
        log.append(execution.purpose)
        return try await next(request)
      }
    }
    let purposes = Log<UseCaseExecution.Purpose>()
    let queue = UseCaseQueue(interceptors: [Purposes(log: purposes)])
    let search = Search(queue: queue)
    await search.execute(1).ended()
    _ = try? await search(2)
    #expect(purposes.elements == [.main, .main])
  }
}

/// Delays that fall back on others, and pauses that end when we are online again.
@Suite(.mustEnd)
struct RetryAgainTests {
  private struct Failing: UseCase {
    let queue: UseCaseQueue
    let calls = Log<Int>()
    var failures = 1

    func main(_ request: Int) async throws -> Int {
      calls.append(request)
      if calls.elements.count(where: { $0 == request }) <= failures { throw Offline() }
      return request
    }
  }

  private let clock = ManualClock()

  @Test func `a delay tells how long it would wait`() {
    let constant = RetryInterceptor.Delay.constant(.seconds(3))
    #expect(constant.duration(after: Offline(), attempt: 1) == .seconds(3))
    let growing = RetryInterceptor.Delay.exponential(.seconds(1), factor: 2, cap: .seconds(5))
    #expect(
      (1...4).map { growing.duration(after: Offline(), attempt: $0) }
        == [.seconds(1), .seconds(2), .seconds(4), .seconds(5)])
    let custom = RetryInterceptor.Delay.custom { error, attempt in
      error is Refused ? .seconds(30) : growing.duration(after: error, attempt: attempt)
    }
    #expect(custom.duration(after: Refused(), attempt: 2) == .seconds(30))
    #expect(custom.duration(after: Offline(), attempt: 3) == .seconds(4))
  }

  @Test func `a custom delay waits as the one that it falls back on`() async throws {
    let growing = RetryInterceptor.Delay.exponential(.seconds(1), factor: 2, cap: .seconds(5))
    let delay = RetryInterceptor.Delay.custom { error, attempt in
      growing.duration(after: error, attempt: attempt)
    }
    let queue = UseCaseQueue(
      clock: clock, interceptors: [RetryInterceptor(attempts: 3, delay: delay)])
    let failing = Failing(queue: queue, failures: 2)
    let operation = failing.execute(1)
    for seconds in [1, 2] {
      try await clock.sleeping(for: .seconds(seconds))
      await clock.advance(by: .seconds(seconds))
    }
    #expect(try await operation.value == 1)
  }

  @Test func `the pauses of retries end at a flush that says so`() async throws {
    let queue = UseCaseQueue(
      clock: clock,
      interceptors: [RetryInterceptor(attempts: 3, delay: .constant(.seconds(60)))])
    let failing = Failing(queue: queue)
    let operations = [1, 2].map { failing.execute($0) }
    try await clock.sleeping(2)
    queue.flush()
    #expect(clock.sleepers == 2 && failing.calls.count == 2)
    queue.flush(retries: true)
    await allEnded(operations)
    #expect(fates(operations) == "++" && failing.calls.count == 4)
    #expect(clock.sleepers == 0)
  }

  @Test func `a pause that begins after the flush is not ended by it`() async throws {
    let queue = UseCaseQueue(
      clock: clock,
      interceptors: [RetryInterceptor(attempts: 3, delay: .constant(.seconds(60)))])
    let failing = Failing(queue: queue, failures: 2)
    let operation = failing.execute(1)
    try await clock.sleeping()
    queue.flush(retries: true)
    await failing.calls.elements(atLeast: 2)
    try await clock.sleeping(for: .seconds(60))
    #expect(operation.fate == "R")
    await clock.advance(by: .seconds(60))
    await operation.ended()
    #expect(failing.calls.count == 3 && operation.fate == "+")
  }

  @Test func `flush of all lanes reaches the retries of each lane`() async throws {
    struct OnLanes: UseCase {
      let lanes: UseCaseLanes<Int>
      let base: Failing
      func queue(for request: Int) -> UseCaseQueue { lanes[request] }
      func main(_ request: Int) async throws -> Int { try await base.main(request) }
    }
    let lanes = UseCaseLanes<Int>(
      .serial, clock: clock,
      interceptors: [RetryInterceptor(attempts: 3, delay: .constant(.seconds(60)))])
    let useCase = OnLanes(lanes: lanes, base: Failing(queue: UseCaseQueue()))
    let operations = [1, 2].map { useCase.execute($0) }
    try await clock.sleeping(2)
    lanes.flush(retries: true)
    await allEnded(operations)
    #expect(fates(operations) == "++")
  }

  @Test func `a flush ends the pauses of its own queue only`() async throws {
    let retry = RetryInterceptor(attempts: 3, delay: .constant(.seconds(60)))
    let queues = (1...2).map { _ in UseCaseQueue(clock: clock, interceptors: [retry]) }
    let failing = queues.map { Failing(queue: $0) }
    let operations = failing.map { $0.execute(1) }
    try await clock.sleeping(2)
    queues[0].flush(retries: true)
    await operations[0].ended()
    #expect(fates(operations) == "+R" && clock.sleepers == 1)
    operations[1].cancel()
    await operations[1].ended()
  }
}

/// What is new in models.
@Suite(.mustEnd) @MainActor
struct ModelSurfaceTests {
  @Test func `a model tells its use case and its queue`() {
    let held = Held(.keepLatest)
    let model = UseCaseModel(held)
    #expect(model.queue === held.queue && model.useCase.queue === held.queue)
    let counting = Counting(on: UseCaseQueue(.serial))
    let reporting = ReportingUseCaseModel(counting)
    #expect(reporting.queue === counting.queue && reporting.useCase.queue === counting.queue)
  }

  @Test func `a model of any use case executes it on its queue`() async {
    let held = Held(.dropWhileBusy)
    held.open(1)
    let base: any UseCase<Int, Int> = held
    let model = UseCaseModel(base)
    #expect(model.queue === held.queue)
    await model.execute(1).ended()
    #expect(model.value == 1)
  }

  @Test func `reset cancels, and forgets value and error`() async {
    let queue = UseCaseQueue()
    let gate = Gate()
    let model = UseCaseModel(
      AnyUseCase(queue: queue) { (number: Int) in
        if number == 2 { throw Refused() }
        if number == 3 { await gate.passIgnoringCancellation() }
        return number
      })
    await model.execute(1).ended()
    await model.execute(2).ended()
    #expect(model.value == 1 && model.error is Refused)
    let running = model.execute(3).then { _ in #expect(Bool(false), "silenced") }
    model.reset()
    #expect(model.value == nil && model.error == nil && !model.isRunning)
    #expect(running.cancellation == .requested)
    gate.open()
    await running.ended()
    #expect(model.value == nil && model.error == nil && !model.isRunning)
    await model.execute(4).ended()
    #expect(model.value == 4)
  }

  @Test func `reset forgets an answer that is on its way`() async {
    let held = Held()
    let model = UseCaseModel(held)
    for number in 1...100 {
      let operation = model.execute(number)
      held.open(number)
      #expect(comes { operation.state == .finished })
      model.reset()
      #expect(!model.isRunning)
      await operation.ended()
      #expect(model.value == nil)
    }
  }

  @Test func `reset of a reporting model forgets the update, too`() async {
    struct Count: ReportingUseCase {
      let queue = UseCaseQueue()
      let gate = Gate()
      func main(_ request: Int, report: @escaping @Sendable (Int) -> Void) async -> Int {
        report(request)
        await gate.passIgnoringCancellation()
        return request
      }
    }
    let count = Count()
    let model = ReportingUseCaseModel(count)
    let operation = model.execute(7)
    #expect(await isReached { model.update == 7 })
    model.reset()
    #expect(model.update == nil && model.value == nil && model.error == nil && !model.isRunning)
    count.gate.open()
    await operation.ended()
    #expect(model.update == nil && model.value == nil)
  }
}
