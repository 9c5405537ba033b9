import TestSupport
import Testing
import UseCase

private enum Locals {
  @TaskLocal static var name = "nobody"
}

@Suite(.mustEnd)
struct BodyCasesTests {
  @Test func `any task may read the identity and the state of an operation`() async {
    func isSendable(_: some Sendable & Identifiable) {}
    let held = Held(.serial)
    let operations = held.executeFirst(2)
    isSendable(operations[0])
    #expect(operations[0].id != operations[1].id)
    let states = await Task.detached { operations.map(\.state) }.value
    #expect(states == [.running, .waiting])
    held.open(1...2)
    await allEnded(operations)
    #expect(operations.map(\.state) == [.finished, .finished])
  }

  @Test(.holds("Errors"))
  func `outcome, catch and value give the very error that the body throws`() async {
    final class Problem: Error {}
    let problem = Problem()
    let caught = Log<Problem>()
    let operation = AnyUseCase { (_: Int) -> Int in throw problem }.execute(1)
      .catch(Problem.self) { caught.append($0) }
    guard case .failure(let error as Problem) = await operation.ended() else {
      Issue.record("not a failure: \(operation.fate)")
      return
    }
    #expect(error === problem)
    #expect(caught.elements.map { $0 === problem } == [true])
    let thrown = await #expect(throws: Problem.self) { try await operation.value }
    #expect(thrown === problem)
  }

  @Test(.holds("Once"))
  func `a body is called exactly once`() async throws {
    let held = Held()
    held.open(1)
    let operation = held.execute(1)
    _ = try await operation.value
    _ = try await operation.value
    await operation.ended()
    #expect(held.begun.elements == [1])
  }

  @Test(.holds("While waiting"))
  func `the body of an operation cancelled before it starts is never called`() async {
    let held = Held(.serial)
    let operations = held.executeFirst(3)
    operations[1].cancel()
    held.open(1...3)
    await allEnded(operations)
    #expect(held.begun.elements == [1, 3])
    #expect(fates(operations) == "+C+")
  }

  @Test(.holds("Task-local values"))
  func `a body sees the task-local value of its execute, also after a wait`() async throws {
    let queue = UseCaseQueue(.serial)
    let gate = Gate()
    let useCase = AnyUseCase(queue: queue) { (_: Int) in
      await gate.passIgnoringCancellation()
      return Locals.name
    }
    let operations = ["harry", "sally"].map { name in
      Locals.$name.withValue(name) { useCase.execute(1) }
    }
    #expect(operations.map(\.state) == [.running, .waiting])
    gate.open()
    #expect(try await operations[0].value == "harry")
    #expect(try await operations[1].value == "sally")
  }

