import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct SlotsAndOrderTests {
  private let log = Log<String>()

  @Test(.holds("Failing and slow bodies"))
  func `a serial queue goes on after a failure`() async {
    let useCase = AnyUseCase(queue: UseCaseQueue(.serial)) { (number: Int) in
      if number == 1 { throw Refused() }
      return number
    }
    let operations = [useCase.execute(1), useCase.execute(2)]
    await allEnded(operations)
    #expect(fates(operations) == "F+")
  }

  @Test
  func `an operation cancelled while it waits ends at once, and the others stay in place`()
    async
  {
    let held = Held(.serial)
    let operations = held.executeFirst(4)
    operations[1].cancel()
    #expect(held.queue.activity.waiting == 2)
    await operations[1].ended()
    #expect(fates(operations) == "RCWW")
    held.open(1...4)
    await allEnded(operations)
    #expect(held.begun.elements == [1, 3, 4])
  }

  @Test func `dropWhileBusy drops during the clean-up of a cancelled body, not after it`() async {
    let held = Held(.dropWhileBusy)
    var operations = [held.execute(1)]
    await held.begun.elements(atLeast: 1)
    operations[0].cancel()
    operations.append(held.execute(2))
    #expect(fates(operations) == "CD")
    held.open(1...3)
    await operations[0].ended()
    operations.append(held.execute(3))
    await allEnded(operations)
    #expect(fates(operations) == "CD+")
  }

  @Test(.holds("cancelPreviousAndWait"))
  func `the body of cancelPreviousAndWait starts after the old body has returned`() async {
    let held = Held(.cancelPreviousAndWait)
    let first = held.execute(1)
    await held.begun.elements(atLeast: 1)
    let operations = [first, held.execute(2)]
    #expect(fates(operations) == "SW")
    #expect(held.begun.elements == [1])
    held.open(1...2)
    await allEnded(operations)
    #expect(held.begun.elements == [1, 2])
    #expect(held.crowd.peak == 1)
  }

  @Test(.holds("cancelPrevious"))
  func `old and new body may overlap under cancelPrevious`() async {
    let held = Held(.cancelPrevious)
    let first = held.execute(1)
    await held.begun.elements(atLeast: 1)
    let second = held.execute(2)
    await held.begun.elements(atLeast: 2)
    #expect(held.crowd.now == 2)
    held.open(1...2)
    await allEnded([first, second])
  }

  @Test(.holds("Execute from a handler"))
  func `a then may execute again under dropWhileBusy`() async {
    let held = Held(.dropWhileBusy)
    let again = Log<Operation>()
    let first = held.execute(1).then { _ in again.append(held.execute(2)) }
    held.open(1...2)
    await first.ended()
    await allEnded(again.elements)
    #expect(fates(again.elements) == "+")
  }

  @Test func `a task may execute again when value has returned under dropWhileBusy`() async throws {
    let held = Held(.dropWhileBusy)
    for number in 1...100 {
      held.open(number)
      #expect(try await held.execute(number).value == number)
    }
  }

  @Test func `dropWhileBusy drops right after cancelAll, and runs after the end`() async {
    let held = Held(.dropWhileBusy)
    var operations = [held.execute(1)]
    await held.begun.elements(atLeast: 1)
    held.queue.cancelAll()
    operations.append(held.execute(2))
    held.open(1...3)
    await operations[0].ended()
    operations.append(held.execute(3))
    await allEnded(operations)
    #expect(fates(operations) == "CD+")
  }

  @Test func `the waiting operation of keepLatest starts when a cancelled body has returned`() async
  {
    let held = Held(.keepLatest)
    let operations = held.executeFirst(2)
    await held.begun.elements(atLeast: 1)
    operations[0].cancel()
    #expect(fates(operations) == "CW")
    held.open(1)
    await operations[0].ended()
    #expect(fates(operations) == "CR")
    held.open(2)
    await allEnded(operations)
  }

  @Test func `nothing starts when the waiting operation of keepLatest is cancelled`() async {
    let held = Held(.keepLatest)
    let operations = held.executeFirst(2)
    operations[1].cancel()
    held.open(1...2)
    await operations[0].ended()
    #expect(held.queue.activity.isIdle)
    await allEnded(operations)
    #expect(held.begun.elements == [1])
  }

  @Test func `an operation that a body executes first of all waits for its slot, and succeeds`()
    async
  {
    let held = Held(.serial)
    let made = Log<Operation>()
    let maker = AnyUseCase(queue: held.queue) { (number: Int) in
      made.append(held.execute(2))
      return number
    }
    held.open(2)
    let operation = maker.execute(1)
    await operation.ended()
    await allEnded(made.elements)
    #expect(fates([operation] + made.elements) == "++")
  }

  @Test
  func `an operation executed in a body under cancelPreviousAndWait supersedes its caller`()
    async
  {
    let held = Held(.cancelPreviousAndWait)
    let made = Log<Operation>()
    let gate = Gate()
    let maker = AnyUseCase(queue: held.queue) { (number: Int) in
      made.append(held.execute(2))
      await gate.passIgnoringCancellation()
      return number
    }
    let operation = maker.execute(1)
    await made.elements(atLeast: 1)
    #expect(fates([operation] + made.elements) == "SW")
    gate.open()
    await operation.ended()
    #expect(fates([operation] + made.elements) == "SR")
    held.queue.cancelAll()
    held.open(2)
    await allEnded(made.elements)
    #expect(fates([operation] + made.elements) == "SC")
  }

  @Test(.holds("Deadlocks"))
  func `awaiting an operation that waits for the own slot is a deadlock, told at once`() async {
    let held = Held(.serial)
    held.open(2)
    let made = Log<Operation>()
    let maker = AnyUseCase(queue: held.queue) { (_: Int) in
      let operation = held.execute(2)
      made.append(operation)
      return try await operation.value
    }
    let operation = maker.execute(1).catch(UseCaseDeadlock.self) { [log] _ in
      log.append("deadlock")
    }
    await operation.ended()
    await allEnded(made.elements)
    #expect(log.elements == ["deadlock"])
    #expect(fates([operation] + made.elements) == "F+")
  }

  @Test func `ten thousand waiting operations that do nothing all end`() async {
    let queue = UseCaseQueue(.serial)
    queue.suspend()
    let useCase = AnyUseCase(queue: queue) { (_: Int) in }
    let operations = (1...10_000).map { useCase.execute($0) }
    queue.resume()
    await allEnded(operations)
    #expect(queue.activity.succeeded == 10_000)
  }

  @Test func `priorities do not change the order of the calls`() async {
    let held = Held(.serial)
    let priorities: [TaskPriority] = [.background, .high, .low, .userInitiated, .medium, .high]
    let operations = priorities.indices.map { held.execute($0, priority: priorities[$0]) }
    held.open(0...5)
    await allEnded(operations)
    #expect(held.begun.elements == [0, 1, 2, 3, 4, 5])
  }

  @Test func `the successor of an operation cancelled while it waits does not start early`() async {
    let held = Held(.serial)
    let operations = held.executeFirst(3)
    await held.begun.elements(atLeast: 1)
    operations[1].cancel()
    await operations[1].ended()
    #expect(fates(operations) == "RCW")
    #expect(held.begun.elements == [1])
    held.open(1...3)
    await allEnded(operations)
  }

  @Test func `waiting operations end although use case and queue are let go`() async {
    let gate = Gate()
    func executeAndLetGo() -> [UseCaseOperation<Int, Int>] {
      let useCase = AnyUseCase(queue: UseCaseQueue(.serial)) { (number: Int) in
        await gate.passIgnoringCancellation()
        return number
      }
      return (1...3).map { useCase.execute($0) }
    }
    let operations = executeAndLetGo()
    gate.open()
    await allEnded(operations)
    #expect(fates(operations) == "+++")
  }

  @Test(.holds("Suspended"))
  func `a suspended queue admits, starts nothing, and resumes in order`() async {
    let held = Held(.serial)
    held.open(1...3)
    held.queue.suspend()
    let operations = held.executeFirst(3)
    #expect(fates(operations) == "WWW")
    #expect(held.queue.activity.running == 0)
    held.queue.resume()
    await allEnded(operations)
    #expect(held.begun.elements == [1, 2, 3])
  }

  @Test(.holds("Cancelling"))
  func `cancelAll of a suspended queue cancels all, and none starts`() async {
    let held = Held(.limit(2))
    held.queue.suspend()
    let operations = held.executeFirst(3)
    held.queue.cancelAll()
    #expect(fates(operations) == "CCC")
    await allEnded(operations)
    held.queue.resume()
    #expect(held.queue.activity.isIdle)
    held.open(4)
    await held.execute(4).ended()
    #expect(held.begun.elements == [4])
  }
}
