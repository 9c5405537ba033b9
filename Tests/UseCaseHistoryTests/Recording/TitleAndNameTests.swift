import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

/// The facts that are known of an execution from the moment it is asked for.
@Suite(.mustEnd)
struct TitleAndNameTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(arguments: [false, true])
  func `the title is known while an execution waits, while it runs and once it is recorded`(
    isErased: Bool
  ) async {
    let edit = desk.edit
    let first = page.hold("do A")
    let second = page.hold("do B")
    var operations = [history.execute(Edit(page: page), "A")]
    #expect(history.state.undoTitle == "A")
    operations.append(isErased ? AnyUseCase(edit).execute("B") : edit.execute("B"))
    #expect(history.state.undoTitle == "B")
    first.open()
    await page.began("do B")
    #expect(history.state.undoTitle == "B")
    second.open()
    for operation in operations { await operation.ended() }
    #expect(history.state.undoTitle == "B")
  }

  @Test func `the title of an execution that fails gives way to the one below`() async {
    await history.run(page, "A")
    page.fail("do B")
    let gate = page.hold("do B")
    let operation = history.execute(Edit(page: page), "B")
    #expect(history.state.undoTitle == "B")
    gate.open()
    await operation.ended()
    #expect(history.state.undoTitle == "A")
  }

  /// The state is read at the very moment when the cancelled operation lets go of its use case.
  @Test(.holds("Titles"))
  func `an execution cancelled before it begins has its title as long as it can be undone`() async {
    let seen = Watched<[HistoryState]>([])
    for _ in 0..<100 {
      let (lifetime, history) = (Lifetime(), UseCaseHistory())
      let look: @Sendable () -> Void = { [weak history] in
        if let history { seen.update { [state = history.state] in $0.append(state) } }
      }
      let operation = history.execute(Tracked(token: lifetime.track(onRelease: look)), "A")
      operation.cancel()
      await operation.ended()
      await history.idle()
    }
    #expect(!seen.value.isEmpty)
    #expect(!seen.value.contains { $0.canUndo && $0.undoTitle == nil })
  }

  @Test func `an execution that merges has its own title until it has merged`() async {
    await history.type(page, "a")
    let gate = page.hold("do b")
    let operation = history.execute(Typing(page: page), "b")
    #expect(history.state.undoTitle == "b")
    gate.open()
    await operation.ended()
    #expect(history.state.undoTitle == "ab")
  }

  @Test func `a title is asked for outside of locks`() async {
    struct Nosy: UndoableUseCase {
      let history: UseCaseHistory
      func main(_ text: String) async throws {}
      func undo(_ text: String, _: Void) async throws {}
      func title(for text: String) -> String { "\(text) \(history.limit ?? 0)" }
    }
    let operation = history.execute(Nosy(history: history), "A")
    #expect(history.state.undoTitle == "A 0")
    await operation.ended()
    #expect(history.state.undoTitle == "A 0")
  }

  @Test func `an entry has the number of the operation that it was`() async {
    let gate = page.hold("do A")
    page.fail("do B")
    let operations = ["A", "B", "C"].map { history.execute(Edit(page: page), $0) }
    gate.open()
    for operation in operations { await operation.ended() }
    let numbers = [operations[0], operations[2]].map { HistoryEntry.ID($0.id) }
    #expect(history.entries.map(\.id) == numbers)
  }

  @Test func `under concurrent callers entries stand in the order of admission`() async {
    await withTaskGroup { group in
      for number in 1...8 {
        group.addTask { [history, page] in
          for round in 1...50 { history.execute(Edit(page: page), "\(number).\(round)") }
        }
      }
    }
    await history.idle()
    let ids = history.entries.map(\.id)
    #expect(ids.count == 400 && ids == ids.sorted())
    #expect(!history.state.isBusy)
  }

  @Test func `under concurrent callers each undo is for what was admitted before it`() async {
    await withTaskGroup { group in
      for number in 1...8 {
        group.addTask { [history, page] in
          for round in 1...25 {
            history.execute(Edit(page: page), "\(number).\(round)")
            history.undo()
          }
        }
      }
    }
    await history.idle()
    // As many undos as executions, and none of them out of turn.
    #expect(history.state.undoCount == 0)
    #expect(page.actions.filter { $0.hasPrefix("undo") }.count == 200)
  }

  @Test func `in the finally of what never began the history is not busy`() async {
    for _ in 0..<50 {
      let seen = Log<Bool>()
      let operation = history.execute(Edit(page: page), "A")
      operation.finally { [history] in seen.append(history.state.isBusy) }.cancel()
      // It may have run before it could be cancelled.
      guard await operation.ended().isCancelled else { continue }
      #expect(seen.elements == [false])
    }
  }

  @Test func `no lock is held when the use case of what never began is released`() async {
    final class Keeper: UndoableUseCase {
      let history: UseCaseHistory
      init(_ history: UseCaseHistory) { self.history = history }
      deinit { _ = history.state }
      func main(_: Void) async throws {}
      func undo(_: Void, _: Void) async throws {}
    }
    for _ in 0..<50 {
      let gate = page.hold("do A")
      let first = history.execute(Edit(page: page), "A")
      let others = (1...3).map { _ in history.execute(Keeper(history), ()) }
      others[1].cancel()
      others[0].cancel()
      gate.open()
      await first.ended()
      for other in others { await other.ended() }
    }
  }

  @Test func `no lock is held when the use case of what has failed is released`() async {
    struct Failure: Error {}
    final class Keeper: UndoableUseCase {
      let page: Page
      let operations = Log<UseCaseOperation<Void, Void>>()
      init(_ page: Page) { self.page = page }
      deinit {
        for operation in operations.elements { _ = (operation.state, operation.outcome) }
        page.log.append("released")
      }
      func main(_: Void) async throws {
        page.log.append("failed")
        throw Failure()
      }
      func undo(_: Void, _: Void) async throws {}
    }
    func execute() -> UseCaseOperation<Void, Void> {
      let keeper = Keeper(page)
      let operation = history.execute(keeper, ())
      keeper.operations.append(operation)
      return operation
    }
    let gate = page.hold("do A")
    history.execute(Edit(page: page), "A")
    let operation = execute()
    gate.open()
    await operation.ended()
    #expect(page.log.elements.suffix(2) == ["failed", "released"])
  }

  @Test func `no lock is held when the key is released that a group has no longer`() async {
    final class Key: Hashable, Sendable {
      let history: UseCaseHistory
      init(_ history: UseCaseHistory) { self.history = history }
      deinit { _ = history.state }
      static func == (lhs: Key, rhs: Key) -> Bool { lhs === rhs }
      func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
    struct Move: UndoableUseCase {
      let history: UseCaseHistory
      func main(_: Int) async throws -> Key { Key(history) }
      func undo(_: Int, _: Key) async throws {}
      func redo(_: Int, _: Key) async throws -> Key { Key(history) }
      func footprint(of _: Int, _ key: Key) -> HistoryFootprint { .keys(key) }
    }
    let move = Move(history: history)
    let group = history.openGroup("Group")
    for number in 1...3 { group.execute(move, number) }
    await group.close().ended()
    for _ in 1...2 {
      await history.back(1)
      await history.forth(1)
    }
    #expect(history.state.undoCount == 1)
    history.clear()
  }

  @Test func `a history is idle when nothing runs and nothing waits`() async {
    await history.idle()
    history.execute(Edit(page: page), "A")
    history.undo()
    await history.idle()
    #expect(history.layout == "[| A]*")
  }
}

private struct Tracked: UndoableUseCase {
  let token: Lifetime.Token

  func main(_ text: String) async throws { try Task.checkCancellation() }
  func undo(_ text: String, _: Void) async throws {}
  func title(for text: String) -> String { text }
}
