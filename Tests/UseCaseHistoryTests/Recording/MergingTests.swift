import TestSupport
import Testing
import UseCase
import UseCaseHistory

@Suite(.mustEnd)
struct MergingTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  @Test(.holds("One entry of several executions"))
  func `two that merge are one entry, the earlier one`() async {
    await history.type(page, "a")
    let (id, version) = (history.entries[0].id, history.state.version)
    await history.type(page, "b")
    #expect(history.layout == "[ab |]")
    #expect(history.entries[0].id == id && history.state.version > version)
  }

  @Test(.holds("One entry of several executions"))
  func `the later pair is discarded, and undo gets the merged one`() async {
    await history.type(page, "a", "b")
    #expect(page.discarded == ["b2 merged"])
    await history.back(1)
    #expect(page.actions == ["do a", "do b", "undo ab2"])
    await history.forth(1)
    #expect(page.actions.last == "do ab")
  }

  @Test func `a whole word merges into one entry`() async {
    await history.type(page, "w", "o", "r", "d")
    #expect(history.layout == "[word |]")
    #expect(page.discarded == ["o2 merged", "r3 merged", "d4 merged"])
  }

  @Test func `what is to stay separate stays so`() async {
    await history.type(page, "a", "B")
    #expect(history.layout == "[a B |]")
    await history.run(page, "C", "D")
    await history.type(page, "e")
    #expect(history.layout == "[a B C D e |]")
  }

  @Test func `the window counts from the last recording, and an undo ends it`() async {
    let desk = Desk(mergeWindow: .seconds(1))
    await desk.clock.advance(by: .seconds(1))
    await desk.history.type(desk.page, "a")
    await desk.clock.advance(by: .milliseconds(600))
    await desk.history.type(desk.page, "b")
    await desk.clock.advance(by: .milliseconds(1100))
    await desk.history.type(desk.page, "c")
    #expect(desk.history.layout == "[ab c |]")
    await desk.history.back(1)
    await desk.clock.advance(by: .milliseconds(100))
    await desk.history.type(desk.page, "d")
    #expect(desk.history.layout == "[ab d |]")
  }

  @Test(.holds("The window"))
  func `exactly the window still merges, and a nanosecond more does not`() async {
    await history.type(page, "a")
    await desk.clock.advance(by: .milliseconds(500))
    await history.type(page, "b")
    #expect(history.layout == "[ab |]")
    await desk.clock.advance(by: .milliseconds(500) + .nanoseconds(1))
    await history.type(page, "c")
    #expect(history.layout == "[ab c |]")
  }

  @Test func `a window of zero merges what comes at the same time`() async {
    let desk = Desk(mergeWindow: .zero)
    await desk.history.type(desk.page, "a", "b")
    #expect(desk.history.layout == "[ab |]")
    await desk.clock.advance(by: .nanoseconds(1))
    await desk.history.type(desk.page, "c")
    #expect(desk.history.layout == "[ab c |]")
  }

  @Test(.holds("What ends merging"))
  func `nothing merges across a save point`() async {
    await history.type(page, "a")
    history.save()
    await history.type(page, "b")
    #expect(history.layout == "[a b |]")
    await history.back(1)
    #expect(history.layout == "[a | b]*")
  }

  @Test(.holds("What ends merging"))
  func `nothing merges across an undo, and the branch goes all the same`() async {
    await history.type(page, "a", "B")
    await history.back(1)
    await history.type(page, "c")
    #expect(history.layout == "[a c |]")
    #expect(await history.redo().ended().value == .some(nil))
    #expect(page.discarded == ["B2 truncated"])
  }

  @Test(.holds("What ends merging"))
  func `nothing merges across an undo and a redo`() async {
    await history.type(page, "a")
    await history.back(1)
    await history.forth(1)
    await history.type(page, "b")
    #expect(history.layout == "[a b |]")
  }

  @Test func `an undo that found nothing is none`() async {
    await history.type(page, "a")
    await history.forth(1)
    await history.type(page, "b")
    #expect(history.layout == "[ab |]")
  }

  @Test(.holds("What ends merging"))
  func `breakMerging keeps one pair apart, and no other`() async {
    await history.type(page, "a")
    history.breakMerging()
    await history.type(page, "b", "c")
    #expect(history.layout == "[a bc |]")
  }

  @Test(.holds("The window"))
  func `the window is between the calls, however slow the bodies are`() async {
    let gates = ["do a", "do b"].map { page.hold($0) }
    let operations = ["a", "b"].map { history.execute(Typing(page: page), $0) }
    for (gate, operation) in zip(gates, operations) {
      await desk.clock.advance(by: .seconds(5))
      gate.open()
      await operation.ended()
    }
    #expect(history.layout == "[ab |]")
    let gate = page.hold("do c")
    history.execute(Typing(page: page), "c")
    await desk.clock.advance(by: .milliseconds(501))
    history.execute(Typing(page: page), "d")
    gate.open()
    await history.idle()
    #expect(history.layout == "[ab c d |]")
  }

  @Test(.holds("The window"))
  func `a changed window holds for what is asked for from then on`() async {
    #expect(history.mergeWindow == .milliseconds(500))
    let gate = page.hold("do a")
    history.execute(Typing(page: page), "a")
    await desk.clock.advance(by: .milliseconds(300))
    history.execute(Typing(page: page), "b")
    history.mergeWindow = .milliseconds(200)
    await desk.clock.advance(by: .milliseconds(300))
    history.execute(Typing(page: page), "c")
    gate.open()
    await history.idle()
    #expect(history.layout == "[ab c |]" && history.mergeWindow == .milliseconds(200))
  }

  @Test(.holds("What ends merging"), arguments: [true, false])
  func `what was asked for before a break is parted from what is asked for after`(
    isSavePoint: Bool
  ) async {
    let gate = page.hold("do a")
    for letter in ["a", "b"] { history.execute(Typing(page: page), letter) }
    if isSavePoint { _ = history.savePoint() } else { history.breakMerging() }
    for letter in ["c", "d"] { history.execute(Typing(page: page), letter) }
    gate.open()
    await history.idle()
    #expect(history.layout == "[ab cd |]")
  }

  @Test(.holds("What ends merging"))
  func `a break does not part what runs from what was asked for before`() async {
    await history.type(page, "a")
    let gate = page.hold("do b")
    let operation = history.execute(Typing(page: page), "b")
    history.breakMerging()
    gate.open()
    await operation.ended()
    #expect(history.layout == "[ab |]")
  }

  @Test(.holds("What ends merging"))
  func `nothing merges across a failure`() async {
    await history.type(page, "a")
    page.fail("do x")
    await history.type(page, "x", "b")
    #expect(history.layout == "[a b |]")
  }

  @Test(.holds("What ends merging"))
  func `nothing merges into a group, or across one`() async {
    await history.group("G") { [history, page] in
      _ = try await Typing(page: page).recorded(in: history)("a")
    }.ended()
    await history.type(page, "b")
    #expect(history.layout == "[G(a) b |]")
    await history.group("E") {}.ended()
    await history.type(page, "c")
    #expect(history.layout == "[G(a) b c |]")
  }

  @Test(.holds("Groups"))
  func `the parts of a group never merge`() async {
    await history.group("G") { [history, page] in
      let typing = Typing(page: page).recorded(in: history)
      for text in ["a", "b"] { _ = try await typing(text) }
    }.ended()
    #expect(history.layout == "[G(a b) |]")
  }

  @Test(.holds("Annulled"))
  func `two that annul each other are both gone`() async {
    await history.run(page, "A")
    await history.type(page, "x", "X")
    #expect(history.layout == "[A |]")
    #expect(page.discarded == ["x2 annulled", "X3 annulled"])
    await history.back(1)
    #expect(page.actions.last == "undo A1")
  }

  @Test func `two that annul each other leave a clean history clean`() async {
    await history.run(page, "A")
    history.save()
    await history.type(page, "x")
    #expect(!history.state.isClean)
    await history.type(page, "X")
    #expect(history.layout == "[A |]*")
  }

  @Test(.holds("The same use case"))
  func `use cases of two documents do not merge`() async {
    struct Line: Joining, Equatable {
      let document: Int
    }
    for (document, text) in [(1, "a"), (1, "b"), (2, "c"), (2, "d")] {
      await history.execute(Line(document: document), text).ended()
    }
    #expect(history.layout == "[ab cd |]")
  }

  @Test(.holds("The same use case"))
  func `use cases that cannot be compared merge only as copies of one that is recorded`() async {
    struct Line: Joining {
      let write: @Sendable (String) -> Void
    }
    let line = Line { _ in }
    for text in ["a", "b"] { await history.execute(line, text).ended() }
    #expect(history.layout == "[a b |]")
    let recorded = line.recorded(in: history)
    let copy = recorded
    await recorded.execute("c").ended()
    await copy.execute("d").ended()
    await AnyUseCase(recorded).execute("e").ended()
    #expect(history.layout == "[a b cde |]")
    await line.recorded(in: history).execute("f").ended()
    #expect(history.layout == "[a b cde f |]")
  }

  @Test(.holds("The same use case"))
  func `use cases whose bytes are the same do not merge for that`() async {
    enum Part { case body }
    struct Line: Joining {
      let part: Part
    }
    for text in ["a", "b"] { await history.execute(Line(part: .body), text).ended() }
    #expect(history.layout == "[a b |]")
  }

  @Test(.holds("The same use case"))
  func `equal use cases merge, however often they are recorded`() async {
    struct Line: Joining, Equatable {
      let document: Int
    }
    await Line(document: 1).recorded(in: history).execute("a").ended()
    await Line(document: 1).recorded(in: history).execute("b").ended()
    #expect(history.layout == "[ab |]")
  }

  @Test(.holds("The same use case"))
  func `objects merge only with themselves`() async {
    final class Line: Joining {
      func merge(
        _ earlier: (request: String, response: Void), _ later: (request: String, response: Void)
      ) -> HistoryMerge<String, Void> {
        earlier.request == "x" ? .annul : .merged(earlier.request + later.request, ())
      }
    }
    let (one, two) = (Line(), Line())
    for (line, text) in [(one, "a"), (one, "b"), (two, "c"), (two, "d")] {
      await history.execute(line, text).ended()
    }
    #expect(history.layout == "[ab cd |]")
    history.breakMerging()
    await history.execute(one, "x").ended()
    await history.execute(two, "y").ended()
    #expect(history.layout == "[ab cd x y |]")
  }

  @Test func `what is cleared, evicted or saved while merge decides is left alone`() async {
    final class Nosy: Joining {
      let discards: Log<String>
      let onMerge: @Sendable () -> Void

      init(discards: Log<String>, onMerge: @escaping @Sendable () -> Void) {
        self.discards = discards
        self.onMerge = onMerge
      }

      func merge(
        _ earlier: (request: String, response: Void), _ later: (request: String, response: Void)
      ) -> HistoryMerge<String, Void> {
        onMerge()
        return .merged(earlier.request + later.request, ())
      }
      func discard(_ text: String, _: Void, _ reason: HistoryDiscardReason) {
        discards.append("\(text) \(reason)")
      }
    }
    let discards = Log<String>()
    let save = Nosy(discards: discards) { [history] in history.save() }
    await history.execute(save, "a").ended()
    await history.execute(save, "b").ended()
    #expect(history.layout == "[a b |]")
    await history.back(1)
    // The place was taken inside of a body, and is none.
    #expect(history.layout == "[a | b]")
    let limit = Nosy(discards: discards) { [history] in history.limit = 0 }
    await history.execute(limit, "c").ended()
    await history.execute(limit, "d").ended()
    #expect(history.layout == "[|]")
    history.limit = nil
    let clear = Nosy(discards: discards) { [history] in history.clear() }
    await history.execute(clear, "e").ended()
    await history.execute(clear, "f").ended()
    #expect(history.layout == "[|]")
    #expect(
      discards.elements.sorted() == [
        "a evicted", "b truncated", "c evicted", "d evicted", "e cleared", "f cleared",
      ])
  }

  @Test func `no lock is held when a key of the earlier entry is released`() async {
    final class Thing: Sendable, Hashable {
      let desk: Desk
      init(_ desk: Desk) { self.desk = desk }
      deinit { desk.page.log.append("released in a history of \(desk.history.entries.count)") }
      static func == (left: Thing, right: Thing) -> Bool { left === right }
      func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    }
    struct Touch: Joining, Equatable {
      let desk: Desk
      static func == (left: Self, right: Self) -> Bool { true }
      func footprint(of text: String, _: Void) -> HistoryFootprint { .keys(Thing(desk)) }
    }
    for text in ["a", "b"] { await history.execute(Touch(desk: desk), text).ended() }
    #expect(history.layout == "[ab |]")
    #expect(page.log.elements.contains("released in a history of 1"))
    history.clear()
  }
}

/// Texts, of which the later one is put behind the earlier one.
private protocol Joining: UndoableUseCase<String, Void> {}

extension Joining {
  fileprivate func main(_ text: String) async throws {}
  fileprivate func undo(_ text: String, _: Void) async throws {}
  fileprivate func title(for text: String) -> String { text }

  fileprivate func merge(
    _ earlier: (request: String, response: Void), _ later: (request: String, response: Void)
  ) -> HistoryMerge<String, Void> {
    .merged(earlier.request + later.request, ())
  }
}
