import Foundation

@main
struct Main {
  private static let help = """
    usage: timelines [--text | --check]

    Runs the same calls through queues of every policy, and a history, on a clock that is not
    real, and draws what their observers saw into the documentation.

      --text    print the drawings instead
      --check   change nothing, and fail if a picture is not what would be drawn
      --help    print this.
    """

  static func main() async throws {
    switch CommandLine.arguments.dropFirst() {
    case []:
      for drawing in await Drawing.all() { try drawing.write() }
    case ["--text"]:
      print(await Drawing.all().map(\.text).joined(separator: "\n"))
    case ["--check"]:
      let stale = await Drawing.all().filter { !$0.isWritten }
      for drawing in stale { print("\(drawing.path) is not what is drawn now:\n\n\(drawing.text)") }
      if !stale.isEmpty { exit(1) }
    case ["--help"]:
      print(help)
    default:
      FileHandle.standardError.write(Data((help + "\n").utf8))
      exit(2)
    }
  }
}

/// One picture, in both forms.
struct Drawing: Equatable, Sendable {
  /// Where it stands, seen from the root of the repository.
  let path: String
  let svg: String
  let text: String

  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func all() async -> [Drawing] {
    var drawings: [Drawing] = []
    for scenario in Scenario.all {
      let timeline = await scenario.run()
      drawings.append(
        Drawing(
          path: "Sources/UseCase/UseCase.docc/Resources/timeline-\(scenario.name).svg",
          svg: timeline.svg, text: timeline.text))
    }
    let pool = await UndoPool.run()
    drawings.append(
      Drawing(
        path: "Sources/UseCaseHistory/UseCaseHistory.docc/Resources/\(UndoPool.name).svg",
        svg: pool.svg, text: pool.text))
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
