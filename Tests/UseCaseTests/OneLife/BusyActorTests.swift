import TestSupport
import Testing
import UseCase

/// A handler holds the slot for as long as it waits for its actor.
@Suite(.mustEnd)
struct BusyActorTests {
  @Test(arguments: ["then", "finally", "start", "all"])
  func `a handler whose actor is busy for a while holds the slot`(kind: String) async {
    let (held, desk) = (Held(.serial), Desk())
    let operations = held.executeFirst(2)
    await held.begun.elements(atLeast: 1)
    switch kind {
    case "then": await desk.attachThen(to: operations[0]) { _ in }
    case "finally": await desk.attachFinally(to: operations[0])
    case "start":
      desk.executor.hold()
      let attached = Task { await desk.attachStart(to: operations[0]) }
      await desk.executor.jobs(atLeast: 1)
      await desk.executor.step()
      await attached.value
    default: await desk.record(operations[0])
    }
    desk.executor.hold()
    held.open(1...2)
    await held.returned.elements(atLeast: 1)
    await desk.executor.jobs(atLeast: 1)
    #expect(operations[1].fate == "W" && held.begun.elements == [1])
    #expect(held.queue.activity == UseCaseActivity(running: 1, waiting: 1))
    desk.executor.release()
    await allEnded(operations)
    #expect(fates(operations) == "++" && held.begun.elements == [1, 2])
  }

  @Test func `an update on its way to a busy actor holds the slot`() async {
    let counting = Counting(on: UseCaseQueue(.dropWhileBusy))
    let desk = Desk()
    let operation = await desk.count(counting, upTo: 2)
    desk.executor.hold()
    counting.gate.open()
    await desk.executor.jobs(atLeast: 1)
    #expect(counting.queue.activity.running == 1)
    #expect(counting.execute(1).fate == "D")
    desk.executor.release()
    await operation.ended()
    #expect(desk.log.elements == ["update 1", "update 2"])
    #expect(!counting.queue.isBusy)
  }

  @Test(arguments: [
    UseCaseQueue.Policy.serial, .keepLatest, .cancelPreviousAndWait, .limit(1, waiting: 1),
  ])
  @MainActor
  func `slots turn over while the main actor is busy where no handler is for it`(
    policy: UseCaseQueue.Policy
  ) {
    let held = Held(policy)
    let ran = Log<Int>()
    for number in 1...20 {
      let operation = held.execute(number)
      if number.isMultiple(of: 2) { attach(to: operation, ran) }
      held.open(number)
      #expect(comes { !held.queue.isBusy })
      #expect(operation.fate == "+")
    }
    #expect(ran.elements == Array(stride(from: 2, through: 20, by: 2)))
  }

  private nonisolated func attach(to operation: Operation, _ log: Log<Int>) {
    operation.then { log.append($0) }
  }

  @Test @MainActor
  func `a slot is held while the main actor is busy where a handler is for it`() async {
    let held = Held(.serial)
    let first = held.execute(1).then { _ in }
    let second = held.execute(2)
    held.open(1...2)
    #expect(comes { first.state == .finished })
    for _ in 1...1_000 { yieldThread() }
    #expect(second.state == .waiting && held.queue.activity.running == 1)
    await allEnded([first, second])
    #expect(held.begun.elements == [1, 2])
  }

  @Test @MainActor
  func `handlers that are not for the outcome hold nothing`() async {
    let held = Held(.serial)
    let first = held.execute(1).catch { _ in }.onCancel { _ in }
    let second = held.execute(2)
    held.open(1...2)
    #expect(comes { second.state == .finished && !held.queue.isBusy })
    #expect(fates([first, second]) == "++")
  }

  @Test @MainActor
  func `a handler of a cancelled operation holds the slot, and its body does`() async {
    let held = Held(.dropWhileBusy)
    var ran = ""
    let first = held.execute(1).onCancel { _ in ran += "c" }.finally { ran += "f" }
    await held.begun.elements(atLeast: 1)
    first.cancel()
    #expect(held.execute(2).fate == "D")
    #expect(await isReached { ran == "c" })
    #expect(held.execute(3).fate == "D")
    held.open(1)
    #expect(comes { held.returned.count == 1 })
    for _ in 1...1_000 { yieldThread() }
    // The finally has not run.
    #expect(held.execute(4).fate == "D")
    await first.ended()
    #expect(ran == "cf")
    let last = held.execute(5)
    #expect(last.fate == "R")
    held.open(5)
    await last.ended()
  }

  @Test @MainActor
  func `an operation counts as running until its handlers have run`() async {
    let held = Held(.unlimited)
    let operations = held.executeFirst(3).map { $0.finally {} }
    held.open(1...3)
    #expect(comes { operations.allSatisfy { $0.state == .finished } })
    #expect(held.queue.activity == UseCaseActivity(running: 3))
    await allEnded(operations)
    #expect(held.queue.activity == UseCaseActivity(succeeded: 3))
  }

  @Test @MainActor
  func `a handler that is attached when all is over holds nothing`() async {
    let held = Held(.dropWhileBusy)
    held.open(1)
    let first = held.execute(1)
    await first.ended()
    var ran = false
    first.then { _ in ran = true }
    #expect(!held.queue.isBusy && !ran)
    let second = held.execute(2)
    #expect(second.fate == "R")
    #expect(await isReached { ran })
    held.open(2)
    await second.ended()
  }

  /// Three bodies ignore their cancellation; none holds up more than itself.
  @Test func `a body that never looks at its cancellation blocks for as long as it takes`() async {
    let held = Held(.limit(2))
    let operations = held.executeFirst(4)
    await held.begun.elements(atLeast: 2)
    operations[0].cancel()
    #expect(fates(operations) == "CRWW")
    held.open(2...3)
    await operations[2].ended()
    #expect(fates(operations) == "C++R" && held.crowd.peak == 2)
    held.open(4)
    await operations[3].ended()
    held.open(1)
    await allEnded(operations)
  }

  @Test @MainActor
  func `ended is told and returns after the handlers on the main actor`() async {
    for round in 1...200 {
      let events = Log<String>()
      let queue = UseCaseQueue { events.append("\($0.kind)") }
      let held = Held(on: queue)
      let operation = held.execute(round).then { _ in events.append("then") }
        .finally { events.append("finally") }
      held.open(round)
      await operation.ended()
      await events.elements(atLeast: 5)
      #expect(events.elements == ["running", "succeeded", "then", "finally", "ended"])
    }
  }
}
