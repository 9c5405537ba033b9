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
    #expect(try await drawn("drop-while-busy")[1] == "2     >v dropped")
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
      let outcomes = timeline.lanes.map { ">\($0.outcome.mark.name)</text>" }
      #expect(outcomes.allSatisfy(svg.contains))
      #expect(svg.components(separatedBy: "</text>").count > 2 * timeline.lanes.count)
    }
    #expect(XMLParser(data: Data(await UndoPool.run().svg.utf8)).parse())
  }

  @Test func `a legend explains the marks that occur, and no others`() async throws {
    let scenario = try #require(Scenario.all.first { $0.name == "keep-latest" })
    let timeline = await scenario.run()
    let meanings = ["succeeded", "superseded by a newer one", "requested by cancel()"]
    #expect(timeline.marks.map(\.meaning) == meanings)
    #expect(meanings.allSatisfy { timeline.svg.contains(">\($0)</text>") })
    #expect(!timeline.svg.contains("busy queue"))
    #expect(
      timeline.text.hasSuffix(
        "    + succeeded   x superseded by a newer one   ! requested by cancel()\n"))
  }

  @Test func `each mark has a shape and a letter of its own`() async {
    let marks: [Timeline.Lane.Mark] = [
      .succeeded, .failed, .cancelled(.requested), .cancelled(.superseded), .cancelled(.dropped),
    ]
    let shapes = marks.map { mark in
      var svg = SVG(width: 20, height: 20, title: "")
      svg.mark(mark, 10, 10)
      return svg.source.replacing(#/ class="[^"]*"/#, with: "")
    }
    #expect(Set(shapes).count == marks.count)
    #expect(Set(marks.map(\.letter)).count == marks.count)
  }

  // A letter takes 7 pixels at most, on average.
  @Test func `no words of a picture overlap, or leave it`() async {
    for drawing in await Drawing.all() {
      let words = drawing.svg.matches(
        of: #/<text x="(\d+)" y="(\d+)" class="(faint|)">([^<]*)</#)
      var ends: [Substring: Int] = [:]
      for word in words.compactMap({ Word($0.output) }).sorted(by: { $0.start < $1.start }) {
        #expect(ends[word.row, default: 0] < word.start, "\(drawing.path): \(word.text)")
        ends[word.row] = word.end
        #expect(word.end < 690, "\(drawing.path): \(word.text)")
      }
    }
  }

  private struct Word {
    let start: Int
    let row: Substring
    let text: Substring
    var end: Int { start + 7 * text.count }

    init?(_ match: (Substring, Substring, Substring, Substring, Substring)) {
      guard let start = Int(match.1) else { return nil }
      (self.start, row, text) = (start, match.2, match.4)
    }
  }
}
