import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct CleanPointTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  /// Whether the history is clean after each of these moves.
  private func isClean(after moves: (UseCaseHistory) async -> Void...) async -> [Bool] {
    var states: [Bool] = []
    for move in moves {
      await move(history)
      states.append(history.state.isClean)
    }
    return states
  }

  private func undo(_ history: UseCaseHistory) async { await history.back(1) }
  private func redo(_ history: UseCaseHistory) async { await history.forth(1) }
  private func save(_ history: UseCaseHistory) async { history.save() }

  @Test(.holds("Clean"))
  func `a new history is clean, and again when all is undone`() async {
    #expect(history.state.isClean)
    await history.run(page, "A")
    #expect(!history.state.isClean)
    #expect(await isClean(after: undo, redo) == [true, false])
  }

  @Test(.holds("Clean"))
  func `the saved place is clean from above and from below`() async {
    await history.run(page, "A")
    history.save()
    #expect(history.layout == "[A |]*")
    await history.run(page, "B")
    #expect(await isClean(after: undo, undo, redo, redo) == [true, false, true, false])
  }

  @Test(.holds("Gone"))
  func `a saved place that was truncated is never clean again, until the next save`() async {
    await history.run(page, "A")
    history.save()
    await history.back(1)
    await history.run(page, "C")
    #expect(!history.state.isClean)
    #expect(await isClean(after: undo, save, redo, undo) == [false, true, false, true])
  }

  /// Positions change when more than half of them are holes.
  @Test(.holds("Removed entries"), arguments: [30, 36])
  func `however many entries are forgotten, those above are undone and redone to the same place`(
    forgotten: Int
  ) async {
    for number in 1...70 { await history.run(page, "A@\(number)") }
    let ids = history.entries.map(\.id)
    history.save()
    for id in ids[20..<20 + forgotten] { history.forget(id) }
    #expect(await isClean(after: undo, redo) == [false, true])
    await history.move(to: ids[10]).ended()
    await history.move(to: ids[69]).ended()
    #expect(!history.state.isClean)
  }

  @Test(.holds("Gone"))
  func `a saved place that was evicted is never clean again`() async {
    let desk = Desk(limit: 2)
    await desk.history.run(desk.page, "A")
    desk.history.save()
    for text in ["B", "C", "D"] {
      await desk.history.run(desk.page, text)
      #expect(!desk.history.state.isClean)
    }
    for _ in 1...3 {
      await desk.history.back(1)
      #expect(!desk.history.state.isClean)
    }
    #expect(desk.history.layout == "[| C D]")
  }

  @Test(.holds("Never clean"))
  func `a half undone group that was evicted leaves the history dirty`() async {
    await desk.group("G", "a", "b")
    history.save()
    page.fail("undo a1")
    await history.back(1)
    history.limit = 0
    #expect(history.layout == "[|]")
  }

  @Test func `a group that is evicted once its undo has stopped half-way leaves it dirty`() async {
    await desk.group("G", "a", "b")
    history.save()
    page.script("undo a1") { [history] in history.limit = 0 }
    page.fail("undo a1")
    await history.back(1)
    #expect(history.layout == "[|]")
  }

  @Test func `the place right below the oldest entry kept can be clean`() async {
    let desk = Desk(limit: 1)
    await desk.history.run(desk.page, "A")
    desk.history.save()
    await desk.history.run(desk.page, "B")
    await desk.history.back(1)
    #expect(desk.history.layout == "[| B]*")
  }

  @Test func `saving below an undone entry makes that place the clean one`() async {
    await history.run(page, "A")
    history.save()
    #expect(await isClean(after: undo, save, redo) == [false, true, false])
  }

  @Test func `a group that fails keeps the saved place ahead`() async {
    await history.run(page, "A", "B", "C")
    history.save()
    await history.move(to: nil).ended()
    page.fail("do F")
    await desk.group("G", "D", "E", "F")
    #expect(history.layout == "[| A B C]")
    #expect(await isClean(after: redo, redo, redo) == [false, false, true])
    #expect(history.layout == "[A B C |]*")
  }

  @Test(.holds("clear and the saved state"))
  func `clear keeps a clean history clean`() async {
    await history.run(page, "A")
    history.save()
    history.clear()
    #expect(history.layout == "[|]*")
    await history.run(page, "B")
    #expect(await isClean(after: undo) == [true])
  }

  @Test(.holds("clear and the saved state"))
  func `clear keeps a dirty history dirty, until the next save`() async {
    await history.run(page, "A")
    history.clear()
    #expect(history.layout == "[|]")
    history.save()
    #expect(history.layout == "[|]*")
  }

  @Test func `clear does not bring a saved place back`() async {
    await history.run(page, "A", "B")
    history.save()
    await history.back(1)
    history.clear()
    #expect(history.layout == "[|]")
    await history.run(page, "C")
    await history.back(1)
    #expect(history.layout == "[| C]")
  }

  @Test func `what fails or is not recorded leaves a clean history clean`() async throws {
    await history.run(page, "A")
    history.save()
    page.fail("do B")
    await history.run(page, "B")
    _ = try await Edit(page: page)("C")
    #expect(history.layout == "[A |]*")
  }

  @Test(.holds("Saving"))
  func `an edit made during a slow save leaves the history dirty`() async {
    await history.run(page, "A")
    let point = history.savePoint()
    await history.run(page, "B")
    history.markSaved(point)
    #expect(history.layout == "[A B |]")
    #expect(await isClean(after: undo) == [true])
  }

  @Test func `a save point taken while an execution runs is no place`() async {
    await history.run(page, "A")
    history.save()
    let gate = page.hold("do B")
    let operation = history.execute(Edit(page: page), "B")
    let point = history.savePoint()
    gate.open()
    await operation.ended()
    #expect(await isClean(after: undo) == [true])
    history.markSaved(point)
    #expect(!history.state.isClean)
    #expect(await isClean(after: redo, undo, save) == [false, false, true])
  }

  @Test(arguments: ["undo", "redo", "move", "group"])
  func `a save point taken while something runs is no place`(what: String) async {
    await history.run(page, "A", "B")
    if what == "redo" { await history.back(1) }
    let action = ["undo": "undo B2", "redo": "redo B2", "move": "undo B2", "group": "do g"][what]
    let gate = page.hold(action ?? "")
    let running = Task { [history, desk] in
      switch what {
      case "undo": await history.undo().ended()
      case "redo": await history.redo().ended()
      case "move": await history.move(to: nil).ended()
      default: await desk.group("G", "g")
      }
    }
    await page.began(action ?? "")
    let point = history.savePoint()
    gate.open()
    await running.value
    history.markSaved(point)
    #expect(!history.state.isClean)
    await history.move(to: nil).ended()
    #expect(!history.state.isClean)
  }

  @Test func `a history is not clean while an undo, a redo or a move runs`() async {
    await history.run(page, "A")
    history.save()
    for (action, move) in [("undo A1", HistoryMove.undo), ("redo A1", .redo)] {
      let gate = page.hold(action)
      let operation = move == .undo ? history.undo() : history.redo()
      #expect(!history.state.isClean)
      await page.began(action)
      #expect(!history.state.isClean)
      gate.open()
      await operation.ended()
    }
    #expect(history.layout == "[A |]*")
    let gate = page.hold("undo A2")
    let move = history.move(to: nil)
    #expect(!history.state.isClean)
    gate.open()
    await move.ended()
    #expect(history.layout == "[| A]")
  }

  @Test func `an undo that waits for nothing to do leaves a clean history clean`() async {
    let version = history.state.version
    let undo = history.undo()
    #expect(history.state.isClean)
    await undo.ended()
    #expect(history.state.isClean && history.state.version == version)
  }

  @Test(.holds("Pending work"))
  func `nothing is clean while something that is to be recorded waits or runs`() async {
    let gate = page.hold("do A")
    page.fail("do A")
    let operation = history.execute(Edit(page: page), "A")
    #expect(!history.state.isClean)
    gate.open()
    await operation.ended()
    #expect(history.state.isClean)
  }

  @Test func `a save point of a slow save survives a clear`() async {
    await history.run(page, "A")
    let point = history.savePoint()
    history.clear()
    history.markSaved(point)
    #expect(history.layout == "[|]*")
  }

  @Test func `an effect that a clear has kept from being recorded makes the history dirty`() async {
    let gate = page.hold("do A")
    let operation = history.execute(Edit(page: page), "A")
    history.clear()
    gate.open()
    await operation.ended()
    #expect(history.layout == "[|]")
  }

  @Test func `a saved group that has lost a part is another place`() async {
    await desk.group("G", "a", "b")
    let point = history.savePoint()
    page.fail("undo a1")
    await history.back(1)
    #expect(history.layout == "[G(a | b) |]")
    await history.run(page, "C")
    await history.back(1)
    history.markSaved(point)
    #expect(history.layout == "[G(a) | C]")
  }

  @Test(.holds("Never clean"))
  func `a half undone group is not clean, and neither is a save point taken there`() async {
    await desk.group("G", "a", "b")
    history.save()
    page.fail("undo a1")
    await history.back(1)
    #expect(history.layout == "[G(a | b) |]")
    let point = history.savePoint()
    await history.forth(1)
    #expect(history.layout == "[G(a b) |]*")
    history.markSaved(point)
    #expect(history.layout == "[G(a b) |]")
  }

  @Test(.holds("Whose save point"))
  func `no history has the save point of one that has gone`() {
    let points = (1...100).map { _ in UseCaseHistory().savePoint() }
    #expect(Set(points).count == 100)
  }

  #if os(Linux) || os(macOS)
    @Test(.holds("Whose save point"))
    func `a save point of another history is a mistake`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        UseCaseHistory().markSaved(UseCaseHistory().savePoint())
      }
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(message?.contains("A save point belongs to the history") == true)
    }
  #endif
}
