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
  private static let journalPages = "Sources/UseCaseJournal/UseCaseJournal.docc/"
  private static let testingPages = "Sources/UseCaseTesting/UseCaseTesting.docc/"

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
    }
    let search = await Scenario.searchAsYouType.run()
    add("search-as-you-type") {
      search.svg(in: $0, isAnimated: true)
    }
    var compared: [Timeline] = []
    for scenario in Scenario.compared { compared.append(await scenario.run()) }
    for (name, columns) in [("policies", 1), ("policies-wide", 2)] {
      add(name) {
        Comparison(timelines: compared, language: $0, columns: columns).svg
      }
    }
    let pool = await UndoPool.run()
    add(UndoPool.name, to: historyPages) {
      pool.text(in: $0)
    } svg: {
      pool.svg(in: $0)
    }
    let session = try await CrashedSession.run()
    add(CrashedSession.name, to: historyPages) {
      session.text(in: $0)
    } svg: {
      session.svg(in: $0)
    }
    let debounce = await Scenario.debounce.run()
    return drawings + [
      card("card-use-case", in: pages, cut(search.svg(in: .english), from: 82)),
      card("card-history", in: historyPages, cut(pool.svg(in: .english), from: 54)),
      card("card-journal", in: journalPages, cut(session.svg(in: .english), from: 54)),
      card("card-testing", in: testingPages, cut(debounce.svg(in: .english), from: 82)),
    ]
  }

  private static func card(_ name: String, in folder: String, _ svg: String) -> Drawing {
    Drawing(path: "\(folder)\(name).svg", language: .english, svg: svg, text: "")
  }

  /// The part of a picture that fits into a card, which cuts a little off its sides.
  private static func cut(_ svg: String, from top: Int) -> String {
    let size = /width="(\d+)" height="[\d.]+" viewBox="[^"]*"/
    return svg.replacing(size, maxReplacements: 1) { match in
      let (width, height) = (match.1, 268)
      return "width=\"\(width)\" height=\"\(height)\" viewBox=\"0 \(top) \(width) \(height)\""
    }
  }

  private var url: URL { Self.root.appending(path: path) }

  var isWritten: Bool { (try? Data(contentsOf: url)) == Data(svg.utf8) }

  func write() throws {
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(svg.utf8).write(to: url)
  }
}
