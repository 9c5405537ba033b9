import TestSupport
import Testing
import UseCase

/// Riders of a shared run have a life of their own.
@Suite(.mustEnd)
struct RidersTests {
  private let log = Log<String>()

  @Test @MainActor
  func `handlers of riders hold the riders, not the slot of the run`() async {
    let held = Held(.serial)
    let shared = held.shared()
    var ran = 0
    let riders = [1, 1, 2].map { shared.execute($0).then { _ in ran += 1 } }
    held.open(1...2)
    // The main actor is busy, and the second run has begun and ended all the same.
    #expect(comes { held.returned.elements == [1, 2] && !held.queue.isBusy })
    #expect(ran == 0)
    await allEnded(riders)
    #expect(ran == 3 && fates(riders) == "+++")
  }

  @Test @MainActor
  func `a rider counts as running until its handlers have run`() async {
    let held = Held()
    let shared = held.shared()
    let rider = shared.execute(1).then { _ in }
    held.open(1)
    #expect(comes { rider.state == .finished && !held.queue.isBusy })
    #expect(shared.queue(for: 1).activity.running == 1)
    await rider.ended()
    #expect(shared.queue(for: 1).activity.running == 0)
  }

  @Test func `a run is executed on the thread of the first rider before execute returns`() async {
    let events = Log<String>()
    let queue = UseCaseQueue(.serial) { event in
      if case .ended = event.kind { return }
      events.append("\(event.kind)")
    }
    let held = Held(on: queue)
    let shared = held.shared()
    let first = shared.execute(1)
    #expect(events.elements == ["running"])
    let second = shared.execute(2)
    #expect(events.elements == ["running", "waiting"])
    let rider = shared.execute(2)
    #expect(events.elements == ["running", "waiting"])
    #expect(queue.activity == UseCaseActivity(running: 1, waiting: 1))
    held.open(1...2)
    await allEnded([first, second, rider])
  }

  @Test func `runs are admitted in the order of the calls`() async {
    let held = Held(.serial)
    held.open(1...200)
    let shared = held.shared()
    held.queue.suspend()
    let riders = (1...200).flatMap { [shared.execute($0), shared.execute($0)] }
    held.queue.resume()
    await allEnded(riders)
    #expect(held.begun.elements == Array(1...200))
  }

  @Test func `a rider of a dropped run is cancelled for that reason`() async {
    let held = Held(.dropWhileBusy)
    let shared = held.shared()
    let first = shared.execute(1)
    let dropped = [shared.execute(2), shared.execute(2)]
    await allEnded(dropped)
    #expect(fates([first] + dropped) == "RDD")
    await #expect(throws: CancellationError.self) { try await shared(3) }
    held.open(1)
    await first.ended()
  }

  @Test func `a call in a slot of the queue of the base is a plain call`() async throws {
    let held = Held(.serial)
    let shared = held.shared()
    let outer = AnyUseCase(queue: held.queue) { (number: Int) in try await shared(number) }
    let operation = outer.execute(1)
    await held.begun.elements(atLeast: 1)
    // A rider of its own waits for the slot, and does not ride what runs as a guest.
    let rider = shared.execute(1)
    #expect(held.queue.activity == UseCaseActivity(running: 1, waiting: 1))
    held.open(1)
    #expect(try await operation.value == 1)
    #expect(try await rider.value == 1)
    #expect(held.begun.elements == [1, 1])
  }

  @Test func `a call in a slot does not share what waits for that slot`() async throws {
    let held = Held(.serial)
    held.open(1)
    let shared = held.shared()
    let (begun, go) = (Gate(), Gate())
    let outer = AnyUseCase(queue: held.queue) { (number: Int) in
      begun.open()
      await go.passIgnoringCancellation()
      return try await shared(number)
    }
    let operation = outer.execute(1)
    await begun.passIgnoringCancellation()
    let rider = shared.execute(1)
    go.open()
    // It would wait for ever for the slot of its own body.
    #expect(try await operation.value == 1)
    #expect(try await rider.value == 1)
    #expect(held.begun.elements == [1, 1])
  }

  @Test func `an execution in a slot of the queue of the base is a plain execution`() async {
    let held = Held(.limit(2))
    let shared = held.shared()
    let made = Log<Operation>()
    let outer = AnyUseCase(queue: held.queue) { (number: Int) in
      made.append(shared.execute(number))
      return number
    }
    let rider = shared.execute(1)
    await held.begun.elements(atLeast: 1)
    await outer.execute(1).ended()
    // It has a run of its own, in the slot that got free.
    await held.begun.elements(atLeast: 2)
    #expect(held.begun.elements == [1, 1])
    held.open(1)
    await allEnded([rider] + made.elements)
    #expect(fates([rider] + made.elements) == "++")
  }

  @Test func `a call on a lane that the body holds does not share, and on another lane it does`()
    async throws
  {
    struct Load: UseCase {
      let lanes = UseCaseLanes<Int>()
      let held = Held()
      func queue(for request: Int) -> UseCaseQueue { lanes[request / 10] }
      func main(_ request: Int) async -> Int { await held.main(request) }
    }
    let load = Load()
    let shared = load.shared()
    let rider = shared.execute(21)
    await load.held.begun.elements(atLeast: 1)
    let outer = AnyUseCase(queue: load.lanes[1]) { (_: Int) in
      async let own = shared(11)
      async let other = shared(21)
      return try await own + other
    }
    let operation = outer.execute(1)
    await load.held.begun.elements(atLeast: 2)
    // The call of 21 has come, too, before its run ends.
    let riders = shared.queue(for: 21)
    for await activity in riders.activities() where activity.executed == 3 { break }
    load.held.open(11)
    load.held.open(21)
    #expect(try await operation.value == 32)
    #expect(load.held.begun.elements.sorted() == [11, 21])
    await rider.ended()
  }

