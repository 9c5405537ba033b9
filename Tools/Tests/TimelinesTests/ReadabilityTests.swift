import Foundation
import Testing
import UseCase

@testable import timelines

/// Whether everybody can read the pictures, on every screen.
struct ReadabilityTests {
  @Test func `a picture is well-formed, and follows the colour scheme`() async throws {
    for drawing in try await Drawing.all() {
      let picture = Picture(drawing.svg)
      #expect(picture.isWellFormed, "\(drawing.path)")
      #expect(picture.style.contains("prefers-color-scheme: dark"))
    }
  }

  @Test func `words have a contrast of 4.5 to 1 at least, in both schemes`() {
    for palette in [Palette.light, .dark] {
      for word in palette.words {
        #expect(contrast(word, palette.page) >= 4.5)
        #expect(contrast(word, palette.band) >= 4.5)
      }
      for verdict in [palette.red, palette.green] {
        #expect(contrast(palette.page, verdict) >= 4.5)
      }
      // In a bar and in the last row they have the colour of the page.
      #expect(contrast(palette.page, palette.blue) >= 4.5)
      #expect(contrast(palette.page, palette.ink) >= 4.5)
    }
  }

  @Test func `shapes have a contrast of 3 to 1 at least, in both schemes`() {
    for palette in [Palette.light, .dark] {
      for shape in palette.shapes {
        #expect(contrast(shape, palette.page) >= 3)
        #expect(contrast(shape, palette.band) >= 3)
      }
    }
  }

  @Test func `a picture has the colours of its palette, and no others`() async throws {
    let known = [Palette.light, .dark].flatMap { palette in
      palette.words + palette.shapes + [palette.page, palette.band]
    }
    for drawing in try await Drawing.all() {
      let used = drawing.svg.matches(of: #/#[0-9a-f]{6}\b/#).map { String($0.output) }
      #expect(Set(used).isSubset(of: known))
      #expect(!drawing.svg.contains("opacity: 0."))
    }
  }

  @Test func `at a width of 480 no word is smaller than 14 pixels`() async throws {
    // The wide one is for wide pages, which have the other one too. Two of half the width stand side
    // by side, and thumbnails on a sheet.
    let widths = [
      "policies-wide": 960, "/\(Hero.name)": SVG.halfWidth, "/\(UndoStory.name)": SVG.halfWidth,
      "/thumb-": Thumbnail.width, TutorialCard.name: TutorialCard.width,
    ]
    for drawing in try await Drawing.all() {
      let picture = Picture(drawing.svg)
      #expect(picture.smallestWord >= 14, "\(drawing.path)")
      #expect(picture.width == widths.first { drawing.path.contains($0.key) }?.value ?? SVG.width)
    }
  }

  @Test func `no words of a picture overlap, or leave it`() async throws {
    for drawing in try await Drawing.all() {
      #expect(Picture(drawing.svg).crowdedWords == [], "\(drawing.path)")
    }
  }

  @Test func `each state of an operation has a pattern of its own, whatever its colour`() async {
    let style = Picture(await Scenario.serial.run().svg(in: .english)).style
    let patterns = ["running", "waiting", "pausing", "unwinding"].map { state in
      style.components(separatedBy: ".\(state) {").last?.prefix { $0 != "}" }
        .replacing(#/var\(--\w+\)/#, with: "")
    }
    #expect(!patterns.contains(nil))
    #expect(Set(patterns).count == patterns.count)
  }

  @Test func `each mark has a shape and a letter of its own`() {
    let marks: [Timeline.Lane.Mark] = [
      .succeeded, .failed, .cancelled(.requested), .cancelled(.superseded), .cancelled(.dropped),
    ]
    let shapes = marks.map { mark in
      var svg = SVG(title: "")
      svg.mark(mark, 10, 10)
      return svg.source(height: 20).replacing(#/ class="[^"]*"/#, with: "")
    }
    #expect(Set(shapes).count == marks.count)
    #expect(Set(marks.map(\.letter)).count == marks.count)
  }

  @Test func `a Spanish picture shows the same runs, and no English word`() async throws {
    let english = [
      Words.keystrokes, Words.shown, Words.runs, Words.waits, Words.pauses, Words.unwinds,
      Words.supersedes, Words.suspended, Words.stale, UndoPool.applied, UndoPool.undone,
      UndoPool.cursor,
      CrashedSession.records, CrashedSession.openings, CrashedSession.crash,
      CrashedSession.Fate.applied.text, CrashedSession.Fate.inDoubt.text,
      Timeline.Lane.Mark.succeeded.name, Timeline.Lane.Mark.cancelled(.superseded).name,
    ].map { $0[.english].replacing("`", with: "") }
    let drawings = try await Drawing.all()
    for drawing in drawings where drawing.language == .spanish {
      let said = Picture(drawing.svg).texts.map(\.content)
      #expect(Set(said).isDisjoint(with: english), "\(drawing.path)")
      let twin = drawings.first { $0.path == drawing.path.replacing("-es.svg", with: ".svg") }
      let labels = [drawing, twin].map { $0.map { Picture($0.svg).all("inBar").map(\.content) } }
      #expect(labels[0] == labels[1], "\(drawing.path)")
    }
  }
}
