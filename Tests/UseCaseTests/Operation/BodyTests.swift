import TestSupport
import Testing
import UseCase

private enum Locals {
  @TaskLocal static var name = "nobody"
}

@Suite(.mustEnd)
struct BodyTests {
  @Test(.holds("A task of its own")) @MainActor
  func `a body never runs on the actor of the caller`() async throws {
    let useCase = AnyUseCase(queue: UseCaseQueue(.serial)) { (_: Int) in isOnMainActor() }
    let operations = [useCase.execute(1), useCase.execute(2)]
    for operation in operations { #expect(try await operation.value == false) }
    #expect(try await useCase(3) == false)
  }

  @Test(.holds("Priority"))
  func `a body has the priority that was given, also after a wait`() async throws {
    let gate = Gate()
    let useCase = AnyUseCase(queue: UseCaseQueue(.serial)) { (_: Int) in
      await gate.passIgnoringCancellation()
      return Task.basePriority?.rawValue
    }
    let priorities: [TaskPriority] = [.low, .background, .high]
    let operations = priorities.map { useCase.execute(1, priority: $0) }
    gate.open()
    for (operation, priority) in zip(operations, priorities) {
      #expect(try await operation.value == priority.rawValue)
    }
  }

  @Test(.holds("Priority"), arguments: [TaskPriority.low, .background, .high])
  func `a body has the priority of the task that executes, also after a wait`(
    priority: TaskPriority
  ) async throws {
    let gate = Gate()
    let useCase = AnyUseCase(queue: UseCaseQueue(.serial)) { (_: Int) in
      await gate.passIgnoringCancellation()
      return Task.basePriority?.rawValue
    }
    let made = Log<UseCaseOperation<Int, UInt8?>>()
    // Nobody awaits the task: that would raise its priority to that of the test.
    Task.detached(priority: priority) {
      for number in 1...2 { made.append(useCase.execute(number)) }
    }
    await made.elements(atLeast: 2)
    gate.open()
    for operation in made.elements { #expect(try await operation.value == priority.rawValue) }
  }

  @Test(.holds("Task-local values"))
  func `a body that waited sees the task-local values of its own execute`()
    async throws
  {
    let queue = UseCaseQueue(.serial)
    let gate = Gate()
    let useCase = AnyUseCase(queue: queue) { (_: Int) in
      await gate.passIgnoringCancellation()
      return Locals.name
    }
    let first = Locals.$name.withValue("first") { useCase.execute(1) }
    let second = useCase.execute(2)
    let third = Locals.$name.withValue("third") { useCase.execute(3) }
    Locals.$name.withValue("who opens") { gate.open() }
    #expect(try await first.value == "first")
    #expect(try await second.value == "nobody")
    #expect(try await third.value == "third")
  }

  @Test func `a body sees the task-local values of its execute, not of the call of resume`()
    async throws
  {
    let queue = UseCaseQueue(.serial)
    queue.suspend()
    let useCase = AnyUseCase(queue: queue) { (_: Int) in Locals.name }
    let operation = Locals.$name.withValue("maker") { useCase.execute(1) }
    Locals.$name.withValue("resumer") { queue.resume() }
    #expect(try await operation.value == "maker")
  }

  @Test func `task-local values reach a body that a plain thread executed`() async throws {
    let queue = UseCaseQueue(.serial)
    queue.suspend()
    let useCase = AnyUseCase(queue: queue) { (_: Int) in Locals.name }
    let made = Log<UseCaseOperation<Int, String>>()
    onThread {
      Locals.$name.withValue("thread") { made.append(useCase.execute(1)) }
    }
    let operation = await made.elements(atLeast: 1)[0]
    queue.resume()
    #expect(try await operation.value == "thread")
  }

  @Test(.holds("CancellationError"))
  func `a CancellationError without a cancellation is a cancellation, as thrown`() async {
    let log = Log<String>()
    let queue = UseCaseQueue()
    let operation = AnyUseCase(queue: queue) { (_: Int) -> Int in throw CancellationError() }
      .execute(1).record(in: log)
    await operation.ended()
    #expect(operation.cancellation == .thrown)
    #expect(log.elements == ["onCancel thrown", "finally"])
    #expect([queue.activity.cancelled, queue.activity.failed] == [1, 0])
    await #expect(throws: CancellationError.self) { try await operation.value }
  }

  @Test(.holds("CancellationError"))
  func `a CancellationError after a cancellation keeps its reason`() async {
    let gate = Gate()
    let useCase = AnyUseCase(queue: UseCaseQueue(.cancelPrevious)) { (number: Int) in
      if number == 1 { try await gate.pass() }
    }
    let operations = [useCase.execute(1), useCase.execute(2)]
    await allEnded(operations)
    #expect(fates(operations) == "S+")
  }

  @Test func `a body whose inner operation was cancelled is cancelled, as thrown`() async {
    let held = Held()
    let outer = AnyUseCase { (_: Int) in
      let operation = held.execute(1)
      operation.cancel()
      return try await operation.value
    }
    let operation = outer.execute(1)
    held.open(1)
    await operation.ended()
    #expect(operation.cancellation == .thrown)
  }
}
