import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// Under the policies that cancel the previous operation, an incoming one also supersedes those
/// that have their outcome, as long as a handler for it has not begun.
@Suite(.mustEnd) @MainActor
struct NewestDeliversTests {
  private let log = Log<String>()
  private nonisolated static let policies: [UseCaseQueue.Policy] = [
    .cancelPrevious, .cancelPreviousAndWait,
  ]

  /// Attaches a handler of each kind, on the main actor.
  private func record(_ operation: Operation, _ name: String = "") -> Operation {
    operation
      .then { [log] in log.append("then \($0)\(name)") }
      .catch { [log] _ in log.append("catch\(name)") }
      .common { [log] in log.append("common\(name)") }
      .onCancel { [log] in log.append("onCancel \($0)\(name)") }
      .finally { [log] outcome in
        if case .cancelled(let reason) = outcome { log.append("finally \(reason)\(name)") }
      }
  }

  private func useCase(
    _ policy: UseCaseQueue.Policy, fails: Bool = false
  ) -> AnyUseCase<Int, Int> {
    AnyUseCase(queue: UseCaseQueue(policy)) { number in
      if fails && number == 1 { throw Offline() }
      return number
    }
  }

  @Test(.holds("Only the newest deliver"), arguments: policies, [true, false])
  func `no then or catch begins after execute although the outcome was there`(
    policy: UseCaseQueue.Policy, fails: Bool
  ) async throws {
    let useCase = useCase(policy, fails: fails)
    let old = record(useCase.execute(1))
    holdThread { old.state == .finished }
    let new = useCase.execute(2)
    await old.ended()
    await new.ended()
    #expect(log.elements == ["onCancel superseded", "finally superseded"])
    // The outcome stays.
    #expect(old.fate == (fails ? "F" : "+") && new.fate == "+")
    if !fails { #expect(try await old.value == 1) }
    #expect(useCase.queue.activity.cancelled == 0)
  }

  @Test(.holds("Only the newest deliver"))
  func `a handler on its way to the main actor is silenced`() async {
    let useCase = useCase(.cancelPrevious)
    let old = useCase.execute(1)
    let elsewhere = Log<Int>()
    attach(to: old, elsewhere)
    _ = record(old)
    // The handler before has run, so the next one can only wait for the main actor.
    holdThread { elsewhere.count == 1 }
    let new = useCase.execute(2)
    await old.ended()
    await new.ended()
    #expect(log.elements == ["onCancel superseded", "finally superseded"])
  }

  private nonisolated func attach(to operation: Operation, _ log: Log<Int>) {
    operation.then { log.append($0) }
  }

  @Test(.holds("Only the newest deliver"))
  func `the call form supersedes likewise`() async throws {
    let useCase = useCase(.cancelPrevious)
    let old = record(useCase.execute(1))
    holdThread { old.state == .finished }
    #expect(try await useCase(2) == 2)
    await old.ended()
    #expect(log.elements == ["onCancel superseded", "finally superseded"])
  }

  @Test(.holds("Only the newest deliver"))
  func `a paused newcomer supersedes at once`() async throws {
    let clock = ManualClock()
    let queue = UseCaseQueue(.cancelPrevious(debounce: .seconds(1)), clock: clock)
    let useCase = AnyUseCase(queue: queue) { (number: Int) in number }
    let old = record(useCase.execute(1))
    try await clock.sleeping()
    Task.detached { await clock.advance(by: .seconds(1)) }
    holdThread { old.state == .finished }
    let new = useCase.execute(2)
    await old.ended()
    #expect(log.elements == ["onCancel superseded", "finally superseded"])
    #expect(new.state == .waiting)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    await new.ended()
  }

  @Test func `a lane is superseded by its own newcomers only`() async {
    let lanes = UseCaseLanes<Int>(.cancelPrevious)
    struct Load: UseCase {
      let lanes: UseCaseLanes<Int>
      func queue(for request: Int) -> UseCaseQueue { lanes[request % 2] }
      func main(_ request: Int) async -> Int { request }
    }
    let load = Load(lanes: lanes)
    let operations = [record(load.execute(1)), record(load.execute(2))]
    holdThread { operations.allSatisfy { $0.state == .finished } }
    await load.execute(3).ended()
    await allEnded(operations)
    #expect(
      Set(log.elements) == ["onCancel superseded", "finally superseded", "then 2", "common"])
  }

