import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

@Suite(.mustEnd)
struct ClearAndDiscardTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("clear"))
  func `clear drops everything`() async {
    await history.run(page, "A", "B", "C")
    await history.back(1)
    history.clear()
    #expect(history.layout == "[|]")
    #expect(page.discarded == ["A1 cleared", "B2 cleared", "C3 cleared"])
    #expect(await history.undo().ended().value == .some(nil))
    #expect(await history.redo().ended().value == .some(nil))
  }

  @Test func `after a clear things are recorded as usual, and ids go on growing`() async throws {
    await history.run(page, "A")
    let id = try #require(history.id("A"))
    history.clear()
    await history.run(page, "B")
    #expect(history.layout == "[B |]")
    #expect(try #require(history.id("B")) > id)
  }

  @Test(.holds("Exactly once"))
  func `every pair that leaves is discarded once, with its newest response`() async {
    await history.run(page, "A", "B", "C")
    await history.back(2)
    await history.forth(1)
    history.limit = 1
    await history.run(page, "D")
    history.clear()
    #expect(page.discarded == ["A1 evicted", "C3 truncated", "B4 evicted", "D5 cleared"])
  }

  @Test(.holds("Exactly once"))
  func `nothing is discarded while undo or redo can bring it back`() async {
    await history.run(page, "A", "B")
    await history.back(2)
    await history.forth(2)
    await desk.group("G", "c")
    await history.move(to: nil).ended()
    #expect(page.discarded.isEmpty)
  }

  @Test(.holds("clear"))
  func `what runs when the history is cleared is not recorded`() async {
    await history.run(page, "A")
    let gate = page.hold("do B")
    let operation = history.execute(Edit(page: page), "B")
    history.clear()
    #expect(page.discarded == ["A1 cleared"])
    #expect(!history.state.canUndo)
    gate.open()
    await operation.ended()
    #expect(history.layout == "[|]")
    #expect(page.discarded == ["A1 cleared", "B2 cleared"])
  }

  @Test(.holds("Never recorded"))
  func `a group that runs when the history is cleared is not recorded`() async {
    let gate = page.hold("do b")
    let group = history.group("G") { [edit = desk.edit] in
      for text in ["a", "b", "c"] { _ = try await edit(text) }
    }
    await page.began("do b")
    history.clear()
    gate.open()
    await group.ended()
    #expect(history.layout == "[|]")
    #expect(page.discarded == ["a1 cleared", "b2 cleared", "c3 cleared"])
  }

  @Test(.holds("Waiting moves"))
  func `what waits to undo or redo when the history is cleared finds nothing`() async {
    await history.run(page, "A", "B")
    await history.back(1)
    let gate = page.hold("do C")
    page.fail("do C")
    history.execute(Edit(page: page), "C")
    let moves = [history.undo(), history.undo(), history.redo()]
    history.clear()
    gate.open()
    for move in moves { #expect(await move.ended().value == .some(nil)) }
  }

  @Test func `what waits to be executed when the history is cleared is recorded`() async {
    let gate = page.hold("do A")
    history.execute(Edit(page: page), "A")
    let operation = history.execute(Edit(page: page), "B")
    history.clear()
    gate.open()
    await operation.ended()
    #expect(history.layout == "[B |]")
  }

  @Test func `what is being undone when the history is cleared is discarded after that`() async {
    await history.run(page, "A", "B")
    let gate = page.hold("undo B2")
    let undo = history.undo()
    await page.began("undo B2")
    history.clear()
    #expect(page.discarded == ["A1 cleared"])
    gate.open()
    #expect(await undo.ended().value??.title == "B")
    #expect(page.discarded == ["A1 cleared", "B2 cleared"])
    #expect(history.layout == "[|]")
  }

  @Test func `what is being redone when the history is cleared leaves with its new response`()
    async
  {
    await history.run(page, "A", "B")
    await history.back(1)
    let gate = page.hold("redo B2")
    let redo = history.redo()
    await page.began("redo B2")
    history.clear()
    gate.open()
    await redo.ended()
    #expect(page.discarded == ["A1 cleared", "B3 cleared"])
  }

  @Test func `an undo that fails while the history is cleared leaves it empty`() async {
    await history.run(page, "A")
    history.save()
    let gate = page.hold("undo A1")
    page.fail("undo A1")
    let undo = history.undo()
    await page.began("undo A1")
    history.clear()
    gate.open()
    #expect(await undo.ended().failure == Failure("undo A1"))
    #expect(page.discarded == ["A1 cleared"])
    #expect(history.layout == "[|]*")
  }

  @Test(arguments: [0, nil])
  func `what the end of a body discards is no longer inside of it`(limit: Int?) async {
    let history = UseCaseHistory(limit: limit)
    let places = Log<Bool>()
    await history.execute(Placed(history: history, places: places), ()).ended()
    await history.undo().ended()
    #expect(places.elements == [true])
  }

  @Test(.holds("clear in a body"))
  func `a clear inside of a body takes effect when the body is over`() async {
    await history.run(page, "A", "B")
    await history.back(1)
    page.script("do C") { [history] in
      history.clear()
      #expect(history.layout == "[A | B]")
    }
    await history.run(page, "C")
    #expect(history.layout == "[|]")
    #expect(page.discarded == ["A1 cleared", "B2 cleared", "C3 cleared"])
  }

  @Test func `a clear inside of a body that fails takes effect as well`() async {
    await history.run(page, "A")
    page.script("do B") { [history] in history.clear() }
    page.fail("do B")
    await history.run(page, "B")
    #expect(history.layout == "[|]")
    #expect(page.discarded == ["A1 cleared"])
  }

  @Test(.holds("clear in a body"))
  func `a clear takes effect when it comes as a body ends`() async {
    for round in 0..<2_000 {
      let desk = Desk()
      let clear = Watched<Task<Void, Never>?>(nil)
      desk.page.script("do A") { [history = desk.history] in
        let task = Task { history.clear() }
        clear.update { $0 = task }
        var count = 0
        while count < round % 400 { count += 1 }
      }
      await desk.history.run(desk.page, "A")
      await clear.value?.value
      #expect(desk.history.entries.isEmpty)
    }
  }

  @Test func `a clear inside of a group takes effect when the group is over`() async {
    await history.run(page, "A")
    await history.group("G") { [edit = desk.edit, history] in
      _ = try await edit("b")
      history.clear()
      _ = try await edit("c")
      #expect(history.layout == "[A |]")
    }.ended()
    #expect(history.layout == "[|]")
    #expect(page.discarded == ["A1 cleared", "b2 cleared", "c3 cleared"])
  }

  @Test(.holds("When"))
  func `a pair is discarded before the operation that caused it has ended`() async {
    await history.run(page, "A", "B")
    await history.back(2)
    let seen = Watched<[String]>([])
    await history.execute(Edit(page: page), "C").then { [page] _ in
      seen.update { $0 = page.discarded }
    }.ended()
    #expect(seen.value == ["A1 truncated", "B2 truncated"])
  }

  @Test(.holds("When"))
  func `a discard may use the history`() async {
    struct Nosy: UndoableUseCase {
      let history: UseCaseHistory
      let states = Log<HistoryState>()

      func main(_ text: String) async throws {}
      func undo(_ text: String, _: Void) async throws {}
      func discard(_ text: String, _: Void, _ reason: HistoryDiscardReason) {
        states.append(history.state)
        history.breakMerging()
      }
    }
    let nosy = Nosy(history: history)
    await history.execute(nosy, "A").ended()
    history.clear()
    #expect(nosy.states.elements == [history.state])
    history.limit = 0
    await history.execute(nosy, "B").ended()
    #expect(nosy.states.count == 2)
  }

  @Test(.holds("End of a history"))
  func `a history that goes away discards nothing`() async {
    let page = Page()
    do {
      let history = UseCaseHistory()
      await history.run(page, "A")
    }
    await page.lifetime.over()
    #expect(page.discarded.isEmpty)
  }

  @Test func `what has left is not kept alive`() async {
    await history.run(page, "A", "B", "C", "D")
    #expect(page.lifetime.alive == 4)
    await history.back(1)
    await history.run(page, "E")
    // A task that has just ended an operation may hold on to it, and to its response, for a moment.
    await page.lifetime.alive(atMost: 4)
    #expect(page.lifetime.alive == 4)
    history.limit = 2
    await page.lifetime.alive(atMost: 2)
    #expect(page.lifetime.alive == 2)
    history.clear()
    await page.lifetime.over()
  }

  @Test func `a task made in a handler keeps nothing of a history that has gone`() async {
    struct Keep: UndoableUseCase {
      let lifetime: Lifetime
      func main(_: Void) async throws -> Lifetime.Token { lifetime.track() }
      func undo(_: Void, _: Lifetime.Token) async throws {}
    }
    let (keep, gate) = (Keep(lifetime: Lifetime()), Gate())
    do {
      let history = UseCaseHistory()
      await history.execute(keep, ()).then { _ in Task { await gate.passIgnoringCancellation() } }
        .ended()
      await history.undo().then { _ in Task { await gate.passIgnoringCancellation() } }.ended()
      await history.redo().then { _ in Task { await gate.passIgnoringCancellation() } }.ended()
      await history.group("G") { _ = try await keep.recorded(in: history)(()) }
        .then { _ in Task { await gate.passIgnoringCancellation() } }.ended()
      await history.move(to: nil).then { _ in Task { await gate.passIgnoringCancellation() } }
        .ended()
    }
    await keep.lifetime.over()
    gate.open()
  }

  @Test(.holds("Dropping"))
  func `no lock is held when a response is released`() async {
    struct Keeper: UndoableUseCase {
      let lifetime: Lifetime
      let history: UseCaseHistory
      let merges: Bool

      func main(_: Void) async throws -> Lifetime.Token {
        lifetime.track { [history] in _ = history.state }
      }
      func undo(_: Void, _: Lifetime.Token) async throws {}
      func merge(
        _ earlier: (request: Void, response: Lifetime.Token),
        _ later: (request: Void, response: Lifetime.Token)
      ) -> HistoryMerge<Void, Lifetime.Token> {
        merges ? .merged((), later.response) : .separate
      }
    }
    let keeper = Keeper(lifetime: Lifetime(), history: history, merges: false)
    for _ in 1...3 { await history.execute(keeper, ()).ended() }
    await history.undo().ended()
    await history.redo().ended()
    await history.undo().ended()
    await history.execute(keeper, ()).ended()
    let merging = Keeper(lifetime: keeper.lifetime, history: history, merges: true)
    for _ in 1...3 { await history.execute(merging, ()).ended() }
    history.limit = 1
    history.clear()
    await keeper.lifetime.over()
  }
}

/// Clears its history when it is undone, and tells whether it is discarded in a place that is over.
private struct Placed: UndoableUseCase {
  let history: UseCaseHistory
  let places: Log<Bool>

  func main(_ request: Void) async throws {}
  func undo(_ request: Void, _ response: Void) async throws { history.clear() }
  func discard(_ request: Void, _ response: Void, _ reason: HistoryDiscardReason) {
    places.append(HistoryFrame.current == nil)
  }
}
