import TestSupport
import Testing
import UseCase

/// For its own handlers an operation is over.
@Suite(.mustEnd)
struct OwnHandlersTests {
  private let log = Log<String>()

  /// Runs the requests of a queue: the first one fails or takes its time, if it is told to.
  private struct Work: UseCase {
    let queue: UseCaseQueue
    var timeout = UseCaseTimeout.never
    var fails = false
    let gate = Gate()

    func main(_ request: Int) async throws -> Int {
      if request == 1 {
        await gate.passIgnoringCancellation()
        if fails { throw Refused() }
      }
      return request
    }
  }

  private static let all: [UseCaseQueue.Policy] =
    policiesWithOneSlot + [
      .unlimited, .limit(2), .init(limit: 2, whenBusy: .drop),
      .init(limit: 2, whenBusy: .keepLatest), .init(limit: 2, whenBusy: .cancelPrevious),
      .init(limit: 2, whenBusy: .cancelPreviousAndWait), .keepLatest.spaced(by: .zero),
    ]

  @Test(arguments: all)
  func `another one in then is admitted under every policy`(
    policy: UseCaseQueue.Policy
  ) async {
    let work = Work(queue: UseCaseQueue(policy))
    let again = Log<Operation>()
    let first = work.execute(1).then { _ in again.append(work.execute(2)) }
    work.gate.open()
    await first.ended()
    await allEnded(again.elements)
    #expect(fates([first] + again.elements) == "++")
  }

  @Test func `one that a handler executes holds back nobody whose pause is over`() async throws {
    let clock = ManualClock()
    let queue = UseCaseQueue(.keepLatest.debounced(by: .seconds(1)), clock: clock)
    let work = Work(queue: queue)
    let first = work.execute(1)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    let waiting = work.execute(2)
    let again = Log<Operation>()
    first.then { _ in again.append(work.execute(3)) }
    await clock.advance(by: .seconds(1))
    work.gate.open()
    await first.ended()
    await waiting.ended()
    #expect(waiting.fate == "+")
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    await allEnded(again.elements)
    #expect(fates(again.elements) == "+")
  }

  @Test(arguments: all)
  func `a retry in catch is admitted under every policy`(policy: UseCaseQueue.Policy) async {
    let work = Work(queue: UseCaseQueue(policy), fails: true)
    let again = Log<Operation>()
    let first = work.execute(1).catch { _ in again.append(work.execute(2)) }
    work.gate.open()
    await first.ended()
    await allEnded(again.elements)
    #expect(fates([first] + again.elements) == "F+")
  }

  @Test(arguments: all, [true, false])
  func `another one in common or finally is admitted under every policy`(
    policy: UseCaseQueue.Policy, inFinally: Bool
  ) async {
    let work = Work(queue: UseCaseQueue(policy))
    let again = Log<Operation>()
    let first = work.execute(1)
    if inFinally {
      first.finally { again.append(work.execute(2)) }
    } else {
      first.common { again.append(work.execute(2)) }
    }
    work.gate.open()
    await first.ended()
    await allEnded(again.elements)
    #expect(fates([first] + again.elements) == "++")
  }

  @Test(arguments: all) @MainActor
  func `another one in a handler on the main actor is admitted under every policy`(
    policy: UseCaseQueue.Policy
  ) async {
    let work = Work(queue: UseCaseQueue(policy))
    let again = Log<Operation>()
    let first = work.execute(1).finally { again.append(work.execute(2)) }
    work.gate.open()
    await first.ended()
    await allEnded(again.elements)
    #expect(fates([first] + again.elements) == "++")
  }

  @Test(arguments: policiesWithOneSlot)
  func `the newcomer waits until the operation has ended, and gets its slot then`(
    policy: UseCaseQueue.Policy
  ) async {
    guard policy != .cancelPrevious else { return }
    let queue = UseCaseQueue(policy)
    let held = Held(on: queue)
    held.open(1...2)
    let first = held.execute(1)
    let again = Log<Operation>()
    let gate = Gate()
    let gated = AnyUseCase(queue: queue) { (number: Int) in
      await gate.passIgnoringCancellation()
      return number
    }
    await first.ended()
    let maker = gated.execute(1).then { [log] _ in
      again.append(held.execute(2))
      log.append("\(again.elements[0].state)")
    }
    .finally { [log] in log.append("\(again.elements[0].state)") }
    gate.open()
    await maker.ended()
    await allEnded(again.elements)
    #expect(log.elements == ["waiting", "waiting"])
    #expect(fates([maker] + again.elements) == "++")
    #expect(held.begun.elements == [1, 2])
  }

