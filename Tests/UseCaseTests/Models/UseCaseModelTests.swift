import Observation
import TestSupport
import Testing
import UseCase

@Suite(.mustEnd) @MainActor
struct UseCaseModelTests {
  private struct Broken: Error, Equatable { let number: Int }

  /// Waits at the gate of its number, and fails for a negative one.
  private struct Search: UseCase {
    let queue = UseCaseQueue()
    let gates = (0..<4).map { _ in Gate() }

    func main(_ number: Int) async throws -> Int {
      await gates[abs(number)].passIgnoringCancellation()
      guard number >= 0 else { throw Broken(number: number) }
      return number
    }
  }

  private let search = Search()

  @Test(.holds("Models"))
  func `a model shows the value, and that it runs until then`() async {
    let model = UseCaseModel(search)
    #expect(!model.isRunning)
    let operation = model.execute(1)
    #expect(model.isRunning && model.value == nil)
    search.gates[1].open()
    await operation.ended()
    #expect(!model.isRunning && model.value == 1 && model.error == nil)
  }

  @Test(.holds("Models that save"))
  func `a model that saves lets its operations go on when it goes away`() async {
    let held = Held(.serial)
    var model: UseCaseModel? = UseCaseModel(held, cancelsOnRelease: false)
    let operations = [1, 2].compactMap { model?.execute($0) }
    model = nil
    held.open(1...2)
    await allEnded(operations)
    #expect(fates(operations) == "++")
  }

  @Test(.holds("Models that save", "Debounce"))
  func `an autosave whose screen goes away saves its last text`() async throws {
    let clock = ManualClock()
    var save: Held? = Held(
      on: UseCaseQueue(
        .keepLatest.debounced(by: .seconds(1), atMost: .seconds(10)), clock: clock))
    let returned = save?.returned
    save?.open(1...2)
    var model = save.map { UseCaseModel($0, cancelsOnRelease: false) }
    let operations = [1, 2].compactMap { model?.execute($0) }
    (model, save) = (nil, nil)
    try await clock.sleeping(for: .seconds(1))
    await clock.advance(by: .seconds(1))
    await allEnded(operations)
    #expect(fates(operations) == "S+")
    #expect(returned?.elements == [2])
  }

  @Test(.holds("Models that save"))
  func `a model that saves and reports lets its operations go on, but for a cancel`() async {
    let counting = Counting(on: UseCaseQueue())
    var model: ReportingUseCaseModel? = ReportingUseCaseModel(counting, cancelsOnRelease: false)
    let cancelled = model?.execute(1)
    model?.cancel()
    let saving = model?.execute(2)
    model = nil
    counting.gate.open()
    _ = await saving?.ended()
    #expect(saving?.fate == "+")
    #expect(cancelled?.cancellation == .requested)
  }

  @Test func `a model does not run what its queue drops`() async {
    let held = Held(.dropWhileBusy)
    let (running, dropped) = (UseCaseModel(held), UseCaseModel(held))
    let operations = [running.execute(1), dropped.execute(2)]
    #expect(running.isRunning && !dropped.isRunning)
    held.open(1)
    await allEnded(operations)
  }

  @Test(.holds("Late results"))
  func `an older operation that ends late overwrites nothing`() async {
    let model = UseCaseModel(search)
    let operations = [model.execute(1), model.execute(-2), model.execute(3)]
    search.gates[3].open()
    await operations[2].ended()
    #expect(model.value == 3 && model.isRunning)
    for number in [1, 2] {
      search.gates[number].open()
      await operations[number - 1].ended()
      #expect(model.value == 3 && model.error == nil)
    }
    #expect(!model.isRunning)
  }

  @Test(.holds("Models"))
  func `an error stays until a later operation succeeds`() async {
    let model = UseCaseModel(search)
    for gate in search.gates { gate.open() }
    await model.execute(1).ended()
    await model.execute(-2).ended()
    #expect(model.value == 1 && (model.error as? Broken) == Broken(number: -2))
    await model.execute(3).ended()
    #expect(model.value == 3 && model.error == nil)
  }

