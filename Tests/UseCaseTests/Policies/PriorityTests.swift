import TestSupport
import Testing

@testable import UseCase

/// Whether the priority of a running task can grow.
private func escalates() -> Bool {
  if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) { true } else { false }
}

/// The priority of operations grows with that of the code that waits for them.
@Suite(.mustEnd)
struct PriorityTests {
  /// Bodies that pass a gate, and return the priority of their task.
  private struct Measuring: UseCase {
    let queue: UseCaseQueue
    let gate = Gate()
    /// An operation tells its new priority before its task has it.
    var awaited = TaskPriority.background

    func main(_ number: Int) async throws -> TaskPriority {
      await gate.passIgnoringCancellation()
      while escalates(), Task.currentPriority < awaited { await Task.yield() }
      return Task.currentPriority
    }
  }

  @Test(.holds("Urgent waits"))
  func `an urgent operation raises each one before it that gets the only slot`() async throws {
    let measure = Measuring(queue: UseCaseQueue(.serial))
    let operations = [TaskPriority.background, .background, .high, .background].map {
      measure.execute(0, priority: $0)
    }
    #expect(operations.map(\.priority) == [.high, .background, .high, .background])
    measure.gate.open()
    var seen: [TaskPriority] = []
    for operation in operations { seen.append(try await operation.ended().get()) }
    #expect(operations.map(\.priority) == [.high, .high, .high, .background])
    if escalates() { #expect(seen == [.high, .high, .high, .background]) }
  }

  @Test(.holds("Urgent waits"))
  func `a cancelled body that holds up an urgent operation is raised`() async {
    let queue = UseCaseQueue(.cancelPreviousAndWait)
    let (begun, gate) = (Gate(), Gate())
    let measured = Log<TaskPriority>()
    let useCase = AnyUseCase<Int, Int>(queue: queue) { number in
      begun.open()
      await gate.passIgnoringCancellation()
      measured.append(Task.currentPriority)
      return number
    }
    let old = useCase.execute(1, priority: .background)
    await begun.passIgnoringCancellation()
    let new = useCase.execute(2, priority: .high)
    #expect(old.priority == .high)
    gate.open()
    await allEnded([old, new])
    if escalates() { #expect(measured.elements == [.high, .high]) }
  }

  @Test(.holds("Urgent waits"))
  func `nobody is raised where nobody waits for one slot alone`() async {
    let measure = Measuring(queue: UseCaseQueue(.limit(2)))
    let operations = [TaskPriority.background, .background, .high].map {
      measure.execute(0, priority: $0)
    }
    #expect(operations.map(\.priority) == [.background, .background, .high])
    measure.gate.open()
    await measure.queue.idle()
  }

  @Test(.holds("Awaited priority"))
  func `a task that awaits the value raises the operation`() async throws {
    let measure = Measuring(queue: UseCaseQueue(), awaited: .high)
    let operation = measure.execute(0, priority: .background)
    let task = Task(priority: .high) { try await operation.value }
    while operation.priority < .high { await Task.yield() }
    measure.gate.open()
    let priority = try await task.value
    #expect(!escalates() || priority == .high)
  }

  @Test(.holds("Awaited priority"))
  func `a call follows its task, also while it waits in a line by priority`() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let measure = Measuring(queue: UseCaseQueue(.serial.byPriority))
    let order = Log<Int>()
    let load = AnyUseCase<Int, TaskPriority>(queue: measure.queue) { number in
      order.append(number)
      while number == 2, Task.currentPriority < .high { await Task.yield() }
      return Task.currentPriority
    }
    measure.execute(0, priority: .background)
    let tasks = (1...3).map { number in
      Task(priority: .background) { try await load(number) }
    }
    while measure.queue.activity.waiting < 3 { await Task.yield() }
    tasks[1].escalatePriority(to: .high)
    measure.gate.open()
    #expect(try await tasks[1].value == .high)
    await measure.queue.idle()
    #expect(order.elements.count == 3 && order.elements.first == 2)
  }

  @Test(.holds("Awaited priority"))
  func `a call in a task that is raised while the body runs is escalated`() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let measure = Measuring(queue: UseCaseQueue(), awaited: .high)
    let task = Task(priority: .background) { try await measure(0) }
    while measure.queue.activity.running == 0 { await Task.yield() }
    task.escalatePriority(to: .high)
    measure.gate.open()
    #expect(try await task.value == .high)
  }

