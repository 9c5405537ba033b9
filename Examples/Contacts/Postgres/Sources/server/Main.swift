import Foundation
import SharedBook

/// A server of the book in the database whose address is the argument. Each line of the standard
/// input is the request of a client, and gets a line as its answer.
@main
struct Main {
  static func main() async {
    do {
      let book = try await SharedBook(CommandLine.arguments.dropFirst().joined(separator: " "))
      while let line = readLine() {
        do {
          print(try await answer(line.split(separator: " ").map(String.init), book))
        } catch let error as Database.Failure where error.isLost {
          throw error
        } catch {
          print("error: \("\(error)".replacing("\n", with: " "))")
        }
        fflush(nil)
      }
    } catch {
      FileHandle.standardError.write(Data("server: \(error)\n".utf8))
      exit(1)
    }
  }

  private static func answer(_ words: [String], _ book: SharedBook) async throws -> String {
    switch (words.first, words.dropFirst().map { $0 }) {
    case ("add", let rest) where rest.count == 1: return "added \(try await book.add(rest[0]))"
    case ("import", let names) where !names.isEmpty:
      try await book.import(names)
      return "imported"
    case ("rename", let rest) where rest.count == 2:
      try await book.rename(rest[0], to: rest[1])
      return "renamed"
    case ("undo", []): return try await book.undo().map { "undone: \($0)" } ?? "nothing"
    case ("redo", []): return try await book.redo().map { "redone: \($0)" } ?? "nothing"
    default: return "add NAME, import NAME…, rename ID NAME, undo or redo"
    }
  }
}
