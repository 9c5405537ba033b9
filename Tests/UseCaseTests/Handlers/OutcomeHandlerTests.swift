import TestSupport
import Testing
import UseCase

/// `finally { outcome in }`.
@Suite(.mustEnd)
struct OutcomeHandlerTests {
  private let log = Log<String>()
  private let double = AnyUseCase { (number: Int) in number * 2 }

  private nonisolated func write(_ outcome: UseCaseOutcome<Int>) {
    switch outcome {
    case .success(let number): log.append("success \(number)")
    case .failure(let error): log.append("failure \(error)")
    case .cancelled(let reason): log.append("cancelled \(reason)")
    }
  }

  @Test(.holds("finally with the outcome"))
  func `a finally with the outcome is told of success, failure and cancellation`() async {
    let useCase = AnyUseCase { (number: Int) in
      if number == 2 { throw UseCaseTimeout(duration: .seconds(5)) }
      if number == 3 { throw CancellationError() }
      return number
    }
    for number in 1...3 { await useCase.execute(number).finally { write($0) }.ended() }
    #expect(
      log.elements == ["success 1", "failure It took longer than 5 seconds.", "cancelled thrown"])
  }

  @Test(.holds("finally with the outcome"))
  func `a finally with the outcome runs in its turn, after the other handlers`() async {
    let held = Held()
    let operation = held.execute(1)
      .finally { [log] in log.append("finally") }
      .finally { write($0) }
      .then { [log] in log.append("then \($0)") }
      .finally { write($0) }
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["then 1", "finally", "success 1", "success 1"])
  }

  @Test func `a finally with the outcome tells why an operation gave way`() async {
    let keeping = Held(.keepLatest)
    let operations = keeping.executeFirst(3)
    for operation in operations { operation.finally { write($0) } }
    await operations[1].ended()
    operations[2].cancel()
    await operations[2].ended()
    keeping.open(1)
    await operations[0].ended()
    #expect(log.elements == ["cancelled superseded", "cancelled requested", "success 1"])

    let dropping = Held(.dropWhileBusy)
    let first = dropping.execute(1)
    await dropping.execute(2).finally { write($0) }.ended()
    #expect(log.elements.last == "cancelled dropped")
    dropping.open(1)
    await first.ended()
  }

  @Test @MainActor
  func `after a late cancel the outcome that a finally is told is the cancellation`() async {
    let operation = double.execute(21)
      .then { [log] _ in log.append("then") }
      .finally { self.write($0) }
    holdThread { operation.state == .finished }
    operation.cancel()
    await operation.ended()
    #expect(log.elements == ["cancelled requested"])
    #expect(operation.fate == "+")
    await operation.finally { self.write($0) }.ended()
    #expect(log.elements.last == "cancelled requested")
  }

  @Test(.holds("Handlers left out")) @MainActor
  func `a late cancel reaches onCancel, too, when nothing handles the outcome`() async {
    let held = Held(.serial)
    let operation = held.execute(1)
      .finally { self.write($0) }
      .onCancel { [log] reason in log.append("onCancel \(reason)") }
    held.open(1)
    holdThread { operation.state == .finished }
    operation.cancel()
    await operation.ended()
    #expect(log.elements == ["onCancel requested", "cancelled requested"])
    #expect(operation.fate == "+")
  }

  @Test @MainActor
  func `in races no finally shows a success on the main actor after cancel`() async {
    for round in 0..<tries("RACES", or: 2_000) {
      let view = View()
      let operation = double.execute(round).finally { view.show($0) }
      if round % 3 > 0 { holdThread { operation.state == .finished } }
      if round % 3 > 1 { for _ in 1...50 { yieldThread() } }
      operation.cancel()
      view.isCancelled = true
      await operation.ended()
      #expect(view.stale == 0 && view.told == 1)
    }
  }

  @MainActor private final class View {
    var isCancelled = false
    private(set) var (stale, told) = (0, 0)

    func show(_ outcome: UseCaseOutcome<Int>) {
      told += 1
      if case .success = outcome, isCancelled { stale += 1 }
    }
  }

  @Test func `a finally with the outcome leaves nothing behind`() async {
    let lifetime = Lifetime()
    for cancels in [true, false] {
      let operation = double.execute(1)
      operation.finally { [token = lifetime.track()] _ in _ = (token, operation) }
      if cancels { operation.cancel() }
      await operation.ended()
    }
    #expect(lifetime.alive == 0)
  }
}
