import ContactBook
import Foundation

@main
struct Main {
  static func main() async {
    do {
      var arguments = CommandLine.arguments.dropFirst()
      var file = NSHomeDirectory() + "/.contacts.sqlite"
      if arguments.first == "--file" {
        arguments.removeFirst()
        guard let name = arguments.popFirst() else { throw BookError("--file needs a name.") }
        file = name
      }
      if arguments.isEmpty { return try await runLines(in: try await Book(file)) }
      let command = try Command(Array(arguments))
      if case .help = command { return print(Command.helpText) }
      let answer = try await command.run(in: try await Book(file), progress: tell)
      for line in answer { print(line) }
    } catch {
      tell("contacts: \(error)")
      exit(1)
    }
  }

  @Sendable
  private static func tell(_ text: String) {
    FileHandle.standardError.write(Data("\(text)\n".utf8))
  }

  /// Runs the commands of the standard input, one a line. The answer to each ends with an empty line.
  private static func runLines(in book: Book) async throws {
    while let line = readLine() {
      do {
        let words = try Command.words(line)
        if words.isEmpty { continue }
        let answer = try await Command(words).run(in: book, progress: tell)
        for text in answer { print(text) }
      } catch {
        print("contacts: \(error)")
      }
      print("")
      fflush(nil)
    }
  }
}
