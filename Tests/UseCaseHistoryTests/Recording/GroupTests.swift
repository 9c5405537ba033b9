import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct GroupTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  /// A history with A applied and B undone.
  private func prepare() async {
    await history.run(page, "A", "B")
    await history.back(1)
  }

  @Test(.holds("One entry of many parts"))
  func `a group is one entry, undone backwards and redone forwards`() async {
    await history.group("G") { [edit = desk.edit, history] in
      _ = try await edit("a")
      _ = try await edit("b")
      try await history.group("N") { _ = try await edit("c") }.value
    }.ended()
    #expect(history.layout == "[G(a b N(c)) |]")
    await history.back(1)
    #expect(history.layout == "[| G(a b N(c))]*")
    await history.forth(1)
    #expect(
      page.actions == [
        "do a", "do b", "do c", "undo c3", "undo b2", "undo a1", "redo a1", "redo b2", "redo c3",
      ])
    #expect(history.layout == "[G(a b N(c)) |]")
    #expect(history.state.undoCount == 1)
  }

  @Test(.holds("Nested groups"))
  func `undoing the parent of a nested group undoes what is in it`() async {
    await history.group("G") { [edit = desk.edit, history] in
      try await history.group("N") {
        _ = try await edit("a")
        try await history.group("O") { _ = try await edit("b") }.value
      }.value
      _ = try await edit("c")
    }.ended()
    #expect(history.layout == "[G(N(a O(b)) c) |]")
    await history.back(1)
    #expect(page.actions.suffix(3) == ["undo c3", "undo b2", "undo a1"])
  }

  @Test(.holds("Nested groups"))
  func `a group in more than a thousand others is refused`() async {
    let deepest = Log<Int>()
    @Sendable func nest(_ depth: Int) async throws {
      deepest.append(depth)
      try await history.group("\(depth)") { try await nest(depth + 1) }.value
    }
    let outcome = await history.group("0") { try await nest(1) }.ended()
    #expect(outcome.historyError == .tooDeep)
    #expect(deepest.elements.last == 1_001)
    #expect(history.layout == "[|]*")
  }

  @Test(.holds("One entry of many parts"))
  func `a group is one change of the state`() async {
    let versions = Log<UInt64>()
    await history.group("G") { [edit = desk.edit, history] in
      versions.append(history.state.version)
      for text in ["a", "b", "c"] { _ = try await edit(text) }
      versions.append(history.state.version)
    }.ended()
    let during = versions.elements
    #expect(during[0] == during[1])
    #expect(history.state.version == during[1] + 1)
  }

  @Test(.holds("Empty groups"))
  func `an empty group leaves no trace, however deep`() async {
    await prepare()
    await history.group("G") {}.ended()
    await history.group("G") { [history] in
      try await history.group("N") { try await history.group("O") {}.value }.value
    }.ended()
    #expect(history.layout == "[A | B]")
    #expect(page.discarded.isEmpty)
  }

  @Test func `the branch is there until the group is recorded`() async {
    await prepare()
    await history.group("G") { [edit = desk.edit, history] in
      #expect(history.layout == "[A | B]")
      _ = try await edit("c")
      #expect(history.layout == "[A | B]")
    }.ended()
    #expect(history.layout == "[A G(c) |]")
  }

  @Test(.holds("A failing group", "Never recorded"))
  func `a group that throws undoes its parts backwards, and the branch survives`() async {
    await prepare()
    let outcome = await desk.group("G", "c", "d", failing: Failure("G"))
    #expect(outcome.failure == Failure("G"))
    #expect(page.actions.suffix(4) == ["do c", "do d", "undo d4", "undo c3"])
    #expect(history.layout == "[A | B]")
    #expect(page.discarded == ["c3 truncated", "d4 truncated"])
  }

  @Test(.holds("A failing group", "Titles", "Versions"))
  func `an undo is not bound to a group whose parts are undone`() async {
    await prepare()
    let (last, gate) = (page.hold("do d"), page.hold("undo c3"))
    page.fail("do d")
    let group = history.group("G") { [edit = desk.edit] in
      for text in ["c", "d"] { _ = try await edit(text) }
    }
    await page.began("do d")
    let before = history.state
    #expect(before.undoTitle == "G")
    last.open()
    await page.began("undo c3")
    let state = history.state
    #expect(state.undoTitle == "A" && state.version > before.version)
    let undo = history.undo()
    gate.open()
    #expect(await group.ended().failure == Failure("do d"))
    #expect(await undo.ended().value??.title == "A")
    #expect(history.layout == "[| A B]*")
  }

  @Test(.holds("Failing nested groups"))
  func `an undo is for the outer group while the parts of a nested one are undone`() async {
    let gate = page.hold("undo b2")
    let group = history.group("G") { [edit = desk.edit, history] in
      _ = try await edit("a")
      await history.group("N") {
        _ = try await edit("b")
        throw Failure("N")
      }.ended()
    }
    await page.began("undo b2")
    #expect(history.state.undoTitle == "G")
    let undo = history.undo()
    gate.open()
    await group.ended()
    #expect(await undo.ended().value??.title == "G")
    #expect(history.layout == "[| G(a)]*")
  }

  @Test func `a part that fails is not undone, only what came before it`() async {
    page.fail("do b")
    #expect(await desk.group("G", "a", "b", "c").failure == Failure("do b"))
    #expect(page.actions == ["do a", "do b", "undo a1"])
    #expect(history.layout == "[|]*")
  }

  @Test func `a body may catch the failure of a part and go on`() async {
    page.fail("do b")
    await history.group("G") { [edit = desk.edit] in
      _ = try await edit("a")
      _ = try? await edit("b")
      _ = try await edit("c")
    }.ended()
    #expect(history.layout == "[G(a c) |]")
  }

  @Test(.holds("Residue"))
  func `parts that cannot be undone stay as an entry`() async throws {
    await prepare()
    page.fail("undo c3")
    let outcome = await desk.group("G", "c", "d", failing: Failure("G"))
    guard case .failure(let failure as HistoryGroupError) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(failure.cause as? Failure == Failure("G"))
    #expect(failure.undoFailure as? Failure == Failure("undo c3"))
    #expect(history.layout == "[A G(c) |]")
    #expect(failure.residue == history.id("G"))
    #expect(page.discarded == ["d4 truncated", "B2 truncated"])
    page.repair("undo c3")
    #expect(await history.undo().ended().value??.id == failure.residue)
    #expect(history.layout == "[A | G(c)]")
  }

  @Test(.holds("Failing nested groups"))
  func `a nested group that throws undoes its own parts, and the other goes on`() async {
    await history.group("G") { [edit = desk.edit, history] in
      _ = try await edit("a")
      let nested = history.group("N") {
        _ = try await edit("b")
        throw Failure("N")
      }
      await #expect(throws: Failure("N")) { try await nested.value }
      _ = try await edit("c")
    }.ended()
    #expect(page.actions == ["do a", "do b", "undo b2", "do c"])
    #expect(history.layout == "[G(a c) |]")
  }

  @Test(.holds("Failing nested groups"))
  func `what a nested group could not undo is a part of the other`() async {
    page.fail("undo b2")
    await history.group("G") { [edit = desk.edit, history] in
      _ = try await edit("a")
      let nested = history.group("N") {
        _ = try await edit("b")
        _ = try await edit("c")
        throw Failure("N")
      }
      await #expect(throws: HistoryGroupError.self) { try await nested.value }
    }.ended()
    #expect(history.layout == "[G(a N(b)) |]")
  }

  @Test func `a group names no residue that another group has taken back`() async {
    await prepare()
    let failing = Watched(true)
    page.script("undo c3") { if failing.value { throw Failure("undo c3") } }
    func group() -> UseCaseOperation<String, Void> {
      history.group("G") { [edit = desk.edit, history] in
        let nested = history.group("N") {
          _ = try await edit("c")
          throw Failure("N")
        }
        do {
          try await nested.value
        } catch let error as HistoryGroupError {
          #expect(error.cause as? Failure == Failure("N"))
          failing.update { $0 = false }
          throw error
        }
      }
    }
    #expect(await group().ended().failure == Failure("N"))
    #expect(history.layout == "[A | B]")
    #expect(page.discarded == ["c3 truncated"])
  }

  @Test func `a group names the residue of another as its own`() async throws {
    page.fail("undo b2")
    let outcome = await history.group("G") { [edit = desk.edit, history] in
      _ = try await edit("a")
      let nested = history.group("N") {
        _ = try await edit("b")
        throw Failure("N")
      }
      try await nested.value
    }.ended()
    guard case .failure(let failure as HistoryGroupError) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(failure.cause as? Failure == Failure("N"))
    #expect(failure.undoFailure as? Failure == Failure("undo b2"))
    #expect(failure.residue == history.id("G"))
    #expect(history.layout == "[G(a N(b)) |]")
  }

  @Test(.holds("A failing group"))
  func `the parts of a cancelled group are undone all the same`() async {
    let gate = page.hold("do b")
    page.script("undo a1") { try Task.checkCancellation() }
    let group = history.group("G") { [edit = desk.edit] in
      _ = try await edit("a")
      _ = try await edit("b")
      try Task.checkCancellation()
    }
    await page.began("do b")
    group.cancel()
    gate.open()
    await group.ended()
    #expect(page.actions == ["do a", "do b", "undo b2", "undo a1"])
    #expect(history.layout == "[|]*")
  }

  @Test(.holds("A cancelled group"))
  func `a cancelled group whose body returns is not recorded`() async {
    let gate = page.hold("do a")
    let group = history.group("G") { [edit = desk.edit] in
      _ = try? await edit("a")
    }
    await page.began("do a")
    group.cancel()
    gate.open()
    #expect(await group.ended().isCancelled)
    #expect(history.layout == "[|]*")
  }

  @Test func `a group that waits and is cancelled never begins`() async {
    let gate = page.hold("do A")
    let first = history.execute(Edit(page: page), "A")
    let group = history.group("G") { Issue.record("it has begun") }
    group.cancel()
    gate.open()
    await first.ended()
    await group.ended()
    #expect(history.layout == "[A |]")
  }

  @Test(.holds("Cancelled early"))
  func `a nested group that is cancelled never begins, or is told`() async {
    let cancelled = Log<Bool>()
    for _ in 0..<100 {
      await history.group("G") { [history] in
        let gate = Gate()
        let nested = history.group("N") {
          await gate.passIgnoringCancellation()
          cancelled.append(Task.isCancelled)
        }
        nested.cancel()
        gate.open()
        #expect(await nested.ended().isCancelled)
      }.ended()
    }
    #expect(!cancelled.elements.contains(false))
    #expect(history.layout == "[|]*")
  }

  @Test(.holds("End of a group"))
  func `a nested group that is cancelled while it waits for parts before it never begins`() async {
    for round in 1...20 {
      let gate = page.hold("do X")
      let group = history.group("G") { [history, edit = Edit(page: page)] in
        history.execute(edit, "X")
        let nested = history.group("N") { Issue.record("It has begun.") }
        nested.cancel()
        gate.open()
        #expect(await nested.ended().isCancelled)
      }
      #expect(await group.ended().failure == nil)
      #expect(history.entries.count == round)
    }
  }

  @Test(.holds("End of a group"))
  func `a group ends when the parts begun in it have ended`() async {
    let gate = page.hold("do a")
    let group = history.group("G") { [edit = desk.edit, page] in
      Task { _ = try await edit("a") }
      await page.began("do a")
    }
    await page.began("do a")
    #expect(history.layout == "[|]" && history.state.isBusy)
    gate.open()
    await group.ended()
    #expect(history.layout == "[G(a) |]")
  }

  @Test(.holds("End of a group"))
  func `a group ends when the groups begun in it have ended`() async {
    let gate = Gate()
    let group = history.group("G") { [edit = desk.edit, history] in
      history.group("N") {
        await gate.passIgnoringCancellation()
        _ = try await edit("a")
      }
    }
    gate.open()
    await group.ended()
    #expect(history.layout == "[G(N(a)) |]")
  }

  @Test func `parts that run at the same time are undone backwards in the order of their ends`()
    async
  {
    let gate = page.hold("do a")
    await history.group("G") { [edit = desk.edit] in
      async let a = edit("a")
      async let b = edit("b")
      _ = try await b
      gate.open()
      _ = try await a
    }.ended()
    #expect(history.layout == "[G(b a) |]")
    await history.back(1)
    #expect(page.actions.suffix(2) == ["undo a2", "undo b1"])
  }

  @Test(.holds("Half an undo"))
  func `an undo that fails half-way goes on from there the next time`() async {
    await desk.group("G", "a", "b", "c")
    page.fail("undo b2")
    #expect(await history.undo().ended().failure == Failure("undo b2"))
    #expect(history.layout == "[G(a b | c) |]")
    let state = history.state
    #expect(state.undoTitle == "G" && state.redoTitle == "G")
    #expect(state.undoCount == 1 && state.redoCount == 0)
    page.repair("undo b2")
    await history.back(1)
    #expect(page.actions.suffix(4) == ["undo c3", "undo b2", "undo b2", "undo a1"])
    #expect(history.layout == "[| G(a b c)]*")
  }

  @Test(.holds("Half an undo"))
  func `a half undone group can be redone`() async {
    await desk.group("G", "a", "b", "c")
    page.fail("undo b2")
    await history.back(1)
    #expect(await history.redo().ended().value??.title == "G")
    #expect(page.actions.suffix(3) == ["undo c3", "undo b2", "redo c3"])
    #expect(history.layout == "[G(a b c) |]")
    page.repair("undo b2")
    await history.back(1)
    #expect(page.actions.suffix(3) == ["undo c4", "undo b2", "undo a1"])
  }

  @Test(.holds("Recording over half an undo"))
  func `a new recording drops the undone parts and keeps the rest`() async {
    await history.run(page, "A")
    await desk.group("G", "b", "c", "d")
    page.fail("undo c3")
    await history.back(1)
    await history.run(page, "E")
    #expect(history.layout == "[A G(b c) E |]")
    #expect(page.discarded == ["d4 truncated"])
    page.repair("undo c3")
    await history.back(2)
    #expect(page.actions.suffix(3) == ["undo E5", "undo c3", "undo b2"])
    #expect(history.layout == "[A | G(b c) E]")
  }

  @Test(.holds("Half a redo"))
  func `a redo that fails half-way keeps what was redone`() async {
    await desk.group("G", "a", "b", "c")
    await history.run(page, "D")
    await history.back(2)
    page.fail("redo b2")
    #expect(await history.redo().ended().failure == Failure("redo b2"))
    #expect(history.layout == "[G(a | b c) | D]")
    page.repair("redo b2")
    await history.forth(2)
    #expect(page.actions.suffix(4) == ["redo b2", "redo b2", "redo c3", "redo D4"])
    #expect(history.layout == "[G(a b c) D |]")
    await history.back(2)
    #expect(page.actions.suffix(3) == ["undo c7", "undo b6", "undo a5"])
  }

  @Test(.holds("Half a redo"))
  func `a group that was redone half-way can be undone`() async {
    await desk.group("G", "a", "b")
    await history.back(1)
    page.fail("redo b2")
    await history.forth(1)
    await history.back(1)
    #expect(page.actions.suffix(1) == ["undo a3"])
    #expect(history.layout == "[| G(a b)]*")
  }

  @Test func `an undo or redo that fails at its first part leaves the group whole`() async {
    await desk.group("G", "a", "b")
    page.fail("undo b2")
    await history.back(1)
    #expect(history.layout == "[G(a b) |]")
    page.repair("undo b2")
    await history.back(1)
    page.fail("redo a1")
    await history.forth(1)
    #expect(history.layout == "[| G(a b)]*")
  }

  @Test(.holds("Others wait"))
  func `what others ask for while a group runs waits, and is an entry of its own`() async {
    let gate = Gate()
    let group = history.group("G") { [edit = desk.edit] in
      _ = try await edit("a")
      await gate.passIgnoringCancellation()
      _ = try await edit("b")
    }
    await page.began("do a")
    let other = history.execute(Edit(page: page), "C")
    #expect(other.state == .waiting)
    gate.open()
    await other.ended()
    await group.ended()
    #expect(history.layout == "[G(a b) C |]")
  }

  @Test func `two histories have groups of their own`() async {
    let other = Desk()
    await history.group("G") { [edit = desk.edit] in
      _ = try await edit("a")
      try await other.history.group("H") {
        _ = try await other.edit("b")
      }.value
      _ = try await other.edit("C")
    }.ended()
    #expect(other.history.layout == "[H(b) C |]")
    #expect(history.layout == "[G(a) |]")
  }

  #if os(Linux) || os(macOS)
    @Test(.holds("The default queue"))
    func `what becomes of the default queue is no concern of a history`() async {
      // A process of its own, since everybody may use the default queue of this one.
      await #expect(processExitsWith: .success) {
        let desk = Desk()
        desk.page.script("do a") { _ = await desk.history.undo().ended() }
        await desk.history.group("G") {
          try await desk.history.group("H") { _ = try await desk.edit("a") }.value
        }.ended()
        precondition(desk.history.layout == "[G(H(a)) |]")
        precondition(UseCaseQueue.default.activity.executed == 0)
      }
    }
  #endif
}
