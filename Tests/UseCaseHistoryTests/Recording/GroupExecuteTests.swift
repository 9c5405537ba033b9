import TestSupport
import Testing
import UseCase
import UseCaseHistory

/// What the body of a group asks for with `execute`.
@Suite(.mustEnd)
struct GroupExecuteTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("execute in a group"))
  func `what is executed in a group is a part, in the order of the calls`() async {
    let gate = page.hold("do a")
    let group = history.group("G") { [edit = desk.edit, page, history] in
      edit.execute("a")
      AnyUseCase(edit).execute("b")
      history.execute(Edit(page: page), "c")
    }
    await page.began("do a")
    #expect(page.actions == ["do a"])
    #expect(history.layout == "[|]" && history.state.undoTitle == "G")
    gate.open()
    await group.ended()
    #expect(page.actions == ["do a", "do b", "do c"])
    #expect(history.layout == "[G(a b c) |]")
    await history.back(1)
    #expect(page.actions.suffix(3) == ["undo c3", "undo b2", "undo a1"])
  }

  @Test(.holds("execute in a group"))
  func `a group may await the end and the value of what it has executed`() async {
    let gate = page.hold("do a")
    await history.group("G") { [edit = desk.edit] in
      let (first, second) = (edit.execute("a"), edit.execute("b"))
      #expect(first.state == .running && second.state == .waiting)
      gate.open()
      try await #expect(second.value.number == 2)
      await first.ended()
      #expect(await edit.execute("c").ended().value?.number == 3)
    }.ended()
    #expect(history.layout == "[G(a b c) |]")
  }

  @Test(.holds("execute in a group"))
  func `a call comes after the parts that were executed before it`() async {
    let gate = page.hold("do a")
    let group = history.group("G") { [edit = desk.edit, history] in
      edit.execute("a")
      _ = try await edit("b")
      edit.execute("c")
      try await history.group("N") { _ = try await edit("d") }.value
    }
    await page.began("do a")
    gate.open()
    await group.ended()
    #expect(history.layout == "[G(a b c N(d)) |]")
    #expect(page.actions == ["do a", "do b", "do c", "do d"])
  }

  @Test(.holds("execute in a group"))
  func `nested groups have parts of their own`() async {
    await history.group("G") { [edit = desk.edit, history] in
      history.group("N") {
        edit.execute("a")
        edit.execute("b")
      }
      edit.execute("c")
    }.ended()
    #expect(history.entries.count == 1)
    #expect(Set(history.entries[0].children.map(\.layout)) == ["N(a b)", "c"])
  }

  @Test(.holds("execute in a group"))
  func `a part that fails is none, and the next one runs`() async {
    page.fail("do a")
    await history.group("G") { [edit = desk.edit] in
      edit.execute("a").catch { _ in }
      edit.execute("b")
    }.ended()
    #expect(history.layout == "[G(b) |]")
  }

  @Test(.holds("execute in a group"))
  func `a part that is cancelled while it waits never runs, and the group goes on`() async {
    let gate = page.hold("do a")
    let group = history.group("G") { [edit = desk.edit] in
      edit.execute("a")
      edit.execute("b").cancel()
      edit.execute("c")
    }
    await page.began("do a")
    gate.open()
    await group.ended()
    #expect(history.layout == "[G(a c) |]")
    #expect(page.actions == ["do a", "do c"])
  }

  @Test(.holds("execute in a group"))
  func `when the body throws, parts that wait never run, and the others are undone`() async {
    let (gate, waiting) = (page.hold("do b"), Log<UseCaseOperation<String, Answer>>())
    let group = history.group("G") { [edit = desk.edit, page] in
      _ = try await edit("a")
      edit.execute("b")
      waiting.append(edit.execute("c"))
      await page.began("do b")
      throw Failure("G")
    }
    #expect(await waiting.elements(atLeast: 1)[0].ended().isCancelled)
    gate.open()
    #expect(await group.ended().failure == Failure("G"))
    #expect(page.actions == ["do a", "do b", "undo b2", "undo a1"])
    #expect(history.layout == "[|]*")
  }

  @Test(.holds("execute in a group", "execute in a body"))
  func `what the body of a part executes is an entry of its own`() async {
    page.script("do a") { [edit = desk.edit] in edit.execute("later") }
    await history.group("G") { [edit = desk.edit] in
      edit.execute("a")
      edit.execute("b")
    }.ended()
    await history.idle()
    #expect(history.layout == "[G(a b) later |]")
  }

  @Test(.holds("execute in a group"))
  func `a part that awaits a later one of its line is told of the deadlock`() async {
    let later = Watched<UseCaseOperation<String, Answer>?>(nil)
    let mayAwait = Gate()
    page.script("do a") {
      try await mayAwait.pass()
      await #expect(throws: UseCaseDeadlock.self) { _ = try await later.value?.value }
    }
    await history.group("G") { [edit = desk.edit] in
      edit.execute("a")
      let operation = edit.execute("b")
      later.update { $0 = operation }
      mayAwait.open()
    }.ended()
    #expect(history.layout == "[G(a b) |]")
  }

  @Test(.holds("execute in a group"))
  func `a handler of a part is outside of the group`() async {
    let executed = Log<UseCaseOperation<String, Answer>>()
    await history.group("G") { [edit = desk.edit] in
      edit.execute("a").then { _ in executed.append(edit.execute("after")) }
    }.ended()
    await executed.elements(atLeast: 1)[0].ended()
    #expect(history.layout == "[G(a) after |]")
  }

  @Test(.holds("execute in a group"))
  func `a thousand parts are executed one after the other`() async {
    await history.group("G") { [edit = desk.edit] in
      for number in 0..<1_000 { edit.execute("\(number)") }
    }.ended()
    #expect(page.actions == (0..<1_000).map { "do \($0)" })
    #expect(history.entries[0].children.count == 1_000)
  }

  @MainActor
  final class Screen {
    var progress = 0

    func run(in history: UseCaseHistory, _ edit: RecordedUseCase<Edit>) async {
      await history.group("G") {
        self.progress += 1
        try await history.group("N") {
          _ = try await edit("a")
          self.progress += 1
        }.value
      }.ended()
    }
  }

  @Test(.holds("The isolation of a group")) @MainActor
  func `the body of a group keeps the isolation it was written in`() async {
    let screen = Screen()
    await screen.run(in: history, desk.edit)
    #expect(screen.progress == 2)
    #expect(history.layout == "[G(N(a)) |]")
  }

  #if DEBUG && (os(Linux) || os(macOS))
    @Test(.holds("Unrecorded in a group"))
    func `an undoable use case that is not recorded traps in a group, in a debug build`() async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        let history = UseCaseHistory()
        await history.group("G") { _ = try await Bare(page: Page())("a") }.ended()
      }
      let text = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(text?.contains("Bare is undoable, and executed in a group without being") == true)
      #expect(text?.contains("Execute it by way of `recorded(in:)`") == true)
    }

    @Test(.holds("Unrecorded in a group"))
    func `to execute it, also erased, in the body of a nested group is a trap, too`() async {
      await #expect(processExitsWith: .failure) {
        let history = UseCaseHistory()
        await history.group("G") {
          try await history.group("N") { AnyUseCase(Bare(page: Page())).execute("a") }.value
        }.ended()
      }
    }
  #endif

  @Test(.holds("Unrecorded in a group"))
  func `what a part or another use case calls in a group need not be recorded`() async {
    let bare = Bare(page: page)
    page.script("do a") { try await bare("inner") }
    await history.group("G") { [edit = desk.edit] in
      _ = try await edit("a")
      try await AnyUseCase<String, Void> { try await bare($0) }("other")
    }.ended()
    #expect(history.layout == "[G(a) |]")
    #expect(page.actions == ["do a", "do inner", "do other"])
  }
}
