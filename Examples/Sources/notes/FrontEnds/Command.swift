import Foundation

/// A command of a person, in one line or on the command line.
enum Command: Hashable, Sendable {
  case list
  case show(String)
  case new(String)
  case edit(String, String)
  case remove(String)
  case restore(String)
  case type([String], String)
  case rows([String])
  case importFile(String)
  case logIn(String)
  case undo, redo, history, forget
  case offline(Bool)
  case latency(Int)
  case fail(Int)
  case help, quit

  init(line: String) throws(Failure) {
    let line = line.trimmingCharacters(in: .whitespaces)
    let name = line.prefix { $0 != " " }
    let rest = line.dropFirst(name.count).trimmingCharacters(in: .whitespaces)
    try self.init(name: String(name), rest: rest)
  }

  init(name: String, rest: String) throws(Failure) {
    let first = String(rest.prefix { $0 != " " })
    let text = rest.dropFirst(first.count).trimmingCharacters(in: .whitespaces)
    switch name {
    case "show": self = .show(try Self.only(first, text, name, "ID"))
    case "new": self = .new(try Self.some(rest, name, "TEXT"))
    case "edit": self = .edit(first, try Self.some(text, name, "ID TEXT"))
    case "remove": self = .remove(try Self.only(first, text, name, "ID"))
    case "restore": self = .restore(try Self.only(first, text, name, "ID"))
    case "type":
      let ids = first.split(separator: ",").map(String.init)
      self = .type(ids, try Self.some(text, name, "ID,ID… TEXT"))
    case "rows":
      self = .rows(try Self.some(rest, name, "ID ID…").split(separator: " ").map(String.init))
    case "import": self = .importFile(try Self.some(rest, name, "FILE"))
    case "login": self = .logIn(try Self.some(rest, name, "TOKEN"))
    case "latency": self = .latency(try number(rest, name))
    case "fail": self = .fail(try number(rest, name))
    default:
      guard let command = Self.plain[name] else {
        throw .usage("unknown command '\(Words.printable(name))'")
      }
      guard rest.isEmpty else { throw .usage("\(name) stands alone") }
      self = command
    }
  }

  private static let plain: [String: Command] = [
    "list": .list, "undo": .undo, "redo": .redo, "history": .history, "forget": .forget,
    "offline": .offline(true), "online": .offline(false), "help": .help, "quit": .quit,
  ]

  private static func some(
    _ text: String, _ name: String, _ what: String
  ) throws(Failure) -> String {
    guard !text.isEmpty else { throw .usage("write: \(name) \(what)") }
    return text
  }

  private static func only(
    _ word: String, _ rest: String, _ name: String, _ what: String
  ) throws(Failure) -> String {
    try some(rest.isEmpty ? word : "", name, what)
  }
}

/// Reads a number of an option or a command.
func number(_ text: String?, _ name: String) throws(Failure) -> Int {
  guard let number = text.flatMap({ Int($0) }), (0...1_000_000).contains(number) else {
    throw .usage("\(name) needs a number from 0 to 1000000")
  }
  return number
}

/// Why something cannot be done, in words for whoever asked for it.
struct Failure: Error, Hashable, CustomStringConvertible {
  let message: String
  var exitCode: Int32 = 1

  var description: String { message }

  static func usage(_ message: String) -> Failure {
    Failure(message: "\(message) (see help)", exitCode: 2)
  }
}
