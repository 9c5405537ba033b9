import Foundation
import LocalServer
import NotesWire

/// Answers requests for notes.
///
/// | request            | answer                                                             |
/// |--------------------|--------------------------------------------------------------------|
/// | `GET /notes`       | all notes                                                          |
/// | `GET /notes/ID`    | the note, and its tag as `ETag`                                    |
/// | `PUT /notes/ID`    | the note; needs `If-None-Match: *` to make it, `If-Match` to change |
/// | `DELETE /notes/ID` | nothing; needs `If-Match`                                          |
///
/// Each of them can be sent again when its answer was lost.
struct NotesService: Sendable {
  let store: Store

  /// The token that a request has to have, if any.
  let token: String?

  func answer(_ request: HTTPRequest) throws(HTTPAnswer) -> HTTPAnswer {
    guard token == nil || request.headers["authorization"] == token.map({ "Bearer \($0)" }) else {
      throw HTTPAnswer(401, "log in first", headers: ["WWW-Authenticate": "Bearer"])
    }
    let path = request.target.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    guard path.first == "notes", path.count <= 2 else {
      throw HTTPAnswer(404, "there is no such page")
    }
    guard path.count == 2 else {
      guard request.method == "GET" else { throw .notAllowed("GET") }
      return try HTTPAnswer(200, json: store.notes)
    }
    guard Note.isValid(id: path[1]) else { throw .bad("an id is made of a to z and 0 to 9") }
    let id = String(path[1])
    switch request.method {
    case "GET":
      guard let note = store.note(id) else { throw HTTPAnswer(404, "there is no such note") }
      return try HTTPAnswer(200, json: note, tag: note.tag)
    case "PUT":
      guard let note = try? JSONDecoder().decode(Note.self, from: Data(request.body)) else {
        throw .bad("the body is not a note")
      }
      guard note.id == id else { throw .bad("the id in the body is another one") }
      let expectation = try expectation(of: request)
      let isNew = try change { () throws(Store.Refusal) in try store.put(note, over: expectation) }
      return try HTTPAnswer(isNew ? 201 : 200, json: note, tag: note.tag)
    case "DELETE":
      let expectation = try expectation(of: request)
      try change { () throws(Store.Refusal) in try store.delete(id, over: expectation) }
      return HTTPAnswer(204)
    default:
      throw .notAllowed("GET, PUT, DELETE")
    }
  }

  private func expectation(of request: HTTPRequest) throws(HTTPAnswer) -> Store.Expectation {
    if request.headers["if-none-match"] == "*" { return .absent }
    guard let tag = request.headers["if-match"], tag.count > 2, tag.first == "\"", tag.last == "\""
    else { throw HTTPAnswer(428, "say what is to be changed, with If-Match or If-None-Match: *") }
    return .tag(String(tag.dropFirst().dropLast()))
  }

  private func change<Result>(
    _ body: () throws(Store.Refusal) -> Result
  ) throws(HTTPAnswer) -> Result {
    do {
      return try body()
    } catch {
      switch error {
      case .changed: throw HTTPAnswer(412, "the note is another one by now")
      case .full: throw HTTPAnswer(507, "there are \(Store.capacity) notes already")
      case .unwritable: throw HTTPAnswer(500, "the file cannot be written")
      }
    }
  }
}

extension HTTPAnswer {
  fileprivate static func notAllowed(_ methods: String) -> HTTPAnswer {
    HTTPAnswer(405, "here one can \(methods)", headers: ["Allow": methods])
  }
}
