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

  @Test(.holds("Itself"), arguments: [UseCaseQueue.Policy.unlimited, .serial])
  func `a body that calls itself with an equal request gets a deadlock, and may go on`(
    policy: UseCaseQueue.Policy
  ) async throws {
    let shared = Recursive.shared(on: UseCaseQueue(policy)) { request, shared in
      await #expect(throws: UseCaseDeadlock.self) { try await shared(request) }
      await #expect(throws: UseCaseDeadlock.self) { try await shared.execute(request).value }
      return request
    }
    try await #expect(shared(1) == 1)
  }

  /// The body begins on another thread while `execute` is still at work.
  @Test(.holds("Itself"))
  func `a body that calls itself the moment it begins gets a deadlock, too`() async {
    for _ in 0..<2000 {
      let shared = Recursive.shared { request, shared in try await shared(request) }
      let operation = shared.execute(1)
      await #expect(throws: UseCaseDeadlock.self) { try await operation.value }
    }
  }

  @Test(.holds("Itself"))
  func `a body that does not catch it fails, and so does everybody who rides`() async {
    let shared = Recursive.shared { request, shared in try await shared(request) }
    let operations = [shared.execute(1), shared.execute(1)]
    await allEnded(operations)
    for operation in operations {
      await #expect(throws: UseCaseDeadlock.self) { try await operation.value }
    }
  }

  @Test(.holds("Itself"))
  func `a body that asks for itself by way of another run gets a deadlock`() async {
    let shared = Recursive.shared { request, shared in try await shared(3 - request) }
    await #expect(throws: UseCaseDeadlock.self) { try await shared(1) }
  }

  @Test(.holds("Itself"))
  func `two runs that come to await each other are a deadlock, whoever began them`() async {
    let shared = Recursive.shared { request, shared in
      // The second body asks when the first one rides its run.
      while request == 2, shared.queue(for: 2).activity.running < 3 { await Task.yield() }
      return try await shared(3 - request)
    }
    let operations = [2, 1].map { shared.execute($0) }
    await allEnded(operations)
    for operation in operations {
      await #expect(throws: UseCaseDeadlock.self) { try await operation.value }
    }
  }

  @Test(.holds("Itself"))
  func `a body may execute an equal request, and does not wait for it`() async throws {
    let inner = Watched<Operation?>(nil)
    let shared = Recursive.shared { request, shared in
      let operation = shared.execute(request)
      inner.update { $0 = operation }
      return request
    }
    try await #expect(shared(1) == 1)
    try await #expect(inner.value?.value == 1)
  }

  @Test(.holds("Itself"))
  func `a body that calls another request runs it inside its slot`() async throws {
    let queue = UseCaseQueue(.serial)
    let shared = Recursive.shared(on: queue) { request, shared in
      request == 0 ? 0 : try await shared(request - 1) + 1
    }
    try await #expect(shared(5) == 5)
    #expect(queue.activity.executed == 1)
  }

  @Test(.holds("Itself"))
  func `a run that waits for the slot of the body that awaits it is a deadlock`() async throws {
    let queue = UseCaseQueue(.serial)
    let held = Held(on: queue)
    let shared = held.shared()
    let waiting = Gate()
    let outer = AnyUseCase<Int, Int>(queue: queue) { number in
      await waiting.passIgnoringCancellation()
      return try await shared(number)
    }
    let operation = outer.execute(1)
    let rider = shared.execute(1)
    waiting.open()
    await #expect(throws: UseCaseDeadlock.self) { try await operation.value }
    held.open(1)
    try await #expect(rider.value == 1)
  }

  /// The body calls while another thread makes the run, which then waits for the slot of the body.
  @Test(arguments: [false, true])
  func `a call that boards before the run is made is a deadlock, too`(isSharedTwice: Bool)
    async throws
  {
    struct Slow: UseCase {
      let queue = UseCaseQueue(.serial)
      let isAsked = Watched(false)
      let mayAnswer = Watched(false)

      func queue(for request: Int) -> UseCaseQueue {
        isAsked.update { $0 = true }
        holdThread { mayAnswer.value }
        return queue
      }

      func main(_ request: Int) async -> Int { request }
    }
    let slow = Slow()
    let shared = slow.shared()
    let called: any UseCase<Int, Int> = isSharedTwice ? shared.shared() : shared
    let rider = Watched<Operation?>(nil)
    let outer = AnyUseCase<Int, Int>(queue: slow.queue) { number in
      onThread {
        let first = shared.execute(number)
        rider.update { $0 = first }
      }
      while !slow.isAsked.value { await Task.yield() }
      return try await called(number)
    }
    let operation = outer.execute(1)
    while !slow.isAsked.value || shared.queue(for: 1).activity.running < 2 {
      try Task.checkCancellation()
      await Task.yield()
    }
    for _ in 1...100 { await Task.yield() }
    slow.mayAnswer.update { $0 = true }
    await #expect(throws: UseCaseDeadlock.self) { try await operation.value }
    while rider.value == nil {
      try Task.checkCancellation()
      await Task.yield()
    }
    try await #expect(rider.value?.value == 1)
  }

  @Test(.holds("Slot of the caller"), arguments: [false, true])
  func `a run works beside a caller that has left it, and no longer in its slot`(awaitsValue: Bool)
    async throws
  {
    let queue = UseCaseQueue(.serial)
    let (begun, joined, left, mayGoOn, mayEnd) = (Gate(), Gate(), Gate(), Gate(), Gate())
    let inner = AnyUseCase<Int, Bool>(queue: queue) { _ in mayEnd.isOpen }
    let shared = AnyUseCase<Int, Bool> { number in
      begun.open()
      await mayGoOn.passIgnoringCancellation()
      return awaitsValue ? try await inner.execute(number).value : try await inner(number)
    }.shared()
    let caller = AnyUseCase<Int, Void>(queue: queue) { number in
      let call = Task { try await shared(number) }
      try await joined.pass()
      call.cancel()
      _ = await call.result
      left.open()
      try await mayEnd.pass()
    }
    let operation = caller.execute(1)
    try await begun.pass()
    let rider = shared.execute(1)
    joined.open()
    try await left.pass()
    mayGoOn.open()
    while queue.activity.waiting == 0 {
      try Task.checkCancellation()
      await Task.yield()
    }
    mayEnd.open()
    try await #expect(rider.value)
    await operation.ended()
  }

  @Test(.holds("Slot of the caller"), arguments: [false, true])
  func `a run works in the slot of the caller that began it`(isSharedTwice: Bool) async throws {
    let queue = UseCaseQueue(.serial)
    let (begun, mayGoOn) = (Gate(), Gate())
    let inner = AnyUseCase<Int, Int>(queue: queue) { $0 }
    let base = AnyUseCase<Int, Int> { number in
      begun.open()
      try await mayGoOn.pass()
      return try await inner(number)
    }
    let shared =
      isSharedTwice ? AnyUseCase(base.shared().shared()) : AnyUseCase(base.shared())
    let operation = AnyUseCase<Int, Int>(queue: queue) { try await shared($0) }.execute(1)
    try await begun.pass()
    let rider = shared.execute(1)
    mayGoOn.open()
    try await #expect(operation.value == 1)
    try await #expect(rider.value == 1)
    #expect(queue.activity.executed == 1)
  }

  @Test(.holds("Slot of the caller"))
  func `a run does not work in the slot of a caller that joins it`() async throws {
    let queue = UseCaseQueue(.serial)
    let (mayGoOn, mayLeave) = (Gate(), Gate())
    let inner = AnyUseCase<Int, Int>(queue: queue) { $0 }
    let shared = AnyUseCase<Int, Int> { number in
      try await mayGoOn.pass()
      return try await inner(number)
    }.shared()
    let rider = shared.execute(1)
    let caller = AnyUseCase<Int, Void>(queue: queue) { number in
      let call = Task { try await shared(number) }
      try await mayLeave.pass()
      call.cancel()
    }
    let operation = caller.execute(1)
    while shared.queue(for: 1).activity.running < 2 {
      try Task.checkCancellation()
      await Task.yield()
    }
    mayGoOn.open()
    while queue.activity.waiting == 0 {
      try Task.checkCancellation()
      await Task.yield()
    }
    mayLeave.open()
    try await #expect(rider.value == 1)
    await operation.ended()
    #expect(queue.activity.executed == 2)
  }

  /// The body is a guest in the slot of a host that has given it up, and has returned.
  @Test func `a body that joins a run which waits for its host gets a deadlock`() async throws {
    let queue = UseCaseQueue(.serial)
    let (begun, mayGiveUp, mayJoin) = (Gate(), Gate(), Gate())
    let joined = Watched<(any UseCase<Int, Int>)?>(nil)
    let isDeadlock = Watched(false)
    let guest = AnyUseCase<Int, Int>(queue: queue) { number in
      begun.open()
      await mayJoin.passIgnoringCancellation()
      do {
        return try await joined.value?(number) ?? 0
      } catch is UseCaseDeadlock {
        isDeadlock.update { $0 = true }
        return 0
      }
    }
    let middle = AnyUseCase<Int, Int> { try await guest($0) }.shared()
    let host = AnyUseCase<Int, Int>(queue: queue) { number in
      let call = Task { try await middle(number) }
      try await mayGiveUp.pass()
      call.cancel()
      _ = await call.result
      mayJoin.open()
      return number
    }
    let outer = AnyUseCase<Int, Int> { try await host($0) }.shared()
    joined.update { $0 = outer }
    let operation = outer.execute(1)
    try await begun.pass()
    let rider = middle.execute(1)
    mayGiveUp.open()
    try await #expect(operation.value == 1)
    await rider.ended()
    #expect(isDeadlock.value)
    joined.update { $0 = nil }
  }

  @Test func `a call that would wait for ever counts as failed`() async throws {
    let queue = UseCaseQueue(.serial)
    let held = Held(on: queue)
    let shared = held.shared()
    let waiting = Gate()
    let outer = AnyUseCase<Int, Void>(queue: queue) { number in
      await waiting.passIgnoringCancellation()
      await #expect(throws: UseCaseDeadlock.self) { try await shared(number) }
    }
    let operation = outer.execute(1)
    let rider = shared.execute(1)
    waiting.open()
    await operation.ended()
    while shared.queue(for: 1).activity.failed == 0 { await Task.yield() }
    #expect(shared.queue(for: 1).activity.running == 1)
    held.open(1)
    try await #expect(rider.value == 1)
    #expect(queue.activity.failed == 0)
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

  @Test func `a rider in the body of another leaves when it is cancelled before its body`()
    async
  {
    struct Wrapper: UseCase {
      let shared: SharedUseCase<Held>
      func queue(for request: Int) -> UseCaseQueue { shared.queue(for: request) }
      func main(_ request: Int) async {
        let inside = shared.executeInside(request)
        inside.cancel()
        await inside.ended()
      }
    }
    for _ in 1...100 {
      let held = Held()
      await Wrapper(shared: held.shared()).execute(1).ended()
      held.open(1)
      await held.queue.idle()
      #expect(held.queue.activity.cancelled == 1)
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

@Suite(.mustEnd)
struct SharedRunCostTests {
  /// Calls itself, shared, as often as its request says.
  private final class Nested: UseCase {
    private let itself = Watched<SharedUseCase<Nested>?>(nil)

    static func shared() -> SharedUseCase<Nested> {
      let useCase = Nested()
      let shared = useCase.shared()
      useCase.itself.update { $0 = shared }
      return shared
    }

    func main(_ depth: Int) async throws -> Int {
      guard depth > 0, let itself = itself.value else { return 0 }
      return try await itself(depth - 1) + 1
    }
  }

  @Test(.holds("Nested runs"), arguments: [true, false])
  func `shared calls nested four times as deep cost about four times as much`(
    areOneUseCase: Bool
  ) async throws {
    func useCase(depth: Int) -> any UseCase<Int, Int> {
      if areOneUseCase { return Nested.shared() }
      return (0..<depth).reduce(AnyUseCase { _ in 0 }) { inner, _ in
        AnyUseCase(AnyUseCase { try await inner($0) + 1 }.shared())
      }
    }
    func time(depth: Int) async throws -> Duration {
      let shared = useCase(depth: depth)
      let begin = ContinuousClock.now
      try await #expect(shared(depth) == depth)
      return .now - begin
    }
    // If each call looked at all of its callers, it would be sixteen times as much, each time. Other
    // tests share the cores, so a single comparison says little.
    var isLinear = false
    for _ in 1...5 where !isLinear {
      let (short, long) = (try await time(depth: 1_000), try await time(depth: 4_000))
      isLinear = long < short * 10
    }
    #expect(isLinear)
  }

  @Test func `what waits on a serial queue costs a body nothing that calls a shared use case`()
    async
  {
    func time(isShared: Bool) async -> Duration {
      let (queue, gate) = (UseCaseQueue(.serial), Gate())
      let inner = AnyUseCase<Int, Int> { $0 }
      let called: any UseCase<Int, Int> = isShared ? inner.shared() : inner
      let outer = AnyUseCase<Int, Int>(queue: queue) { number in
        await gate.passIgnoringCancellation()
        return try await called(number)
      }
      let operations = (1...8_000).map { outer.execute($0) }
      let begin = ContinuousClock.now
      gate.open()
      await allEnded(operations)
      return .now - begin
    }
    // To look at all that wait would take a hundred times as long, each time.
    var costsNothing = false
    for _ in 1...5 where !costsNothing {
      let (plain, shared) = (await time(isShared: false), await time(isShared: true))
      costsNothing = shared < plain * 20
    }
    #expect(costsNothing)
  }
}
