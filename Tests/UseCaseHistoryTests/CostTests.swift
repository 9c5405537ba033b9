import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// Many entries at once: what would recurse runs out of stack here, and what would be quadratic
/// out of time.
@Suite(.computes)
struct CostTests {
  private struct Count: UndoableUseCase {
    let discarded = Watched(0)

    func main(_ number: Int) async throws -> Int { number }
    func undo(_ number: Int, _: Int) async throws {}
    func discard(_ number: Int, _: Int, _ reason: HistoryDiscardReason) {
      discarded.update { $0 += 1 }
    }
  }

  private static let many = 10_000

  /// Whether one of five comparisons of what was measured holds.
  private func isTrueOnce(_ comparison: () async -> Bool) async -> Bool {
    for _ in 1...5 { if await comparison() { return true } }
    return false
  }

  @Test(.holds("Constant"))
  func `a long history is undone, truncated and cleared`() async {
    let (history, count) = (UseCaseHistory(), Count())
    var last: UseCaseOperation<Int, Int>?
    for number in 1...Self.many { last = history.execute(count, number) }
    await last?.ended()
    #expect(history.state.undoCount == Self.many)
    #expect(await history.move(to: nil).ended().value?.count == Self.many)
    await history.execute(count, 0).ended()
    #expect(count.discarded.value == Self.many && history.entries.count == 1)
    for number in 1...Self.many { last = history.execute(count, number) }
    await last?.ended()
    history.clear()
    #expect(count.discarded.value == 2 * Self.many + 1)
  }

  @Test(.holds("Constant"))
  func `a limit costs nothing more`() async {
    let (history, count) = (UseCaseHistory(limit: 1_000), Count())
    var last: UseCaseOperation<Int, Int>?
    for number in 1...Self.many { last = history.execute(count, number) }
    await last?.ended()
    #expect(history.state.undoCount == 1_000)
    #expect(count.discarded.value == Self.many - 1_000)
  }

  private struct Touch: UndoableUseCase {
    func main(_ number: Int) async throws {}
    func undo(_ number: Int, _: Void) async throws {}
    func footprint(of number: Int, _: Void) -> HistoryFootprint { .keys(number) }
  }

  /// Any one of so many disjoint entries.
  @Test(.holds("One of many"))
  func `to undo one of ten times as many takes some ten times as long`() async {
    func shortest(of many: Int) async -> Duration {
      let history = UseCaseHistory()
      let touch = Touch().recorded(in: history)
      var last: UseCaseOperation<Int, Void>?
      for number in 1...many { last = touch.execute(number) }
      await last?.ended()
      let ids = history.entries.map(\.id)
      var times: [Duration] = []
      for index in stride(from: 0, to: many, by: max(1, many / 50)) {
        let begin = ContinuousClock.now
        let entry = await history.undo(ids[index]).ended().value
        times.append(.now - begin)
        #expect(entry??.id == ids[index])
      }
      #expect(history.state.undoCount + history.state.redoCount == many)
      return times.sorted()[times.count / 4]
    }
    // Other tests share the cores, so a single comparison says little.
    #expect(await isTrueOnce { await shortest(of: 10_000) < shortest(of: 1_000) * 40 })
  }

  @Test(.holds("Constant"))
  func `an undo costs no more because an entry was forgotten`() async {
    func time(forgets: Bool) async -> Duration {
      let (history, count) = (UseCaseHistory(), Count())
      var last: UseCaseOperation<Int, Int>?
      for number in 1...2 * Self.many { last = history.execute(count, number) }
      await last?.ended()
      if forgets { history.forget(history.entries[2 * Self.many - 20].id) }
      let begin = ContinuousClock.now
      for _ in 1...200 {
        await history.undo().ended()
        await history.redo().ended()
      }
      return .now - begin
    }
    #expect(await isTrueOnce { await time(forgets: true) < time(forgets: false) * 10 })
  }

  /// Its undo waits.
  private struct Wait: UndoableUseCase {
    let begun = Gate()
    let gate = Gate()

    func main(_ number: Int) async throws {}
    func undo(_ number: Int, _: Void) async throws {
      begun.open()
      await gate.passIgnoringCancellation()
    }
  }

  @Test(.holds("Constant"))
  func `a state that is read in a jump over ten times as many takes some ten times as long`()
    async
  {
    func time(of many: Int) async -> Duration {
      let (history, wait) = (UseCaseHistory(), Wait())
      var last: UseCaseOperation<Int, Void>?
      for number in 1...many { last = history.execute(wait, number) }
      await last?.ended()
      let jump = history.move(to: nil)
      await wait.begun.passIgnoringCancellation()
      let begin = threadTime()
      let state = history.state
      let time = threadTime() - begin
      #expect(!state.canUndo && state.canRedo)
      wait.gate.open()
      await jump.ended()
      return time
    }
    #expect(await isTrueOnce { await time(of: 5_000) < time(of: 500) * 40 })
  }

  /// Fails at every other call.
  private struct Stumble: UndoableUseCase {
    let calls = Watched(0)

    func main(_ number: Int) async throws {}
    func undo(_ number: Int, _: Void) async throws {
      let call = calls.update {
        $0 += 1
        return $0
      }
      if call.isMultiple(of: 2) { throw Failure("undo \(number)") }
    }
  }

  @Test(.holds("Constant"))
  func `each undo of one part costs no more because the group has a hundred times as many`()
    async
  {
    func time(of many: Int) async -> Duration {
      let (history, stumble) = (UseCaseHistory(), Stumble())
      let group = history.openGroup("G")
      for number in 1...many { group.execute(stumble, number) }
      await group.close().ended()
      let begin = ContinuousClock.now
      for _ in 1...200 { await history.undo().ended() }
      let time = ContinuousClock.now - begin
      #expect(history.entries[0].isPartial)
      return time
    }
    // To list the parts each time would take a hundred times as long.
    let isCheap = await isTrueOnce { await time(of: 30_000) < time(of: 300) * 10 }
    #expect(isCheap)
  }

  /// An entry that touches something begins an index, of which those below know nothing.
  @Test(.holds("Constant"))
  func `to evict ten thousand costs no more because another one touches something`() async {
    func time(touching: Bool) async -> Duration {
      let (history, count) = (UseCaseHistory(), Count())
      var last: UseCaseOperation<Int, Int>?
      for number in 1...Self.many { last = history.execute(count, number) }
      await last?.ended()
      if touching { await history.execute(Touch(), 0).ended() }
      for number in 1...Self.many { last = history.execute(count, number) }
      await last?.ended()
      let begin = threadTime()
      for limit in (Self.many + 10..<2 * Self.many).reversed() { history.limit = limit }
      return threadTime() - begin
    }
    #expect(await isTrueOnce { await time(touching: true) < time(touching: false) * 10 })
  }

  @Test(.holds("Dropping"))
  func `a history goes away with all its entries`() async {
    let lifetime = Lifetime()
    struct Keep: UndoableUseCase {
      let lifetime: Lifetime
      func main(_: Void) async throws -> Lifetime.Token { lifetime.track() }
      func undo(_: Void, _: Lifetime.Token) async throws {}
    }
    do {
      let history = UseCaseHistory()
      await history.group("G") {
        let keep = Keep(lifetime: lifetime).recorded(in: history)
        for _ in 1...Self.many { _ = try await keep(()) }
      }.ended()
      #expect(lifetime.alive == Self.many)
    }
    await lifetime.over()
  }
}
