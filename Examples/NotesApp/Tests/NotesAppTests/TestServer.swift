import Foundation
import LocalServer
import NotesModels
import NotesServer
import Synchronization
import UseCaseTesting

/// A real server on this machine. A test holds its answers and lets them fail.
final class TestServer: Sendable {
  let address: String
  private let server: NotesServer
  private let script = Script()

  init(_ notes: [Note] = []) throws {
    let listener = try Listener(port: 0)
    address = listener.address
    server = NotesServer(notes: notes) { [script] request in script.trouble(of: request) }
    Thread { [server] in
      listener.run { request throws(HTTPAnswer) in try server.answer(request) }
    }.start()
  }

  var content: NotesServer.Content { server.content }

  /// The requests that have come, such as `GET /notes?text=milk`.
  var requests: [String] { script.state.withLock { $0.requests } }

  /// Refuses everything that no moment is for, or nothing.
  func setAway(_ isAway: Bool) { script.state.withLock { $0.isAway = isAway } }

  /// Meets the next request that has this in it, and holds its answer, as it is then, until `answer()`.
  func hold(_ words: String, _ trouble: NotesServer.Trouble = .none) -> Moment {
    script.add(Moment(words, trouble))
  }

  /// Meets the next request that has this in it.
  func fail(_ words: String, _ trouble: NotesServer.Trouble) {
    script.add(Moment(words, trouble)).answer()
  }

  /// Forgets the moments that have not come.
  func forget() { script.state.withLock { $0.moments = [] } }

  /// A request that is still to come.
  final class Moment: Sendable {
    /// Opens when all is done but the answer.
    let arrived = Gate()
    fileprivate let words: String
    fileprivate let trouble: NotesServer.Trouble
    private let answers = DispatchSemaphore(value: 0)

    fileprivate init(_ words: String, _ trouble: NotesServer.Trouble) {
      (self.words, self.trouble) = (words, trouble)
    }

    func answer() { answers.signal() }

    fileprivate func hold() {
      arrived.open()
      answers.wait()
    }
  }

  private final class Script: Sendable {
    struct State {
      var moments: [Moment] = []
      var requests: [String] = []
      var isAway = false
    }

    let state = Mutex(State())

    func add(_ moment: Moment) -> Moment {
      state.withLock { $0.moments.append(moment) }
      return moment
    }

    func trouble(of request: HTTPRequest) -> (NotesServer.Trouble, hold: @Sendable () -> Void) {
      let line = "\(request.method) \(request.target)"
      let (moment, isAway) = state.withLock { state -> (Moment?, Bool) in
        state.requests.append(line)
        let index = state.moments.firstIndex { line.contains($0.words) }
        return (index.map { state.moments.remove(at: $0) }, state.isAway)
      }
      guard let moment else { return (isAway ? .refused : .none, {}) }
      return (moment.trouble, moment.hold)
    }
  }
}