  @Test func `a value that is older than the error does not clear it`() async {
    let model = UseCaseModel(search)
    let older = model.execute(1)
    search.gates[2].open()
    await model.execute(-2).ended()
    search.gates[1].open()
    await older.ended()
    #expect(model.value == 1 && (model.error as? Broken) == Broken(number: -2))
  }

  @Test(.holds("cancel of a model"))
  func `after cancel nothing is shown any more`() async {
    let model = UseCaseModel(search)
    let operation = model.execute(1)
    search.gates[1].open()
    // Without a suspension: the result is on its way, and the main actor has not shown it yet.
    while operation.outcome == nil {}
    model.cancel()
    #expect(!model.isRunning)
    await operation.ended()
    #expect(model.value == nil && !model.isRunning)
  }

  @Test(.holds("End of a model"))
  func `when a model goes away its operations are cancelled`() async {
    var model: UseCaseModel<Search>? = UseCaseModel(search)
    let operation = model?.execute(1)
    weak let released = model
    model = nil
    #expect(released == nil)
    search.gates[1].open()
    guard case .cancelled(.scopeEnded)? = await operation?.ended() else {
      return #expect(Bool(false), "cancelled as the scope ended")
    }
  }

  /// As a view does: it reads, and hears of the next change of what it has read.
  private func changes<Value>(of read: () -> Value) -> Log<String> {
    let changes = Log<String>()
    withObservationTracking {
      _ = read()
    } onChange: {
      changes.append("change")
    }
    return changes
  }

  // Each of these reads one property only: without its observation nobody hears of anything.
  @Test func `a view that reads a model hears of its changes`() async {
    let model = UseCaseModel(search)
    let value = changes { model.value }
    let begun = changes { model.isRunning }
    let operation = model.execute(1)
    #expect(begun.count == 1 && value.count == 0)
    let over = changes { model.isRunning }
    search.gates[1].open()
    await operation.ended()
    #expect(over.count == 1 && value.count == 1)
  }

  @Test func `a view that reads the error hears when it comes, and when it goes`() async {
    let model = UseCaseModel(search)
    for gate in search.gates { gate.open() }
    let failed = changes { model.error }
    await model.execute(-2).ended()
    #expect(failed.count == 1 && model.error != nil)
    let cleared = changes { model.error }
    await model.execute(3).ended()
    #expect(cleared.count == 1 && model.error == nil)
  }

  @Test(.holds("Two moments"))
  func `a model shows the error of a timeout at once, though the body goes on`() async throws {
    let (clock, gate) = (ManualClock(), Gate())
    let slow = AnyUseCase(queue: UseCaseQueue(clock: clock), timeout: .seconds(1)) {
      (number: Int) in
      await gate.passIgnoringCancellation()
      return number
    }
    let model = UseCaseModel(slow)
    let failed = changes { model.error }
    let operation = model.execute(1)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    while failed.count == 0 { await Task.yield() }
    #expect(model.error is UseCaseTimeout && !model.isRunning && slow.queue.isBusy)
    gate.open()
    await operation.ended()
    #expect(model.value == nil)
  }

  @Test func `a view that shows that a model runs hears of the cancel`() async {
    let model = UseCaseModel(search)
    let operation = model.execute(1)
    let cancelled = changes { model.isRunning }
    model.cancel()
    #expect(cancelled.count == 1)
    search.gates[1].open()
    await operation.ended()
  }

  /// Waits at the gate of its number, reports before and after, and fails for a negative one.
  private struct Count: ReportingUseCase {
    let queue: UseCaseQueue
    let gates = [Gate(), Gate()]

    init(_ policy: UseCaseQueue.Policy = .unlimited) {
      queue = UseCaseQueue(policy)
    }

    func main(_ number: Int, report: @escaping @Sendable (String) -> Void) async throws -> Int {
      report("\(number) begins")
      await gates[abs(number)].passIgnoringCancellation()
      guard number >= 0 else { throw Broken(number: number) }
      report("\(number) is over")
      return number
    }
  }

  /// Waits until the model shows that update.
  private func shown<Base: ReportingUseCase>(
    _ update: String, by model: ReportingUseCaseModel<Base>
  ) async where Base.Update == String {
    while model.update != update { await Task.yield() }
  }

