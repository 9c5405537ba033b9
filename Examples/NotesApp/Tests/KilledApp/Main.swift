import Foundation
import NotesModels
import UseCase
import UseCaseHistory

/// Runs the models of the app without its views: makes the edits that it reads, one a line, and
/// prints a line after each. The tests kill it.
@main
struct Main {
  @MainActor
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let server = URL(string: arguments[2]) else { exit(2) }
    let open = OpenNotes(in: URL(filePath: arguments[1]), server: .stubborn(server))
    let app = try await open(())
    while let line = readLine() {
      await Script.run(line, in: app)
      FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
  }
}