  @Test func `a task-local value set in one body is not seen by another`() async throws {
    let queue = UseCaseQueue(.serial)
    let gate = Gate()
    let useCase = AnyUseCase(queue: queue) { (name: String) in
      await gate.passIgnoringCancellation()
      let before = Locals.name
      return await Locals.$name.withValue(name) {
        await Task.yield()
        return before
      }
    }
    let operations = [useCase.execute("harry"), useCase.execute("sally")]
    gate.open()
    for operation in operations { #expect(try await operation.value == "nobody") }
  }

  @Test(arguments: [Int?.none, 1])
  func `the outcome is nil while an operation waits or runs`(cancelled: Int?) async {
    let held = Held(.serial)
    let operations = held.executeFirst(2)
    #expect(operations[0].outcome == nil)
    #expect(operations[1].outcome == nil)
    if let cancelled { operations[cancelled].cancel() }
    held.open(1...2)
    await allEnded(operations)
    #expect(fates(operations) == (cancelled == nil ? "++" : "+C"))
  }

  @Test func `value throws for a cancelled operation whose body still returns`() async {
    let held = Held()
    let operation = held.execute(42)
    await held.begun.elements(atLeast: 1)
    operation.cancel()
    held.open(42)
    await #expect(throws: CancellationError.self) { try await operation.value }
    await operation.ended()
    #expect(held.returned.elements == [42])
    await #expect(throws: CancellationError.self) { try await operation.value }
  }

  @Test func `outcome and value give what the body returns`() async throws {
    let operation = AnyUseCase { (_: Int) in 42 }.execute(1)
    #expect(try await operation.value == 42)
    #expect(try operation.outcome?.get() == 42)
    #expect(try await operation.ended().get() == 42)
  }

  @Test(.holds("While running"))
  func `checkCancellation throws on both sides of a suspension`() async {
    let (entered, gate, log) = (Gate(), Gate(), Log<Bool>())
    let useCase = AnyUseCase { (_: Int) in
      entered.open()
      await gate.passIgnoringCancellation()
      log.append((try? Task.checkCancellation()) == nil)
      await Task.yield()
      log.append((try? Task.checkCancellation()) == nil)
      try Task.checkCancellation()
    }
    let operation = useCase.execute(1)
    await entered.passIgnoringCancellation()
    operation.cancel()
    gate.open()
    await operation.ended()
    #expect(log.elements == [true, true])
    #expect(operation.cancellation == .requested)
  }

  @Test func `body and operation have the request`() async throws {
    let operation = AnyUseCase { (name: String) in name }.execute("harry")
    #expect(operation.request == "harry")
    #expect(try await operation.value == "harry")
  }

  @Test func `cancelAll of an idle queue does nothing`() async {
    let queue = UseCaseQueue(.serial)
    let before = queue.activity
    queue.cancelAll()
    #expect(queue.activity == before)
    let operation = AnyUseCase(queue: queue) { (_: Int) in 1 }.execute(1)
    await operation.ended()
    #expect(operation.fate == "+")
  }

  @Test func `an operation whose body honours cancellation ends at once`() async throws {
    let clock = ManualClock()
    let operation = AnyUseCase { (_: Int) in try await clock.sleep(for: .seconds(1)) }.execute(1)
    try await clock.sleeping()
    operation.cancel()
    await operation.ended()
    #expect(operation.cancellation == .requested)
    #expect(clock.now == .init(offset: .zero))
  }

  @Test func `an idle queue counts nothing, also after cancellations of every kind`() async {
    let held = Held(.serial)
    #expect(held.queue.activity.isIdle)
    #expect(held.queue.activity.executed == 0)
    let operations = held.executeFirst(2)
    for operation in operations + operations { operation.cancel() }
    held.queue.cancelAll()
    held.open(1...2)
    await allEnded(operations)
    for operation in operations { operation.cancel() }
    #expect(held.queue.activity.running == 0)
    #expect(held.queue.activity.waiting == 0)
    #expect(held.queue.activity.cancelled == 2)
  }

  @Test func `the activity counts one operation less when one of two ends`() async {
    let held = Held()
    let operations = held.executeFirst(2)
    #expect(held.queue.activity.running == 2)
    held.open(2)
    await operations[1].ended()
    #expect(held.queue.activity.running == 1)
    #expect(!held.queue.activity.isIdle)
    held.open(1)
    await operations[0].ended()
    #expect(held.queue.activity.isIdle)
  }

  @Test func `the activity is balanced when all have ended`() async {
    let queue = UseCaseQueue(.limit(2))
    let gate = Gate()
    let useCase = AnyUseCase(queue: queue) { (number: Int) in
      await gate.passIgnoringCancellation()
      if number % 3 == 1 { throw Refused() }
      return number
    }
    let operations = (0..<9).map { useCase.execute($0) }
    for operation in operations where operation.request % 3 == 2 { operation.cancel() }
    gate.open()
    await allEnded(operations)
    let activity = queue.activity
    #expect(activity.succeeded == 3)
    #expect(activity.failed == 3)
    #expect(activity.cancelled == 3)
    #expect(activity.executed == 9)
    #expect(activity.isIdle)
  }
}
