import Foundation
import Testing
import UseCase

@testable import timelines

/// The rules that a reader may rely on in every picture.
struct PictureTests {
  private static let animated = [
    "hero.svg", "hero-es.svg",
  ]

  @Test func `every operation carries its text, in a bar or at its mark`() async {
    for scenario in Scenario.all {
      let timeline = await scenario.run()
      let picture = Picture(timeline.svg(in: .english))
      let bars = picture.all("running") + picture.all("waiting") + picture.all("stale")
      for lane in timeline.lanes {
        let labels = picture.texts.filter { $0.content == lane.text && $0.number("y") > 106 }
        let carried = labels.contains { label in
          bars.contains { bar in
            let (left, top) = (bar.number("x"), bar.number("y"))
            let isInside =
              left < label.extent.lowerBound && label.extent.upperBound < left + bar.number("width")
            return isInside && top < label.number("y") && label.number("y") < top + 20
          }
        }
        let isWithoutBar = !lane.hasRun && (lane.pauses || lane.waiting.isEmpty)
        #expect(isWithoutBar ? !labels.isEmpty : carried, "\(scenario.name): \(lane.text)")
      }
    }
  }

  @Test func `an arrow leads from the incoming operation to the one that it supersedes`() async {
    for scenario in Scenario.all {
      let timeline = await scenario.run()
      let picture = Picture(timeline.svg(in: .english))
      let labels = Dictionary(
        (picture.all("label") + picture.all("inBar")).map { ($0.number("y"), $0.content) },
        uniquingKeysWith: { first, _ in first })
      let superseded = timeline.lanes.filter { $0.superseder != nil }
      let expected = superseded.map { lane in
        "\(lane.superseder.map { timeline.lanes[$0].text } ?? "") > \(lane.text)"
      }
      // The last one stands in the legend.
      let arrows = zip(picture.all("arrow"), picture.all("head")).prefix(superseded.count)
      let drawn = arrows.map { arrow, head in
        "\(labels[arrow.path[1] + 5] ?? "") > \(labels[head.path[1] - 7] ?? "")"
      }
      #expect(drawn == expected, "\(scenario.name)")
      #expect(picture.all("arrow").count == (superseded.isEmpty ? 0 : superseded.count + 1))
    }
  }

  @Test func `the last row is what then received`() async throws {
    for scenario in Scenario.all {
      for language in Language.allCases {
        let timeline = await scenario.run()
        let picture = Picture(timeline.svg(in: language))
        let words = Words.shown[language].replacing("`", with: "")
        let title = try #require(picture.texts.first { $0.content == words })
        let row = picture.texts.filter { $0.number("y") == title.number("y") }.dropFirst()
        let verdict = timeline.staleLane == nil ? "" : Words.stale[language]
        #expect(row.map(\.content).joined() == timeline.shown.joined(separator: ", ") + verdict)
      }
    }
  }

  @Test func `the keystrokes stand on top, each at its time`() async {
    for scenario in Scenario.compared {
      let picture = Picture(await scenario.run().svg(in: .english))
      let keys = picture.all("label").prefix(5)
      #expect(keys.map(\.content) == ["s", "sw", "swi", "swif", "swift"])
      #expect(Set(keys.map { $0.number("y") }).count == 1)
      for (key, next) in zip(keys, keys.dropFirst()) {
        #expect(key.extent.upperBound + 4 < next.extent.lowerBound, "\(scenario.name)")
      }
    }
  }

  @Test func `the two lines of a suspension say what they are`() async {
    let picture = Picture(await Scenario.suspension.run().svg(in: .spanish))
    let lines = picture.all("cursor").map { $0.path[0] }
    let words = ["suspend()", "resume()"].map { word in
      picture.texts.first { $0.content == word }?.extent.lowerBound
    }
    #expect(words == lines.map { $0 + 6 })
  }

  @Test func `a bar shows when the queue is busy`() async {
    let timeline = await Scenario.busyQueue.run()
    let picture = Picture(timeline.svg(in: .english, showsBusy: true))
    // The very last one is the last response.
    let bars = picture.all("last").dropLast()
    #expect(timeline.busy.count == 2)
    #expect(picture.texts.count { $0.content == "isBusy" } == 2)
    #expect(bars.map { $0.number("x") }.first == picture.all("running").first?.number("x"))
    let end = picture.all("running").map { $0.number("x") + $0.number("width") }.dropLast().last
    #expect(bars.map { $0.number("x") + $0.number("width") }.last == end)
  }

  @Test func `the picture of a journal explains the signs of its rows, and no others`() async throws
  {
    let session = try await CrashedSession.run()
    for language in Language.allCases {
      let picture = Picture(session.svg(in: language))
      let rule = try #require(picture.all("rule").first).path[1]
      for (title, fate) in session.fates {
        let sign = fate == .inDoubt ? title + "?" : title
        let signs = picture.texts.filter { $0.content == sign }.map { $0.number("y") }
        #expect(signs.contains { $0 < rule } && signs.last.map { $0 > rule } == true, "\(sign)")
      }
      // One in each row, and one in the legend, whose rows also strike letters through.
      let cursors = picture.elements.filter { $0.has("ink") && $0.name == "path" }
      #expect(cursors.count == session.rows.count + 1)
    }
  }

  @Test func `a mark of a dropped operation stands at its time`() async throws {
    let timeline = await Scenario.dropWhileBusy.run()
    let picture = Picture(timeline.svg(in: .english))
    let keys = picture.all("label").prefix(5).map { $0.number("x") }
    // An arrow begins three to the left of its middle.
    #expect(picture.all("cancelled").map { $0.path[0] + 3 } == [keys[1], keys[2], keys[4]])
  }

