import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// Two notes, a and b, in one history.
@Suite(.mustEnd)
struct DocumentTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }
  let a = HistoryFootprint.keys("a")
  let b = HistoryFootprint.keys("b")

  private func title(_ move: UseCaseOperation<HistoryMove, HistoryEntry?>) async -> String? {
    await move.ended().value.map { $0?.title ?? "nothing" }
  }

  private func blockers(_ move: UseCaseOperation<HistoryMove, HistoryEntry?>) async -> [String]? {
    guard case .blocked(let ids) = await move.ended().historyError else { return nil }
    return ids.map { id in history.entries.first { $0.id == id }?.title ?? "?" }
  }

  @Test(.holds("Undo of a document"))
  func `each document has its own undo and redo`() async {
    await history.run(page, "A@a", "B@b", "C@a", "D@b")
    #expect(await title(history.undo(in: a)) == "C")
    #expect(await title(history.undo(in: a)) == "A")
    #expect(await title(history.undo(in: a)) == "nothing")
    #expect(history.layout == "[B D | A C]")
    #expect(await title(history.undo(in: b)) == "D")
    #expect(await title(history.redo(in: a)) == "A")
    #expect(await title(history.redo(in: b)) == "D")
    #expect(await title(history.redo(in: b)) == "nothing")
    #expect(history.layout == "[B A D | C]")
  }

  @Test(.holds("Undo of a document"))
  func `an action over two documents is one entry of both`() async {
    await history.run(page, "A@a", "Both@a,b", "B@b")
    #expect(await blockers(history.undo(in: a)) == ["B"])
    #expect(history.layout == "[A Both B |]")
    await history.undo(in: b).ended()
    #expect(await title(history.undo(in: a)) == "Both")
    #expect(await title(history.undo(in: a)) == "A")
    #expect(await blockers(history.redo(in: b)) == ["A"])
    #expect(history.layout == "[| A Both B]*")
  }

  @Test(.holds("Undo of a document"))
  func `quick undos of a document are bound when they are called`() async {
    await history.run(page, "A@a", "B@b")
    let gate = page.hold("do C")
    history.execute(Edit(page: page), "C@a")
    let (first, other) = (history.undo(in: a), history.undo(in: b))
    let moves = [first, history.undo(in: a), history.undo(in: a), history.redo(in: a)]
    gate.open()
    #expect(await title(moves[0]) == "C")
    #expect(await title(other) == "B")
    #expect(await title(moves[1]) == "A")
    #expect(await title(moves[2]) == "nothing")
    #expect(await title(moves[3]) == "A")
    #expect(history.layout == "[A | B C]")
  }

  @Test(.holds("Undo of a document"), arguments: 1...4)
  func `an execution that waits counts by the footprint of its request`(form: Int) async {
    await history.run(page, "A@a")
    let gate = page.hold("do B")
    switch form {
    case 1: history.execute(Edit(page: page), "B@b")
    case 2: AnyUseCase(desk.edit).execute("B@b")
    case 3: desk.edit.shared().execute("B@b")
    default: AnyUseCase(desk.edit).shared().execute("B@b")
    }
    #expect(history.state(in: a).undoTitle == "A")
    #expect(history.state(in: b).undoTitle == "B")
    let undo = history.undo(in: a)
    gate.open()
    #expect(await title(undo) == "A")
    #expect(history.layout == "[B | A]")
  }

  @Test(.holds("Out of turn in a document"))
  func `an undo bound to an execution of another document is out of turn`() async {
    await history.run(page, "A@a")
    let gate = page.hold("do B?")
    history.execute(Edit(page: page), "B?@b")
    #expect(history.state(in: a).undoTitle == "B?")
    let undo = history.undo(in: a)
    gate.open()
    #expect(await undo.ended().historyError == .outOfTurn)
    #expect(history.layout == "[A B? |]")
  }

  @Test(.holds("Out of turn in a document"))
  func `an undo bound to an execution that fails is out of turn`() async {
    await history.run(page, "A@a")
    page.fail("do B")
    let gate = page.hold("do B")
    history.execute(Edit(page: page), "B@a")
    let undo = history.undo(in: a)
    gate.open()
    #expect(await undo.ended().historyError == .outOfTurn)
    #expect(history.layout == "[A |]")
  }

  @Test(.holds("Out of turn in a document"))
  func `a group that waits counts for every document`() async {
    await history.run(page, "A@a")
    let gate = Gate()
    history.group("G") { [edit = desk.edit] in
      await gate.passIgnoringCancellation()
      _ = try await edit("B@b")
    }
    #expect(history.state(in: a).undoTitle == "G" && !history.state(in: a).canRedo)
    let undo = history.undo(in: a)
    gate.open()
    #expect(await undo.ended().historyError == .outOfTurn)
    #expect(await title(history.undo(in: b)) == "G")
  }

  @Test(.holds("The whole history"))
  func `the document of everything is the whole history`() async {
    await history.run(page, "A@a", "B@")
    #expect(await title(history.undo(in: .everything)) == "B")
    #expect(history.undo(in: .everything).request == .undo)
    #expect(history.redo(in: .everything).request == .redo)
    await history.idle()
    #expect(history.state(in: .everything) == history.state)
    #expect(await title(history.undo(in: .keys())) == "nothing")
  }

  @Test(.holds("Partial branch"))
  func `a new entry drops only what it contradicts of the branch`() async {
    await history.run(page, "A@a", "B@b", "C@a")
    await history.back(3)
    await history.run(page, "N@a")
    #expect(history.layout == "[N | B]")
    #expect(page.discarded == ["A1 truncated", "C3 truncated"])
    #expect(await title(history.redo()) == "B")
    await history.back(1)
    await history.run(page, "M")
    #expect(history.layout == "[N M |]")
  }

  @Test(.holds("Partial branch"))
  func `what would be redone after a dropped entry and overlaps it goes, too`() async {
    await history.run(page, "A@a", "Both@a,b", "B@b", "C@c", "Other@b,c", "D@d", "E@")
    await history.back(7)
    await history.run(page, "N@a")
    #expect(history.layout == "[N | C D E]")
    await history.forth(3)
    #expect(history.layout == "[N C D E |]")
  }

  @Test(.holds("Partial branch"))
  func `an undone entry that touches everything goes, and all behind it`() async {
    await history.run(page, "A@a", "All", "B@b", "C@")
    await history.back(4)
    await history.run(page, "N@b")
    #expect(history.layout == "[N | A C]")
  }

  @Test(.holds("Partial branch"))
  func `a redo is for the next undone entry, and out of turn if that is dropped`() async {
    await history.run(page, "A@a", "B@b")
    await history.back(2)
    let gate = page.hold("do N")
    history.execute(Edit(page: page), "N@a")
    let moves = [history.redo(), history.redo(), history.undo(), history.undo()]
    #expect(!history.state.canRedo)
    gate.open()
    #expect(await moves[0].ended().historyError == .outOfTurn)
    #expect(await title(moves[1]) == "B")
    #expect(await title(moves[2]) == "B")
    #expect(await title(moves[3]) == "N")
    #expect(history.layout == "[| N B]*")
  }

  @Test(.holds("Partial branch"))
  func `a merge and an annulment drop what they contradict`() async {
    let typing = Letters(page: page)
    await history.execute(Edit(page: page), "A@a").ended()
    await history.execute(Edit(page: page), "B@b").ended()
    await history.back(2)
    for letter in ["x@c", "y@c", "z@a"] { await history.execute(typing, letter).ended() }
    #expect(history.layout == "[x@cy@cz@a | B]")
  }

  /// Letters that merge, each with a footprint.
  private struct Letters: UndoableUseCase, Equatable {
    let page: Page
    static func == (lhs: Self, rhs: Self) -> Bool { lhs.page === rhs.page }
    func main(_ text: String) async throws {}
    func undo(_ text: String, _: Void) async throws {}
    func title(for text: String) -> String { text }
    func footprint(of text: String) -> HistoryFootprint? {
      .keys(text.split(separator: "@").dropFirst().map { String($0.prefix(1)) })
    }
    func merge(
      _ earlier: (request: String, response: Void), _ later: (request: String, response: Void)
    ) -> HistoryMerge<String, Void> {
      .merged(earlier.request + later.request, ())
    }
  }

  @Test(.holds("Half undone in a document"))
  func `a half undone group blocks every document, and is settled by any recording`() async throws {
    await history.run(page, "A@a", "B@b")
    await history.undo(in: a).ended()
    await desk.group("G", "c@c", "d@d")
    page.fail("undo c3")
    await history.back(1)
    #expect(history.layout == "[B G(c | d) | A]")
    #expect(await blockers(history.undo(in: b)) == ["G"])
    #expect(await blockers(history.redo(in: a)) == ["G"])
    let group = try #require(history.id("G"))
    #expect(await title(history.redo(group)) == "G")
    #expect(history.layout == "[B G(c d) | A]")
    await history.back(1)
    await history.run(page, "N@b")
    #expect(history.layout == "[B G(c) N | A]")
    #expect(page.discarded == ["d5 truncated"])
  }

  @Test(.holds("Half undone in a document"))
  func `an undo of a document that only parts touched that will be dropped finds nothing`()
    async
  {
    await desk.group("G", "c@c", "d@d")
    page.fail("undo c1")
    await history.back(1)
    #expect(history.layout == "[G(c | d) |]")
    let gate = page.hold("do N")
    history.execute(Edit(page: page), "N@b")
    let (c, d) = (HistoryFootprint.keys("c"), HistoryFootprint.keys("d"))
    #expect(history.state(in: c).canUndo && !history.state(in: d).canUndo)
    let undo = history.undo(in: d)
    gate.open()
    #expect(await title(undo) == "nothing")
    #expect(history.layout == "[G(c) N |]")
  }

  @Test(.holds("State of a document"))
  func `the state of a document has its titles and counts`() async {
    await history.run(page, "A@a", "B@b", "Both@a,b", "C@b", "All")
    await history.back(2)
    let (first, second) = (history.state(in: a), history.state(in: b))
    #expect(first.canUndo && first.undoTitle == "Both" && first.undoCount == 2)
    // “All” would come before C, which it overlaps.
    #expect(!first.canRedo && first.redoTitle == nil && first.redoCount == 1)
    #expect(second.undoCount == 2 && second.redoTitle == "C" && second.redoCount == 2)
    let both = history.state(in: a.union(b))
    #expect(both.undoCount == 3 && both.redoCount == 2 && both.version == history.state.version)
    #expect(history.state(in: .keys("c")).undoTitle == nil)
  }

  @Test(.holds("State of a document"))
  func `the redo of a document is there as far as the footprints of what waits tell`() async {
    await history.run(page, "A@a", "B@b", "Both@b,c")
    await history.back(3)
    let gate = page.hold("do N")
    let execution = history.execute(Edit(page: page), "N@b")
    #expect(history.state(in: a).redoTitle == "A" && !history.state.canRedo)
    #expect(!history.state(in: b).canRedo && !history.state(in: .keys("c")).canRedo)
    gate.open()
    await execution.ended()
    #expect(history.layout == "[N | A]")
  }

  @Test(.holds("Redo of one entry"))
  func `one entry is redone unless one that would be redone before overlaps it`() async throws {
    await history.run(page, "A@a", "B@b", "Both@a,b", "C@c")
    let ids = history.entries.map(\.id)
    await history.back(4)
    #expect(await blockers(history.redo(ids[2])) == ["A", "B"])
    #expect(await title(history.redo(ids[3])) == "C")
    #expect(await title(history.redo(ids[1])) == "B")
    #expect(history.layout == "[C B | A Both]")
    #expect(await title(history.redo(ids[1])) == "nothing")
    history.forget(ids[0])
    #expect(await history.redo(ids[0]).ended().historyError == .unknownEntry(ids[0]))
    #expect(await title(history.redo(ids[2])) == "Both")
  }

  @Test(.holds("Redo of one entry"))
  func `a redo of one entry that fails changes nothing, and a group stays half redone`() async {
    await desk.group("G", "c@c", "d@d")
    await history.run(page, "A@a")
    await history.back(2)
    let (group, edit) = (history.entries[0].id, history.entries[1].id)
    page.fail("redo A3")
    #expect(await history.redo(edit).ended().failure == Failure("redo A3"))
    #expect(history.layout == "[| G(c d) A]*")
    page.repair("redo A3")
    #expect(await title(history.redo(edit)) == "A")
    page.fail("redo d2")
    #expect(await history.redo(group).ended().failure == Failure("redo d2"))
    #expect(history.layout == "[A G(c | d) |]")
    page.repair("redo d2")
    #expect(await title(history.redo(group)) == "G")
    #expect(history.layout == "[A G(c d) |]")
  }

  @Test(.holds("State of a document")) @MainActor
  func `a model of a document undoes and redoes there`() async {
    let model = HistoryModel(history, in: a)
    await history.run(page, "A@a", "B@b")
    #expect(model.undoTitle == "A" && model.state.undoCount == 1 && model.entries.count == 2)
    #expect(await title(model.undo()) == "A")
    #expect(model.redoTitle == "A" && !model.canUndo)
    #expect(await title(model.redo()) == "A")
    #expect(history.layout == "[B A |]")
  }

  @Test(.holds("Keys"))
  func `equal keys are one as long as a footprint has them`() {
    struct Key: Hashable {
      let number: Int
      func hash(into hasher: inout Hasher) {}
    }
    let footprints = (1...200).map { HistoryFootprint.keys(Key(number: $0)) }
    for (index, footprint) in footprints.enumerated() {
      #expect(footprint == .keys(Key(number: index + 1)))
      #expect(footprint != footprints[(index + 1) % 200])
    }
  }

  /// An edit of one document, whose keys all have the same hash.
  private struct Hostile: UndoableUseCase {
    struct Key: Hashable {
      let number: Int
      func hash(into hasher: inout Hasher) {}
    }

    func main(_ number: Int) async throws {}
    func undo(_ number: Int, _: Void) async throws {}
    func title(for number: Int) -> String { "\(number)" }
    func footprint(of number: Int) -> HistoryFootprint? { .keys(Key(number: number)) }
  }

  @Test(.holds("Keys"))
  func `documents whose keys have equal hashes are told apart`() async {
    for number in 1...100 { history.execute(Hostile(), number) }
    for number in [40, 7, 100] {
      #expect(await title(history.undo(in: .keys(Hostile.Key(number: number)))) == "\(number)")
    }
    await history.execute(Hostile(), 7).ended()
    let undone = history.entries.filter { !$0.isApplied }.map(\.title)
    #expect(undone == ["100", "40"])
    #expect(history.state(in: .keys(Hostile.Key(number: 7))).undoCount == 1)
  }

  @Test(.holds("Keys"))
  func `a key that no footprint has any more is let go`() {
    final class Token: Hashable, Sendable {
      let token: Lifetime.Token
      init(_ token: Lifetime.Token) { self.token = token }
      static func == (lhs: Token, rhs: Token) -> Bool { lhs === rhs }
      func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
    let lifetime = Lifetime()
    for _ in 1...1_000 { _ = HistoryFootprint.keys(Token(lifetime.track())) }
    #expect(lifetime.alive == 0)
  }

  @Test(.holds("Keys"))
  func `tasks that make equal keys at once make one`() async {
    for round in 1...200 {
      let footprints = await withTaskGroup(of: HistoryFootprint.self) { group in
        for _ in 1...4 { group.addTask { .keys("\(round) of many") } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(footprints).count == 1)
    }
  }
}
