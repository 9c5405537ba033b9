import Foundation
import LocalServer
import Synchronization

/// Answers the requests of the page.
///
/// | request          | answer                                                            |
/// |------------------|-------------------------------------------------------------------|
/// | `GET /`          | the page; its other files have their names                        |
/// | `GET /events`    | opens a session, and sends its events for as long as it is watched |
/// | `POST /keys`     | the texts that were typed                                         |
/// | `POST /weather`  | how slow and how bad the answers are from now on                  |
/// | `POST /policy`   | the policy of the row that is put together                        |
/// | `POST /clear`    | cancels everything                                                |
/// | `POST /undo`     | a change of the lists, an undo or a redo                          |
final class Site: Sendable {
  /// A page in each of a few tabs.
  static let capacity = 16

  private let page: PageFiles
  private let sessions = Mutex<[String: Session]>([:])

  init(page: PageFiles) {
    self.page = page
  }

  var sessionCount: Int { sessions.withLock { $0.count } }

  func reply(to request: HTTPRequest) throws(HTTPAnswer) -> HTTPReply {
    let path = String(request.target.prefix { $0 != "?" })
    switch path {
    case "/events":
      try Self.expect("GET", request)
      return .events(try open())
    case "/keys": return .whole(try take(request) { (body: Keys) in .type(body.texts) })
    case "/weather": return .whole(try take(request) { (body: Weather) in .change(body) })
    case "/policy":
      return .whole(try take(request) { (body: ComposedPolicy) in .compose(body) })
    case "/clear": return .whole(try take(request) { (_: Nothing) in .clear })
    case "/undo": return .whole(try take(request) { (body: UndoRequest) in .undo(body) })
    default:
      guard let file = page.file(at: path) else { throw HTTPAnswer(404, "there is no such page") }
      try Self.expect("GET", request)
      let headers = [
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
        // Nothing from elsewhere, and in no page of somebody else.
        "Content-Security-Policy":
          "default-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
      ]
      return .whole(HTTPAnswer(200, file.data, type: file.type, headers: headers))
    }
  }

  private func open() throws(HTTPAnswer) -> Watch {
    let session = Session()
    let isOpen = sessions.withLock { sessions in
      guard sessions.count < Self.capacity else { return false }
      sessions[session.id] = session
      return true
    }
    guard isOpen else { throw HTTPAnswer(503, "there are \(Self.capacity) pages already") }
    session.begin()
    return Watch(site: self, session: session)
  }

  fileprivate func close(_ session: Session) {
    sessions.withLock { $0[session.id] = nil }
    session.end()
  }

  /// Hands the body of a request to the session that it names.
  private func take<Body: Decodable & Checked>(
    _ request: HTTPRequest, _ command: (Body) -> Session.Command
  ) throws(HTTPAnswer) -> HTTPAnswer {
    try Self.expect("POST", request)
    let type = request.headers["content-type"]?.prefix { $0 != ";" }.lowercased()
    guard type == "application/json" else { throw HTTPAnswer(415, "send application/json") }
    guard let id = request.headers["x-session"] else { throw .bad("there is no header X-Session") }
    guard let session = sessions.withLock({ $0[id] }) else {
      throw HTTPAnswer(404, "this session is over")
    }
    guard let body = try? JSONDecoder().decode(Body.self, from: Data(request.body)) else {
      throw .bad("the body is not what \(request.target) takes")
    }
    if let complaint = body.complaint { throw HTTPAnswer(422, complaint) }
    guard session.send(command(body)) else {
      throw HTTPAnswer(429, "too much at the same time")
    }
    return HTTPAnswer(204)
  }

  private static func expect(_ method: String, _ request: HTTPRequest) throws(HTTPAnswer) {
    guard request.method == method else {
      throw HTTPAnswer(405, "here one can \(method)", headers: ["Allow": method])
    }
  }
}

/// The body of a request, which can be of the right form and still make no sense.
protocol Checked {
  /// A sentence about what is wrong with it.
  var complaint: String? { get }
}

private struct Keys: Decodable, Checked {
  let texts: [String]

  var complaint: String? {
    guard texts.count <= 200 else { return "at most 200 texts at a time" }
    guard texts.allSatisfy({ $0.utf8.count <= Keystroke.longestText }) else {
      return "a text may have \(Keystroke.longestText) bytes"
    }
    return nil
  }
}

private struct Nothing: Decodable, Checked {
  var complaint: String? { nil }
}

/// The connection that shows the events of a session, whose end is the end of the session.
private struct Watch: EventFeed {
  let site: Site
  let session: Session

  func take(until deadline: Date) -> String? { session.log.take(until: deadline) }

  func close() { site.close(session) }
}
