import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct InsideTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("Calls in a body"))
  func `what a recorded body calls is no entry of its own`() async {
    page.script("do A") { [edit = desk.edit] in _ = try await edit("b") }
    await history.run(page, "A")
    #expect(page.actions == ["do A", "do b"])
    #expect(history.layout == "[A |]")
    await history.back(1)
    #expect(page.actions.last == "undo A2")
  }

  @Test(.holds("Calls in a body"))
  func `what an undo or a redo calls is not recorded, and the branch is what it was`() async {
    await history.run(page, "A", "B", "C")
    await history.back(1)
    page.script("undo B2") { [edit = desk.edit] in _ = try await edit("x") }
    page.script("redo B2") { [edit = desk.edit] in _ = try await edit("y") }
    await history.back(1)
    #expect(history.layout == "[A | B C]")
    await history.forth(1)
    #expect(page.actions.suffix(4) == ["undo B2", "do x", "redo B2", "do y"])
    #expect(history.layout == "[A B | C]")
  }

  @Test func `what a part of a group calls is no part of its own`() async {
    page.script("do a") { [edit = desk.edit] in _ = try await edit("b") }
    await desk.group("G", "a", "c")
    #expect(history.layout == "[G(a c) |]")
  }

  @Test(.holds("execute in a body"))
  func `what is executed inside waits its turn and is an entry of its own`() async {
    let later = Watched<UseCaseOperation<String, Answer>?>(nil)
    page.script("do A") { [edit = desk.edit] in
      let operation = edit.execute("B")
      #expect(operation.state == .waiting)
      later.update { $0 = operation }
    }
    await history.run(page, "A")
    await later.value?.ended()
    #expect(history.layout == "[A B |]")
  }

  @Test(.holds("What fails in a body"), arguments: ["do D", "undo C3", "redo C3"])
  func `inside of a body nothing can be undone, redone, moved or grouped`(action: String) async {
    await history.run(page, "A", "B", "C")
    if action == "redo C3" { await history.back(1) }
    let errors = Log<HistoryError?>()
    page.script(action) { [history] in
      errors.append(await history.undo().ended().historyError)
      errors.append(await history.redo().ended().historyError)
      errors.append(await history.move(to: nil).ended().historyError)
      let group = history.group("G") { Issue.record("it has begun") }
      errors.append(await group.ended().historyError)
    }
    switch action {
    case "do D": await history.run(page, "D")
    case "undo C3": await history.back(1)
    default: await history.forth(1)
    }
    #expect(errors.elements == [.reentrant, .reentrant, .reentrant, .reentrant])
    let layouts = ["do D": "[A B C D |]", "undo C3": "[A B | C]", "redo C3": "[A B C |]"]
    #expect(history.layout == layouts[action])
  }

  @Test(
    .holds("Runs of others"),
    arguments: [
      ("do D", "[A B C D |]"), ("undo C3", "[A B | C]"), ("redo C3", "[A B C |]"),
      ("group", "[A B C G(x c) |]"),
    ])
  func `a shared run that a body has begun records inside of it, whoever joins`(
    action: String, layout: String
  ) async throws {
    await history.run(page, "A", "B", "C")
    if action == "redo C3" { await history.back(1) }
    let (begun, mayRecord) = (Gate(), Gate())
    let riders = Log<UseCaseOperation<Int, Int>>()
    let shared = AnyUseCase<Int, Int> { [edit = desk.edit] number in
      begun.open()
      try await mayRecord.pass()
      _ = try await edit("x")
      return number
    }.shared()
    let join: @Sendable () async throws -> Void = {
      async let joined = shared(1)
      try await begun.pass()
      riders.append(shared.execute(1))
      mayRecord.open()
      _ = try await joined
    }
    page.script(action, join)
    switch action {
    case "do D": await history.run(page, "D")
    case "undo C3": await history.back(1)
    case "redo C3": await history.forth(1)
    default:
      await history.group("G") { [edit = desk.edit] in
        try await join()
        _ = try await edit("c")
      }.ended()
    }
    try await #expect(riders.elements[0].value == 1)
    #expect(page.actions.contains("do x"))
    #expect(history.layout == layout)
  }

  @Test(.holds("Groups held open"), arguments: ["call", "shared call", "call of a shared run"])
  func `a call in a group fails while a group in it is held open`(call: String) async {
    let error = Watched<(any Error)?>(nil)
    await history.group("Outer") { [history, edit = desk.edit] in
      let inner = history.openGroup("Inner")
      do {
        switch call {
        case "call": _ = try await edit("A")
        case "shared call": _ = try await edit.shared()("A")
        default: _ = try await AnyUseCase { try await edit($0) }.shared()("A")
        }
      } catch let thrown {
        error.update { $0 = thrown }
      }
      await inner.close().ended()
      _ = try await edit("B")
    }.ended()
    #expect(error.value as? HistoryError == .outOfTurn)
    #expect(history.layout == "[Outer(B) |]")
  }

  @Test(.holds("What fails in a body"))
  func `inside of a group nothing can be undone, redone or moved, and the body goes on`() async {
    await history.run(page, "A", "B")
    await history.back(1)
    await history.group("G") { [edit = desk.edit, history] in
      _ = try await edit("c")
      #expect(await history.undo().ended().historyError == .reentrant)
      #expect(await history.redo().ended().historyError == .reentrant)
      #expect(await history.move(to: nil).ended().historyError == .reentrant)
      _ = try await edit("d")
    }.ended()
    #expect(history.layout == "[A G(c d) |]")
  }

  @Test func `inside of a rolled back part nothing can be undone`() async {
    let errors = Log<HistoryError?>()
    page.script("undo a1") { [history] in
      errors.append(await history.undo().ended().historyError)
    }
    await desk.group("G", "a", failing: Failure("G"))
    #expect(errors.elements == [.reentrant])
  }

  @Test(.holds("Handlers"))
  func `a handler is not inside`() async {
    let done = Log<String?>()
    await history.execute(Edit(page: page), "A").then { [history] _ in
      history.undo().then { done.append($0?.title) }
      history.redo().then { done.append($0?.title) }
      history.move(to: nil).then { done.append($0.first?.title) }
      history.group("G") {}.then { done.append("G") }
    }.ended()
    #expect(await done.elements(atLeast: 4).map { $0 ?? "" }.sorted() == ["A", "A", "A", "G"])
  }

  @Test func `a handler of an undo is not inside`() async {
    await history.run(page, "A", "B")
    let done = Log<String?>()
    await history.undo().then { [history, page] _ in
      history.undo().then { done.append($0?.title) }
      history.execute(Edit(page: page), "C")
      history.undo().then { done.append($0?.title) }
    }.ended()
    #expect(await done.elements(atLeast: 2).map { $0 ?? "" }.sorted() == ["A", "C"])
  }

  @Test(.holds("Tasks that outlive a body"))
  func `a task that outlives its body is not inside any more`() async {
    let gate = Gate()
    let done = Log<HistoryError?>()
    page.script("do A") { [history, edit = desk.edit] in
      Task {
        await gate.passIgnoringCancellation()
        done.append(await history.undo().ended().historyError)
        _ = try await edit("B")
        done.append(await history.group("G") { _ = try await edit("c") }.ended().historyError)
      }
    }
    await history.run(page, "A")
    gate.open()
    #expect(await done.elements(atLeast: 2) == [nil, nil])
    #expect(history.layout == "[B G(c) |]")
  }

  @Test func `what is called by way of another queue is inside of who calls it`() async {
    let other = Desk()
    let wrapper = AnyUseCase<String, Void>(queue: UseCaseQueue()) { [edit = other.edit] text in
      _ = try await edit.main(text)
    }
    page.script("do A") { try await wrapper("b") }
    other.page.script("do b") { [history] in
      #expect(await history.undo().ended().historyError == .reentrant)
      #expect(await other.history.undo().ended().historyError == .reentrant)
    }
    await history.run(page, "A")
    #expect(history.layout == "[A |]")
    #expect(other.history.layout == "[b |]")
  }

  @Test func `what an operation made inside does is not inside`() async {
    let made = Watched<UseCaseOperation<Int, HistoryError?>?>(nil)
    let gate = page.hold("do A")
    page.script("do A") { [history] in
      let other = AnyUseCase<Int, HistoryError?> { _ in await history.undo().ended().historyError }
      let operation = other.execute(1)
      made.update { $0 = operation }
    }
    let operation = history.execute(Edit(page: page), "A")
    gate.open()
    await operation.ended()
    let outcome = await made.value?.ended()
    #expect(outcome?.value == .some(nil))
    #expect(history.layout == "[| A]*")
  }

  @Test func `the histories of two documents do not disturb each other`() async throws {
    let other = Desk()
    page.script("do A") { [edit = desk.edit] in
      _ = try await other.edit("b")
      #expect(await other.history.undo().ended().value??.title == "b")
      _ = try await edit("c")
    }
    other.page.script("do b") { [edit = desk.edit, history] in
      _ = try await edit("d")
      #expect(await history.undo().ended().historyError == .reentrant)
    }
    await history.run(page, "A")
    #expect(history.layout == "[A |]")
    #expect(other.history.layout == "[| b]*")
    #expect(page.actions == ["do A", "do d", "do c"])
  }
}