  @Test func `a second one in the same handler finds the first there, and is dropped`() async {
    for policy in [UseCaseQueue.Policy.dropWhileBusy, .limit(1, waiting: 0)] {
      let work = Work(queue: UseCaseQueue(policy))
      let again = Log<Operation>()
      let first = work.execute(1).then { _ in
        for number in 2...4 { again.append(work.execute(number)) }
      }
      work.gate.open()
      await first.ended()
      await allEnded(again.elements)
      #expect(fates([first] + again.elements) == "++DD")
    }
  }

  @Test func `a second one in the same handler finds the first there, and takes the place`() async {
    let work = Work(queue: UseCaseQueue(.keepLatest))
    let again = Log<Operation>()
    let first = work.execute(1).then { _ in
      for number in 2...4 { again.append(work.execute(number)) }
    }
    work.gate.open()
    await first.ended()
    await allEnded(again.elements)
    #expect(fates([first] + again.elements) == "++S+")
  }

  @Test func `a second one in another handler finds the first there`() async {
    let work = Work(queue: UseCaseQueue(.dropWhileBusy))
    let again = Log<Operation>()
    let first = work.execute(1)
      .then { _ in again.append(work.execute(2)) }
      .finally { again.append(work.execute(3)) }
    work.gate.open()
    await first.ended()
    await allEnded(again.elements)
    #expect(fates([first] + again.elements) == "++D")
  }

  @Test func `whoever waits has the slot already, and the newcomer takes the place`() async {
    let held = Held(.keepLatest)
    let again = Log<Operation>()
    let first = held.execute(1).then { _ in again.append(held.execute(3)) }
    let second = held.execute(2)
    held.open(1...3)
    await first.ended()
    await allEnded(again.elements + [second])
    #expect(fates([first, second] + again.elements) == "+++")
    #expect(held.begun.elements == [1, 2, 3])
  }

  @Test func `whoever waits has the slot already, and the newcomer stands behind`() async {
    let held = Held(.limit(1, waiting: 1))
    let again = Log<Operation>()
    let first = held.execute(1).then { _ in
      again.append(held.execute(3))
      again.append(held.execute(4))
    }
    let second = held.execute(2)
    held.open(1...4)
    await first.ended()
    await allEnded(again.elements + [second])
    #expect(fates([first, second] + again.elements) == "+++D")
    #expect(held.begun.elements == [1, 2, 3])
  }

  @Test(arguments: [UseCaseQueue.Policy.cancelPrevious, .cancelPreviousAndWait])
  func `the newcomer is a newer one as any other, and leaves out what has not begun`(
    policy: UseCaseQueue.Policy
  ) async {
    let work = Work(queue: UseCaseQueue(policy))
    let again = Log<Operation>()
    let first = work.execute(1)
      .then { [log] _ in
        log.append("then")
        again.append(work.execute(2))
      }
      .then { [log] _ in log.append("second then") }
      .common { [log] in log.append("common") }
      .onCancel { [log] in log.append("onCancel \($0)") }
      .finally { [log] outcome in
        if case .cancelled(let reason) = outcome { log.append("finally \(reason)") }
      }
    work.gate.open()
    await first.ended()
    await allEnded(again.elements)
    #expect(log.elements == ["then", "onCancel superseded", "finally superseded"])
    #expect(fates([first] + again.elements) == "++")
  }