  @Test(.holds("Reported updates"))
  func `a reporting model shows the latest update of the newest operation`() async {
    let count = Count()
    let model = ReportingUseCaseModel(count)
    let older = model.execute(0)
    await shown("0 begins", by: model)
    let newer = model.execute(1)
    #expect(model.isRunning)
    await shown("1 begins", by: model)
    count.gates[0].open()
    await older.ended()
    #expect(model.value == 0 && model.update == "1 begins")
    count.gates[1].open()
    await newer.ended()
    #expect(model.update == "1 is over" && model.value == 1 && model.error == nil)
    #expect(!model.isRunning)
    model.execute(1)
    #expect(model.update == nil)
  }

  @Test(.holds("Reported updates"))
  func `a dropped operation leaves the progress of the running one`() async {
    let count = Count(.dropWhileBusy)
    let model = ReportingUseCaseModel(count)
    let running = model.execute(0)
    await shown("0 begins", by: model)
    await model.execute(1).ended()
    #expect(model.update == "0 begins" && model.isRunning)
    count.gates[0].open()
    await running.ended()
    #expect(model.update == "0 is over" && model.value == 0)
  }

  @Test(arguments: [UseCaseQueue.Policy.cancelPrevious, .cancelPreviousAndWait], [false, true])
  func `the progress of a superseded operation is gone at once, and comes no more`(
    policy: UseCaseQueue.Policy, isShared: Bool
  ) async {
    let count = Count(policy)
    let base: any ReportingUseCase<Int, Int, String> = isShared ? count.shared() : count
    let model = ReportingUseCaseModel(AnyReportingUseCase(base))
    let older = model.execute(0)
    await shown("0 begins", by: model)
    let newer = model.execute(1)
    #expect(model.update == nil)
    for gate in count.gates { gate.open() }
    await older.ended()
    #expect(model.update?.hasPrefix("0") != true)
    await newer.ended()
    #expect(model.update == "1 is over" && model.value == 1)
  }

  @Test func `an update still on its way is not taken for progress of an incoming operation`() async
  {
    let count = Count()
    let model = ReportingUseCaseModel(count)
    let older = model.execute(0)
    count.gates[0].open()
    // Without a suspension: the updates are on their way, and the main actor has shown none.
    while older.outcome == nil {}
    let newer = model.execute(1)
    await older.ended()
    #expect(model.value == 0 && model.update?.hasPrefix("0") != true)
    count.gates[1].open()
    await newer.ended()
    #expect(model.update == "1 is over")
  }

  @Test func `a view that reads a reporting model hears of its changes`() async {
    let count = Count()
    let model = ReportingUseCaseModel(count)
    let begun = changes { model.isRunning }
    let operation = model.execute(1)
    #expect(begun.count == 1)
    // Nothing is shown between these lines, since they hold the main actor.
    let reported = changes { model.update }
    let (over, value) = (changes { model.isRunning }, changes { model.value })
    await shown("1 begins", by: model)
    #expect(reported.count == 1 && over.count == 0 && value.count == 0)
    count.gates[1].open()
    await operation.ended()
    #expect(over.count == 1 && value.count == 1)
    let cleared = changes { model.update }
    let next = model.execute(1)
    #expect(cleared.count == 1 && model.update == nil)
    let cancelled = changes { model.isRunning }
    model.cancel()
    #expect(cancelled.count == 1)
    await next.ended()
  }

  @Test func `a view that reads the error of a reporting model hears when it comes`() async {
    let count = Count()
    let model = ReportingUseCaseModel(count)
    for gate in count.gates { gate.open() }
    let failed = changes { model.error }
    await model.execute(-1).ended()
    #expect(failed.count == 1 && (model.error as? Broken) == Broken(number: -1))
    let cleared = changes { model.error }
    await model.execute(1).ended()
    #expect(cleared.count == 1 && model.error == nil)
  }

  @Test func `a model of a use case that asks for nothing executes without a request`() async {
    let hello = AnyUseCase { (_: Void) in "hello" }
    let model = UseCaseModel(hello)
    await model.execute().ended()
    #expect(model.value == "hello")
  }
}
