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

  // A picture stands beside the pages that show it: only then its name alone, as a link, is right
  // in the documentation and on a code host.
  private static let pages = "Sources/UseCase/UseCase.docc/"
  private static let historyPages = "Sources/UseCaseHistory/UseCaseHistory.docc/"

  private static func folders(of pages: String, _ language: Language) -> [String] {
    switch language {
    case .english: [pages, pages + "Articles/"]
    case .spanish: [pages + "Articles/"]
    }
  }

  static func all() async -> [Drawing] {
    var drawings: [Drawing] = []
    func add(
      _ name: String, to folders: (Language) -> [String], text: (Language) -> String = { _ in "" },
      svg: (Language) -> String
    ) {
      for language in Language.allCases {
        for (index, folder) in folders(language).enumerated() {
          drawings.append(
            Drawing(
              path: "\(folder)\(name)\(language.suffix).svg", language: language,
              svg: svg(language), text: index == 0 ? text(language) : ""))
        }
      }
    }

    for scenario in Scenario.all {
      let timeline = await scenario.run()
      add("timeline-\(scenario.name)", to: { _ in [pages + "Articles/"] }) {
        timeline.text(in: $0)
      } svg: {
        timeline.svg(in: $0)
      }
    }
    let search = await Scenario.searchAsYouType.run()
    add("search-as-you-type", to: { folders(of: pages, $0) }) {
      search.svg(in: $0, isAnimated: true)
    }
    var compared: [Timeline] = []
    for scenario in Scenario.compared { compared.append(await scenario.run()) }
    for (name, columns) in [("policies", 1), ("policies-wide", 2)] {
      add(name, to: { _ in [pages + "Articles/"] }) {
        Comparison(timelines: compared, language: $0, columns: columns).svg
      }
    }
    let pool = await UndoPool.run()
    add(UndoPool.name, to: { folders(of: historyPages, $0) }) {
      pool.text(in: $0)
    } svg: {
      pool.svg(in: $0)
    }
    return drawings
  }

  private var url: URL { Self.root.appending(path: path) }

  var isWritten: Bool { (try? Data(contentsOf: url)) == Data(svg.utf8) }

  func write() throws {
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(svg.utf8).write(to: url)
  }
}