  @Test func `whatever ends without success says so in its lane`() async {
    for scenario in Scenario.all {
      let timeline = await scenario.run()
      for language in Language.allCases {
        let said = Picture(timeline.svg(in: language)).texts.map(\.content)
        for lane in timeline.lanes where lane.outcome.mark != .succeeded {
          #expect(said.contains(lane.outcome.mark.name[language]))
        }
      }
    }
    #expect(Timeline.Lane.Mark.cancelled(.requested).name[.english] == "cancelled")
  }

  @Test func `six policies share their keystrokes, an axis and a legend`() async {
    var timelines: [Timeline] = []
    for scenario in Scenario.compared { timelines.append(await scenario.run()) }
    let picture = Picture(Comparison(timelines: timelines, language: .english, columns: 1).svg)
    let said = picture.texts.map(\.content)
    #expect(timelines.count == 6)
    for timeline in timelines {
      let code = timeline.scenario.code.replacing(".milliseconds(300)", with: "…")
      #expect(said.contains(code))
      #expect(timeline.lanes.map(\.text) == ["s", "sw", "swi", "swif", "swift"])
    }
    for once in ["each keystroke calls execute", "runs", "waits for a slot", "1 s"] {
      #expect(said.filter { $0 == once }.count == 1, "\(once)")
    }
    #expect(said.filter { $0 == "then shows" }.count == 6)
  }

  @Test func `a legend explains the shapes that occur, and no others`() async {
    let timelines = [await Scenario.keepLatest.run(), await Scenario.debounce.run()]
    let items = timelines.map { Legend(of: [$0], in: .english).items }
    #expect(items[0] == [.runs, .succeeded, .waits, .supersedes])
    #expect(items[1] == [.runs, .succeeded, .pauses, .supersedes])
    for (timeline, items) in zip(timelines, items) {
      let said = Picture(timeline.svg(in: .english)).texts.map(\.content)
      let explained = Legend.Item.allCases.filter { said.contains($0.name[.english]) }
      #expect(explained == items)
    }
  }

  @Test func `the animation moves only for readers who have not asked for less motion`()
    async throws
  {
    for drawing in try await Drawing.all() {
      let style = Picture(drawing.svg).style
      let parts = style.components(separatedBy: "@media (prefers-reduced-motion: no-preference) {")
      let isAnimated = Self.animated.contains { drawing.path.hasSuffix($0) }
      #expect(parts.count == (isAnimated ? 2 : 1))
      for word in ["animation", "@keyframes", "opacity", "transform"] {
        #expect(!parts[0].contains(word), "\(drawing.path)")
      }
    }
  }

  @Test func `the animation begins with the first keystroke and ends with the complete picture`()
    async throws
  {
    let picture = Picture(try await hero().svg())
    let frames = picture.style.split(separator: "\n").filter { $0.hasPrefix("@keyframes") }
    let moving = Set(picture.all("moves").compactMap { $0.styles.last })
    #expect(frames.count == moving.count && frames.count > 10)
    for name in moving { #expect(frames.contains { $0.hasPrefix("@keyframes \(name) ") }) }
    for frame in frames {
      let end = frame.hasPrefix("@keyframes while") ? ["0"] : ["1", "scaleX(1)"]
      #expect(end.contains { frame.hasSuffix("\($0); } }") })
      #expect(frame.contains("{ 0%, "))
    }
    #expect(picture.style.contains("s linear 3 both;"))
  }

  @Test func `the first picture shows its verdicts from the start`() async throws {
    let picture = Picture(try await hero().svg())
    let verdicts = picture.elements.filter { $0.has("onColor") || $0.has("fresh") }
    #expect(verdicts.count == 3 && verdicts.allSatisfy { !$0.has("moves") })
  }

  @Test func `an animated picture ends as the one that does not move`() async throws {
    let still = Picture(try await hero().svg(isAnimated: false))
    let animated = Picture(try await hero().svg())
    func shapes(_ picture: Picture) -> [[String]] {
      picture.elements.filter { $0.name != "style" }.map { element in
        element.attributes.filter { $0.key != "class" }.map { "\($0.key)=\($0.value)" }.sorted()
      }
    }
    #expect(shapes(still) == shapes(animated))
    #expect(still.all("passing").count == animated.all("passing").count)
  }

  @Test func `the first picture calls the answer of an older keystroke wrong`() async throws {
    for language in Language.allCases {
      let panels = try await Hero.run()
      let picture = Picture(Hero(panels: panels, language: language).svg())
      let said = picture.texts.map(\.content)
      #expect(panels.map(\.shown.last) == ["swif", "swift"])
      #expect(panels.map(\.staleLane) == [3, nil])
      #expect(said.count { $0.hasPrefix("✗") } == 1 && said.count { $0.hasPrefix("✓") } == 1)
      // The chip, and the bar of the search that came last.
      #expect(picture.all("stale").count == 2 && picture.all("fresh").count == 1)
    }
  }

  @Test func `tasks without a library take as long as operations without a limit`() async throws {
    #expect(try await Hero.run()[0].shown == (await Scenario.unlimited.run()).shown)
  }

  @Test func `a thumbnail has a bar for each body, and the name of its policy`() async {
    for scenario in Scenario.all {
      let timeline = await scenario.run()
      let thumbnail = Thumbnail(scenario: scenario, timeline: timeline)
      let picture = Picture(thumbnail.svg)
      let bars = picture.all("running") + picture.all("stale")
      #expect(bars.count == timeline.lanes.count { !$0.running.isEmpty }, "\(scenario.name)")
      #expect(picture.texts.map(\.content) == thumbnail.name)
    }
  }

  private func hero() async throws -> Hero {
    Hero(panels: try await Hero.run(), language: .english)
  }
}
