import Foundation
import Testing
import UseCase

@testable import timelines

#if canImport(FoundationXML)
  import FoundationXML
#endif

struct TimelinesTests {
  private func drawn(_ name: String) async throws -> [String] {
    let scenario = try #require(Scenario.all.first { $0.name == name })
    let rows = await scenario.run().text.split(separator: "\n").map(String.init)
    return rows.filter { $0.first?.isNumber ?? false }
  }

  @Test func `two slots: one leaves, the next begins, and a cancelled one keeps its slot`()
    async throws
  {
    #expect(
      try await drawn("limit") == [
        "1   >============+ succeeded",
        "2     >============+ succeeded",
        "3       >........============# failed",
        "4         >........============+ succeeded",
        "5           >................============+ succeeded",
        "6                               >======!~~~~~~ requested",
      ])
  }

  @Test func `who is superseded unwinds while the newest runs, or lets it wait`() async throws {
    #expect(
      try await drawn("cancel-previous").suffix(3) == [
        "4         >==x~~~~~~ superseded",
        "5           >============+ succeeded",
        "6                               >======!~~~~~~ requested",
      ])
    #expect(
      try await drawn("cancel-previous-and-wait").prefix(5) == [
        "1   >==x~~~~~~ superseded",
        "2     >..x superseded",
        "3       >..x superseded",
        "4         >..x superseded",
        "5           >.============+ succeeded",
      ])
  }

  @Test func `a dropped one has no time between its execute and its end`() async throws {
    #expect(try await drawn("drop-while-busy")[1] == "2     >x dropped")
  }

  @Test func `a suspended queue starts nothing until it resumes`() async throws {
    let scenario = try #require(Scenario.all.first { $0.name == "suspension" })
    let text = await scenario.run().text
    #expect(text.contains("\n         suspended---------|\n"))
    #expect(text.contains("\n3         >................============# failed\n"))
    #expect(text.contains("\n4           >..........! requested\n"))
  }

  @Test func `a debounced one waits for its own pause`() async throws {
    #expect(
      try await drawn("debounce") == [
        "1   >..x superseded",
        "2     >..x superseded",
        "3       >......======x~~~~~~ superseded",
        "4                   >......============+ succeeded",
        "5                                           >...! requested",
      ])
  }

  @Test func `the undo pool keeps the branch of a failed action, and drops it for a new one`()
    async
  {
    let rows = await UndoPool.run().text.split(separator: "\n").map(String.init)
    #expect(
      rows.dropFirst().dropLast() == [
        "+ execute A, B, C   [A] [B] [C] |",
        "+ undo              [A] [B] | (C)",
        "+ undo              [A] | (B) (C)",
        "+ redo              [A] [B] | (C)",
        "# execute D         [A] [B] | (C)   failed: nothing has changed",
        "+ execute E         [A] [B] [E] | -C-   truncated",
        "# undo              [A] [B] [E] |   failed: nothing has changed",
        "+ undo, again       [A] [B] | (E)",
        "+ group of F, G     [A] [B] [group: F G] | -E-   truncated",
        "+ undo              [A] [B] | (group: F G)",
      ])
  }

  @Test func `a hundred runs draw the same`() async {
    let first = await Drawing.all()
    for _ in 1...100 { #expect(await Drawing.all() == first) }
  }

  @Test func `a picture is well-formed, and says all that its text says`() async throws {
    for scenario in Scenario.all {
      let timeline = await scenario.run()
      let svg = timeline.svg
      #expect(XMLParser(data: Data(svg.utf8)).parse())
      #expect(svg.contains("prefers-color-scheme: dark"))
      #expect(svg.contains(">\(timeline.code)</text>"))
      let outcomes = timeline.lanes.map { ">\($0.outcome.name)</text>" }
      #expect(outcomes.allSatisfy(svg.contains))
      #expect(svg.components(separatedBy: "</text>").count > 2 * timeline.lanes.count)
    }
    #expect(XMLParser(data: Data(await UndoPool.run().svg.utf8)).parse())
  }
}
