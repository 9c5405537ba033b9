import Foundation
import LocalServer
import Synchronization

/// Answers the requests of the page.
///
/// | request          | answer                                                            |
/// |------------------|-------------------------------------------------------------------|
/// | `GET /`          | the page; its other files have their names                        |
/// | `GET /events`    | opens a session, or goes on with one, and sends its events         |
/// | `POST /keys`     | the texts that were typed                                         |
/// | `POST /weather`  | how slow and how bad the answers are from now on                  |
/// | `POST /policy`   | the policy of the row that is put together                        |
/// | `POST /clear`    | cancels everything                                                |
/// | `POST /undo`     | a change of the lists, an undo or a redo                          |
final class Site: Sendable {
  /// A page in each of a few tabs. A page that is hidden has no connection; the session that was
  /// opened first among those gives way to a new one.
  static let capacity = 16

  private let page: PageFiles
  private let sessions = Mutex<[Session]>([])

  init(page: PageFiles) {
    self.page = page
  }

  func reply(to request: HTTPRequest) throws(HTTPAnswer) -> HTTPReply {
    let path = String(request.target.prefix { $0 != "?" })
    switch path {
    case "/events":
      try Self.expect("GET", request)
      return .events(try open(String(request.target.dropFirst("/events?session=".count))))
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

  /// Goes on with the session of this name, or opens one if there is none.
  private func open(_ id: String) throws(HTTPAnswer) -> Watch {
    let session = if let known = session(id) { known } else { try open() }
    guard let reader = session.log.attach() else { throw HTTPAnswer(404, "this session is over") }
    return Watch(session: session, reader: reader)
  }

  private func open() throws(HTTPAnswer) -> Session {
    let session = Session()
    let (isOpen, old) = sessions.withLock { sessions -> (Bool, Session?) in
      var old: Session?
      if sessions.count == Self.capacity {
        guard let index = sessions.firstIndex(where: \.log.isIdle) else { return (false, nil) }
        old = sessions.remove(at: index)
      }
      sessions.append(session)
      return (true, old)
    }
    guard isOpen else { throw HTTPAnswer(503, "there are \(Self.capacity) pages already") }
    old?.end()
    session.begin()
    return session
  }

  private func session(_ id: String) -> Session? {
    sessions.withLock { $0.first { $0.id == id } }
  }

  /// Hands the body of a request to the session that it names.
  private func take<Body: Decodable & Checked>(
    _ request: HTTPRequest, _ command: (Body) -> Session.Command
  ) throws(HTTPAnswer) -> HTTPAnswer {
    try Self.expect("POST", request)
    let type = request.headers["content-type"]?.prefix { $0 != ";" }.lowercased()
    guard type == "application/json" else { throw HTTPAnswer(415, "send application/json") }
    guard let id = request.headers["x-session"] else { throw .bad("there is no header X-Session") }
    guard let session = session(id) else {
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

/// The connection that shows the events of a session.
private struct Watch: EventFeed {
  let session: Session
  let reader: Int

  func take(until deadline: Date) -> String? { session.log.take(until: deadline, by: reader) }

  func close() { session.log.detach(reader) }
}
