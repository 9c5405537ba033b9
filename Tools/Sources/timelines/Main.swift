import Foundation

@main
struct Main {
  private static let help = """
    usage: timelines [--text [LANGUAGE] | --trace | --check]

    Runs the same calls through queues of every policy, and histories, on a clock that is not
    real, and draws what their observers saw into the documentation, in every language.

      --text    print the drawings instead, in English (en) or in Spanish (es)
      --trace   print what an observer sees of a purchase, as a tree with times
      --check   change nothing, and fail if a picture is not what would be drawn
      --help    print this.
    """

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch (arguments.first, arguments.dropFirst().first) {
    case (nil, _):
      for drawing in try await Drawing.all() { try drawing.write() }
    case ("--text", nil):
      try await printText(in: .english)
    case ("--text", let name?):
      guard let language = Language(rawValue: name) else { fail() }
      try await printText(in: language)
    case ("--trace", nil):
      print(try await Purchase.trace(), terminator: "")
    case ("--check", nil):
      let stale = try await Drawing.all().filter { !$0.isWritten }
      for drawing in stale { print("\(drawing.path) is not what is drawn now:\n\n\(drawing.text)") }
      if !stale.isEmpty { exit(1) }
    case ("--help", nil):
      print(help)
    default:
      fail()
    }
  }

  private static func printText(in language: Language) async throws {
    let drawings = try await Drawing.all().filter { $0.language == language && !$0.text.isEmpty }
    print(drawings.map(\.text).joined(separator: "\n"))
    print(Timeline.textLegend(in: language))
  }

  private static func fail() -> Never {
    FileHandle.standardError.write(Data((help + "\n").utf8))
    exit(2)
  }
}
