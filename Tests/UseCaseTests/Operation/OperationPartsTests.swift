import TestSupport
import Testing

@testable import UseCase

/// The small machines of an operation, each alone.
struct OperationPartsTests {
  @Test func `a slot that is entered is free when the last body has exited`() {
    var slot = SlotLife<Int>()
    slot.wait()
    #expect(slot.isWaiting && !slot.enter())
    #expect(slot.park(7) == nil)
    #expect(slot.grant() == 7)
    slot.start()
    #expect(slot.isOccupied && slot.hasBegun)
    let (entered, first) = (slot.enter(), slot.exit())
    #expect(entered && !first && slot.isOccupied)
    let last = slot.exit()
    #expect(last && !slot.isOccupied && slot.hasBegun && !slot.isGivenBack)
    slot.wasGivenBack()
    #expect(slot.isGivenBack)
  }

  #if os(Linux) || os(macOS)
    @Test func `a slot is not given back while a body runs in it, and no body begins without one`()
      async
    {
      await #expect(processExitsWith: .failure) {
        var slot = SlotLife<Int>()
        slot.start()
        slot.wasGivenBack()
      }
      await #expect(processExitsWith: .failure) {
        var slot = SlotLife<Int>()
        slot.wait()
        slot.start()
      }
    }
  #endif

  @Test func `events are told in order, each once, by one thread at a time`() {
    var line = EventLine(isObserved: true)
    line.announce(.outcome)
    line.announce(.running)
    line.announce(.running)
    #expect(line.begin() == nil)
    #expect(line.next() == .running)
    #expect(line.next() == .outcome)
    #expect(line.next() == nil)
    line.announce(.running)
    #expect(line.begin() == nil)
    line.announce(.ended)
    #expect(line.begin() == .ended)
  }

  #if os(Linux) || os(macOS)
    @Test func `a thread that does not tell cannot go on with it`() async {
      await #expect(processExitsWith: .failure) {
        var line = EventLine(isObserved: true)
        _ = line.next()
        _ = line.next()
      }
    }
  #endif

  @Test func `one task at a time delivers, also after the end`() {
    var delivery = Delivery<Int, Int>()
    var events = EventLine(isObserved: false)
    let claims = [delivery.claim(), delivery.claim()]
    let hasEnded = delivery.endIfDone()
    #expect(claims == [true, false] && hasEnded)
    let told = delivery.listen(1)
    let late = delivery.claim()
    let kept = delivery.listen(2)
    #expect(told == 1 && late && kept == nil)
    guard
      case .listeners([2]) = delivery.next(for: .success, isOver: true, events: &events)
    else {
      Issue.record("The listener is told.")
      return
    }
    let isFree = delivery.claim()
    #expect(!isFree)
  }

  @Test func `a cancellation silences what is on its way, and nothing when all has run`() {
    var delivery = Delivery<Int, Int>()
    delivery.markEnded()
    delivery.silence(.requested, after: .success, mayDeliver: true)
    #expect(delivery.silence == nil)
    _ = delivery.claim()
    delivery.silence(.requested, after: .success, mayDeliver: true)
    delivery.silence(.scopeEnded, after: .success, mayDeliver: true)
    #expect(delivery.silence == .requested)
  }

  @Test(.holds("Unhandled failures"))
  func `a success gives way before handlers may run, and a failure is still heard of`() {
    for kind in [Verdict.Kind.success, .failure] {
      var delivery = Delivery<Int, Int>()
      delivery.silence(.superseded, after: kind, mayDeliver: true)
      #expect(delivery.silence == nil)
      delivery.silence(.superseded, after: kind, mayDeliver: false)
      #expect(delivery.silence == (kind == .success ? .superseded : nil))
    }
  }

  #if os(Linux) || os(macOS)
    @Test func `a delivery that has not begun cannot go on`() async {
      await #expect(processExitsWith: .failure) {
        var delivery = Delivery<Int, Int>()
        var events = EventLine(isObserved: false)
        _ = delivery.next(for: nil, isOver: false, events: &events)
      }
    }
    @Test func `an operation concludes once, and hands its job back`() async {
      var machine = OperationMachine<Int, Int, Int, Int>(isObserved: false)
      var job = Optional(7)
      let isCancelled = machine.keep(&job) == .cancel
      #expect(!isCancelled && job == nil)
      _ = machine.start()
      let first = machine.conclude(.success)
      #expect(first.isNew && first.job == 7 && first.freed == .success)
      await #expect(processExitsWith: .failure) {
        var machine = OperationMachine<Int, Int, Int, Int>(isObserved: false)
        _ = machine.start()
        _ = machine.conclude(.success)
        _ = machine.conclude(.success)
      }
    }
  #endif

  @Test func `a job that comes after an early outcome is not cancelled before its body begins`() {
    var machine = OperationMachine<Int, Int, Int, Int>(isObserved: false)
    let outcome = machine.concludeEarly(.cancelled(.requested), tellsFailure: false)
    #expect(outcome.job == nil && outcome.isJobCancelled == false)
    var job = Optional(7)
    #expect(machine.keep(&job) == .nothing && job == 7)
  }

  @Test func `a job that runs the body is kept behind an early outcome until the body returns`() {
    var machine = OperationMachine<Int, Int, Int, Int>(isObserved: false)
    var job = Optional(7)
    _ = (machine.keep(&job), machine.start())
    _ = machine.concludeEarly(.cancelled(.requested), tellsFailure: false)
    let kept = machine.jobToEscalate()
    let late = machine.conclude(.success)
    let left = machine.jobToEscalate()
    #expect(kept == 7 && !late.isNew && late.job == 7 && left == nil)
  }

  @Test(.holds("Unhandled failures"))
  func `only a failure is told to the one who asks for those that nobody handles`() {
    for isFailure in [false, true] {
      var machine = OperationMachine<Int, Int, Int, Int>(isObserved: false)
      _ = machine.start()
      _ =
        isFailure
        ? machine.conclude(.failure(UseCaseDeadlock()), tellsFailure: true)
        : machine.conclude(.success)
      let isDue = machine.wasGivenBack(isListed: false).next == .deliver
      let isTold = if isDue, case .unhandledFailure = machine.next() { true } else { false }
      #expect(isTold == isFailure)
    }
  }

  @Test func `a priority that grows before the task exists raises the task once it does`() {
    var machine = OperationMachine<Int, Int, Int, Int>(isObserved: false)
    let early = machine.jobToEscalate()
    var job = Optional(7)
    let keeping = machine.keep(&job)
    #expect(early == nil && keeping == .escalate && job == nil)
    let late = machine.jobToEscalate()
    #expect(late == 7)
  }

  @Test func `a task is not raised if its priority has not grown before it exists`() {
    var machine = OperationMachine<Int, Int, Int, Int>(isObserved: false)
    var job = Optional(7)
    let keeping = machine.keep(&job)
    #expect(keeping == .nothing)
  }

  @Test func `an operation is listed for its first rider, and until its last has ended`() {
    var machine = OperationMachine<Int, Int, Int, Int>(isObserved: false)
    let isListedBefore = machine.riderComes()
    machine.riderHasEnded()
    _ = (machine.start(), machine.conclude(.success), machine.wasGivenBack(isListed: false))
    let isListed = [machine.riderComes(), machine.riderComes()]
    machine.noteListing()
    var taken = [machine.takeListings()]
    for _ in 1...2 {
      machine.riderHasEnded()
      taken.append(machine.takeListings())
    }
    #expect(!isListedBefore && isListed == [true, false] && taken == [0, 0, 1])
  }

  @Test func `a task that awaits the end while the observer is told of it waits for that`() {
    var delivery = Delivery<Int, Int>()
    var events = EventLine(isObserved: true)
    _ = delivery.claim()
    var told: [[Int]] = []
    while case .listeners(let listeners) = delivery.next(
      for: .success, isOver: true, events: &events)
    {
      told.append(listeners)
      if told.count == 1 { #expect(delivery.listen(1) == nil) }
    }
    #expect(told == [[], [1]])
  }
}
