import Foundation

/// The arguments on the command line.
struct Arguments: Equatable {
  var server: URL?
  var file = NSHomeDirectory() + "/.notes-example"
  var script: String?
  var timeout = Duration.seconds(10)
  var trouble = Trouble.Settings()
  var seed: UInt64?
  var keepsInterrupted = false
  /// Nil for commands that are typed.
  var command: Command?

  init(_ arguments: some Collection<String>) throws(Failure) {
    var rest = Array(arguments)[...]
    while let option = rest.first, option.hasPrefix("-") {
      rest.removeFirst()
      switch option {
      case "--help", "-h":
        command = .help
        return
      case "--server":
        let text = try Self.text(for: option, rest.popFirst())
        guard let url = URL(string: text), url.scheme == "http", url.host() != nil else {
          throw .usage("--server needs an address such as http://127.0.0.1:8080")
        }
        server = url
      case "--file": file = try Self.text(for: option, rest.popFirst())
      case "--script": script = try Self.text(for: option, rest.popFirst())
      case "--timeout": timeout = .seconds(try number(rest.popFirst(), option))
      case "--latency": trouble.latency = .milliseconds(try number(rest.popFirst(), option))
      case "--fail-next": trouble.failures = try number(rest.popFirst(), option)
      case "--offline": trouble.isOffline = true
      case "--kill-at": trouble.killAt = try number(rest.popFirst(), option)
      case "--keep": keepsInterrupted = true
      case "--seed": seed = UInt64(try number(rest.popFirst(), option))
      default: throw .usage("unknown option '\(option)'")
      }
    }
    guard let name = rest.popFirst() else { return }
    guard script == nil else { throw .usage("a script and a command are one too many") }
    command = try Command(name: name, rest: rest.joined(separator: " "))
  }

  private static func text(for option: String, _ text: String?) throws(Failure) -> String {
    guard let text, !text.isEmpty else { throw .usage("\(option) needs an argument") }
    return text
  }

  var cacheFile: String { "\(file)\(serverName).cache" }
  var historyFile: String { "\(file)\(serverName).history" }

  /// Notes of another server are other notes.
  private var serverName: String {
    server.map { ".\($0.host() ?? "")-\($0.port ?? 80)" } ?? ""
  }
}
