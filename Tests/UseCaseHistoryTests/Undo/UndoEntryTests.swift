import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct UndoEntryTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("Out of order"))
  func `an entry is undone past later ones that touch other things`() async throws {
    await history.run(page, "A@x", "B@y", "C@z")
    let id = try #require(history.id("A"))
    #expect(await history.undo(id).ended().value??.title == "A")
    #expect(page.actions.last == "undo A1")
    #expect(history.layout == "[B C | A]")
    #expect(history.state.undoTitle == "C" && history.state.redoTitle == "A")
  }

  @Test(.holds("Blocked"))
  func `an entry is blocked by the later ones that touch the same, the oldest first`() async {
    await history.run(page, "A@x", "B@y", "C@x,z", "D@z", "E@w,x")
    #expect(await history.take("A") == ["C", "E"])
    #expect(history.layout == "[A B C D E |]" && page.actions.count == 5)
    #expect(await history.take("B") == nil)
    #expect(await history.take("E") == nil)
    #expect(await history.take("C") == ["D"])
    #expect(await history.take("D") == nil)
    #expect(await history.take("C") == nil)
    #expect(await history.take("A") == nil)
    #expect(history.layout == "[| A C D E B]*")
  }

  @Test(.holds("Footprints"))
  func `the default footprint allows the undo of the newest entry only`() async throws {
    await history.run(page, "A", "B")
    #expect(await history.take("A") == ["B"])
    #expect(await history.take("B") == nil)
    #expect(await history.take("A") == nil)
    #expect(history.layout == "[| A B]*")
  }

  @Test(.holds("Footprints"))
  func `everything overlaps all but an empty footprint`() async {
    await history.run(page, "A@x", "B", "C@", "D@")
    #expect(await history.take("A") == ["B"])
    #expect(await history.take("C") == nil)
    #expect(await history.take("B") == nil)
    #expect(await history.take("A") == nil)
    #expect(history.layout == "[D | A B C]")
    await history.run(page, "E", "F@x")
    #expect(await history.take("E") == ["F"])
    #expect(await history.take("D") == nil)
  }

  @Test(.holds("Footprints"))
  func `footprints are sets of keys of any type`() {
    typealias Footprint = HistoryFootprint
    #expect(Footprint.keys(1, 2) == .keys(2, 1, 1))
    #expect(Footprint.keys("1") != .keys(1))
    #expect(Footprint.keys(1).union(.keys("a")) == Footprint.keys("a").union(.keys(1)))
    #expect(Footprint.keys(1).union(.everything) == .everything)
    #expect(Footprint.everything.union(.keys(1)) == .everything)
    #expect(Footprint.keys(1).union(.keys()) == .keys(1))
    #expect(Footprint.everything != .keys())
  }

  @Test(.holds("Footprints"))
  func `an array or a set is many keys`() {
    typealias Footprint = HistoryFootprint
    #expect(Footprint.keys([1, 2, 1]) == .keys(1, 2))
    #expect(Footprint.keys([1, 2, 3].map { $0 - 1 }) == .keys(0, 1, 2))
    #expect(Footprint.keys(Set([1, 2])) == .keys(1, 2))
    #expect(Footprint.keys([1], [2]) == .keys(1, 2))
    #expect(Footprint.keys([Int]()) == .keys())
    #expect([[1, 2], []].map(HistoryFootprint.keys) == [.keys(2, 1), .keys()])
  }

  private struct Import: UndoableUseCase {
    let page: Page
    func main(_ rows: [String]) async throws { try await page.act("do import") }
    func undo(_ rows: [String], _: Void) async throws { try await page.act("undo import") }
    func title(for rows: [String]) -> String { "import" }
    func footprint(of rows: [String]) -> HistoryFootprint? { .keys(rows) }
  }

  @Test(.holds("Footprints"))
  func `an import touches each of its rows, by the footprint of its request`() async {
    await history.execute(Import(page: page), ["x", "y", "z"]).ended()
    await history.run(page, "A@y", "B@other")
    #expect(await history.take("import") == ["A"])
    #expect(await history.take("A") == nil)
    #expect(await history.take("import") == nil)
    #expect(history.layout == "[B | import A]")
  }

  /// All values have one hash, and each equality asks the history something.
  private struct Key: Hashable {
    let name: String
    let history: UseCaseHistory

    static func == (lhs: Self, rhs: Self) -> Bool {
      lhs.history.state.undoCount >= 0 && lhs.name == rhs.name
    }

    func hash(into hasher: inout Hasher) { hasher.combine(history.state.undoCount >= 0) }
  }

  private struct Note: UndoableUseCase {
    let history: UseCaseHistory
    func main(_ name: String) async throws {}
    func undo(_ name: String, _: Void) async throws {}
    func title(for name: String) -> String { name }
    func footprint(of name: String, _: Void) -> HistoryFootprint {
      .keys(Key(name: name, history: history))
    }
  }

  @Test(.holds("Keys"))
  func `keys are compared outside of any lock, and not by their hashes`() async {
    for name in ["a", "b", "a", "c"] {
      await history.execute(Note(history: history), name).ended()
    }
    #expect(history.blockers(of: history.entries[0].id) == [history.entries[2].id])
    #expect(await history.take("a") == ["a"])
    #expect(await history.take("b") == nil)
    #expect(history.layout == "[a a c | b]")
  }

  @Test(.holds("Order of redo"))
  func `an entry that was undone alone is the next one to redo, on top`() async {
    await history.run(page, "A@x", "B@y", "C@z")
    await history.take("B")
    await history.take("A")
    #expect(history.layout == "[C | A B]")
    await history.forth(2)
    #expect(history.layout == "[C A B |]")
    #expect(page.actions.suffix(2) == ["redo A1", "redo B2"])
    await history.back(1)
    #expect(history.layout == "[C A | B]")
  }

  @Test(.holds("Order of redo"))
  func `a jump follows the line as it is now`() async throws {
    await history.run(page, "A@x", "B@y", "C@z")
    await history.take("A")
    #expect(
      await history.move(to: history.id("A")).ended().value?.map(\.title) == ["A"])
    #expect(history.layout == "[B C A |]")
    #expect(
      await history.move(to: history.id("B")).ended().value?.map(\.title) == ["A", "C"])
    #expect(history.layout == "[B | C A]")
    await history.move(to: nil).ended()
    await history.move(to: history.id("A")).ended()
    #expect(history.layout == "[B C A |]")
  }

  @Test(.holds("That very entry"))
  func `an entry that is undone already, or gone, is not undone`() async throws {
    await history.run(page, "A@x", "B@y")
    let (a, b) = (try #require(history.id("A")), try #require(history.id("B")))
    await history.undo(a).ended()
    let again = await history.undo(a).ended()
    #expect(again.value == .some(nil))
    await history.run(page, "C@x")
    #expect(await history.undo(a).ended().historyError == .unknownEntry(a))
    #expect(await UseCaseHistory().undo(b).ended().historyError == .unknownEntry(b))
    #expect(history.layout == "[B C |]")
  }

  @Test(.holds("That very entry"))
  func `it waits its turn and binds that very entry`() async throws {
    await history.run(page, "A@x", "B@y")
    let a = try #require(history.id("A"))
    let gate = page.hold("do C")
    let execution = history.execute(Edit(page: page), "C@x")
    let undo = history.undo(a)
    let next = history.undo()
    #expect(history.state.isBusy)
    gate.open()
    await execution.ended()
    let c = try #require(history.id("C"))
    #expect(await undo.ended().historyError == .blocked(by: [c]))
    #expect(await next.ended().value??.title == "C")
    #expect(history.layout == "[A B | C]")
  }

  @Test(.holds("That very entry"))
  func `undos and redos that wait know of one that is to be taken out`() async throws {
    await history.run(page, "A@x", "B@y", "C@z")
    let gate = page.hold("undo B2")
    let first = history.undo(try #require(history.id("B")))
    await page.began("undo B2")
    let moves = [history.undo(), history.undo(), history.undo(), history.redo(), history.redo()]
    #expect(!history.state.canUndo || history.state.undoTitle == "C")
    gate.open()
    await first.ended()
    var titles: [String?] = []
    for move in moves { titles.append(await move.ended().value??.title) }
    #expect(titles == ["C", "A", nil, "A", "C"])
    #expect(history.layout == "[A C | B]")
  }

  @Test(.holds("A failed undo of one entry"))
  func `a failed undo of one entry changes nothing, and can be tried again`() async {
    await history.run(page, "A@x", "B@y")
    history.save()
    page.fail("undo A1")
    let id = history.entries[0].id
    #expect(await history.undo(id).ended().failure == Failure("undo A1"))
    #expect(history.layout == "[A B |]*")
    page.repair("undo A1")
    #expect(await history.undo(id).ended().value??.title == "A")
    #expect(history.layout == "[B | A]")
  }

  @Test(.holds("Footprints"))
  func `a group touches what its parts touch`() async {
    await desk.group("G", "a@x", "b@y")
    await history.run(page, "C@z", "D@y")
    #expect(await history.take("G") == ["D"])
    await history.back(1)
    #expect(await history.take("G") == nil)
    #expect(history.layout == "[C | G(a b) D]")
    await history.forth(2)
    #expect(history.layout == "[C G(a b) D |]")
    #expect(await history.take("C") == nil)
    await desk.group("H", "e@", "f")
    #expect(await history.take("D") == ["H"])
  }

  @Test(.holds("A failed undo of one entry"))
  func `a group that is half undone alone stands on top, and blocks those below`() async {
    await desk.group("G", "a@x", "b@y")
    await history.run(page, "C@z")
    page.fail("undo a1")
    let id = history.entries[0].id
    #expect(await history.undo(id).ended().failure == Failure("undo a1"))
    #expect(history.layout == "[C G(a | b) |]")
    #expect(await history.take("C") == ["G"])
    #expect(history.blockers(of: history.entries[0].id) == [id])
    await history.forth(1)
    #expect(history.layout == "[C G(a b) |]")
    await history.undo(id).ended()
    page.repair("undo a1")
    #expect(await history.undo(id).ended().value??.title == "G")
    #expect(history.layout == "[C | G(a b)]")
  }

  @Test func `an undo of one entry is reentrant inside of what the history runs`() async {
    await history.run(page, "A@x", "B@y")
    let id = history.entries[0].id
    let errors = Log<HistoryError?>()
    page.script("undo A1") { [history] in
      errors.append(await history.undo(id).ended().historyError)
    }
    await history.undo(id).ended()
    await history.group("G") { [history] in
      errors.append(await history.undo(id).ended().historyError)
    }.ended()
    #expect(errors.elements == [.reentrant, .reentrant])
  }

  @Test(.holds("Limit and clear"))
  func `one that is taken out of the middle is not evicted while it is undone`() async {
    await history.run(page, "A@x", "B@y", "C@z")
    let gate = page.hold("undo B2")
    let undo = history.undo(history.entries[1].id)
    await page.began("undo B2")
    history.limit = 1
    #expect(page.discarded == ["A1 evicted"])
    gate.open()
    await undo.ended()
    #expect(history.layout == "[C | B]")
    history.limit = 0
    #expect(page.discarded == ["A1 evicted", "C3 evicted"])
  }

  @Test(.holds("Limit and clear"), arguments: [true, false])
  func `a clear discards what is taken out of the middle when that is over`(fails: Bool) async {
    await history.run(page, "A@x", "B@y", "C@z")
    let gate = page.hold("undo B2")
    if fails { page.fail("undo B2") }
    let undo = history.undo(history.entries[1].id)
    await page.began("undo B2")
    history.clear()
    #expect(page.discarded == ["A1 cleared", "C3 cleared"])
    gate.open()
    await undo.ended()
    #expect(page.discarded == ["A1 cleared", "C3 cleared", "B2 cleared"])
    #expect(history.layout == "[|]")
  }

  @Test(.holds("For a list"))
  func `the blockers of each entry are there for a list`() async {
    await history.run(page, "A@x", "B@y", "C@x", "D")
    await history.back(1)
    let blockers = history.entries.map { entry in
      history.blockers(of: entry.id).map { id in history.entries.first { $0.id == id }?.title }
    }
    #expect(blockers == [["C"], [], [], []])
  }

  @Test func `an error of the history is a sentence`() {
    #expect("\(HistoryError.blocked(by: []))".hasSuffix("."))
    #expect("\(HistoryObsolete(Failure("undo A")))".contains("undo A"))
  }
}

@Suite(.mustEnd)
struct CleanAfterUndoEntryTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("Undone in another order"))
  func `a saved place that contained what was undone in between is not clean`() async {
    await history.run(page, "A@x", "B@y")
    history.save()
    await history.take("A")
    #expect(history.layout == "[B | A]")
    await history.forth(1)
    #expect(history.layout == "[B A |]*")
    await history.back(1)
    await history.run(page, "C@z")
    await history.back(1)
    #expect(history.layout == "[B | C A]")
  }

  @Test(.holds("Undone in another order"))
  func `a place that was saved without the entry is clean once that is undone alone`() async {
    await history.run(page, "A@x")
    history.save()
    await history.run(page, "B@y", "C@z")
    await history.take("B")
    #expect(history.layout == "[A C | B]")
    await history.back(1)
    #expect(history.layout == "[A | C B]*")
  }

  @Test(.holds("Undone in another order"))
  func `the beginning is clean when all has been undone, in whatever order`() async {
    await history.run(page, "A@x", "B@y", "C@z")
    await history.take("B")
    await history.take("A")
    #expect(!history.state.isClean)
    await history.take("C")
    #expect(history.layout == "[| C A B]*")
  }
}
