import Foundation

/// The front end for a person: a prompt, a line that moves, and Ctrl-C.
@MainActor
final class Interactive: Output {
  private var progress = ""

  func run(_ session: Session) async {
    say("help for help, Ctrl-C to stop a command or to quit\n")
    _ = await session.perform(.list)
    say("notes> ")
    for await line in lines() {
      do throws(Failure) {
        let command = line.allSatisfy(\.isWhitespace) ? nil : try Command(line: line)
        if command == .quit { return }
        if let command {
          show(progress: "…")
          _ = await session.perform(command)
        }
      } catch {
        show(failure: error.message)
      }
      clearProgress()
      say("notes> ")
    }
    say("\n")
  }

  func show(known lines: [String]) -> Bool {
    show(lines)
    show(progress: "Asking the server")
    return true
  }

  func show(_ lines: [String]) {
    clearProgress()
    say(lines.map { $0 + "\n" }.joined())
  }

  func show(progress: String) {
    say("\r\u{1B}[K\(progress)")
    self.progress = progress
  }

  func show(failure: String) {
    show([failure])
  }

  /// Shows a line above the progress, from any thread.
  nonisolated static func tell(_ line: String) {
    Standard.output("\r\u{1B}[K\(line)")
  }

  private func clearProgress() {
    if !progress.isEmpty { show(progress: "") }
  }

  private func say(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  private nonisolated func lines() -> AsyncStream<String> {
    AsyncStream { continuation in
      Thread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }.start()
    }
  }
}
