import Observation
import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct StateTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("Versions"))
  func `each change has a higher version`() async {
    var versions = [history.state.version]
    func note() { versions.append(history.state.version) }
    await history.run(page, "A", "B", "C")
    note()
    await history.back(1)
    note()
    await history.forth(1)
    note()
    await history.move(to: nil).ended()
    note()
    await history.forth(2)
    note()
    history.save()
    note()
    history.limit = 1
    note()
    history.clear()
    note()
    #expect(versions == Set(versions).sorted())
  }

  @Test(.holds("Versions"))
  func `the last state delivered is the present one`() async throws {
    let read = Log<HistoryState>()
    let reader = Task { [states = history.states()] in
      for await state in states { read.append(state) }
    }
    for number in 1...50 {
      await history.run(page, "\(number)")
      if number.isMultiple(of: 3) { await history.back(1) }
    }
    var count = 1
    while read.elements.last != history.state {
      count = await read.elements(atLeast: count).count + 1
    }
    reader.cancel()
    await reader.value
    let versions = read.elements.map(\.version)
    #expect(versions == Set(versions).sorted())
  }

  @Test func `a reader that keeps up sees the present state and then each change`() async throws {
    var states = history.states().makeAsyncIterator()
    #expect(await states.next() == history.state)
    let gate = page.hold("do A")
    let operation = history.execute(Edit(page: page), "A")
    let busy = try #require(await states.next())
    #expect(busy.isBusy && busy.canUndo && busy.undoTitle == "A" && !busy.isClean)
    gate.open()
    await operation.ended()
    #expect(await states.next() == history.state)
    history.save()
    let saved = try #require(await states.next())
    #expect(saved.isClean && !saved.isBusy && saved.undoTitle == "A")
  }

  @Test func `each reader has a stream of its own`() async {
    var one = history.states().makeAsyncIterator()
    #expect(await one.next()?.undoCount == 0)
    await history.run(page, "A")
    var two = history.states().makeAsyncIterator()
    #expect(await two.next()?.undoCount == 1)
    #expect(await one.next()?.undoCount == 1)
  }

  @Test func `the states end when the history goes away`() async {
    var history: UseCaseHistory? = UseCaseHistory()
    let first = Gate()
    let reader = Task { [states = history?.states()] in
      guard let states else { return }
      for await _ in states { first.open() }
    }
    await first.passIgnoringCancellation()
    history = nil
    await reader.value
  }

  @Test func `the states end for a reader that is cancelled`() async {
    let first = Gate()
    let reader = Task { [states = history.states()] in
      for await _ in states { first.open() }
    }
    await first.passIgnoringCancellation()
    reader.cancel()
    await reader.value
    let early = Task { [states = history.states()] in
      withUnsafeCurrentTask { $0?.cancel() }
      for await _ in states {}
    }
    await early.value
  }

  @Test(.holds("canUndo"))
  func `canUndo alone tells whether undo has something to do`() async {
    let gate = page.hold("do A")
    #expect(!history.state.canUndo)
    let operation = history.execute(Edit(page: page), "A")
    #expect(history.state.canUndo && history.state.undoCount == 0)
    let undo = history.undo()
    #expect(!history.state.canUndo)
    gate.open()
    await operation.ended()
    #expect(await undo.ended().value??.title == "A")
    #expect(!history.state.canUndo && history.state.canRedo)
  }

  @Test(.holds("Titles"))
  func `the titles say what is next when all that waits has run`() async {
    await history.run(page, "A", "B")
    let gate = page.hold("undo B2")
    let undo = history.undo()
    let state = history.state
    #expect(state.undoTitle == "A" && state.redoTitle == "B" && state.isBusy)
    gate.open()
    await undo.ended()
    #expect(history.state.undoTitle == "A" && history.state.redoTitle == "B")
  }

  @Test func `the title of a group is known while it runs`() async {
    let gate = page.hold("do a")
    let group = history.group("G") { [edit = desk.edit] in _ = try await edit("a") }
    #expect(history.state.undoTitle == "G")
    gate.open()
    await group.ended()
  }

  @Test(.holds("canRedo"))
  func `nothing can be redone while an execution waits or runs`() async {
    await history.run(page, "A")
    await history.back(1)
    #expect(history.state.canRedo)
    let gate = page.hold("do B")
    page.fail("do B")
    let operation = history.execute(Edit(page: page), "B")
    #expect(!history.state.canRedo && history.state.redoTitle == nil)
    gate.open()
    await operation.ended()
    #expect(history.state.canRedo && history.state.redoTitle == "A")
    let second = page.hold("do c")
    page.fail("do c")
    let group = history.group("G") { [edit = desk.edit] in _ = try await edit("c") }
    #expect(!history.state.canRedo && history.state.redoTitle == nil)
    second.open()
    await group.ended()
    #expect(history.state.canRedo && history.state.redoTitle == "A")
  }

  @Test(.holds("In a handler"))
  func `nothing is busy any more when a handler runs`() async {
    let seen = Log<Bool>()
    for operation in [history.execute(Edit(page: page), "A")] {
      await operation.then { [history] _ in seen.append(history.state.isBusy) }.ended()
    }
    await history.undo().then { [history] _ in seen.append(history.state.isBusy) }.ended()
    page.fail("redo A1")
    await history.redo().catch { [history] _ in seen.append(history.state.isBusy) }.ended()
    await desk.group("G", "a")
    page.fail("do B")
    await history.execute(Edit(page: page), "B").catch { [history] _ in
      seen.append(history.state.isBusy)
    }.ended()
    #expect(seen.elements == [false, false, false, false])
  }

  @Test(.holds("Readers"))
  func `a reader may ask for anything`() async {
    let reader = Task { [history, page, states = history.states()] in
      for await state in states where !state.isBusy {
        if state.canRedo { break }
        if state.canUndo { history.undo() } else { history.execute(Edit(page: page), "A") }
      }
    }
    await reader.value
    #expect(history.layout == "[| A]*")
  }

  @Test(.holds("Models of a history")) @MainActor
  func `a model follows its history`() async {
    let model = HistoryModel(history)
    #expect(model.state == history.state)
    await history.run(page, "A")
    #expect(model.state.undoTitle == "A")
    model.undo()
    while model.state.undoCount > 0 { await Task.yield() }
    model.redo()
    while model.state.redoCount > 0 { await Task.yield() }
    #expect(model.state.undoTitle == "A")
  }

  @Test @MainActor func `a view that reads a model hears of each change`() async {
    let model = HistoryModel(history)
    for name in ["A", "B"] {
      let changed = Gate()
      withObservationTracking {
        _ = model.state
      } onChange: {
        changed.open()
      }
      await history.run(page, name)
      await changed.passIgnoringCancellation()
      #expect(model.state.undoTitle == name)
    }
  }

  @Test(.holds("Models of a history")) @MainActor
  func `a model that goes away lets its history go`() async {
    let page = Page()
    do {
      let model = HistoryModel(UseCaseHistory())
      #expect(model.state.version == 0)
      let history = UseCaseHistory()
      await history.run(page, "A")
      _ = HistoryModel(history)
    }
    await page.lifetime.over()
  }
}
