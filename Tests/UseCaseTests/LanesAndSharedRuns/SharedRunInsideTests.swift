import TestSupport
import Testing

@testable import UseCase

/// Shared runs that are asked for inside bodies, that race, and that are over.
@Suite(.mustEnd)
struct SharedRunInsideTests {
  /// A use case that may ask its own shared form.
  private final class Recursive: UseCase {
    typealias Body = @Sendable (Int, SharedUseCase<Recursive>) async throws -> Int

    let queue: UseCaseQueue
    private let body: Body
    private let itself = Watched<SharedUseCase<Recursive>?>(nil)

    private init(on queue: UseCaseQueue, _ body: @escaping Body) {
      self.queue = queue
      self.body = body
    }

    static func shared(
      on queue: UseCaseQueue = UseCaseQueue(), _ body: @escaping Body
    ) -> SharedUseCase<Recursive> {
      let useCase = Recursive(on: queue, body)
      let shared = useCase.shared()
      useCase.itself.update { $0 = shared }
      return shared
    }

    func main(_ request: Int) async throws -> Int {
      guard let shared = itself.value else { return 0 }
      return try await body(request, shared)
    }
  }

  @Test(.holds("Not inside a slot"))
  func `a body that awaits the value of what waits for its slot gets an error`() async {
    let shared = Recursive.shared(on: UseCaseQueue(.serial)) { request, shared in
      request == 1 ? try await shared.execute(2).value : request
    }
    await #expect(throws: UseCaseDeadlock.self) { try await shared(1) }
  }

  @Test(.holds("Not inside a slot"), arguments: [UseCaseQueue.Policy.unlimited, .serial])
  func `a body that calls its own request runs it inside its slot`(
    policy: UseCaseQueue.Policy
  ) async throws {
    let (queue, begun) = (UseCaseQueue(policy), Log<Int>())
    let shared = Recursive.shared(on: queue) { request, shared in
      begun.append(request)
      return begun.count < 3 ? try await shared(request) + 1 : 0
    }
    try await #expect(shared(7) == 2)
    #expect(begun.elements == [7, 7, 7])
    #expect(queue.activity.executed == 1)
  }

  @Test(.holds("Not inside a slot"))
  func `a body that executes its own request does not ride its own run`() async throws {
    let (queue, begun) = (UseCaseQueue(.serial), Log<Int>())
    let inner = Watched<Operation?>(nil)
    let shared = Recursive.shared(on: queue) { request, shared in
      begun.append(request)
      guard begun.count == 1 else { return 8 }
      let operation = shared.execute(request)
      inner.update { $0 = operation }
      return request
    }
    try await #expect(shared(7) == 7)
    try await #expect(inner.value?.value == 8)
    #expect(queue.activity.succeeded == 2)
  }

  @Test(.holds("Not inside a slot"))
  func `a body that calls another request runs it inside its slot`() async throws {
    let queue = UseCaseQueue(.serial)
    let shared = Recursive.shared(on: queue) { request, shared in
      request == 0 ? 0 : try await shared(request - 1) + 1
    }
    try await #expect(shared(5) == 5)
    #expect(queue.activity.executed == 1)
  }

  /// A run of the same request waits for the slot that the body holds: to join it would never end.
  @Test(.holds("Not inside a slot"))
  func `a body does not join a run that waits for its slot`() async throws {
    let held = Held(.serial)
    let shared = held.shared()
    let waiting = Gate()
    let outer = AnyUseCase<Int, Int>(queue: held.queue) { number in
      await waiting.passIgnoringCancellation()
      return try await shared(number)
    }
    let operation = outer.execute(1)
    let rider = shared.execute(1)
    held.open(1)
    waiting.open()
    try await #expect(operation.value == 1)
    try await #expect(rider.value == 1)
    #expect(held.begun.elements == [1, 1])
    #expect(held.queue.activity.succeeded == 2)
  }

  @Test(.holds("Reason for all"))
  func `a call that is cancelled leaves, and a superseded one tells its caller`() async {
    let held = Held(.cancelPrevious)
    let shared = held.shared()
    let outer = AnyUseCase<Int, Int> { number in try await shared(number) }
    let cancelled = outer.execute(1)
    await held.begun.elements(atLeast: 1)
    cancelled.cancel()
    let superseded = outer.execute(2)
    await held.begun.elements(atLeast: 2)
    let last = outer.execute(3)
    await held.begun.elements(atLeast: 3)
    held.open(1...3)
    await allEnded([cancelled, superseded, last])
    #expect(fates([cancelled, superseded, last]) == "CS+")
  }

