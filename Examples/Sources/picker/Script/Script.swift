import Foundation

/// Keystrokes written down, so that a session can be repeated and its transcript compared.
struct Script {
  /// One line of a script.
  struct Step: Equatable {
    let line: String
    let action: Action
  }

  enum Action: Equatable {
    /// Presses keys. In a burst nobody waits for a search before the next key.
    case press([Key], isBurst: Bool)
    case resize(TerminalSize)
  }

  let steps: [Step]

  /// Reads a file, or standard input if there is none.
  init(contentsOf file: String?) throws(Failure) {
    let data =
      if let file {
        try? Data(contentsOf: URL(filePath: file))
      } else {
        try? FileHandle.standardInput.readToEnd() ?? Data()
      }
    let name = file ?? "standard input"
    guard let data else { throw Failure(message: "cannot read \(name)") }
    try self.init(data, name: name)
  }

  init(_ bytes: some Sequence<UInt8>, name: String) throws(Failure) {
    var steps: [Step] = []
    let lines = Array(bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (number, bytes) in zip(1..., lines) {
      let place = "\(name), line \(number)"
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw Failure(message: "\(place): this is not UTF-8")
      }
      let line = text.last == "\r" ? String(text.dropLast()) : text
      if line.isEmpty || line.hasPrefix("#") { continue }
      do {
        steps.append(Step(line: line, action: try Self.action(line)))
      } catch {
        throw Failure(message: "\(place): \(error.message)", exitCode: error.exitCode)
      }
    }
    self.steps = steps
  }

  private static func action(_ line: String) throws(Failure) -> Action {
    let space = line.firstIndex(of: " ") ?? line.endIndex
    let command = line[..<space]
    let text = line[space...].dropFirst()
    let words = text.split(separator: " ").map(String.init)
    switch command {
    case "type", "burst":
      return .press(text.unicodeScalars.map(Key.character), isBurst: command == "burst")
    case "press":
      return .press(try words.map(key), isBurst: false)
    case "bytes":
      var decoder = KeyDecoder()
      let keys = decoder.decode(try words.map(byte))
      return .press(keys + decoder.flush(), isBurst: false)
    case "size":
      return .resize(try size(words))
    default:
      throw .usage("unknown command '\(command)'")
    }
  }

  private static func key(_ name: String) throws(Failure) -> Key {
    guard let key = Key(named: name) else { throw .usage("unknown key '\(name)'") }
    return key
  }

  private static func byte(_ digits: String) throws(Failure) -> UInt8 {
    guard let byte = UInt8(digits, radix: 16) else { throw .usage("'\(digits)' is not a byte") }
    return byte
  }

  private static func size(_ words: [String]) throws(Failure) -> TerminalSize {
    let numbers = words.compactMap { Int($0) }.filter { (1...1000).contains($0) }
    guard words.count == 2, numbers.count == 2 else {
      throw .usage("size needs two numbers from 1 to 1000")
    }
    return TerminalSize(columns: numbers[0], rows: numbers[1])
  }
}
