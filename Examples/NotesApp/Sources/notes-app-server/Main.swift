import Foundation
import LocalServer
import NotesModels
import NotesServer
import Synchronization

/// The server of the app on this machine: slow, and every fifth change fails or loses its answer.
@main
struct Main {
  static func main() throws {
    let file = URL(filePath: NSHomeDirectory()).appending(path: ".notes-app-server.json")
    let notes = (1...100).map { Note(id: $0, text: "Note \($0)\nIt came from the server.") }
    let changes = Atomic(0)
    let server = NotesServer(file: file, notes: notes) { request in
      let slow = { @Sendable in Thread.sleep(forTimeInterval: .random(in: 0.1...1)) }
      guard request.method == "PUT" else { return (.none, slow) }
      switch changes.add(1, ordering: .relaxed).newValue % 10 {
      case 5: return (.refused, slow)
      case 0: return (.unanswered, slow)
      default: return (.none, slow)
      }
    }
    let listener = try Listener(port: 8090)
    print("The notes are at \(listener.address), and in \(file.path). Stop the server with Ctrl-C.")
    listener.run { request throws(HTTPAnswer) in try server.answer(request) }
  }
}
