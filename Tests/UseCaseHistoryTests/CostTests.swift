import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// Many entries at once: what would recurse runs out of stack here, and what would be quadratic
/// out of time.
@Suite(.mustEnd)
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

  @Test func `a long history is undone, truncated and cleared`() async {
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

  @Test func `a limit costs nothing more`() async {
    let (history, count) = (UseCaseHistory(limit: 1_000), Count())
    var last: UseCaseOperation<Int, Int>?
    for number in 1...Self.many { last = history.execute(count, number) }
    await last?.ended()
    #expect(history.state.undoCount == 1_000)
    #expect(count.discarded.value == Self.many - 1_000)
  }

  @Test func `a history goes away with all its entries`() async {
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
