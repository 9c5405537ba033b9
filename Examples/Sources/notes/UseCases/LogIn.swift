import NotesWire
import Synchronization
import UseCase

/// Tries a token, keeps it if the server takes it, and answers with the notes.
struct LogIn: UseCase {
  let credentials: Credentials
  let listNotes: ListNotes
  let queue = UseCaseQueue(.cancelPreviousAndWait)

  func main(_ token: String) async throws -> [Note] {
    let before = credentials.token
    credentials.token = token
    do {
      return try await listNotes(())
    } catch {
      credentials.token = before
      throw error
    }
  }
}

/// The token that the server is sent with each request.
final class Credentials: Sendable {
  private let content: Mutex<String?>

  init(token: String? = nil) {
    content = Mutex(token)
  }

  var token: String? {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }
}
