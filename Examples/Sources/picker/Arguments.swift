/// The arguments on the command line.
struct Arguments: Equatable {
  /// Where the keys come from, if not from the keyboard.
  var script: String?

  /// Where the line is kept.
  var file: String?

  var asksForHelp = false

  init(_ arguments: some Collection<String>) throws(Failure) {
    if arguments.contains("--help") || arguments.contains("-h") {
      asksForHelp = true
      return
    }
    var rest = arguments[...]
    while let option = rest.popFirst() {
      switch option {
      case "--script": script = try Self.name(for: option, rest.popFirst())
      case "--file": file = try Self.name(for: option, rest.popFirst())
      default: throw .usage("unknown argument '\(option)'")
      }
    }
  }

  private static func name(for option: String, _ name: String?) throws(Failure) -> String {
    guard let name, !name.isEmpty else { throw .usage("\(option) needs the name of a file") }
    return name
  }
}

/// Why something cannot be done, in words for whoever asked for it.
struct Failure: Error, Equatable, CustomStringConvertible {
  let message: String
  var exitCode: Int32 = 1

  var description: String { message }

  static func usage(_ message: String) -> Failure {
    Failure(message: "\(message) (see picker --help)", exitCode: 2)
  }
}