  /// A run that does not wait may be over before `execute` looks at it.
  @Test(arguments: [false, true], [false, true])
  func `riders get what an interceptor answers in place of the body`(waits: Bool, fails: Bool)
    async
  {
    for _ in 1...100 {
      let queue = UseCaseQueue(interceptors: [Answering { if fails { throw Refused() } else { 7 } }]
      )
      if waits { queue.suspend() }
      let shared = Held(on: queue).shared()
      let operations = [shared.execute(1), shared.execute(1)]
      queue.resume()
      await allEnded(operations)
      #expect(fates(operations) == (fails ? "FF" : "++"))
    }
  }

  @Test(.holds("Nothing is left of a run"))
  func `nothing is left of a run when its riders have ended, whatever its outcome`() async {
    let lifetime = Lifetime()
    struct Key: Hashable {
      let number: Int
      let token: Lifetime.Token?
      static func == (left: Self, right: Self) -> Bool { left.number == right.number }
      func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }
    for (policy, way) in [.unlimited, .cancelPrevious].flatMap({ policy in
      (0..<6).map { (policy as UseCaseQueue.Policy, $0) }
    }) {
      let (gate, queue) = (Gate(), UseCaseQueue(policy))
      if way >= 4 { queue.suspend() }
      let ended = await { [token = lifetime.track()] in
        let shared = AnyUseCase<Key, Lifetime.Token>(queue: queue) { key in
          await gate.passIgnoringCancellation()
          if way == 1 { throw Refused() }
          return token
        }.shared()
        let operations = (0..<3).map { _ in
          shared.execute(Key(number: 1, token: lifetime.track()))
        }
        if way == 2 { queue.cancelAll() }
        if way == 3 || way == 4 { for operation in operations { operation.cancel() } }
        if way == 5 { queue.cancelAll() }
        gate.open()
        for operation in operations { await operation.ended() }
        await queue.idle()
        return operations[2].outcome
      }()
      #expect(ended != nil)
      _ = ended.map { _ in }
      await lifetime.alive(atMost: way == 0 ? 1 : 0)
      withExtendedLifetime((ended, queue)) {}
    }
    await lifetime.over()
  }

  @Test(.holds("Nothing is left of a run"))
  func `an operation that has ended keeps nothing of the base, nor of the others' requests`()
    async
  {
    let lifetime = Lifetime()
    let operation = { [token = lifetime.track()] in
      AnyUseCase<Int, Int> { number in
        withExtendedLifetime(token) {}
        return number
      }.shared().execute(1)
    }()
    await operation.ended()
    await lifetime.over()
    #expect(operation.fate == "+")
  }

  @Test func `a call in a slot goes through two shared use cases into that slot`() async throws {
    let queue = UseCaseQueue(.serial)
    let base = AnyUseCase<Int, Int>(queue: queue) { $0 + 1 }
    let twice = base.shared().shared()
    let erased = AnyUseCase(base.shared()).shared()
    let outer = AnyUseCase<Int, Int>(queue: queue) { try await twice($0) + erased($0) }
    #expect(try await outer(1) == 4)
  }

  @Test(.holds("Nothing is left of a run"))
  func `ten thousand riders of one run cost ten thousand riders`() async {
    let held = Held()
    let shared = held.shared()
    let operations = (1...10_000).map { _ in shared.execute(1) }
    for operation in operations.dropFirst(9_000) { operation.cancel() }
    held.open(1)
    await allEnded(operations)
    #expect(operations.filter { $0.fate == "+" }.count == 9_000)
    #expect(held.begun.elements == [1])
  }

  @Test(.holds("An operation each"))
  func `in a hundred races of riders that come and leave, each gets what is its own`() async {
    for _ in 0..<100 {
      let useCase = AnyUseCase<Int, Int>(queue: UseCaseQueue(.limit(2))) { number in
        await Task.yield()
        return number
      }
      let shared = useCase.shared()
      await withTaskGroup { group in
        for worker in 0..<4 {
          group.addTask {
            for round in 0..<25 {
              let operation = shared.execute(round % 3)
              if (worker + round).isMultiple(of: 3) { operation.cancel() }
              switch await operation.ended() {
              case .success(let number): #expect(number == round % 3)
              case .cancelled(let reason):
                #expect(reason == .requested && (worker + round).isMultiple(of: 3))
              case .failure(let error): Issue.record(error)
              }
            }
          }
        }
      }
      await useCase.queue.idle()
      #expect(useCase.queue.activity.failed == 0)
    }
  }
}