  @Test(.holds("Only the newest deliver"))
  func `with two slots the oldest of three gives way, whether it runs or is done`() async {
    let held = Held(UseCaseQueue.Policy(limit: 2, whenBusy: .cancelPrevious))
    held.open(3...4)
    let first = record(held.execute(1), " of 1")
    let second = record(held.execute(2), " of 2")
    held.open(2)
    holdThread { second.state == .finished }
    // The first one still runs, and the second one is done.
    let third = record(held.execute(3), " of 3")
    #expect(first.fate == "S")
    holdThread { third.state == .finished }
    let fourth = held.execute(4)
    held.open(1)
    await allEnded([first, second, third, fourth])
    #expect(
      Set(log.elements) == [
        "onCancel superseded of 1", "finally superseded of 1", "onCancel superseded of 2",
        "finally superseded of 2", "then 3 of 3", "common of 3",
      ])
  }

  @Test(.holds("Only the newest deliver"))
  func `with two slots one that is older than the second newest runs on and does not deliver`()
    async
  {
    let held = Held(UseCaseQueue.Policy(limit: 2, whenBusy: .cancelPrevious))
    held.open(2...3)
    let first = record(held.execute(1), " of 1")
    await record(held.execute(2)).ended()
    let third = held.execute(3)
    #expect(first.fate == "R")
    held.open(1)
    await allEnded([first, third])
    #expect(fates([first, third]) == "++")
    #expect(
      log.elements == [
        "then 2", "common", "onCancel superseded of 1", "finally superseded of 1",
      ])
  }

  @Test func `execute in the last handler of an operation leaves it as it is`() async {
    let useCase = useCase(.cancelPrevious)
    let next = Watched<Operation?>(nil)
    let old = useCase.execute(1)
      .then { [log] _ in
        log.append("then")
        next.update { $0 = useCase.execute(2) }
      }
      .onCancel { [log] _ in log.append("onCancel") }
      .finally { [log] outcome in
        if case .success = outcome { log.append("finally") }
      }
    await old.ended()
    await next.value?.ended()
    #expect(log.elements == ["then", "finally"])
  }

  @Test func `execute in a handler leaves the handlers after it out`() async {
    let useCase = useCase(.cancelPrevious)
    let next = Watched<Operation?>(nil)
    let old = useCase.execute(1)
      .then { _ in next.update { $0 = useCase.execute(2) } }
    _ = record(old)
    await old.ended()
    await next.value?.ended()
    #expect(log.elements == ["onCancel superseded", "finally superseded"])
  }

  @Test(.holds("Only the newest deliver"))
  func `a late then is superseded as long as it has not begun, and when it comes later`() async {
    let useCase = useCase(.cancelPrevious)
    let old = useCase.execute(1)
    await old.ended()
    old.then { [log] _ in log.append("late then") }
      .onCancel { [log] in log.append("late \($0)") }
    let new = useCase.execute(2)
    await old.ended()
    await new.ended()
    #expect(log.elements == ["late superseded"])
    // A handler that comes when a newer one is there is left out, too.
    await useCase.execute(3).ended()
    await new.then { [log] in log.append("then \($0)") }
      .onCancel { [log] in log.append("later \($0)") }.ended()
    #expect(log.elements == ["late superseded", "later superseded"])
  }

  @Test(.holds("Only the newest deliver"))
  func `the catch of a timeout on its way is superseded while its body unwinds`() async throws {
    let clock = ManualClock()
    let queue = UseCaseQueue(.cancelPrevious, clock: clock)
    let held = Held(on: queue, timeout: .seconds(1))
    let old = record(held.execute(1))
    await held.begun.elements(atLeast: 1)
    try await clock.sleeping()
    Task.detached { await clock.advance(by: .seconds(1)) }
    holdThread { old.state == .finished }
    let new = held.execute(2)
    held.open(1...2)
    await allEnded([old, new])
    #expect(fates([old, new]) == "F+")
    #expect(log.elements == ["onCancel superseded", "finally superseded"])
  }

  @Test func `an operation that only unwinds does not count`() async {
    let held = Held(UseCaseQueue.Policy(limit: 2, whenBusy: .cancelPrevious))
    let first = held.execute(1)
    let second = held.execute(2)
    await held.begun.elements(atLeast: 2)
    second.cancel()
    let third = held.execute(3)
    #expect(fates([first, second, third]) == "RCR")
    held.open(1...3)
    await allEnded([first, second, third])
  }

  @Test(.holds("Only the newest deliver"), arguments: [true, false])
  func `a superseded run silences its riders, also if it has its outcome`(
    isDecided: Bool
  ) async {
    let gate = Gate(isOpen: isDecided)
    let base = AnyUseCase(queue: UseCaseQueue(.cancelPrevious)) { (number: Int) in
      if number == 1 { await gate.passIgnoringCancellation() }
      return number
    }
    let shared = base.shared()
    let riders = [record(shared.execute(1)), record(shared.execute(1))]
    if isDecided { holdThread { riders.allSatisfy { $0.state == .finished } } }
    let new = shared.execute(2)
    gate.open()
    await allEnded(riders + [new])
    #expect(
      log.elements.sorted() == [
        "finally superseded", "finally superseded", "onCancel superseded", "onCancel superseded",
      ])
    #expect(new.fate == "+")
    // Nothing is on its way any more, so nothing is left to supersede.
    let last = record(shared.execute(3))
    await last.ended()
    await shared.execute(4).ended()
    #expect(log.elements.suffix(2) == ["then 3", "common"])
  }

  @Test(.holds("Only the newest deliver"))
  func `in races no rider shows an old answer on the main actor after the next execute`() async {
    let shared = useCase(.cancelPrevious).shared()
    let view = View()
    for round in 1...tries("RACES", or: 4_000) {
      view.newest = round
      for _ in 1...2 { shared.execute(round).then { view.show($0) } }
      for _ in 0..<round % 7 { await Task.yield() }
    }
    view.newest = 0
    await shared.execute(0).then { view.show($0) }.ended()
    #expect(view.stale == 0 && view.shown > 0)
  }

  @Test func `updates on their way are dropped`() async {
    struct Count: ReportingUseCase {
      let queue = UseCaseQueue(.cancelPrevious)
      func main(_ limit: Int, report: @escaping @Sendable (Int) -> Void) async -> Int {
        for number in 1...limit { report(number) }
        return limit
      }
    }
    let count = Count()
    let old = count.execute(3) { [log] in log.append("update \($0)") }
    holdThread { old.state == .finished }
    let new = count.execute(1) { [log] in log.append("new \($0)") }
    await old.ended()
    await new.ended()
    #expect(log.elements == ["new 1"])
  }

  @Test(
    .holds("The others deliver"),
    arguments: [UseCaseQueue.Policy.unlimited, .serial, .keepLatest])
  func `under the other policies everything that is done delivers`(
    policy: UseCaseQueue.Policy
  ) async {
    let useCase = useCase(policy)
    let old = record(useCase.execute(1))
    holdThread { old.state == .finished }
    let new = useCase.execute(2)
    await allEnded([old, new])
    #expect(log.elements == ["then 1", "common"])
  }

  @Test(.holds("Only the newest deliver"))
  func `an incoming operation silences an operation whose slot is not free yet`() async {
    let again = Watched<AnyUseCase<Int, Int>?>(nil)
    let newer = Log<Operation>()
    // The body has returned, and its queue has not yet been told.
    let queue = UseCaseQueue(.cancelPrevious) { event in
      guard event.kind == .succeeded, let useCase = again.update({ $0.take() }) else { return }
      newer.append(useCase.execute(2))
    }
    let gate = Gate()
    let useCase = AnyUseCase(queue: queue) { (number: Int) in
      await gate.passIgnoringCancellation()
      return number
    }
    again.update { $0 = useCase }
    let operation = record(useCase.execute(1))
    gate.open()
    await operation.ended()
    await allEnded(newer.elements)
    #expect(log.elements == ["onCancel superseded", "finally superseded"])
    #expect(fates([operation] + newer.elements) == "++")
  }

  @Test func `a catch that is left out is no unhandled failure, and nothing is left behind`() async
  {
    let lifetime = Lifetime()
    for fails in [true, false] {
      let useCase = useCase(.cancelPrevious, fails: fails)
      let old = useCase.execute(1)
      old.then { [token = lifetime.track()] _ in _ = (token, old) }
        .catch { [token = lifetime.track()] _ in _ = (token, old) }
      holdThread { old.state == .finished }
      await useCase.execute(2).ended()
      await old.ended()
    }
    #expect(lifetime.alive == 0)
  }

  @MainActor private final class View {
    var newest = 0
    private(set) var (stale, shown) = (0, 0)

    func show(_ number: Int) {
      shown += 1
      stale += number == newest ? 0 : 1
    }
  }

  @Test(.holds("Only the newest deliver"))
  func `in races no then begins on the main actor after the next execute`() async {
    let useCase = useCase(.cancelPrevious)
    let view = View()
    for round in 1...tries("RACES", or: 4_000) {
      view.newest = round
      useCase.execute(round).then { view.show($0) }
      for _ in 0..<round % 5 { await Task.yield() }
    }
    view.newest = 0
    await useCase.execute(0).then { view.show($0) }.ended()
    #expect(view.stale == 0 && view.shown > 0)
  }
}
