import Foundation

/// One picture, as a file and for a terminal.
struct Drawing: Equatable, Sendable {
  /// Where it stands, seen from the root of the repository.
  let path: String
  let language: Language
  let svg: String

  /// The same in letters, for the pictures that have not been drawn in another form already.
  let text: String

  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static let pages = "Sources/UseCase/UseCase.docc/Articles/"
  private static let historyPages = "Sources/UseCaseHistory/UseCaseHistory.docc/Articles/"
  private static let journalPages = "Sources/UseCaseJournal/UseCaseJournal.docc/Articles/"
  private static let testingPages = "Sources/UseCaseTesting/UseCaseTesting.docc/Articles/"

  static func all() async throws -> [Drawing] {
    var drawings: [Drawing] = []
    func add(
      _ name: String, to folder: String = pages, text: (Language) -> String = { _ in "" },
      svg: (Language) -> String
    ) {
      for language in Language.allCases {
        drawings.append(
          Drawing(
            path: "\(folder)\(name)\(language.suffix).svg", language: language,
            svg: svg(language), text: text(language)))
      }
    }

    for scenario in Scenario.all {
      let timeline = await scenario.run()
      add("timeline-\(scenario.name)") {
        timeline.text(in: $0)
      } svg: {
        timeline.svg(in: $0)
      }
      drawings.append(
        english(
          "thumb-\(scenario.name)", in: pages,
          Thumbnail(scenario: scenario, timeline: timeline).svg))
    }
    let panels = try await Hero.run()
    add(Hero.name) {
      Hero(panels: panels, language: $0).svg()
    }
    let search = await Scenario.cancelPrevious.run()
    var compared: [Timeline] = []
    for scenario in Scenario.compared { compared.append(await scenario.run()) }
    for (name, columns) in [("policies", 1), ("policies-wide", 2)] {
      add(name) {
        Comparison(timelines: compared, language: $0, columns: columns).svg
      }
    }
    let story = await UndoStory.run()
    add(UndoStory.name, to: historyPages) {
      story.text(in: $0)
    } svg: {
      story.svg(in: $0)
    }
    let documents = await UndoPool.documents()
    add(documents.name, to: historyPages) {
      documents.text(in: $0)
    } svg: {
      documents.svg(in: $0)
    }
    let pool = await UndoPool.run()
    let session = try await CrashedSession.run()
    add(CrashedSession.name, to: historyPages) {
      session.text(in: $0)
    } svg: {
      session.svg(in: $0)
    }
    let controlled = try await ControlledSearch.run()
    let tutorial = TutorialCard(search: await Scenario.superseded.run(), pool: pool)
    let busy = await Scenario.busyQueue.run().svg(in: .english, showsBusy: true)
    return drawings + [
      english("card-use-case", in: pages, search.card),
      english("card-history", in: historyPages, pool.card),
      english("card-journal", in: journalPages, session.card),
      english("card-testing", in: testingPages, controlled.card),
      english(TutorialCard.name, in: pages, tutorial.svg),
      english(Scenario.busyQueue.name, in: pages, busy),
      english(OptimisticHeart.name, in: pages, await OptimisticHeart.run().svg()),
      english(ControlledSearch.name, in: testingPages, controlled.svg()),
      // DocC shows only the pictures of a page's own catalog, and copies a symbolic link as one.
      english(ControlledSearch.name, in: pages, controlled.svg()),
      english(UndoStory.name, in: pages, story.svg(in: .english)),
      english(CrashedSession.name, in: journalPages, session.svg(in: .english)),
    ]
  }

  /// A picture for pages that are in English only.
  private static func english(_ name: String, in folder: String, _ svg: String) -> Drawing {
    Drawing(path: "\(folder)\(name).svg", language: .english, svg: svg, text: "")
  }

  private var url: URL { Self.root.appending(path: path) }

  var isWritten: Bool { (try? Data(contentsOf: url)) == Data(svg.utf8) }

  func write() throws {
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(svg.utf8).write(to: url)
  }
}
