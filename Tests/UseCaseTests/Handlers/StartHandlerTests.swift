import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct StartHandlerTests {
  private let log = Log<String>()
  private let double = AnyUseCase { (number: Int) in number * 2 }

  @Test func `a start handler runs while the body does`() async {
    let held = Held()
    let operation = held.execute(1).onStart { [log] in log.append("start") }.record(in: log)
    await log.elements(atLeast: 1)
    #expect(log.elements == ["start"] && held.returned.count == 0)
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["start", "then 1", "common", "finally"])
  }

  @Test(.holds("onStart"))
  func `a start handler runs before any update and any other handler`() async {
    let counting = Counting(on: UseCaseQueue())
    let operation = counting.execute(2) { [log] in log.append("update \($0)") }
      .record(in: log)
      .onStart { [log] in log.append("start") }
    counting.gate.open()
    await operation.ended()
    #expect(
      log.elements == ["start", "update 1", "update 2", "then 2", "common", "finally"])
  }

  @Test(.holds("onStart"))
  func `an operation that waits runs its start handlers when it has its slot`() async {
    let held = Held(.serial)
    let first = held.execute(1)
    let second = held.execute(2)
    for number in 1...100 { second.onStart { [log] in log.append("start \(number)") } }
    await held.begun.elements(atLeast: 1)
    #expect(log.count == 0)
    held.open(1)
    await log.elements(atLeast: 100)
    #expect(log.elements == (1...100).map { "start \($0)" })
    #expect(held.returned.elements == [1])
    held.open(2)
    await allEnded([first, second])
    #expect(log.count == 100)
  }

  @Test func `a start handler attached while the body runs runs at once`() async {
    let held = Held()
    let operation = held.execute(1).then { [log] _ in log.append("then") }
    await held.begun.elements(atLeast: 1)
    operation.onStart { [log] in log.append("start") }
    await log.elements(atLeast: 1)
    #expect(held.returned.count == 0)
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["start", "then"])
  }

  @Test(.holds("onStart"))
  func `a start handler attached after the end runs if the body has begun`() async {
    let failing = AnyUseCase<Int, Int> { _ in throw Refused() }
    for operation in [double.execute(1), failing.execute(1)] {
      await operation.ended()
      await operation.onStart { [log] in log.append("start") }.ended()
    }
    #expect(log.elements == ["start", "start"])
  }

  @Test func `a start handler attached by a handler runs in its turn`() async {
    let operation = Watched<Operation?>(nil)
    let gate = Gate()
    let useCase = AnyUseCase { (number: Int) in
      await gate.passIgnoringCancellation()
      return number
    }
    let executed = useCase.execute(1)
      .then { [log] _ in
        log.append("then")
        operation.value?.onStart { log.append("start") }
        operation.value?.finally { log.append("late") }
      }
      .finally { [log] in log.append("finally") }
    operation.update { $0 = executed }
    gate.open()
    await executed.ended()
    operation.update { $0 = nil }
    #expect(log.elements == ["then", "start", "finally", "late"])
  }

  @Test(.holds("onStart that is skipped"))
  func `an operation that never starts never runs its start handler`() async {
    let lifetime = Lifetime()
    let held = Held(.keepLatest)
    var operations: [Operation] = []
    for number in 1...3 {
      operations.append(
        held.execute(number).onStart { [log, token = lifetime.track()] in
          log.append("start \(number)")
          _ = token
        })
    }
    operations[2].cancel()
    held.open(1...3)
    await allEnded(operations)
    for operation in operations[1...] { operation.onStart { [log] in log.append("late") } }
    await allEnded(operations)
    #expect(fates(operations) == "+SC")
    #expect(log.elements == ["start 1"])
    #expect(lifetime.alive == 0)
  }

  @Test func `a dropped operation never runs a start handler`() async {
    let held = Held(.dropWhileBusy)
    let first = held.execute(1)
    let dropped = held.execute(2).onStart { [log] in log.append("start") }.record(in: log)
    await dropped.ended()
    #expect(log.elements == ["onCancel dropped", "finally"])
    held.open(1)
    await first.ended()
  }

  @Test func `an operation that is superseded while it runs has started`() async {
    let held = Held(.cancelPrevious)
    let first = held.execute(1).onStart { [log] in log.append("start") }
    await log.elements(atLeast: 1)
    let second = held.execute(2)
    held.open(1...2)
    await allEnded([first, second])
    #expect(fates([first, second]) == "S+")
    await first.onStart { [log] in log.append("late") }.ended()
    #expect(log.elements == ["start"])
  }

  @Test func `a start handler attached after a timeout runs while the body unwinds`() async throws {
    let clock = ManualClock()
    let held = Held(on: UseCaseQueue(clock: clock), timeout: .seconds(1))
    let operation = held.execute(1)
    await held.begun.elements(atLeast: 1)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    _ = try? await operation.value
    operation.onStart { [log] in log.append("start") }
    await log.elements(atLeast: 1)
    operation.catch { [log] _ in log.append("catch") }.finally { [log] in log.append("finally") }
    await log.elements(atLeast: 2)
    #expect(log.elements == ["start", "catch"])
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["start", "catch", "finally"])
  }

  @Test @MainActor func `a start handler that waits for the main actor is silenced`() async {
    let held = Held()
    let operation = held.execute(1).onStart { [log] in log.append("start") }
      .onCancel { [log] in log.append("onCancel \($0)") }
    holdThread { held.begun.count == 1 }
    operation.cancel()
    operation.onStart { [log] in log.append("late") }
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["onCancel requested"])
  }

  @Test @MainActor
  func `a start handler that waits for the main actor is silenced after the outcome`() async {
    let operation = double.execute(1).onStart { [log] in log.append("start") }
      .then { [log] _ in log.append("then") }
      .finally { [log] in log.append("finally") }
    holdThread { operation.state == .finished }
    operation.cancel()
    await operation.ended()
    #expect(log.elements == ["finally"])
  }

  @Test @MainActor func `a start handler runs on the main actor in which it was written`() async {
    let counting = Counting(on: UseCaseQueue())
    let operation = counting.execute(1) { [log] _ in log.append("update \(isOnMainActor())") }
      .onStart { [log] in log.append("start \(isOnMainActor())") }
    counting.gate.open()
    await operation.ended()
    #expect(log.elements == ["start true", "update true"])
  }

  @Test(.holds("onStart that is skipped")) @MainActor
  func `in races no start handler begins on the main actor after cancel`() async {
    for round in 0..<tries("RACES", or: 2_000) {
      let view = View()
      let operation = double.execute(round).onStart { view.show() }
      if round % 3 == 0 { holdThread { operation.state == .finished } }
      operation.cancel()
      view.isCancelled = true
      operation.onStart { view.show() }
      await operation.ended()
      #expect(view.stale == 0)
    }
  }

  @MainActor private final class View {
    var isCancelled = false
    private(set) var stale = 0

    func show() { stale += isCancelled ? 1 : 0 }
  }

  @Test func `each start handler runs once however many threads attach while the body runs`()
    async
  {
    for round in 0..<200 {
      let count = Log<Int>()
      let held = Held()
      let operation = held.execute(1)
      await withTaskGroup { group in
        for worker in 0..<8 {
          group.addTask {
            if worker == round % 8 { held.open(1) }
            for _ in 1...10 { operation.onStart { count.append(worker) } }
          }
        }
      }
      await operation.ended()
      #expect(count.count == 80)
    }
  }

  @Test func `a cancelled operation lets go of its start handlers with no lock held`() async {
    let held = Held(.serial)
    let first = held.execute(1)
    let second = held.execute(2)
    let lifetime = Lifetime()
    let token = Watched<Lifetime.Token?>(
      lifetime.track { [weak second] in
        second?.onCancel { _ in }
        _ = second?.state
      })
    second.onStart { [token = token.value] in _ = token }
    token.update { $0 = nil }
    second.cancel()
    held.open(1)
    await allEnded([first, second])
    #expect(lifetime.alive == 0)
  }
}
