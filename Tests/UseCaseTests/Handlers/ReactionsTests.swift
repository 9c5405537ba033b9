import TestSupport
import Testing

@testable import UseCase

@Suite(.mustEnd)
struct ReactionsTests {
  private let reactions = UseCaseReactions()
  private let log = Log<String>()

  private func held(_ policy: UseCaseQueue.Policy = .unlimited) -> Held {
    Held(on: UseCaseQueue(policy, reactions: reactions))
  }

  /// Lets a reaction to `Held` write what becomes of each operation.
  @discardableResult
  private func reactToHeld(as name: String = "reaction") -> UseCaseReaction {
    reactions.to(Held.self) { [log] operation in
      let request = operation.request
      operation
        .onStart { log.append("\(name) starts \(request)") }
        .then { _ in log.append("\(name) succeeds \(request)") }
        .onCancel { log.append("\(name) cancelled \(request) \($0)") }
    }
  }

  @Test(.holds("Reactions come first"))
  func `a reaction comes before execute returns, and its handlers run first`() async {
    let held = held()
    held.open(1)
    reactions.to(Held.self) { [log] operation in
      #expect(operation.outcome == nil)
      log.append("attach \(operation.request)")
      operation.then { log.append("reaction \($0)") }
    }
    let operation = held.execute(1)
    #expect(log.elements == ["attach 1"])
    await operation.then { [log] in log.append("own \($0)") }.ended()
    #expect(log.elements == ["attach 1", "reaction 1", "own 1"])
  }

  @Test func `twenty thousand reactions are cancelled in no time`() async {
    let all = (0..<20_000).map { number in
      reactions.to(Held.self) { [log] _ in log.append("\(number)") }
    }
    let start = threadTime()
    for reaction in all[1...].reversed() where reaction.number != 10_000 { reaction.cancel() }
    #expect(threadTime() - start < .seconds(1))
    let held = held()
    held.open(1)
    await held.execute(1).ended()
    #expect(log.elements == ["0", "9999"])
    all[0].cancel()
    all[9_999].cancel()
    held.open(2)
    await held.execute(2).ended()
    #expect(log.elements == ["0", "9999"])
  }

  @Test(.holds("Reactions come first"))
  func `a reaction comes before the body begins`() async {
    let useCase = AnyUseCase<Int, Int>(queue: UseCaseQueue(reactions: reactions)) {
      [log] number in
      log.append("body \(number)")
      return number
    }
    reactions.to(AnyUseCase<Int, Int>.self) { [log] operation in
      for _ in 1...50 { yieldThread() }
      log.append("attach \(operation.request)")
    }
    for number in 1...200 { await useCase.execute(number).ended() }
    #expect(log.elements == (1...200).flatMap { ["attach \($0)", "body \($0)"] })
  }

