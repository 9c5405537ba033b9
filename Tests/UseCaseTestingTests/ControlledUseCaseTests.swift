import TestSupport
import Testing
import UseCase
import UseCaseTesting

private struct Refused: Error {}

@Suite(.mustEnd)
struct ControlledUseCaseTests {
  private let queue = UseCaseQueue(.unlimited)
  private let useCase: ControlledUseCase<Int, String>

  init() {
    useCase = ControlledUseCase(queue: queue)
  }

  @Test func `a call has the request of its body, and its answer is the outcome`() async throws {
    let operation = useCase.execute(7)
    let call = try await useCase.next()
    #expect(call.request == 7)
    #expect(operation.state == .running)
    #expect(!call.isCancelled)
    call.succeed("seven")
    #expect(try await operation.value == "seven")
  }

  @Test func `an error is the failure of the operation`() async throws {
    let operation = useCase.execute(1)
    try await useCase.next().fail(Refused())
    await #expect(throws: Refused.self) { try await operation.value }
  }

  @Test func `the call form is answered like an operation`() async throws {
    let useCase = useCase
    let call = Task { try await useCase(1) }
    try await useCase.next().succeed("one")
    #expect(try await call.value == "one")
  }

  @Test func `next waits for a body that has not begun`() async throws {
    let useCase = useCase
    let call = Task { try await useCase.next() }
    let operation = useCase.execute(1)
    try await call.value.succeed("one")
    #expect(try await operation.value == "one")
  }

  @Test func `calls come in the order in which their bodies begin`() async throws {
    let useCase = ControlledUseCase<Int, String>(queue: UseCaseQueue(.serial))
    let operations = (1...3).map { useCase.execute($0) }
    for number in 1...3 {
      let call = try await useCase.next()
      #expect(call.request == number)
      call.succeed("\(number)")
    }
    for operation in operations { await operation.ended() }
  }

  @Test func `calls may be answered in any order`() async throws {
    let operations = (1...3).map { useCase.execute($0) }
    var calls: [ControlledUseCase<Int, String>.Call] = []
    for _ in operations { calls.append(try await useCase.next()) }
    for call in calls.sorted(by: { $0.request > $1.request }) { call.succeed("\(call.request)") }
    for (index, operation) in operations.enumerated() {
      #expect(try await operation.value == "\(index + 1)")
    }
  }

  @Test(arguments: [true, false])
  func `each of two tasks that await next gets a call of its own`(executesFirst: Bool) async throws
  {
    let useCase = useCase
    for round in 0..<200 {
      let early = executesFirst ? [useCase.execute(0), useCase.execute(1)] : []
      let readers = (0..<2).map { _ in Task { try await useCase.next() } }
      // In every other round the readers may have begun to wait.
      if round % 2 == 0 { await Task.yield() }
      let late = executesFirst ? [] : [useCase.execute(0), useCase.execute(1)]
      let calls = try await [readers[0].value, readers[1].value]
      #expect(Set(calls.map(\.request)) == [0, 1])
      for call in calls { call.succeed("") }
      for operation in early + late { await operation.ended() }
    }
  }

  @Test func `the first of two tasks that await next gets the first call`() async throws {
    let useCase = ControlledUseCase<Int, String>(queue: UseCaseQueue(.serial))
    // The tasks run on one thread, one after the other: the first one is the first to wait.
    let executor = SerialExecutor()
    let readers = (0..<2).map { _ in
      Task(executorPreference: executor) { try await useCase.next() }
    }
    await Task(executorPreference: executor) {}.value
    let operations = (1...2).map { useCase.execute($0) }
    for (index, reader) in readers.enumerated() {
      let call = try await reader.value
      #expect(call.request == index + 1)
      call.succeed("")
    }
    for operation in operations { await operation.ended() }
  }

  @Test func `a task that awaits next throws when it is cancelled, and takes no call`() async throws
  {
    let useCase = useCase
    // The tasks run on one thread, one after the other: the first one waits when the second runs.
    let executor = SerialExecutor()
    let reader = Task(executorPreference: executor) { try await useCase.next() }
    await Task(executorPreference: executor) { reader.cancel() }.value
    await #expect(throws: CancellationError.self) { try await reader.value }
    let operation = useCase.execute(1)
    try await useCase.next().succeed("one")
    #expect(try await operation.value == "one")
  }

