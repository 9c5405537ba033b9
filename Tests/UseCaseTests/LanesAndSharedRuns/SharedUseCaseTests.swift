import TestSupport
import Testing

@testable import UseCase

/// Executions of equal requests that meet share one run.
@Suite(.mustEnd)
struct SharedUseCaseTests {
  private enum Trace {
    @TaskLocal static var name = "none"
  }

  private let log = Log<String>()

  @Test(.holds("One run"))
  func `ten executions of equal requests share one body, and all get its response`() async {
    let held = Held()
    let shared = held.shared()
    let operations = (1...10).map { _ in shared.execute(7).then { _ in log.append("then") } }
    #expect(held.queue.activity.running == 1)
    #expect(fates(operations) == "RRRRRRRRRR")
    #expect(Set(operations.map(\.id)).count == 10)
    await held.begun.elements(atLeast: 1)
    held.open(7)
    await allEnded(operations)
    #expect(fates(operations) == "++++++++++")
    #expect(held.begun.elements == [7])
    #expect(log.count == 10)
    #expect(held.queue.activity.executed == 1)
  }

  @Test(.holds("Order of the runs"))
  func `requests that are not equal have a run each, in the order of execute`() async {
    let held = Held(.serial)
    let shared = held.shared()
    let operations = [3, 1, 2, 3, 1].map { shared.execute($0) }
    #expect(fates(operations) == "RRRRR")
    #expect(held.queue.activity.running == 1 && held.queue.activity.waiting == 2)
    held.open(1...3)
    await allEnded(operations)
    #expect(held.begun.elements == [3, 1, 2])
  }

  @Test(.holds("Whose runs"))
  func `copies share their runs, and two calls of shared do not`() async {
    let held = Held()
    let (shared, other) = (held.shared(), held.shared())
    let copy = shared
    let operations = [shared.execute(1), copy.execute(1), AnyUseCase(copy).execute(1)]
    #expect(held.queue.activity.running == 1)
    let another = other.execute(1)
    #expect(held.queue.activity.running == 2)
    held.open(1)
    await allEnded(operations + [another])
  }

  @Test(.holds("An operation each"))
  func `whoever is cancelled leaves the others alone`() async {
    let held = Held()
    let shared = held.shared()
    let operations = [shared.execute(1), shared.execute(1), shared.execute(1)]
    await held.begun.elements(atLeast: 1)
    operations[0].record(in: log).cancel()
    #expect(operations[0].fate == "C")
    await operations[0].ended()
    #expect(held.queue.activity.running == 1)
    held.open(1)
    await allEnded(operations)
    #expect(fates(operations) == "C++")
    #expect(log.elements == ["onCancel requested", "finally"])
  }

  @Test(.holds("The last one"))
  func `the last one to leave cancels the run, before cancel returns`() async throws {
    let useCase = ControlledUseCase<Int, Int>(queue: UseCaseQueue(.serial))
    let shared = useCase.shared()
    let operations = [shared.execute(1), shared.execute(1)]
    let call = try await useCase.next()
    operations[0].cancel()
    #expect(!call.isCancelled)
    operations[1].cancel()
    try await call.cancelled()
    await useCase.queue.idle()
    #expect(useCase.queue.activity.cancelled == 1)
  }

  @Test(.holds("The last one"))
  func `an execution right after the last one has left starts another run`() async {
    let held = Held()
    let shared = held.shared()
    let first = shared.execute(1)
    await held.begun.elements(atLeast: 1)
    first.cancel()
    let second = shared.execute(1)
    #expect(held.queue.activity.running == 2)
    held.open(1)
    await allEnded([first, second])
    #expect(fates([first, second]) == "C+")
  }

  @Test(.holds("Failure for all"))
  func `everybody gets the failure of the run`() async {
    let gate = Gate()
    let failing = AnyUseCase<Int, Int> { _ in
      await gate.passIgnoringCancellation()
      throw Refused()
    }
    let shared = failing.shared()
    let operations = (1...3).map { _ in
      shared.execute(1).catch(Refused.self) { _ in log.append("no") }
    }
    let called = Task { try await shared(1) }
    gate.open()
    await allEnded(operations)
    await #expect(throws: Refused.self) { try await called.value }
    #expect(fates(operations) == "FFF")
    #expect(log.count == 3)
  }

  @Test(.holds("Latecomers"))
  func `an execution that comes when the run has its outcome starts another one`() async throws {
    let held = Held(.dropWhileBusy)
    let shared = held.shared()
    held.open(1)
    let first = shared.execute(1)
    // The slot of the run is free: else this one would be dropped.
    let again = Watched<Operation?>(nil)
    first.then { _ in
      let operation = shared.execute(1)
      again.update { $0 = operation }
    }
    await first.ended()
    await again.wait { $0 != nil }
    _ = try await again.value?.value
    try await #expect(shared(1) == 1)
    #expect(held.begun.elements == [1, 1, 1])
  }