  @Test func `a time-out ends a body that awaits its own run through somebody else`() async throws {
    let clock = ManualClock()
    let queue = UseCaseQueue(clock: clock)
    let rides = Watched<SharedUseCase<Rounds>?>(nil)
    let rounds = Rounds(queue: queue, again: rides)
    rides.update { $0 = rounds.shared() }
    let rider = try #require(rides.value).execute(1)
    try await clock.sleeping(for: .seconds(5))
    await clock.advance(by: .seconds(5))
    await #expect(throws: UseCaseTimeout.self) { try await rider.value }
    rides.update { $0 = nil }
    await rider.ended()
    await queue.idle()
  }

  private struct Rounds: UseCase {
    let queue: UseCaseQueue
    let timeout = Duration.seconds(5)
    let again: Watched<SharedUseCase<Rounds>?>

    func main(_ request: Int) async throws -> Int {
      guard let shared = again.value else { return -1 }
      return try await Task.detached { try await shared(request) }.value
    }
  }

  @Test(arguments: [UseCaseQueue.Policy.unlimited, .serial, .dropWhileBusy])
  func `an execution after the outcome of a run starts a new one`(
    policy: UseCaseQueue.Policy
  ) async throws {
    let held = Held(policy)
    held.open(1)
    let shared = held.shared()
    for number in 1...300 {
      #expect(try await shared.execute(1).value == 1)
      #expect(held.begun.count == number)
    }
  }

  @Test func `an execution in the then of a rider starts a new run`() async {
    let held = Held(.dropWhileBusy)
    held.open(2)
    let shared = held.shared()
    let again = Log<Operation>()
    let rider = shared.execute(1).then { _ in again.append(shared.execute(2)) }
    held.open(1)
    await rider.ended()
    await allEnded(again.elements)
    #expect(fates([rider] + again.elements) == "++")
  }

  @Test func `in races of riders, runs and cancellations each has its own outcome`() async {
    let base = AnyUseCase(queue: UseCaseQueue(.limit(2))) { (number: Int) in
      for _ in 0..<number % 3 { await Task.yield() }
      if number % 5 == 4 { throw Refused() }
      return number
    }
    let shared = base.shared()
    await withTaskGroup { group in
      for worker in 0..<4 {
        group.addTask {
          for round in 0..<500 {
            let number = (round + worker) % 7
            let ends = Watched(0)
            let operation = shared.execute(number).finally { ends.update { $0 += 1 } }
            let isCancelled = (round + 3 * worker).isMultiple(of: 4)
            if isCancelled { operation.cancel() }
            let outcome = await operation.ended()
            switch outcome {
            case .success(let response): #expect(response == number && number != 4)
            case .failure(let error): #expect(error is Refused && number == 4)
            case .cancelled(let reason): #expect(reason == .requested && isCancelled)
            }
            #expect(ends.value == 1)
          }
        }
      }
    }
    await base.queue.idle()
    #expect(!shared.queue(for: 0).isBusy)
  }

  @Test func `a rider that awaits its value in a body that holds another slot ends`() async throws {
    let held = Held(.serial)
    held.open(1)
    let shared = held.shared()
    let outer = AnyUseCase(queue: UseCaseQueue(.serial)) { (number: Int) in
      try await shared.execute(number).value
    }
    for _ in 1...100 { #expect(try await outer.execute(1).value == 1) }
  }

  @Test @MainActor func `a run that is superseded silences riders, attached before or later`() async
  {
    let held = Held(.cancelPrevious)
    let shared = held.shared()
    let riders = [shared.execute(1), shared.execute(1)]
    riders[0].then { [log] _ in log.append("then") }
      .onCancel { [log] in log.append("onCancel \($0)") }
    held.open(1...2)
    #expect(comes { riders.allSatisfy { $0.state == .finished } })
    let new = shared.execute(2)
    riders[1].then { [log] _ in log.append("late then") }
      .onCancel { [log] in log.append("late onCancel \($0)") }
    await allEnded(riders + [new])
    #expect(log.elements.sorted() == ["late onCancel superseded", "onCancel superseded"])
    #expect(fates(riders + [new]) == "+++")
  }

  @Test func `a call of a shared use case that is superseded throws`() async {
    let held = Held(.cancelPrevious)
    let shared = held.shared()
    let old = Task { try await shared(1) }
    await held.begun.elements(atLeast: 1)
    let new = shared.execute(2)
    await #expect(throws: CancellationError.self) { try await old.value }
    held.open(1...2)
    await new.ended()
    #expect(new.fate == "+")
  }

  @Test func `a refused rider makes no run`() async {
    let held = Held()
    let shared = held.shared()
    shared.queue(for: 1).close()
    let refused = shared.execute(1)
    await refused.ended()
    #expect(refused.fate == "L")
    #expect(held.queue.activity.executed == 0)
    #expect(held.queue.activity.running == 0)
  }

  @Test func `a shared use case can be shared again`() async throws {
    let held = Held()
    let shared = held.shared().shared()
    let riders = (1...3).map { _ in shared.execute(1) }
    let call = Task { try await shared(2) }
    await held.begun.elements(atLeast: 2)
    held.open(1...2)
    await allEnded(riders)
    #expect(fates(riders) == "+++")
    #expect(try await call.value == 2)
    #expect(held.queue.activity.executed == 2)
  }
}