  @Test func `a cancelled task that asks for the next call leaves it there`() async throws {
    let useCase = useCase
    let operation = useCase.execute(1)
    let reader = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await useCase.next()
    }
    await #expect(throws: CancellationError.self) { try await reader.value }
    try await useCase.next().succeed("one")
    #expect(try await operation.value == "one")
  }

  @Test func `in races of a call and a cancelled reader no call is lost`() async throws {
    let useCase = useCase
    for _ in 0..<1_000 {
      let reader = Task { try await useCase.next() }
      async let operation = useCase.execute(1)
      reader.cancel()
      if let call = try? await reader.value {
        call.succeed("taken")
      } else {
        try await useCase.next().succeed("left")
      }
      await operation.ended()
    }
    #expect(queue.activity.succeeded == 1_000)
  }

  @Test func `a task that waits for the cancellation of a call ends with its own`() async throws {
    let operation = useCase.execute(1)
    let call = try await useCase.next()
    let watcher = Task { try await call.cancelled() }
    watcher.cancel()
    await #expect(throws: CancellationError.self) { try await watcher.value }
    #expect(!call.isCancelled)
    call.succeed("one")
    #expect(try await operation.value == "one")
  }

  @Test func `the first of several answers counts`() async throws {
    let operation = useCase.execute(1)
    let call = try await useCase.next()
    call.succeed("first")
    call.succeed("second")
    call.fail(Refused())
    #expect(try await operation.value == "first")
    await operation.ended()
    call.succeed("late")
    #expect(try await operation.value == "first")
  }

  @Test func `a cancelled call that has no answer throws CancellationError`() async throws {
    let operation = useCase.execute(1)
    let call = try await useCase.next()
    operation.cancel()
    try await call.cancelled()
    #expect(call.isCancelled)
    await operation.ended()
    #expect(queue.activity.isIdle)
    call.succeed("late")
    #expect(throws: CancellationError.self) { try operation.outcome?.get() }
  }

  @Test func `a body sees the cancellation, not the answer that comes after it`() async throws {
    let useCase = useCase
    let task = Task { try await useCase.main(1) }
    let call = try await useCase.next()
    task.cancel()
    call.succeed("late")
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test func `a body that was answered before its cancellation returns the answer`() async throws {
    let useCase = useCase
    let task = Task { try await useCase.main(1) }
    let call = try await useCase.next()
    call.succeed("in time")
    task.cancel()
    #expect(try await task.value == "in time")
  }

  @Test func `a body that begins in a cancelled task is a cancelled call`() async throws {
    let useCase = useCase
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await useCase.main(1)
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    let call = try await useCase.next()
    #expect(call.isCancelled)
    try await call.cancelled()
  }

  @Test func `an operation that never starts is no call`() async throws {
    let useCase = ControlledUseCase<Int, String>(queue: UseCaseQueue(.dropWhileBusy))
    let operations = (1...3).map { useCase.execute($0) }
    let call = try await useCase.next()
    #expect(call.request == 1)
    call.succeed("")
    await operations[0].ended()
    let later = useCase.execute(4)
    let next = try await useCase.next()
    #expect(next.request == 4)
    next.succeed("")
    await later.ended()
  }

  @Test func `in races of an answer and a cancellation one wins, for everybody`() async throws {
    for _ in 0..<1_000 {
      let operation = useCase.execute(1)
      let call = try await useCase.next()
      async let answered: Void = call.succeed("answer")
      operation.cancel()
      await answered
      switch await operation.ended() {
      case .success(let response): #expect(response == "answer")
      case .failure(let error): Issue.record(error)
      case .cancelled(let reason): #expect(reason == .requested)
      }
    }
    #expect(queue.activity.isIdle)
  }

  @Test func `in races of a cancellation and tasks that wait for it all hear of it`() async throws {
    let useCase = useCase
    for _ in 0..<1_000 {
      let operation = useCase.execute(1)
      let call = try await useCase.next()
      async let first: Void = call.cancelled()
      async let second: Void = call.cancelled()
      operation.cancel()
      _ = try await (first, second)
      #expect(call.isCancelled)
      await operation.ended()
    }
  }

  @Test func `nothing is kept of a call that has been answered`() async throws {
    let lifetime = Lifetime()
    let useCase = ControlledUseCase<Lifetime.Token, Lifetime.Token>(queue: queue)
    do {
      let operation = useCase.execute(lifetime.track())
      try await useCase.next().succeed(lifetime.track())
      await operation.ended()
    }
    await lifetime.over()
  }
}
