import TestSupport
import Testing

@testable import UseCase

/// Held bodies on a lane for each tens digit of the request.
private struct HeldOnLanes: UseCase {
  let lanes: UseCaseLanes<Int>
  let held = Held()

  func queue(for request: Int) -> UseCaseQueue { lanes[request / 10] }
  func main(_ request: Int) async throws -> Int { await held.main(request) }
}

@Suite(.mustEnd)
struct LanesTests {
  /// A key that tells of its end. Many keys have one hash.
  private struct Key: Hashable {
    let number: Int
    let token: Lifetime.Token

    init(_ number: Int, _ token: Lifetime.Token) {
      self.number = number
      self.token = token
    }

    static func == (left: Self, right: Self) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number % 2) }
  }

  @Test(.holds("The same queue"))
  func `a lane is the same queue for as long as somebody holds it`() {
    let lanes = UseCaseLanes<String>(.keepLatest)
    let lane = lanes["a"]
    #expect(lanes["a"] === lane)
    #expect(lanes["b"] !== lane)
    #expect(lane.policy == .keepLatest)
    #expect(UseCaseLanes<Int>()[1].policy == .serial)
  }

  @Test(.holds("The same queue"))
  func `a lane is the same queue for as long as something is in it`() async {
    let useCase = HeldOnLanes(lanes: UseCaseLanes(.serial))
    useCase.lanes[1].suspend()
    var lane = Optional(useCase.lanes[1])
    lane?.suspend()
    let id = lane.map(ObjectIdentifier.init)
    let waiting = useCase.execute(11)
    lane = nil
    #expect(ObjectIdentifier(useCase.lanes[1]) == id)
    #expect(waiting.state == .waiting)
    useCase.lanes[1].resume()
    await useCase.held.begun.elements(atLeast: 1)
    #expect(ObjectIdentifier(useCase.lanes[1]) == id)
    useCase.held.open(11)
    await waiting.ended()
  }

  @Test(.holds("Nothing is left"))
  func `a lane goes when nothing is in it and nobody holds it`() async {
    let useCase = HeldOnLanes(lanes: UseCaseLanes())
    weak var lane: UseCaseQueue?
    do {
      let operation = useCase.execute(11)
      lane = useCase.lanes[1]
      #expect(useCase.lanes.count == 1)
      useCase.held.open(11)
      await operation.ended()
    }
    while lane != nil || useCase.lanes.count > 0 { await Task.yield() }
  }

  @Test(.holds("Nothing is left"))
  func `a lane that was looked up again and again goes as any other does`() {
    let lanes = UseCaseLanes<Int>()
    do {
      let lane = lanes[1]
      lane.suspend()
      for _ in 1...3 { #expect(lanes[1] === lane) }
    }
    #expect(lanes.count == 0)
    #expect(!lanes[1].isSuspended)
  }

  @Test(.holds("Nothing is left")) func `a thousand lanes at once go again, with their keys`() {
    let (lifetime, lanes) = (Lifetime(), UseCaseLanes<Key>())
    var held = (0..<2_000).map { lanes[Key($0 % 1_000, lifetime.track())] }
    #expect(lanes.count == 1_000)
    #expect(lifetime.alive == 1_000)
    held = []
    #expect(lanes.count == 0 && lifetime.alive == 0 && held.isEmpty)
    #expect(lanes.capacity <= 16)
  }

  @Test(.holds("No lock for keys")) func `no lock is held while a key is released`() {
    let (lifetime, lanes) = (Lifetime(), UseCaseLanes<Key>())
    let token = lifetime.track {
      // Another look-up, and the end of another lane, while this key is released.
      _ = lanes[Key(5, lifetime.track())]
    }
    func use(_ token: Lifetime.Token) {
      let lane = lanes[Key(1, token)]
      let other = lanes[Key(3, lifetime.track())]
      #expect(lane !== other)
      let keys = [1, 1, 1, 3, 3, 3, 1].map { Key($0, lifetime.track()) }
      #expect(keys.allSatisfy { lanes[$0] === ($0.number == 1 ? lane : other) })
    }
    use(token)
    #expect(lanes.count == 0)
  }

  @Test(.holds("Side by side"))
  func `two lanes run side by side, and each keeps its policy`() async {
    let useCase = HeldOnLanes(lanes: UseCaseLanes(.keepLatest))
    let operations = [11, 12, 13, 21, 22].map { useCase.execute($0) }
    #expect(fates(operations) == "RSWRW")
    useCase.held.open(10...30)
    await allEnded(operations)
    #expect(fates(operations) == "+S+++")
  }

  @Test(.holds("Asked once"))
  func `a queue is asked for once for each execution, by every form and wrapper`() async throws {
    struct Asking: ReportingUseCase {
      let asked = Log<Int>()
      let answer = UseCaseQueue()

      func queue(for request: Int) -> UseCaseQueue {
        asked.append(request)
        return answer
      }

      func main(_ request: Int, report: @escaping @Sendable (Int) -> Void) async throws -> Int {
        request
      }
    }
    let useCase = Asking()
    try await #expect(useCase.execute(1).value == 1)
    try await #expect(useCase(2) == 2)
    try await #expect(useCase.execute(3) { _ in }.value == 3)
    try await #expect(AnyUseCase(useCase).execute(4).value == 4)
    try await #expect(AnyUseCase(AnyUseCase(useCase))(5) == 5)
    try await #expect(useCase.shared().execute(6).value == 6)
    try await #expect(AnyUseCase(useCase.shared())(7) == 7)
    try await #expect(useCase.shared().shared()(8) == 8)
    #expect(useCase.asked.elements == Array(1...8))
    #expect(useCase.answer.activity.succeeded == 8)
  }

  @Test(.holds("All lanes"))
  func `all lanes are cancelled together, in the order in which they were made`() async {
    let (log, lanes) = (Log<String>(), UseCaseLanes<Int>())
    let useCase = HeldOnLanes(lanes: lanes)
    let operations = [91, 11, 12, 51].map { number in
      useCase.execute(number).onCancel { _ in log.append("\(number)") }
    }
    lanes.cancelAll()
    #expect(fates(operations) == "CCCC")
    useCase.held.open(1...99)
    await allEnded(operations)
    await lanes.idle()
  }

  @Test(.holds("All lanes"))
  func `lanes are idle when nothing is in any lane`() async {
    let lanes = UseCaseLanes<Int>()
    await lanes.idle()
    let useCase = HeldOnLanes(lanes: lanes)
    let (first, second, log) = (useCase.execute(11), useCase.execute(21), Log<String>())
    let third = Watched<Operation?>(nil)
    let isIdle = Task {
      await lanes.idle()
      log.append("idle")
    }
    first.then { _ in
      let operation = useCase.execute(31)
      third.update { $0 = operation }
      log.append("first")
    }
    await useCase.held.begun.elements(atLeast: 2)
    useCase.held.open(11)
    await first.ended()
    useCase.held.open(21)
    await second.ended()
    await useCase.held.begun.elements(atLeast: 3)
    log.append("last")
    useCase.held.open(31)
    await isIdle.value
    #expect(log.elements == ["first", "last", "idle"])
    #expect(third.value?.state == .finished)
  }

  @Test(.holds("Side by side"))
  func `all lanes have the observer, the interceptors, the reactions and the clock`() async throws {
    let (events, notes, reacted) = (Log<UseCaseEvent.Kind>(), Log<String>(), Log<Int>())
    let (reactions, clock) = (UseCaseReactions(), ManualClock())
    let lanes = UseCaseLanes<Int>(
      .serial, clock: clock, interceptors: [Noting { _, name in notes.append(name) }],
      reactions: reactions
    ) { events.append($0.kind) }
    reactions.to(HeldOnLanes.self) { reacted.append($0.request) }
    let useCase = HeldOnLanes(lanes: lanes)
    useCase.held.open(11, 21)
    for request in [11, 21] { await useCase.execute(request).ended() }
    #expect(reacted.elements == [11, 21])
    #expect(notes.elements == ["HeldOnLanes", "HeldOnLanes"])
    #expect(events.elements == [.running, .succeeded, .ended, .running, .succeeded, .ended])
  }

  @Test(.holds("Side by side"))
  func `a call on the lane of its caller runs inside, and on another lane it is admitted`()
    async throws
  {
    struct Nested: UseCase {
      let lanes = UseCaseLanes<Int>()
      let running = Log<Int>()

      func queue(for request: [Int]) -> UseCaseQueue { lanes[request[0]] }

      func main(_ request: [Int]) async throws -> Int {
        running.append(lanes[request[0]].activity.running)
        return request.count == 1 ? 1 : try await self(Array(request.dropFirst())) + 1
      }
    }
    let useCase = Nested()
    try await #expect(useCase([1, 1, 2, 1]) == 4)
    #expect(useCase.running.elements == [1, 1, 1, 1])
  }

  @Test(.holds("The same queue"))
  func `a lane that is going and a look-up that wants it never meet`() async {
    for _ in 0..<100 {
      let (lanes, crowd) = (UseCaseLanes<Int>(), Crowd())
      let useCase = OneAtATime(lanes: lanes, crowd: crowd)
      await withTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            for number in 0..<50 { _ = try? await useCase(number % 2) }
          }
        }
      }
      // One lane for each key at any moment: so no two bodies of a key overlap.
      #expect(crowd.peak <= 2)
      await lanes.idle()
      while lanes.count > 0 { await Task.yield() }
    }
  }

  private struct OneAtATime: UseCase {
    let lanes: UseCaseLanes<Int>
    let crowd: Crowd

    func queue(for key: Int) -> UseCaseQueue { lanes[key] }

    func main(_ key: Int) async {
      crowd.enter()
      await Task.yield()
      crowd.leave()
    }
  }
}