  @Test(arguments: [
    UseCaseQueue.Policy.serial, .dropWhileBusy, .keepLatest, .cancelPreviousAndWait,
    .limit(1, waiting: 0),
  ])
  func `a retry in the catch of a timeout starts when the old body has returned`(
    policy: UseCaseQueue.Policy
  ) async throws {
    let clock = ManualClock()
    let held = Held(on: UseCaseQueue(policy, clock: clock), timeout: .seconds(1))
    let again = Log<Operation>()
    let first = held.execute(1).catch(UseCaseTimeout.self) { [log] _ in
      again.append(held.execute(2))
      log.append("\(again.elements[0].state) \(held.queue.isBusy)")
    }
    await held.begun.elements(atLeast: 1)
    try await clock.sleeping(for: .seconds(1))
    await clock.advance(by: .seconds(1))
    await again.elements(atLeast: 1)
    await log.elements(atLeast: 1)
    #expect(log.elements == ["waiting true"])
    #expect(fates([first] + again.elements) == "FW")
    #expect(held.begun.elements == [1])
    #expect(held.queue.activity.running == 1 && held.queue.activity.waiting == 1)
    held.open(1...2)
    await first.ended()
    await allEnded(again.elements)
    #expect(fates([first] + again.elements) == "F+")
    #expect(held.begun.elements == [1, 2] && held.crowd.peak == 1)
  }

  @Test func `a retry in onCancel starts when the cancelled body has returned`() async {
    let held = Held(.dropWhileBusy)
    let again = Log<Operation>()
    let first = held.execute(1).onCancel { _ in again.append(held.execute(2)) }
    await held.begun.elements(atLeast: 1)
    first.cancel()
    await again.elements(atLeast: 1)
    #expect(again.elements[0].fate == "W")
    // Everybody else finds the queue busy.
    let other = held.execute(3)
    #expect(other.fate == "D" && held.begun.elements == [1])
    held.open(1...2)
    await allEnded([first, other] + again.elements)
    #expect(fates([first] + again.elements) == "C+")
    #expect(held.crowd.peak == 1)
  }

  @Test func `handlers do not find their own operation in the queue`() async {
    for end in ["success", "failure", "cancellation"] {
      let queue = UseCaseQueue(.serial)
      let work = Work(queue: queue, fails: end == "failure")
      let found = Log<UseCaseActivity>()
      let busy = Log<Bool>()
      let look: @Sendable () -> Void = {
        found.append(queue.activity)
        busy.append(queue.isBusy)
      }
      let first = work.execute(1)
        .then { _ in look() }.catch { _ in look() }.common(look).finally(look)
      if end == "cancellation" { first.cancel() }
      work.gate.open()
      await first.ended()
      let count = end == "cancellation" ? 1 : 3
      let done =
        switch end {
        case "success": UseCaseActivity(succeeded: 1)
        case "failure": UseCaseActivity(failed: 1)
        default: UseCaseActivity(cancelled: 1)
        }
      #expect(found.elements == Array(repeating: done, count: count))
      #expect(busy.elements == Array(repeating: false, count: count))
    }
  }

  @Test func `handlers find the others in the queue`() async {
    let held = Held(.limit(2))
    let busy = Log<UseCaseActivity>()
    let operations = held.executeFirst(3)
    let first = operations[0].finally { busy.append(held.queue.activity) }
    held.open(1)
    await first.ended()
    #expect(busy.elements.map(\.succeeded) == [1])
    #expect(busy.elements.map { $0.running + $0.waiting } == [2])
    held.open(2...3)
    await allEnded(operations)
  }

  @Test @MainActor func `a spinner in finally stops, whether it asks the queue or the model`() async
  {
    let held = Held(.dropWhileBusy)
    let model = UseCaseModel(held)
    for number in 1...200 {
      var (byQueue, byModel) = (true, true)
      let operation = model.execute(number)
        .finally {
          byQueue = held.queue.isBusy
          byModel = model.isRunning
        }
      held.open(number)
      await operation.ended()
      #expect(!byQueue && !byModel)
      #expect(!held.queue.isBusy && !model.isRunning)
    }
  }

  @Test @MainActor func `a task made in a handler is outside, and finds the queue busy`() async {
    let held = Held(.dropWhileBusy)
    for round in 1...100 {
      let (fates, busy) = (Log<Character>(), Log<Bool>())
      let first = held.execute(round).then { _ in
        Task.detached {
          busy.append(held.queue.isBusy)
          fates.append(held.execute(-round).fate)
        }
        // The handler has not returned.
        #expect(comes { fates.count == 1 })
        #expect(!held.queue.isBusy)
      }
      held.open(round)
      await first.ended()
      #expect(fates.elements == ["D"] && busy.elements == [true])
    }
  }