  @Test(.holds("Reactions come first"))
  func `any number react, in the order in which they registered`() async {
    for name in ["a", "b", "c"] { reactToHeld(as: name) }
    let held = held()
    held.open(1)
    await held.execute(1).ended()
    #expect(
      log.elements == [
        "a starts 1", "b starts 1", "c starts 1", "a succeeds 1", "b succeeds 1", "c succeeds 1",
      ])
  }

  @Test func `a reaction hears that an operation was dropped or superseded`() async {
    reactToHeld()
    let dropping = held(.dropWhileBusy)
    let first = dropping.execute(1)
    await dropping.execute(2).ended()
    dropping.open(1)
    await first.ended()
    #expect(
      log.elements.sorted() == [
        "reaction cancelled 2 dropped", "reaction starts 1", "reaction succeeds 1",
      ])

    let previous = held(.cancelPrevious)
    let third = previous.execute(3)
    await log.elements(atLeast: 4)
    let fourth = previous.execute(4)
    previous.open(3...4)
    await allEnded([third, fourth])
    #expect(fates([third, fourth]) == "S+")
    #expect(log.elements.contains("reaction cancelled 3 superseded"))
    #expect(log.elements.contains("reaction succeeds 4"))
  }

  @Test(arguments: [
    (UseCaseQueue.Policy.serial, "+++"), (.keepLatest, "+S+"), (.dropWhileBusy, "+DD"),
    (.cancelPreviousAndWait, "SS+"), (.cancelPrevious, "SS+"), (.unlimited, "+++"),
  ])
  func `a queue with reactions keeps its policy`(
    policy: UseCaseQueue.Policy, expected: String
  ) async {
    reactToHeld()
    let held = held(policy)
    let operations = held.executeFirst(3)
    held.open(1...3)
    await allEnded(operations)
    #expect(fates(operations) == expected)
    #expect(held.queue.activity.isIdle && held.queue.activity.executed == 3)
  }

  @Test func `a reaction is by type, and another type or queue is none of its business`()
    async
    throws
  {
    reactToHeld()
    let queue = UseCaseQueue(reactions: reactions)
    let other = Held()
    other.open(1)
    await other.execute(1).ended()
    #expect(try await AnyUseCase<Int, Int>(queue: queue) { $0 }(2) == 2)
    #expect(log.count == 0)
  }

  @Test(.holds("Reactions by type"))
  func `an erased use case counts as its base, also when it was erased twice`() async throws {
    reactToHeld()
    let held = held()
    held.open(1...3)
    let once = AnyUseCase(held)
    await once.execute(1).ended()
    await AnyUseCase(once).execute(2).ended()
    #expect(try await AnyUseCase(AnyUseCase(once))(3) == 3)
    await log.elements(atLeast: 6)
    #expect(
      log.elements.filter { $0.contains("succeeds") } == [
        "reaction succeeds 1", "reaction succeeds 2", "reaction succeeds 3",
      ])
  }

  @Test(.holds("Reactions by type"))
  func `a wrapper is a type of its own`() async {
    struct Wrapper: UseCase {
      let base: Held
      var queue: UseCaseQueue { base.queue }
      func main(_ request: Int) async throws -> Int { await base.main(request) }
    }
    reactToHeld()
    reactions.to(Wrapper.self) { [log] _ in log.append("wrapper") }
    let held = held()
    held.open(1)
    await Wrapper(base: held).execute(1).ended()
    await AnyUseCase(Wrapper(base: held)).execute(1).ended()
    #expect(log.elements == ["wrapper", "wrapper"])
  }

  @Test func `a use case that reports counts as itself, with updates and without`() async throws {
    let counting = Counting(on: UseCaseQueue(reactions: reactions))
    counting.gate.open()
    reactions.to(Counting.self) { [log] operation in
      operation.onStart { log.append("start \(operation.request)") }
        .then { log.append("reaction \($0)") }
    }
    await counting.execute(1) { [log] in log.append("update \($0)") }.ended()
    #expect(log.elements == ["start 1", "update 1", "reaction 1"])
    await counting.execute(2).ended()
    #expect(try await counting(3) == 3)
    await AnyUseCase(counting).execute(4).ended()
    await log.elements(atLeast: 9)
    #expect(Set(log.elements).isSuperset(of: (1...4).map { "reaction \($0)" }))
  }

  @Test func `a call is reacted to, also one that runs in the slot of its caller`() async throws {
    let queue = UseCaseQueue(.serial, reactions: reactions)
    let held = Held(on: queue)
    held.open(1...2)
    reactToHeld()
    let outer = AnyUseCase<Int, Int>(queue: queue) { number in try await held(number) }
    #expect(try await outer.execute(1).value == 1)
    #expect(try await held(2) == 2)
    await log.elements(atLeast: 4)
    #expect(
      log.elements.sorted() == [
        "reaction starts 1", "reaction starts 2",
        "reaction succeeds 1", "reaction succeeds 2",
      ])
  }

  @Test(.holds("End of a reaction"))
  func `a cancelled reaction is over for later operations, and the others go on`() async {
    let held = held()
    held.open(1...2)
    let first = reactToHeld(as: "a")
    reactToHeld(as: "b")
    let operation = held.execute(1)
    first.cancel()
    first.cancel()
    await operation.ended()
    await held.execute(2).ended()
    #expect(
      log.elements.sorted() == [
        "a starts 1", "a succeeds 1", "b starts 1", "b starts 2", "b succeeds 1", "b succeeds 2",
      ])
  }

  @Test(.holds("End of a reaction"))
  func `a reaction is over when its scope goes, and leaves nothing`() async {
    let lifetime = Lifetime()
    let held = held()
    held.open(1...2)
    var scope = Optional(UseCaseScope())
    let (log, reactions) = (log, reactions)
    if let scope {
      reactions.to(Held.self) { [token = lifetime.track()] operation in
        log.append("attach \(operation.request)")
        _ = token
      }.store(in: scope)
    }
    await held.execute(1).ended()
    #expect(lifetime.alive == 1)
    scope = nil
    #expect(lifetime.alive == 0)
    await held.execute(2).ended()
    #expect(log.elements == ["attach 1"])
  }

  @Test(arguments: [false, true])
  func `a scope keeps nothing of a reaction that is cancelled`(isStoredLate: Bool) {
    let (lifetime, scope) = (Lifetime(), UseCaseScope())
    do {
      let reactions = UseCaseReactions()
      reactions.to(Held.self) { [token = lifetime.track()] _ in withExtendedLifetime(token) {} }
      let reaction = reactions.to(Held.self) { _ in }
      if isStoredLate { reaction.cancel() }
      reaction.store(in: scope).store(in: scope)
      #expect(lifetime.alive == 1)
      reaction.cancel()
    }
    #expect(lifetime.alive == 0)
    withExtendedLifetime(scope) {}
  }

  @Test func `a reaction that is cancelled is let go with no lock held`() {
    let lifetime = Lifetime()
    let reactions = reactions
    let reaction = reactions.to(Held.self) {
      [
        token = lifetime.track {
          reactions.to(Held.self) { _ in }.cancel()
        }
      ] _ in
      _ = token
    }
    reaction.cancel()
    #expect(lifetime.alive == 0)
  }

  @Test func `a reaction may execute, cancel and react again`() async {
    let held = held()
    held.open(1...3)
    let (reactions, log, executed) = (reactions, log, Log<Operation>())
    reactions.to(Held.self) { operation in
      if operation.request == 1 {
        reactions.to(Held.self) { log.append("inner \($0.request)") }
        executed.append(held.execute(2))
      }
      if operation.request == 3 { operation.cancel() }
      log.append("outer \(operation.request)")
    }
    let operations = [held.execute(1), held.execute(3)]
    await allEnded(operations + executed.elements)
    #expect(fates(operations + executed.elements) == "+C+")
    #expect(log.elements == ["outer 2", "inner 2", "outer 1", "outer 3", "inner 3"])
    #expect(!held.begun.elements.contains(3))
  }

  @Test func `each operation is reacted to once, whatever registers and executes meanwhile`() async
  {
    let useCase = AnyUseCase<Int, Int>(queue: UseCaseQueue(.limit(3), reactions: reactions)) { $0 }
    let (reactions, attached, ran) = (reactions, Log<Int>(), Log<Int>())
    reactions.to(AnyUseCase<Int, Int>.self) { operation in
      attached.append(operation.request)
      operation.then { ran.append($0) }
    }
    await withTaskGroup { group in
      for worker in 0..<8 {
        group.addTask {
          for number in 0..<100 {
            let other = reactions.to(AnyUseCase<Int, Int>.self) { _ in }
            await useCase.execute(worker * 100 + number).ended()
            other.cancel()
          }
        }
      }
    }
    #expect(attached.elements.sorted() == Array(0..<800))
    #expect(ran.elements.sorted() == Array(0..<800))
  }

  @Test @MainActor func `a reaction runs on the thread that executes`() async {
    let held = held()
    held.open(1)
    reactions.to(Held.self) { [log] _ in log.append("\(isOnMainActor())") }
    let operation = held.execute(1)
    #expect(log.elements == ["true"])
    await operation.ended()
  }

  @Test func `a catch of a reaction handles the failure`() async {
    let useCase = AnyUseCase<Int, Int>(queue: UseCaseQueue(reactions: reactions)) { _ in
      throw Refused()
    }
    reactions.to(AnyUseCase<Int, Int>.self) { [log] operation in
      operation.catch(Refused.self) { log.append($0.reason) }
    }
    await #expect(throws: Refused.self) { try await useCase.execute(1).value }
    #expect(await log.elements(atLeast: 1) == ["no"])
  }

  @Test func `a debounced operation is reacted to before its wait`() async throws {
    let clock = ManualClock()
    let queue = UseCaseQueue(
      .cancelPrevious(debounce: .seconds(1)), clock: clock, reactions: reactions)
    let held = Held(on: queue)
    reactToHeld()
    let first = held.execute(1)
    let second = held.execute(2)
    held.open(2)
    await first.ended()
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    await second.ended()
    #expect(
      log.elements == [
        "reaction cancelled 1 superseded", "reaction starts 2", "reaction succeeds 2",
      ])
  }
}