@Suite(.mustEnd)
struct LanesCostTests {
  private struct Preview: UseCase {
    let lanes: UseCaseLanes<Int>
    func queue(for key: Int) -> UseCaseQueue { lanes[key] }
    func main(_ key: Int) async -> Int { key }
  }

  @Test(.holds("Throttled lanes"))
  func `a throttled lane keeps its interval though nobody holds it, and then goes`() async throws {
    let clock = ManualClock()
    let lanes = UseCaseLanes<Int>(.throttle(.seconds(2)), clock: clock)
    let preview = Preview(lanes: lanes)
    await preview.execute(1).ended()
    #expect(lanes.count == 1)
    do {
      let second = preview.execute(1)
      #expect(second.state == .waiting)
      try await clock.sleeping(for: .seconds(2))
      await clock.advance(by: .seconds(2))
      await second.ended()
    }
    try await clock.sleeping(for: .seconds(2))
    await clock.advance(by: .seconds(1))
    #expect(lanes.count == 1)
    await clock.advance(by: .seconds(1))
    while lanes.count > 0 { await Task.yield() }
    #expect(lanes.capacity < 8 && clock.sleepers == 0)
  }

  @Test(.holds("Throttled lanes"))
  func `a thousand throttled lanes have one timer, and leave nothing`() async throws {
    let clock = ManualClock()
    let lanes = UseCaseLanes<Int>(.serial.rate(2, per: .seconds(1)), clock: clock)
    let preview = Preview(lanes: lanes)
    for key in 1...1_000 { preview.execute(key) }
    await lanes.idle()
    try await clock.sleeping(for: .seconds(1))
    #expect(clock.sleepers == 1)
    await clock.advance(by: .seconds(1))
    while lanes.count > 0 { await Task.yield() }
    #expect(lanes.capacity < 8 && clock.sleepers == 0)
  }

