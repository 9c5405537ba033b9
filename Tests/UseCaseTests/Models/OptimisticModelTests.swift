import TestSupport
import Testing
import UseCase

/// Sessions of `OptimisticValue`, compared with a list of all changes at every moment.
@Suite(.serialized, .mustEnd) @MainActor
struct OptimisticModelTests {
  @Test(
    .holds("Confirmed and changes", "Only its own change", "Order of successes", "Since a mark"),
    arguments: RandomBurstTests.policies)
  func `an optimistic value is what its rules say, at every moment`(
    policy: UseCaseQueue.Policy
  ) async {
    let first = tries("OPTIMISTIC_SEED", or: 1)
    for seed in first..<first + tries("OPTIMISTIC_SESSIONS", or: 5) {
      await expectRules(OptimisticSession<Heart>(policy, seed: seed), seed)
      await expectRules(OptimisticSession<Counter>(policy, seed: seed), seed)
      await expectRules(OptimisticSession<Rows>(policy, seed: seed), seed)
    }
  }

  private func expectRules<Value>(_ session: OptimisticSession<Value>, _ seed: Int) async {
    await session.run()
    if let broken = session.broken { Issue.record("Seed \(seed): \(broken)") }
  }

  @Test(
    .holds("Confirmed and changes", "Only its own change", "Order of successes"),
    arguments: [UseCaseQueue.Policy.unlimited, .serial, .keepLatest], 1...4)
  func `up to four changes end in every order`(
    policy: UseCaseQueue.Policy, count: Int
  ) async {
    // Four times four ways to end, in every order, would take half a minute.
    let ways = count < 4 ? OptimisticSession<Rows>.End.allCases : [.succeeds, .fails]
    for ends in choices(of: ways, count) {
      for order in orders(of: Array(1...count)) {
        let session = OptimisticSession<Rows>(policy)
        for end in ends { session.change(end) }
        for number in order { await session.end(number) }
        await session.finish()
        if let broken = session.broken { Issue.record("\(ends), ended as \(order): \(broken)") }
        if policy != .keepLatest, ends.allSatisfy({ $0 == .succeeds }) {
          let values = (1...count).reduce(into: [Rows(seed: 0)]) { values, number in
            values.append(values[values.count - 1])
            values[values.count - 1].make(number, nil)
          }
          #expect(session.shown == values, "The screen goes back and forth: \(order)")
        }
      }
    }
  }

  /// All lists of so many elements.
  private func choices<Element>(of elements: [Element], _ count: Int) -> [[Element]] {
    guard count > 0 else { return [[]] }
    return choices(of: elements, count - 1).flatMap { rest in elements.map { rest + [$0] } }
  }

  private func orders(of numbers: [Int]) -> [[Int]] {
    guard numbers.count > 1 else { return [numbers] }
    return numbers.flatMap { first in
      orders(of: numbers.filter { $0 != first }).map { [first] + $0 }
    }
  }
}
