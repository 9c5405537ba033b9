import TestSupport
import Testing
import UseCase

/// After `cancel()` nothing of the outcome begins where `cancel()` was called.
@Suite(.mustEnd)
struct StaleResultTests {
  private let log = Log<String>()
  private let double = AnyUseCase { (number: Int) in number * 2 }

  private nonisolated func attachElsewhere(_ name: String, to operation: Operation) {
    operation.common { [log] in log.append(name) }
  }

  @Test(.holds("Handlers left out")) @MainActor
  func `no then begins on the main actor although the outcome was there`() async throws {
    let gate = Gate()
    let double = AnyUseCase { (number: Int) in
      await gate.passIgnoringCancellation()
      return number * 2
    }
    let operation = double.execute(21)
      .onCancel { [log] in log.append("early onCancel \($0)") }
      .then { [log] _ in log.append("then") }
      .common { [log] in log.append("common") }
      .onCancel { [log] in log.append("onCancel \($0)") }
      .finally { [log] in log.append("finally") }
    gate.open()
    holdThread { operation.state == .finished }
    operation.cancel()
    await operation.ended()
    #expect(log.elements == ["early onCancel requested", "onCancel requested", "finally"])
    #expect(operation.fate == "+")
    #expect(try await operation.value == 42)
  }

  @Test(.holds("Handlers on their way")) @MainActor
  func `no then begins on the main actor although its hop is on the way`() async {
    let operation = double.execute(21)
    attachElsewhere("elsewhere", to: operation)
    operation.then { [log] _ in log.append("then") }
      .onCancel { [log] in log.append("onCancel \($0)") }
      .finally { [log] in log.append("finally") }
    // The handler before has run: the next one can only wait for the main actor.
    holdThread { log.count == 1 }
    operation.cancel()
    await operation.ended()
    #expect(log.elements == ["elsewhere", "onCancel requested", "finally"])
  }

  @Test(.holds("Handlers on their way"), arguments: [true, false]) @MainActor
  func `in races no handler begins on the main actor after cancel`(fails: Bool) async {
    let useCase = AnyUseCase(queue: UseCaseQueue()) { (number: Int) in
      if fails { throw Offline() }
      return number
    }
    var (begun, cancelled, ended) = (0, 0, 0)
    let rounds = tries("RACES", or: 4_000)
    for round in 0..<rounds {
      let view = View()
      let operation = useCase.execute(round)
        .then { _ in view.show() }
        .catch(Offline.self) { _ in view.show() }
        .catch { _ in view.show() }
        .common { view.show() }
        .onCancel { _ in cancelled += 1 }
        .finally { ended += 1 }
      for _ in 0..<round % 8 { await Task.yield() }
      holdThread { operation.state == .finished || round % 3 == 0 }
      operation.cancel()
      view.isCancelled = true
      await operation.ended()
      #expect(view.stale == 0)
      begun += view.shown > 0 ? 1 : 0
    }
    #expect(ended == rounds)
    // Each ran its branch, was cancelled, or was cancelled in the midst of its branch.
    #expect(begun + cancelled >= rounds)
    #expect(cancelled > 0)
  }

  @Test @MainActor
  func `in races no update begins on the main actor after cancel`() async {
    for round in 0..<tries("RACES", or: 2_000) {
      let view = View()
      let counting = Counting(on: UseCaseQueue())
      counting.gate.open()
      let operation = counting.execute(3) { _ in view.show() }
      for _ in 0..<round % 8 { await Task.yield() }
      operation.cancel()
      view.isCancelled = true
      await operation.ended()
      #expect(view.stale == 0)
    }
  }

  @MainActor private final class View {
    var isCancelled = false
    private(set) var shown = 0
    private(set) var stale = 0

    func show() {
      shown += 1
      stale += isCancelled ? 1 : 0
    }
  }

  private actor Screen {
    private var isCancelled = false
    private var stale = 0

    func race(_ useCase: AnyUseCase<Int, Int>, rounds: Int) async -> Int {
      for round in 0..<rounds {
        isCancelled = false
        let operation = useCase.execute(round)
          .then { _ in self.stale += self.isCancelled ? 1 : 0 }
          .common { self.stale += self.isCancelled ? 1 : 0 }
        for _ in 0..<round % 8 { await Task.yield() }
        operation.cancel()
        isCancelled = true
        await operation.ended()
      }
      return stale
    }
  }

  @Test(.holds("Handlers on their way"))
  func `in races no handler begins on an actor that has cancelled`() async {
    #expect(await Screen().race(double, rounds: tries("RACES", or: 4_000)) == 0)
  }

  @Test(.holds("Handlers left out"))
  func `a then that cancels leaves out the handlers after it, and onCancel runs`() async throws {
    let held = Held()
    let operation = held.execute(1)
    operation.onCancel { [log] _ in log.append("early onCancel") }
      .finally { [log] in log.append("early finally") }
      .then { [log, operation] _ in
        log.append("then")
        operation.cancel()
      }
      .then { [log] _ in log.append("late then") }
      .common { [log] in log.append("common") }
      .onCancel { [log] _ in log.append("onCancel") }
      .finally { [log] in log.append("finally") }
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["then", "early onCancel", "onCancel", "early finally", "finally"])
    #expect(try await operation.value == 1)
    #expect(held.queue.activity.succeeded == 1)
  }

  @Test func `a cancel in the last handler of the branch changes nothing`() async {
    let held = Held()
    let operation = held.execute(1)
    operation.common { [log] in log.append("common") }
      .then { [log, operation] _ in
        log.append("then")
        operation.cancel()
      }
      .onCancel { [log] _ in log.append("onCancel") }
      .catch { [log] _ in log.append("catch") }
      .finally { [log] in log.append("finally") }
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["common", "then", "finally"])
  }

  @Test @MainActor
  func `handlers attached after such a cancel are those of a cancelled operation`() async {
    let operation = double.execute(1).then { [log] _ in log.append("then") }
    holdThread { operation.state == .finished }
    operation.cancel()
    await operation.ended()
    await operation.record(in: log).ended()
    #expect(log.elements == ["onCancel requested", "finally"])
  }

  @Test @MainActor
  func `a late then is left out by a cancel before it begins`() async {
    let operation = double.execute(1)
    await operation.ended()
    operation.then { [log] _ in log.append("then") }
      .onCancel { [log] _ in log.append("onCancel") }
    operation.cancel()
    await operation.ended()
    #expect(log.elements == ["onCancel"])
  }
}
