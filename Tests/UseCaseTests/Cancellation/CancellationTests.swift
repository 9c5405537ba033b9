import TestSupport
import Testing
import UseCase

@Suite(.mustEnd)
struct CancellationTests {
  private let log = Log<String>()
  private let double = AnyUseCase { (number: Int) in number * 2 }

  @Test(.holds("Outcome at once"))
  func `cancel gives the outcome before it returns`() async {
    let held = Held(.serial)
    let operations = held.executeFirst(2)
    for operation in operations {
      operation.cancel()
      #expect(operation.state == .finished)
      #expect(operation.cancellation == .requested)
    }
    #expect(held.queue.activity.waiting == 0)
    held.open(1...2)
    await allEnded(operations)
    #expect(held.queue.activity.cancelled == 2)
  }

  @Test(.holds("Twice or late"))
  func `cancelling twice calls onCancel once`() async {
    let held = Held()
    let operation = held.execute(1).record(in: log)
    operation.cancel()
    operation.cancel()
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["onCancel requested", "finally"])
  }

  @Test(.holds("Two moments"))
  func `onCancel runs at once, and finally when the body has returned`() async {
    let held = Held(.serial)
    let operation = held.execute(1)
      .finally { [log] in log.append("finally \(held.returned.count)") }
      .onCancel { [log] _ in log.append("onCancel \(held.returned.count)") }
    await held.begun.elements(atLeast: 1)
    operation.cancel()
    await log.elements(atLeast: 1)
    #expect(log.elements == ["onCancel 0"] && held.queue.activity.running == 1)
    held.open(1)
    await operation.ended()
    #expect(log.elements == ["onCancel 0", "finally 1"])
  }

  @Test(.holds("While waiting"))
  func `an operation cancelled while it waits gives up its place and no slot`() async {
    // Between the outcome and the leaving of the queue the observer lets other threads get on.
    let queue = UseCaseQueue(.serial) { event in
      guard case .cancelled = event.kind else { return }
      for _ in 1...500 { yieldThread() }
    }
    let held = Held(on: queue)
    let running = held.execute(0)
    for number in 1...100 {
      let waiting = held.execute(number)
      waiting.cancel()
      await waiting.ended()
      #expect([queue.activity.running, queue.activity.waiting] == [1, 0])
      #expect(queue.activity.cancelled == number)
    }
    held.open(0)
    await running.ended()
    #expect(queue.activity.isIdle)
  }

  @Test(.holds("Released operations"))
  func `an operation without a reference goes on`() async {
    let held = Held()
    _ = held.execute(1).then { [log] in log.append("then \($0)") }
    held.open(1)
    #expect(await log.elements(atLeast: 1) == ["then 1"])
  }

  @Test(.holds("Cancelled waiters"))
  func `a task that awaits value may be cancelled, and the operation goes on`() async throws {
    let held = Held()
    let operation = held.execute(1)
    let waiters = (1...5).map { _ in Task { try await operation.value } }
    waiters[2].cancel()
    await #expect(throws: CancellationError.self) { try await waiters[2].value }
    #expect(operation.state == .running)
    held.open(1)
    for index in [0, 1, 3, 4] { #expect(try await waiters[index].value == 1) }
    #expect(operation.fate == "+")
  }

  @Test func `a cancelled task does not begin to wait for value`() async {
    let held = Held()
    let operation = held.execute(1)
    let waiter = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await operation.value
    }
    await #expect(throws: CancellationError.self) { try await waiter.value }
    held.open(1)
    await operation.ended()
  }

  @Test(.holds("Cancelled waiters")) @MainActor
  func `ended waits for the real end although its task is cancelled`() async {
    let held = Held()
    let operation = held.execute(1)
    let waiter = Task {
      await operation.ended()
      return held.returned.count
    }
    // Each runs when the one before it has given up the main actor: the waiter waits, is
    // cancelled, would go on if it did so for a cancellation, and only then may the body return.
    Task {
      waiter.cancel()
      Task { held.open(1) }
    }
    #expect(await waiter.value == 1)
  }

  @Test(.holds("value"))
  func `value throws in every waiting task when the operation is cancelled`() async {
    let held = Held()
    let operation = held.execute(1)
    let waiters = (1...8).map { _ in Task { try await operation.value } }
    operation.cancel()
    for waiter in waiters {
      await #expect(throws: CancellationError.self) { try await waiter.value }
    }
    held.open(1)
    await operation.ended()
  }
}