  @Test(.holds("Throttled lanes"))
  func `ten thousand throttled lanes, one after the other, leave nothing`() async throws {
    let clock = ManualClock()
    let lanes = UseCaseLanes<Int>(.throttle(.seconds(1)), clock: clock)
    let preview = Preview(lanes: lanes)
    for key in 1...10_000 {
      await preview.execute(key).ended()
      guard key.isMultiple(of: 100) else { continue }
      try await clock.sleeping(for: .seconds(1))
      #expect(lanes.count == 100 && clock.sleepers == 1)
      await clock.advance(by: .seconds(1))
      while lanes.count > 0 { await Task.yield() }
    }
    #expect(lanes.capacity <= 16 && clock.sleepers == 0)
  }

  @Test(.holds("Throttled lanes"))
  func `lanes that nobody can reach any more leave nothing, even on a clock that stands`() async {
    let clock = ManualClock()
    weak var lane: UseCaseQueue?
    do {
      let lanes = UseCaseLanes<Int>(.throttle(.seconds(1)), clock: clock)
      await Preview(lanes: lanes).execute(1).ended()
      lane = lanes[1]
      withExtendedLifetime(lanes) { #expect(lane != nil) }
    }
    while lane != nil { await Task.yield() }
    #expect(clock.sleepers == 0)
  }

  @Test(.holds("Throttled lanes"))
  func `a lane that is used after its lanes have gone leaves nothing either`() async {
    let clock = ManualClock()
    weak var lane: UseCaseQueue?
    do {
      let queue = UseCaseLanes<Int>(.throttle(.seconds(1)), clock: clock)[1]
      let useCase = AnyUseCase<Int, Int>(queue: queue) { $0 }
      await useCase.execute(1).ended()
      lane = queue
    }
    while lane != nil { await Task.yield() }
    #expect(clock.sleepsBegun == 0)
  }

  @Test(.holds("Nothing is left"))
  func `a million keys, one after the other, leave nothing`() async {
    let lanes = UseCaseLanes<Int>()
    for key in 0..<1_000_000 { _ = lanes[key] }
    #expect(lanes.count == 0)
    #expect(lanes.capacity <= 16)
    let useCase = HeldOnLanes(lanes: UseCaseLanes())
    useCase.held.open(1...10_000)
    for key in 1...10_000 { _ = try? await useCase(key) }
    await useCase.lanes.idle()
    while useCase.lanes.count > 0 { await Task.yield() }
    #expect(useCase.lanes.capacity <= 16)
  }
}