  @Test(.holds("Latecomers"))
  func `a run that is cancelled but unwinds is not joined`() async {
    let held = Held(.limit(2))
    let shared = held.shared()
    let first = shared.execute(1)
    await held.begun.elements(atLeast: 1)
    held.queue.cancelAll()
    let second = shared.execute(1)
    await held.begun.elements(atLeast: 2)
    held.open(1)
    await allEnded([first, second])
    #expect(fates([first, second]) == "C+")
  }

  @Test(.holds("Reason for all"))
  func `a run that its queue supersedes gives everybody this reason`() async {
    let held = Held(.cancelPrevious)
    let shared = held.shared()
    let old = [shared.execute(1), shared.execute(1)]
    await held.begun.elements(atLeast: 1)
    let new = shared.execute(2)
    held.open(1...2)
    await allEnded(old + [new])
    #expect(fates(old + [new]) == "SS+")
  }

  @Test(.holds("Waiting")) func `a run that never starts gives everybody its reason`() async {
    let held = Held(.keepLatest)
    let shared = held.shared()
    let first = shared.execute(1)
    let waiting = [2, 2].map { shared.execute($0) }
    #expect(fates(waiting) == "RR")
    let last = shared.execute(3)
    await allEnded(waiting)
    #expect(fates(waiting) == "SS")
    held.open(1...3)
    await allEnded([first, last])
    #expect(held.begun.elements == [1, 3])
  }

  @Test(.holds("Reason for all"))
  func `a run that its queue drops gives its rider this reason, a moment later`() async {
    let held = Held(.dropWhileBusy)
    let shared = held.shared()
    let first = shared.execute(1)
    let dropped = shared.execute(2).record(in: log)
    await dropped.ended()
    #expect(fates([first, dropped]) == "RD")
    #expect(log.elements == ["onCancel dropped", "finally"])
    held.open(1)
    await first.ended()
  }

  @Test(.holds("Reason for all"), arguments: [false, true])
  func `whoever cancels the queue of the base cancels all riders, as requested`(
    isSuspended: Bool
  ) async {
    let held = Held()
    let shared = held.shared()
    if isSuspended { held.queue.suspend() }
    let operations = (1...3).map { _ in shared.execute(1) }
    #expect(fates(operations) == "RRR")
    if !isSuspended { await held.begun.elements(atLeast: 1) }
    held.queue.cancelAll()
    held.open(1)
    await allEnded(operations)
    #expect(fates(operations) == "CCC")
  }

  @Test(.holds("Reason for all"))
  func `a body that cancels itself cancels all riders, as thrown`() async {
    let shared = AnyUseCase<Int, Int> { _ in throw CancellationError() }.shared()
    let operations = (1...2).map { _ in shared.execute(1) }
    await allEnded(operations)
    #expect(fates(operations) == "TT")
  }

  @Test(.holds("Waiting")) func `riders run and start while their run waits`() async {
    let held = Held()
    held.queue.suspend()
    let shared = held.shared()
    let operations = (1...3).map { _ in shared.execute(1).onStart { log.append("start") } }
    #expect(fates(operations) == "RRR")
    #expect(held.queue.activity.waiting == 1)
    #expect(shared.queue(for: 1).activity.running == 3)
    await log.elements(atLeast: 3)
    held.queue.resume()
    held.open(1)
    await allEnded(operations)
    #expect(fates(operations) == "+++")
  }

  @Test(.holds("The last one")) func `the last rider of a run that waits takes it off its queue`()
    async
  {
    let held = Held()
    held.queue.suspend()
    let shared = held.shared()
    let operations = [shared.execute(1), shared.execute(1)]
    operations[0].cancel()
    #expect(held.queue.activity.waiting == 1)
    operations[1].cancel()
    #expect(held.queue.activity.waiting == 0)
    held.queue.resume()
    await allEnded(operations)
    #expect(held.begun.count == 0)
  }

  @Test(.holds("The last one"))
  func `the last rider takes the run along, also when nobody keeps the shared use case`() async {
    for _ in 0..<tries("RACES", or: 2_000) {
      let held = Held()
      held.queue.suspend()
      let rider = held.shared().execute(1)
      rider.cancel()
      await rider.ended()
      #expect(held.queue.activity.waiting == 0)
    }
  }

