import Testing
import UseCase

@testable import timelines

/// The pictures of the runs, in letters.
struct TimelinesTests {
  private func drawn(_ scenario: Scenario) async -> [String] {
    let rows = await scenario.run().text(in: .english).split(separator: "\n").map(String.init)
    return Array(rows.dropFirst())
  }

  @Test func `without a limit the slow answer comes last`() async {
    #expect(
      await drawn(.unlimited) == [
        "s     >=================+ succeeded",
        "sw            >=================+ succeeded",
        "swi                   >=================+ succeeded",
        "swif                          >===========================+ succeeded",
        "swift                                 >=================+ succeeded",
        "then shows: s sw swi swift swif",
      ])
  }

  @Test func `with two slots the next operation begins when one leaves`() async {
    #expect(
      await drawn(.limit).dropFirst(2) == [
        "swi                   >.=================+ succeeded",
        "swif                          >.===========================+ succeeded",
        "swift                                 >..=================+ succeeded",
        "then shows: s sw swi swift swif",
      ])
  }

  @Test func `a superseded body unwinds while the newest runs`() async {
    #expect(
      await drawn(.cancelPrevious) == [
        "s     >========x~~~~~~~~ superseded < sw",
        "sw            >========x~~~~~~~~ superseded < swi",
        "swi                   >========x~~~~~~~~ superseded < swif",
        "swif                          >========x~~~~~~~~ superseded < swift",
        "swift                                 >=================+ succeeded",
        "then shows: swift",
      ])
  }

  @Test func `the newest waits for the superseded body, and no two of them overlap`() async {
    #expect(
      await drawn(.cancelPreviousAndWait) == [
        "s     >========x~~~~~~~~ superseded < sw",
        "sw            >........x superseded < swi",
        "swi                   >.=======x~~~~~~~~ superseded < swif",
        "swif                          >........x superseded < swift",
        "swift                                 >.=================+ succeeded",
        "then shows: swift",
      ])
  }

  @Test func `a debounced operation pauses, and a keystroke supersedes it meanwhile`() async {
    #expect(
      await drawn(.debounce) == [
        "s     >::::::::x superseded < sw",
        "sw            >::::::::x superseded < swi",
        "swi                   >::::::::x superseded < swif",
        "swif                          >::::::::x superseded < swift",
        "swift                                 >::::::::::::=================+ succeeded",
        "then shows: swift",
      ])
  }

  @Test func `a dropped operation ends when it is executed`() async {
    #expect(
      await drawn(.dropWhileBusy) == [
        "s     >=================+ succeeded",
        "sw            >v dropped",
        "swi                   >v dropped",
        "swif                          >===========================+ succeeded",
        "swift                                 >v dropped",
        "then shows: s swif",
      ])
  }

  @Test func `only the newest waits, and what it supersedes never starts`() async {
    #expect(
      await drawn(.keepLatest) == [
        "s     >=================+ succeeded",
        "sw            >........x superseded < swi",
        "swi                   >.=================+ succeeded",
        "swif                          >........x superseded < swift",
        "swift                                 >..=================+ succeeded",
        "then shows: s swi swift",
      ])
  }

  @Test func `a line with an end drops who finds it full`() async {
    #expect(
      await drawn(.limitWaiting) == [
        "s     >=================+ succeeded",
        "sw            >.........=================+ succeeded",
        "swi                   >v dropped",
        "swif                          >..........===========================+ succeeded",
        "swift                                 >v dropped",
        "then shows: s sw swif",
      ])
  }

  @Test func `the newest starts when the interval since the last start is over`() async {
    #expect(
      await drawn(.throttle) == [
        "s     >=================+ succeeded",
        "sw            >::::::::x superseded < swi",
        "swi                   >::::::::x superseded < swif",
        "swif                          >::::===========================+ succeeded",
        "swift                                 >::::::::::::::::::::::::=================+ succeeded",
        "then shows: s swif swift",
      ])
  }

  @Test func `a debounced save waits for a pause, and no longer than its longest wait`() async {
    #expect(
      await drawn(.keepLatestDebounced) == [
        "s     >::::::::x superseded < sw",
        "sw            >::::::::x superseded < swi",
        "swi                   >::::=================+ succeeded",
        "swif                          >::::::::x superseded < swift",
        "swift                                 >::::::::::::=================+ succeeded",
        "then shows: swi swift",
      ])
  }

  @Test func `no more start in an interval than the rate allows, and none is lost`() async {
    #expect(
      await drawn(.serialRate) == [
        "a     >====+ succeeded",
        "b          >====+ succeeded",
        "c               >::::::::::====+ succeeded",
        "d                    >::::::::::====+ succeeded",
        "e                         >::::::::::::::::::::====+ succeeded",
        "then shows: a b c d e",
      ])
  }

  @Test func `a call within the interval is dropped, though nothing runs`() async {
    #expect(
      await drawn(.dropWhileBusySpaced) == [
        "s     >=================+ succeeded",
        "sw            >v dropped",
        "swi                   >v dropped",
        "swif                          >v dropped",
        "swift                                 >=================+ succeeded",
        "then shows: s swift",
      ])
  }

  @Test func `the most urgent of those that wait starts next`() async {
    #expect(
      await drawn(.limitByPriority).dropFirst(2) == [
        "p3            >..........................=================+ succeeded",
        "v1                >.....=================+ succeeded",
        "v2                    >.....=================+ succeeded",
        "then shows: p1 p2 v1 v2 p3",
      ])
  }

  @Test func `a suspended queue starts nothing until it resumes`() async {
    #expect(
      await drawn(.suspension).dropFirst(3) == [
        "c                     >....................................=================# failed",
        "d                             >.........! cancelled",
        "e                                     >....................=================+ succeeded",
        "then shows: a b e",
      ])
  }

  @Test func `a queue is busy from a call until all bodies have returned`() async {
    #expect(await Scenario.busyQueue.run().busy == [0..<25, 40..<57])
    #expect(await Scenario.unlimited.run().busy == [0..<51])
  }

  @Test func `a test receives each call, and answers the newest`() async throws {
    let search = try await ControlledSearch.run()
    #expect(
      search.calls == [
        .init(request: "e", mark: .cancelled(.superseded)), .init(request: "em", mark: .succeeded),
      ])
    #expect(search.shown == ["Emma"])
    let said = Picture(search.svg()).texts.map(\.content)
    for words in ["execute(\"e\")", "execute(\"em\")", "succeed([\"Emma\"])", "superseded", "Emma"]
    {
      #expect(said.contains(words))
    }
  }

  @Test func `what then received is what succeeded, in the order of the outcomes`() async {
    for scenario in Scenario.all {
      let timeline = await scenario.run()
      let succeeded = timeline.lanes.filter { $0.outcome.mark == .succeeded }
      let ordered = succeeded.sorted { $0.outcome.tick < $1.outcome.tick }
      #expect(timeline.shown == ordered.map(\.text))
    }
  }

  @Test func `an operation is superseded by the next one, at the time of its execute`() async {
    for scenario in Scenario.all {
      let lanes = await scenario.run().lanes
      for (index, lane) in lanes.enumerated() {
        #expect((lane.superseder != nil) == (lane.outcome.mark == .cancelled(.superseded)))
        guard let superseder = lane.superseder else { continue }
        #expect(superseder == index + 1)
        #expect(lanes[superseder].executed == lane.outcome.tick)
      }
    }
  }

  @Test func `an undo that fails changes nothing, and is tried again`() async {
    let rows = await UndoStory.run().text(in: .english).split(separator: "\n").map(String.init)
    #expect(
      rows.dropFirst() == [
        "+ rename.execute(\"Report\")  Report  “Draft” becomes “Report”",
        "# history.undo()            Report  offline: fails, nothing is lost",
        "+ history.undo()            Draft   online again: the old title is back",
        "+ history.redo()            Report  sends the rename once more",
      ])
  }

  @Test func `the undo pool keeps the branch of a failed action, and discards it for a new one`()
    async
  {
    let rows = await UndoPool.run().text(in: .english).split(separator: "\n").map(String.init)
    #expect(
      rows.dropFirst().dropLast() == [
        "+ three actions     [Rename] [Star] [Move] |",
        "+ undo              [Rename] [Star] | (Move)",
        "# undo, offline     [Rename] [Star] | (Move)   nothing changes",
        "+ undo, again       [Rename] | (Star) (Move)",
        "+ delete            [Rename] [Delete] |   drops Star Move",
        "+ a group           [Rename] [Delete] [group: Tag Sort] |",
      ])
  }

  @Test func `a crash after any record of a session leaves what was written until then`()
    async throws
  {
    let rows = try await CrashedSession.run().text(in: .english).split(separator: "\n")
    #expect(
      rows.dropFirst() == [
        "> A begins                {A?} |",
        "+ A has ended             [A] |",
        "> B begins                [A] {B?} |",
        "+ B has ended             [A] [B] |",
        "> undo of B begins        [A] {B?} |",
        "+ undo of B has ended     [A] | (B)",
        "> a group begins, C in it [A] {C?} | (B)",
        "+ C has ended             [A] | (B)   C is undone",
        "> D begins in the group   [A] {D?} | (B)   C is undone",
        "# D has ended             [A] {D?} | (B)   C is undone",
        "# crash: the last write is torn",
        "[A]  applied: it can be undone",
        "(B)  undone: it can be redone",
        " C   undone at launch: its group never ended",
        "{D?}  in doubt: it began, and no end was written",
      ])
  }

  @Test func `the text speaks Spanish`() async {
    let text = await Scenario.keepLatest.run().text(in: .spanish)
    #expect(text.contains("\nsw            >........x sustituida < swi\n"))
    #expect(text.hasSuffix("\nthen muestra: s swi swift\n"))
    #expect(Timeline.textLegend(in: .spanish).contains(". espera un hueco"))
  }

  @Test func `a hundred runs draw the same`() async throws {
    let first = try await Drawing.all()
    for _ in 1...100 { #expect(try await Drawing.all() == first) }
  }
}
