import TestSupport
import Testing
import UseCase

/// Each admission settles who may no longer deliver.
@Suite(.mustEnd) @MainActor
struct SupersededTests {
  private let log = Log<String>()
  private nonisolated static let policies: [UseCaseQueue.Policy] = [
    .cancelPrevious, .cancelPreviousAndWait,
  ]
  private nonisolated static let two = UseCaseQueue.Policy(limit: 2, whenBusy: .cancelPrevious)

  @discardableResult private func record(_ operation: Operation, _ name: String) -> Operation {
    operation
      .then { [log] _ in log.append("then \(name)") }
      .catch { [log] _ in log.append("catch \(name)") }
      .onCancel { [log] in log.append("onCancel \($0) \(name)") }
      .finally { [log] outcome in
        if case .cancelled(let reason) = outcome {
          log.append("finally \(reason) \(name)")
        } else {
          log.append("finally \(name)")
        }
      }
  }

  /// Lets the body return while the main actor is busy.
  private func letReturn(_ operation: Operation, of held: Held) {
    held.open(operation.request)
    #expect(comes { operation.state == .finished })
  }

  @Test(arguments: policies)
  func `a newer one that is cancelled brings no older one back`(
    policy: UseCaseQueue.Policy
  ) async {
    let held = Held(policy)
    let old = record(held.execute(1), "old")
    letReturn(old, of: held)
    let new = held.execute(2)
    new.cancel()
    held.open(2)
    await allEnded([old, new])
    #expect(log.elements == ["onCancel superseded old", "finally superseded old"])
    #expect(fates([old, new]) == "+C")
    // Nor one whose handlers come later.
    await record(old, "late").ended()
    #expect(log.elements.suffix(2) == ["onCancel superseded late", "finally superseded late"])
  }

  @Test func `a newer one that is cancelled while it pauses brings no older one back`() async throws
  {
    let clock = ManualClock()
    let queue = UseCaseQueue(.cancelPrevious(debounce: .seconds(1)), clock: clock)
    let held = Held(on: queue)
    let old = record(held.execute(1), "old")
    try await clock.sleeping(for: .seconds(1))
    await clock.advance(by: .seconds(1))
    await held.begun.elements(atLeast: 1)
    letReturn(old, of: held)
    let new = held.execute(2)
    #expect(new.state == .waiting)
    new.cancel()
    await allEnded([old, new])
    #expect(log.elements == ["onCancel superseded old", "finally superseded old"])
  }

  @Test(arguments: policies)
  func `a refused one is no newer one`(policy: UseCaseQueue.Policy) async {
    let held = Held(policy)
    let old = record(held.execute(1), "old")
    letReturn(old, of: held)
    held.queue.close()
    let refused = record(held.execute(2), "refused")
    #expect(refused.fate == "L")
    await allEnded([old, refused])
    #expect(log.elements.contains("then old"))
    #expect(!log.elements.contains { $0.contains("superseded") })
  }

  @Test(arguments: policies)
  func `handlers attached after the end are left out for an older one`(
    policy: UseCaseQueue.Policy
  ) async {
    let held = Held(policy)
    held.open(1...2)
    let old = held.execute(1)
    await old.ended()
    await held.execute(2).ended()
    await record(old, "late").ended()
    #expect(log.elements == ["onCancel superseded late", "finally superseded late"])
    #expect((try? await old.value) == 1)
  }