@Suite(.mustEnd)
struct CallFormTests {
  @Test func `the call form gives the response or throws the failure`() async throws {
    let useCase = AnyUseCase { (number: Int) in
      if number < 0 { throw Refused() }
      return number * 2
    }
    #expect(try await useCase(21) == 42)
    await #expect(throws: Refused()) { try await useCase(-1) }
    #expect(try await AnyUseCase { (_: Void) in 7 }() == 7)
  }

  @Test func `the call form waits for its slot and is counted`() async throws {
    let held = Held(.serial)
    let first = held.execute(1)
    let call = Task { try await held(2) }
    held.open(1...2)
    #expect(try await call.value == 2)
    await first.ended()
    #expect(held.queue.activity.succeeded == 2)
  }

  @Test(.holds("Cancelled calls"))
  func `the call form is cancelled with its task while its body runs`() async {
    let gate = Gate()
    let queue = UseCaseQueue(.serial)
    let entered = Gate()
    let useCase = AnyUseCase(queue: queue) { (_: Int) in
      entered.open()
      try await gate.pass()
    }
    let call = Task { try await useCase(1) }
    await entered.passIgnoringCancellation()
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    await queue.idle()
    #expect(queue.activity.cancelled == 1)
  }

  @Test(.holds("Cancelled calls"))
  func `the call form returns nothing to a cancelled task, not even an early response`()
    async
  {
    let gate = Gate()
    let call = Watched<Task<Int, any Error>?>(nil)
    let queue = UseCaseQueue(.serial) { event in
      if event.kind == .succeeded { call.value?.cancel() }
    }
    let useCase = AnyUseCase(queue: queue) { (number: Int) in
      await gate.passIgnoringCancellation()
      return number
    }
    let task = Task { try await useCase(1) }
    call.update { $0 = task }
    gate.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    await queue.idle()
    #expect(queue.activity.cancelled == 0)
  }

  @Test(.holds("Cancelled calls"))
  func `the call form is cancelled with its task before it has begun to wait`() async {
    let useCase = AnyUseCase { (gates: [Gate]) in
      gates[0].open()
      await gates[1].passIgnoringCancellation()
    }
    for _ in 0..<tries("RACES", or: 2_000) {
      let gates = [Gate(), Gate()]
      let call = Task { try await useCase(gates) }
      await gates[0].passIgnoringCancellation()
      call.cancel()
      gates[1].open()
      await #expect(throws: CancellationError.self) { try await call.value }
    }
  }

  @Test func `no handler that is attached at the end runs in the cancelled task of the body`() async
  {
    let inCancelledTask = Watched(0)
    for _ in 0..<tries("RACES", or: 2_000) {
      let (begun, gate) = (Gate(), Gate())
      let operation = AnyUseCase { (_: Void) in
        begun.open()
        await gate.passIgnoringCancellation()
      }.execute()
      await begun.passIgnoringCancellation()
      operation.cancel()
      let late = Task.detached {
        operation.finally { if Task.isCancelled { inCancelledTask.update { $0 += 1 } } }
      }
      gate.open()
      _ = await late.value
      await operation.ended()
    }
    #expect(inCancelledTask.value == 0)
  }

  @Test(.holds("Cancelled calls"))
  func `the call form is cancelled with its task while it waits`() async {
    let waits = Log<UseCaseOperationID>()
    let held = Held(.serial, waits: waits)
    let first = held.execute(1)
    let call = Task { try await held(2) }
    await waits.elements(atLeast: 1)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(held.queue.activity.waiting == 0)
    held.open(1...2)
    await first.ended()
    #expect(held.begun.elements == [1])
  }

  @Test func `the call form in a cancelled task never waits for a slot`() async {
    let held = Held(.serial)
    let first = held.execute(1)
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await held(2)
    }
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(held.queue.activity.waiting == 0)
    held.open(1)
    await first.ended()
  }

  @Test func `the call form throws CancellationError when it is superseded or dropped`() async {
    for policy in [UseCaseQueue.Policy.keepLatest, .dropWhileBusy] {
      let waits = Log<UseCaseOperationID>()
      let held = Held(policy, waits: waits)
      let first = held.execute(1)
      let call = Task { try await held(2) }
      if policy == .keepLatest {
        await waits.elements(atLeast: 1)
        held.execute(3).cancel()
      }
      await #expect(throws: CancellationError.self) { try await call.value }
      held.open(1...3)
      await first.ended()
    }
  }
}