  @Test func `a Task made in a handler on an actor is outside when it runs first`() async {
    let held = Held(.dropWhileBusy)
    let desk = Desk()
    let (fates, busy) = (Log<Character>(), Log<Bool>())
    let first = held.execute(1)
    await desk.attachThen(to: first) { _ in
      Task {
        busy.append(held.queue.isBusy)
        fates.append(held.execute(2).fate)
      }
      // The desk has a thread of its own, so the task can run.
      holdThread { fates.count == 1 }
    }
    held.open(1)
    await first.ended()
    #expect(fates.elements == ["D"] && busy.elements == [true])
  }

  @Test func `nothing runs as a guest in a handler`() async {
    let queue = UseCaseQueue(.serial)
    let work = Work(queue: queue)
    let first = work.execute(1)
    let calls = Log<Task<Int, any Error>>()
    first.then { [log] _ in
      log.append("held \(queue.isHeldHere)")
      calls.append(Task { try await work(2) })
    }
    .finally { [log] in log.append("finally") }
    work.gate.open()
    await first.ended()
    #expect((try? await calls.elements[0].value) == 2)
    #expect(log.elements == ["held false", "finally"])
    #expect(queue.activity.succeeded == 2)
  }

  @Test func `a handler of another operation finds the queue as it is`() async {
    let held = Held(.dropWhileBusy)
    let first = held.execute(1)
    let other = AnyUseCase { (number: Int) in number }
    let found = Log<String>()
    await other.execute(1).finally {
      found.append("\(held.queue.isBusy) \(held.execute(2).fate)")
    }
    .ended()
    #expect(found.elements == ["true D"])
    held.open(1)
    await first.ended()
  }

  @Test func `a handler that is attached when all is over is in no slot`() async {
    let held = Held(.dropWhileBusy)
    held.open(1)
    let first = held.execute(1)
    await first.ended()
    let running = held.execute(2)
    let found = Log<String>()
    await first.then { _ in
      found.append("\(held.queue.isBusy) \(held.execute(3).fate)")
    }
    .ended()
    #expect(found.elements == ["true D"])
    held.open(2)
    await running.ended()
  }

  @Test func `two handlers that execute each other's operation end`() async {
    let (left, right) = (Held(.dropWhileBusy), Held(.dropWhileBusy))
    left.open(1...2)
    right.open(1...2)
    let made = Log<Operation>()
    let one = left.execute(1).finally { made.append(right.execute(2)) }
    await one.ended()
    let two = right.execute(1).finally { made.append(left.execute(2)) }
    await two.ended()
    await allEnded(made.elements)
    #expect(made.count == 2)
  }

  /// It has left its place, so there is nothing to wait for.
  @Test @MainActor
  func `a newcomer of an operation that never had a slot starts without it`() async {
    for round in 1...200 {
      let held = Held(.serial)
      held.queue.suspend()
      let again = Log<Operation>()
      let states = Log<UseCaseOperationState>()
      let first = held.execute(1).finally {
        again.append(held.execute(2))
        states.append(again.elements[0].state)
      }
      first.cancel()
      held.queue.resume()
      #expect(await isReached { again.count == 1 })
      // As the next job of the main actor.
      #expect(states.elements == [.running], "round \(round)")
      #expect(again.elements[0].state == .running, "round \(round)")
      held.open(2)
      await allEnded([first] + again.elements)
    }
  }

  @Test @MainActor
  func `a newcomer of a handler that is attached when all is over starts at once`() async {
    let held = Held(.dropWhileBusy)
    held.open(1)
    let first = held.execute(1)
    await first.ended()
    let states = Log<UseCaseOperationState>()
    let again = Log<Operation>()
    first.then { _ in
      again.append(held.execute(2))
      states.append(again.elements[0].state)
    }
    #expect(await isReached { again.count == 1 })
    #expect(states.elements == [.running])
    #expect(again.elements[0].state == .running)
    held.open(2)
    await allEnded([first] + again.elements)
  }
}