  @Test(.holds("The first one"))
  func `the run has the priority and the task-local values of its first rider`() async {
    let gate = Gate()
    let queue = UseCaseQueue()
    queue.suspend()
    let noting = AnyUseCase<Int, Int>(queue: queue) { _ in
      log.append("\(Trace.name) \(Task.basePriority == .high)")
      await gate.passIgnoringCancellation()
      return 1
    }
    let shared = noting.shared()
    let first = Trace.$name.withValue("first") { shared.execute(1, priority: .high) }
    let second = Trace.$name.withValue("second") { shared.execute(1, priority: .low) }
    queue.resume()
    gate.open()
    await allEnded([first, second])
    #expect(log.elements == ["first true"])
  }

  @Test(.holds("Failure for all"))
  func `the timeout is that of the run, and everybody hears of it at once`() async throws {
    let clock = ManualClock()
    let held = Held(on: UseCaseQueue(clock: clock), timeout: .seconds(5))
    let shared = held.shared()
    let first = shared.execute(1)
    try await clock.sleeping()
    let second = shared.execute(1)
    await clock.advance(by: .seconds(5))
    for operation in [first, second] {
      await #expect(throws: UseCaseTimeout.self) { try await operation.value }
    }
    held.open(1)
    await allEnded([first, second])
  }

  @Test(.holds("Seen once"))
  func `reactions, interceptors and the observer of the base see one operation of its type`()
    async
  {
    let (reactions, events) = (UseCaseReactions(), Log<String>())
    let queue = UseCaseQueue(
      interceptors: [Noting { _, name in log.append("around \(name)") }], reactions: reactions
    ) { events.append("\($0.useCase) \($0.kind)") }
    let held = Held(on: queue)
    reactions.to(Held.self) { operation in log.append("reacts to \(operation.request)") }
    let shared = held.shared()
    let operations = [shared.execute(1), shared.execute(1)]
    held.open(1)
    await allEnded(operations)
    await events.elements(atLeast: 3)
    #expect(log.elements == ["reacts to 1", "around Held"])
    #expect(events.elements == ["Held running", "Held succeeded", "Held ended"])
  }

  /// The bodies of the wrappers do not give up the main actor before they ride the run.
  @Test(.holds("Sharing again")) @MainActor
  func `what is shared may be shared again, erased and wrapped`() async throws {
    struct Wrapped: UseCase {
      let base: SharedUseCase<Held>
      let begun: Log<Int>
      func queue(for request: Int) -> UseCaseQueue { base.queue(for: request) }
      @MainActor func main(_ request: Int) async throws -> Int {
        begun.append(request)
        return try await base.main(request) + 1
      }
    }
    struct Calling: UseCase {
      let base: SharedUseCase<Held>
      let begun: Log<Int>
      @MainActor func main(_ request: Int) async throws -> Int {
        begun.append(request)
        return try await base(request) + 2
      }
    }
    let (held, begun) = (Held(), Log<Int>())
    let shared = held.shared()
    let twice = AnyUseCase(shared).shared().shared()
    let operations = [
      twice.execute(1), Wrapped(base: shared, begun: begun).execute(1), twice.execute(1),
      Calling(base: shared, begun: begun).execute(1),
      Wrapped(base: shared, begun: begun).execute(1),
    ]
    await begun.elements(atLeast: 3)
    held.open(1)
    await allEnded(operations)
    #expect(operations.map { try? $0.outcome?.get() } == [1, 2, 1, 3, 2])
    #expect(held.begun.elements == [1])
  }

  @Test(.holds("No request")) @MainActor
  func `executions without a request share one run`() async throws {
    let (gate, begun) = (Gate(), Log<Void>())
    let refresh = AnyUseCase<Void, Int> {
      begun.append(())
      await gate.passIgnoringCancellation()
      return 7
    }
    let (shared, other) = (refresh.shared(), refresh.shared())
    let operations = [shared.execute(), shared.execute(), AnyUseCase(shared).execute()]
    let another = other.execute()
    await begun.elements(atLeast: 2)
    let call = Task { try await shared() }
    while shared.queue(for: ()).activity.running < 4 { await Task.yield() }
    gate.open()
    for operation in operations + [another] { try await #expect(operation.value == 7) }
    try await #expect(call.value == 7)
    #expect(begun.count == 2)
  }

  @Test(.holds("An operation each")) func `a model shows what becomes of its own rider`() async {
    let held = Held()
    let shared = held.shared()
    let other = shared.execute(1)
    await MainActor.run {
      let model = UseCaseModel(shared)
      model.execute(1)
      #expect(model.isRunning)
      model.cancel()
    }
    held.open(1)
    await other.ended()
    #expect(other.fate == "+")
  }
}
