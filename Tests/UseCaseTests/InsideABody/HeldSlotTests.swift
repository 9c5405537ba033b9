import TestSupport
import Testing
import UseCase

/// Which code runs in a slot, and for how long.
@Suite(.mustEnd)
struct HeldSlotTests {
  private let queue = UseCaseQueue(.serial)
  private let log = Log<String>()

  @Test(.holds("Inherited slots"))
  func `a slot is held in its body, its child tasks and its tasks, not in a detached one`() async {
    let (queue, log) = (queue, log)
    #expect(!queue.isHeldHere)
    let useCase = AnyUseCase(queue: queue) { (_: Int) in
      log.append("body \(queue.isHeldHere)")
      async let child = queue.isHeldHere
      log.append("child \(await child)")
      let grandchild = await withTaskGroup { group in
        group.addTask { await Task { queue.isHeldHere }.value }
        return await group.next()
      }
      log.append("grandchild \(grandchild == true)")
      log.append("task \(await Task { queue.isHeldHere }.value)")
      log.append("detached \(await Task.detached { queue.isHeldHere }.value)")
    }
    await useCase.execute(1).ended()
    #expect(
      log.elements == [
        "body true", "child true", "grandchild true", "task true", "detached false",
      ])
    #expect(!queue.isHeldHere)
  }

  @Test(.holds("execute inside"))
  func `handlers and updates run outside of the slot`() async {
    let (queue, log) = (queue, log)
    let counting = Counting(on: queue)
    counting.gate.open()
    await counting.execute(1) { _ in log.append("update") }
      .then { _ in log.append("then \(queue.isHeldHere)") }
      .finally { log.append("finally \(queue.isHeldHere)") }
      .ended()
    #expect(log.elements == ["update", "then false", "finally false"])
  }

  @Test
  func `the handlers of an operation executed in a body run outside of its slot`()
    async
  {
    let (queue, log) = (queue, log)
    let other = AnyUseCase { (_: Int) in }
    let maker = AnyUseCase(queue: queue) { (_: Int) in
      await other.execute(1).then { log.append("then \(queue.isHeldHere)") }.ended()
      let late = other.execute(2)
      await late.ended()
      await late.finally { log.append("late \(queue.isHeldHere)") }.ended()
    }
    await maker.execute(1).ended()
    #expect(log.elements == ["then false", "late false"])
  }

  @Test(.holds("execute inside"))
  func `an operation executed inside a body holds its own slot only`() async {
    let (queue, log) = (queue, log)
    let own = UseCaseQueue(.serial)
    let other = AnyUseCase(queue: own) { (_: Int) in
      log.append("\(queue.isHeldHere) \(own.isHeldHere)")
    }
    let maker = AnyUseCase(queue: queue) { (_: Int) in await other.execute(1).ended() }
    await maker.execute(1).ended()
    #expect(log.elements == ["false true"])
  }

  @Test(.holds("execute inside"))
  func `the events of an operation executed in a body are told outside of its slot`()
    async
  {
    let (queue, log) = (queue, log)
    let observed = UseCaseQueue { log.append("\($0.kind) \(queue.isHeldHere)") }
    let other = AnyUseCase(queue: observed) { (_: Int) in }
    let maker = AnyUseCase(queue: queue) { (_: Int) in await other.execute(1).ended() }
    await maker.execute(1).ended()
    // That it runs is told before `execute` returns, by the maker.
    #expect(log.elements == ["running true", "succeeded false", "ended false"])
  }

  @Test(.holds("Inherited slots"))
  func `a task that outlives its body no longer holds the slot`() async {
    let (queue, log, gate) = (queue, log, Gate())
    let inner = AnyUseCase(queue: queue) { (_: Int) in }
    let outer = AnyUseCase(queue: queue) { (_: Int) in
      log.append("body")
      Task {
        await gate.passIgnoringCancellation()
        log.append("task \(queue.isHeldHere)")
        try await inner(1)
        log.append("called")
      }
    }
    await outer.execute(1).ended()
    gate.open()
    #expect(await log.elements(atLeast: 3) == ["body", "task false", "called"])
    await queue.idle()
    #expect(queue.activity.succeeded == 2)
  }

  @Test(.holds("The limit"))
  func `a call in a child task runs inside the slot`() async throws {
    let queue = queue
    let inner = AnyUseCase(queue: queue) { (number: Int) in number }
    let outer = AnyUseCase(queue: queue) { (number: Int) in
      async let first = inner(number)
      async let second = inner(number * 10)
      let third = try await Task { try await inner(number * 100) }.value
      return try await first + second + third
    }
    #expect(try await outer.execute(1).value == 111)
    #expect(queue.activity.executed == 1)
  }

  @Test func `a call in a detached task waits for a slot of its own`() async throws {
    let waits = Log<UseCaseOperationID>()
    let queue = Held(.serial, waits: waits).queue
    let inner = AnyUseCase(queue: queue) { (number: Int) in number }
    let calls = Log<Task<Int, any Error>>()
    let outer = AnyUseCase(queue: queue) { (number: Int) in
      calls.append(Task.detached { try await inner(number) })
      await waits.elements(atLeast: 1)
    }
    await outer.execute(1).ended()
    #expect(try await calls.elements[0].value == 1)
    #expect(queue.activity.executed == 2)
  }

  @Test(.holds("Free again"))
  func `an inner body that outlives its caller keeps the slot`() async {
    let queue = UseCaseQueue(.serial) { [log] in log.append("\($0.kind)") }
    let (held, executed) = (Held(on: queue), Gate())
    let outer = AnyUseCase(queue: queue) { (number: Int) in
      await executed.passIgnoringCancellation()
      Task { try await held(10) }
      await held.begun.elements(atLeast: 1)
      return number
    }
    let operations = [outer.execute(1), held.execute(2)]
    executed.open()
    #expect(await log.elements(atLeast: 4) == ["running", "waiting", "running", "succeeded"])
    #expect(held.begun.elements == [10])
    #expect(queue.activity.running == 1)
    #expect(queue.activity.waiting == 1)
    held.open(2)
    held.open(10)
    await allEnded(operations)
    #expect(held.begun.elements == [10, 2])
    #expect(held.crowd.peak == 1)
    #expect(fates(operations) == "++")
  }

  @Test(.holds("Free again"))
  func `an abandoned inner body keeps the slot after its caller was cancelled`() async {
    let (held, log) = (Held(on: queue), log)
    let outer = AnyUseCase(queue: queue) { (number: Int) in
      defer { log.append("outer returns") }
      return try await held(10)
    }
    let operations = [outer.execute(1), held.execute(2)]
    await held.begun.elements(atLeast: 1)
    operations[0].cancel()
    await log.elements(atLeast: 1)
    #expect(held.begun.elements == [10])
    held.open(2)
    held.open(10)
    await allEnded(operations)
    #expect(held.begun.elements == [10, 2])
    #expect(held.crowd.peak == 1)
    #expect(fates(operations) == "C+")
  }

  @Test(.holds("The limit"))
  func `a slot that passes from hand to hand never holds two bodies`() async {
    let queue = UseCaseQueue(.limit(2))
    let crowd = Crowd()
    let inner = AnyUseCase(queue: queue) { (_: Int) in
      await Task.yield()
    }
    let outer = AnyUseCase(queue: queue) { (number: Int) in
      crowd.enter()
      for _ in 0..<number % 4 { try await inner(number) }
      crowd.leave()
    }
    await withTaskGroup { group in
      for _ in 1...8 {
        group.addTask { await allEnded((1...100).map { outer.execute($0) }) }
      }
    }
    #expect(crowd.peak <= 2)
    #expect(queue.activity.succeeded == 800)
  }
}