  @Test func `handlers attached after the end run for the newest n`() async {
    let held = Held(Self.two)
    held.open(1...3)
    var operations: [Operation] = []
    for number in 1...3 {
      operations.append(held.execute(number))
      await operations[number - 1].ended()
    }
    for operation in operations { await record(operation, "\(operation.request)").ended() }
    #expect(
      log.elements == [
        "onCancel superseded 1", "finally superseded 1", "then 2", "finally 2", "then 3",
        "finally 3",
      ])
  }

  @Test func `with two slots the one that is older than the second newest is left out`() async {
    let held = Held(Self.two)
    let first = record(held.execute(1), "1")
    held.open(2...3)
    await record(held.execute(2), "2").ended()
    // The second has delivered and left, so the first keeps its slot; and yet two are newer.
    let third = record(held.execute(3), "3")
    #expect(first.fate == "R")
    await third.ended()
    held.open(1)
    await first.ended()
    #expect(first.fate == "+")
    #expect(
      log.elements == [
        "then 2", "finally 2", "then 3", "finally 3", "onCancel superseded 1",
        "finally superseded 1",
      ])
  }

  @Test func `a cancelled one does not count among the newest two`() async {
    let held = Held(Self.two)
    let first = record(held.execute(1), "1")
    let second = held.execute(2)
    await held.begun.elements(atLeast: 2)
    second.cancel()
    let third = record(held.execute(3), "3")
    #expect(fates([first, second, third]) == "RCR")
    held.open(1...3)
    await allEnded([first, second, third])
    #expect(Set(log.elements) == ["then 1", "finally 1", "then 3", "finally 3"])
  }

  @Test func `one that is cancelled late does not count among the newest two`() async {
    let held = Held(Self.two)
    held.open(2...4)
    let first = record(held.execute(1), "1")
    let second = record(held.execute(2), "2")
    #expect(comes { second.state == .finished })
    second.cancel()
    await second.ended()
    let third = record(held.execute(3), "3")
    await third.ended()
    held.open(1)
    await first.ended()
    #expect(
      log.elements == [
        "onCancel requested 2", "finally requested 2", "then 3", "finally 3", "then 1",
        "finally 1",
      ])
  }

  @Test func `one that is cancelled after the next admission has settled it for good`() async {
    let held = Held(Self.two)
    held.open(2...3)
    let first = record(held.execute(1), "1")
    let second = held.execute(2)
    await second.ended()
    let third = held.execute(3)
    third.cancel()
    await third.ended()
    held.open(1)
    await first.ended()
    #expect(first.fate == "+")
    #expect(log.elements == ["onCancel superseded 1", "finally superseded 1"])
  }

  @Test(arguments: policies)
  func `where no then, catch or common is left, finally is told the cancellation`(
    policy: UseCaseQueue.Policy
  ) async {
    let held = Held(policy)
    let old = held.execute(1).finally { [log] outcome in
      if case .cancelled(let reason) = outcome { log.append("\(reason)") }
    }
    letReturn(old, of: held)
    let new = held.execute(2)
    held.open(2)
    await allEnded([old, new])
    #expect(log.elements == ["superseded"])
  }

  @Test(arguments: policies)
  func `when the last then has begun nothing changes`(policy: UseCaseQueue.Policy) async {
    let held = Held(policy)
    let next = Log<Operation>()
    let old = held.execute(1)
      .common { [log] in log.append("common") }
      .then { [log] _ in
        log.append("then")
        next.append(held.execute(2))
      }
      .onCancel { [log] _ in log.append("onCancel") }
      .finally { [log] outcome in
        if case .success = outcome { log.append("finally") }
      }
    held.open(1...2)
    await old.ended()
    await allEnded(next.elements)
    #expect(log.elements == ["common", "then", "finally"])
    #expect(fates(next.elements) == "+")
  }

  @Test func `a superseded call throws, though its answer was there`() async {
    let held = Held(.cancelPrevious)
    for number in 1...200 {
      let (old, newer) = (number * 2, number * 2 + 1)
      let call = Task { () -> String in
        do { return "\(try await held(old))" } catch { return "\(type(of: error))" }
      }
      #expect(await isReached { held.begun.elements.contains(old) })
      held.open(old)
      #expect(comes { held.returned.elements.contains(old) })
      for _ in 0..<number { yieldThread() }
      // The call has its answer, and cannot be back on the main actor yet.
      let new = held.execute(newer)
      #expect(await call.value == "CancellationError")
      held.open(newer)
      await new.ended()
      #expect(new.fate == "+")
    }
  }

  @Test func `outcome of a superseded call is its cancellation, though its answer was there`() async
  {
    let held = Held(.cancelPreviousAndWait)
    for number in 1...200 {
      let (old, newer) = (number * 2, number * 2 + 1)
      let call = Task { await held.outcome(of: old) }
      #expect(await isReached { held.begun.elements.contains(old) })
      held.open(old)
      #expect(comes { held.returned.elements.contains(old) })
      for _ in 0..<number { yieldThread() }
      let new = held.execute(newer)
      if case .cancelled(.superseded) = await call.value {
      } else {
        #expect(Bool(false), "superseded in round \(number)")
      }
      held.open(newer)
      await new.ended()
    }
  }

  @Test func `a call supersedes a call`() async throws {
    let held = Held(.cancelPrevious)
    let old = Task { try await held(1) }
    await held.begun.elements(atLeast: 1)
    let new = Task { try await held(2) }
    await held.begun.elements(atLeast: 2)
    held.open(1...2)
    await #expect(throws: CancellationError.self) { try await old.value }
    #expect(try await new.value == 2)
  }

  @Test func `under the other policies a call returns its answer, though others came`() async throws
  {
    for policy in [UseCaseQueue.Policy.unlimited, .serial, .keepLatest, .dropWhileBusy] {
      let held = Held(policy)
      let call = Task { try await held(1) }
      #expect(await isReached { held.begun.count == 1 })
      held.open(1...2)
      #expect(comes { held.returned.count == 1 })
      let new = held.execute(2)
      #expect(try await call.value == 1)
      await new.ended()
    }
  }

  @Test(arguments: policies)
  func `a then on the screen after the field was cleared shows nothing`(
    policy: UseCaseQueue.Policy
  ) async {
    let held = Held(policy)
    for number in 1...200 {
      let search = record(held.execute(number), "search")
      letReturn(search, of: held)
      held.queue.cancelAll()
      await search.ended()
    }
    #expect(!log.elements.contains("then search"))
  }

  @MainActor private final class View {
    var newest = 0
    private(set) var (stale, shown) = (0, 0)
    private let width: Int

    init(atMost width: Int = 1) { self.width = width }

    /// The number of another search.
    func another() -> Int {
      newest += 1
      return newest
    }

    func show(_ number: Int) {
      shown += 1
      stale += number > newest - width ? 0 : 1
    }
  }

  @Test(arguments: [
    UseCaseQueue.Policy.cancelPrevious, .cancelPreviousAndWait,
    .cancelPrevious(debounce: .microseconds(50)),
  ])
  func `in five thousand races no stale result is shown, in whatever form it comes`(
    policy: UseCaseQueue.Policy
  ) async {
    let useCase = AnyUseCase(queue: UseCaseQueue(policy)) { (number: Int) in
      for _ in 0..<number % 2 { await Task.yield() }
      return number
    }
    let view = View()
    let calls = Log<Task<Void, Never>>()
    var earlier: Operation?
    for round in 1...tries("STALE_TRIES", or: 5_000) {
      switch round % 3 {
      case 0:
        // It begins when the main actor is given away, and is the newest then.
        calls.append(
          Task {
            if let number = try? await useCase(view.another()) { view.show(number) }
          })
      case 1:
        earlier = useCase.execute(view.another()).then { view.show($0) }.common {}
      default:
        let operation = useCase.execute(view.another())
        // Handlers that are attached late, and perhaps after the end.
        for _ in 0..<round % 4 { await Task.yield() }
        operation.then { view.show($0) }
        earlier?.then { _ in view.show(-1) }
      }
      for _ in 0..<round % 5 { await Task.yield() }
    }
    for call in calls.elements { await call.value }
    await useCase.queue.idle()
    await useCase.execute(view.another()).then { view.show($0) }.ended()
    #expect(view.stale == 0 && view.shown > 0)
  }

  @Test func `with two slots no result of five thousand races is older than the second newest`()
    async
  {
    let useCase = AnyUseCase(queue: UseCaseQueue(Self.two)) { (number: Int) in
      for _ in 0..<number % 4 { await Task.yield() }
      return number
    }
    let count = tries("STALE_TRIES", or: 5_000)
    let view = View(atMost: 2)
    for round in 1...count {
      view.newest = round
      useCase.execute(round).then { view.show($0) }
      for _ in 0..<round % 5 { await Task.yield() }
    }
    await useCase.queue.idle()
    #expect(view.stale == 0 && view.shown > 0)
  }

  @Test func `in five thousand races a forced stale result is never shown`() async {
    let useCase = AnyUseCase(queue: UseCaseQueue(.cancelPrevious)) { (number: Int) in number }
    let view = View()
    for round in 1...tries("STALE_TRIES", or: 5_000) {
      view.newest = 2 * round
      let old = useCase.execute(2 * round).then { view.show($0) }
      // Its result is on its way to the main actor.
      #expect(comes { old.state == .finished })
      view.newest = 2 * round + 1
      let new = useCase.execute(2 * round + 1).then { view.show($0) }
      await allEnded([old, new])
    }
    #expect(view.stale == 0)
  }

  @Test func `an actor that searches gets no stale result either`() async {
    let useCase = AnyUseCase(queue: UseCaseQueue(.cancelPrevious)) { (number: Int) in number }
    #expect(await Searcher().race(useCase, rounds: tries("STALE_TRIES", or: 5_000)) == 0)
  }

  private actor Searcher {
    private var newest = 0
    private var stale = 0

    func race(_ useCase: AnyUseCase<Int, Int>, rounds: Int) async -> Int {
      for round in 1...rounds {
        newest = round
        useCase.execute(round).then { self.show($0) }
        for _ in 0..<round % 5 { await Task.yield() }
      }
      await useCase.queue.idle()
      return stale
    }

    private func show(_ number: Int) { stale += number == newest ? 0 : 1 }
  }
}