  @Test(.holds("Awaited priority"))
  func `what a body awaits is raised with it, also a guest in its slot`() async throws {
    guard escalates() else { return }
    let measure = Measuring(queue: UseCaseQueue(.serial), awaited: .high)
    let other = Measuring(queue: UseCaseQueue(.serial), awaited: .high)
    let begun = Gate()
    let useCase = AnyUseCase<Int, [TaskPriority]>(queue: measure.queue) { _ in
      async let inside = measure(1)
      async let outside = other(2)
      begun.open()
      return try await [inside, outside]
    }
    let operation = useCase.execute(0, priority: .background)
    try await begun.pass()
    while other.queue.activity.running == 0 { await Task.yield() }
    operation.raise(to: .high)
    measure.gate.open()
    other.gate.open()
    #expect(try await operation.value == [.high, .high])
  }

  @Test(.holds("Awaited priority"))
  func `a call of a task that was raised before is as urgent as the task`() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let (begun, gate) = (Gate(), Gate())
    let measure = Measuring(queue: UseCaseQueue(.serial))
    measure.gate.open()
    let task = Task(priority: .background) {
      begun.open()
      await gate.passIgnoringCancellation()
      return (try await measure(1), try await measure.execute(2).value)
    }
    await begun.passIgnoringCancellation()
    task.escalatePriority(to: .high)
    gate.open()
    #expect(try await task.value == (.high, .high))
  }

  @Test func `a task that is known only after a raise and a cancellation gets both`() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let (known, begun, gate) = (Gate(), Gate(), Gate())
    let operation = AnyUseCase { (_: Void) in
      begun.open()
      await gate.passIgnoringCancellation()
    }.execute((), priority: .low)
    await begun.passIgnoringCancellation()
    operation.raise(to: .high)
    operation.cancel()
    // As if the body had begun before its task was known.
    let seen = Watched<(TaskPriority, Bool)?>(nil)
    let late = Task<Void, any Error>(priority: .low) {
      await known.passIgnoringCancellation()
      seen.update { $0 = (Task.currentPriority, Task.isCancelled) }
    }
    operation.core.keep(late, urgency: TaskPriority.low.rawValue)
    known.open()
    try await late.value
    let (priority, isCancelled) = try #require(seen.value)
    #expect(priority == .high && isCancelled)
    gate.open()
    await operation.ended()
  }

  @Test(.holds("Awaited priority"))
  func `a run is as urgent as the most urgent of its riders`() async throws {
    let (reactions, runs) = (UseCaseReactions(), Log<Operation>())
    let line = UseCaseQueue(.serial.byPriority, reactions: reactions)
    let order = Log<Int>()
    let gate = Gate()
    let load = AnyUseCase<Int, Int>(queue: line) { number in
      try await gate.pass()
      order.append(number)
      return number
    }
    let shared = load.shared()
    let first = load.execute(0)
    reactions.to(AnyUseCase<Int, Int>.self) { runs.append($0) }
    var riders = (1...4).map { shared.execute($0, priority: .background) }
    riders.append(shared.execute(3, priority: .high))
    riders[3].raise(to: .medium)
    // A rider raises its run when its own task awaits it.
    while runs.elements[2].priority < .high || runs.elements[3].priority < .medium {
      try Task.checkCancellation()
      await Task.yield()
    }
    gate.open()
    await allEnded(riders + [first])
    #expect(order.elements == [0, 3, 4, 1, 2])
  }
}
