import Foundation

/// The front end for programs: results and failures in two streams, and an exit code.
@MainActor
final class Batch: Output {
  private let write: (String) -> Void
  private let writeFailure: (String) -> Void
  /// A script shows all; a command shows what was known before only if there is nothing better.
  let isScript: Bool
  private var known: [String] = []

  init(
    isScript: Bool, write: @escaping (String) -> Void = Standard.output,
    writeFailure: @escaping (String) -> Void = Standard.error
  ) {
    self.isScript = isScript
    self.write = write
    self.writeFailure = isScript ? write : writeFailure
  }

  /// Returns the exit code.
  func run(_ command: Command, _ session: Session) async -> Int32 {
    await session.perform(command) ? 0 : 1
  }

  /// Carries out lines until one does not do what it should. Returns the exit code.
  func run(script: String, _ session: Session) async -> Int32 {
    for line in script.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
      write("> \(line)")
      do throws(Failure) {
        let mustFail = line.hasPrefix("!")
        let command = try Command(line: String(mustFail ? line.dropFirst() : line))
        if command == .quit { return 0 }
        if await session.perform(command) == mustFail { return 1 }
      } catch {
        writeFailure(error.message)
        return error.exitCode
      }
    }
    return 0
  }

  func show(known lines: [String]) -> Bool {
    if isScript { write((["Known:"] + lines).joined(separator: "\n")) } else { known = lines }
    return isScript
  }

  func show(_ lines: [String]) {
    known = []
    for line in lines { write(line) }
  }

  func show(progress: String) {
    if isScript { write(progress) }
  }

  func show(failure: String) {
    show(known)
    writeFailure(failure)
  }
}

/// Writes lines at once, from any thread.
enum Standard {
  static func output(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }

  static func error(_ line: String) {
    FileHandle.standardError.write(Data("notes: \(line)\n".utf8))
  }
}
