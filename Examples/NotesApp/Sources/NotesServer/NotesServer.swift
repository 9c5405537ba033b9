package import Foundation
package import LocalServer
package import NotesModels
import Synchronization

/// A server of notes, slow and failing as it is told.
///
/// | request | answer |
/// |---|---|
/// | `GET /notes?before=ID` | the twenty notes before this one, the newest first |
/// | `GET /notes?text=TEXT` | the newest twenty that contain the text |
/// | `PUT /notes/ID` | keeps the note, unless it has a newer version |
/// | `GET /favorites` | the ids of the favorites |
/// | `PUT /favorites/ID` | true or false |
/// | `PUT /orders/KEY/parts/N` | keeps a part of an order |
/// | `PUT /orders/KEY/payment` | charges once for a key, and answers with the receipt |
package final class NotesServer: Sendable {
  package enum Trouble: Sendable {
    case none
    /// It is away: nothing is done.
    case refused
    /// It refuses the request, now and later.
    case refusedForGood
    /// All is done, and the answer is lost.
    case unanswered
  }

  package struct Content: Codable, Sendable {
    package var notes: [Note.ID: Note] = [:]
    package var favorites: Set<Note.ID> = []
    /// The texts of the parts, by the path of each.
    package var parts: [String: String] = [:]
    /// The paths of the orders that were charged.
    package var charges: [String] = []
  }

  private let file: URL?
  private let current: Mutex<Content>
  private let trouble: @Sendable (HTTPRequest) -> (Trouble, hold: @Sendable () -> Void)

  /// Creates a server, which keeps its notes in a file if there is one.
  ///
  /// `trouble` is asked about each request. What it returns holds the answer, for as long as it likes,
  /// when all else is done.
  package init(
    file: URL? = nil, notes: [Note],
    trouble: @escaping @Sendable (HTTPRequest) -> (Trouble, hold: @Sendable () -> Void)
  ) {
    (self.file, self.trouble) = (file, trouble)
    let kept = file.flatMap { try? Data(contentsOf: $0) }
    let content = kept.flatMap { try? JSONDecoder().decode(Content.self, from: $0) }
    let notes = Dictionary(uniqueKeysWithValues: notes.map { ($0.id, $0) })
    current = Mutex(content ?? Content(notes: notes))
  }

  package var content: Content { current.withLock { $0 } }

  package func answer(_ request: HTTPRequest) throws(HTTPAnswer) -> HTTPReply {
    let (trouble, hold) = trouble(request)
    defer { hold() }
    if case .refused = trouble { throw HTTPAnswer(503, "away") }
    if case .refusedForGood = trouble { throw HTTPAnswer(402, "refused") }
    let answer = try current.withLock { content throws(HTTPAnswer) in
      let answer = try Self.answer(request, &content)
      if let file, request.method == "PUT" {
        try? JSONEncoder().encode(content).write(to: file, options: .atomic)
      }
      return answer
    }
    if case .unanswered = trouble { throw HTTPAnswer(503, "the answer is lost") }
    return .whole(answer)
  }

  private static func answer(
    _ request: HTTPRequest, _ content: inout Content
  ) throws(HTTPAnswer) -> HTTPAnswer {
    let target = URLComponents(string: request.target)
    let path = (target?.path ?? "").split(separator: "/").map(String.init)
    let body = Data(request.body)
    switch (request.method, path.first, path.count) {
    case ("GET", "notes", 1):
      return try HTTPAnswer(200, json: notes(target?.queryItems?.first, in: content))
    case ("PUT", "notes", 2):
      let note: Note = try read(body)
      if note.version >= content.notes[note.id]?.version ?? 0 { content.notes[note.id] = note }
      return try HTTPAnswer(200, json: note)
    case ("GET", "favorites", 1):
      return try HTTPAnswer(200, json: content.favorites)
    case ("PUT", "favorites", 2):
      guard let id = Int(path[1]) else { throw .bad("an id is a number") }
      let isFavorite: Bool = try read(body)
      if isFavorite { content.favorites.insert(id) } else { content.favorites.remove(id) }
      return try HTTPAnswer(200, json: isFavorite)
    case ("PUT", "orders", 4):
      content.parts[request.target] = try read(body)
      return try HTTPAnswer(200, json: "kept")
    case ("PUT", "orders", 3):
      let title: String = try read(body)
      if !content.charges.contains(request.target) { content.charges.append(request.target) }
      return try HTTPAnswer(200, json: "Paid: a print of “\(title)”")
    default:
      throw HTTPAnswer(404, "there is no such page")
    }
  }

  private static func notes(_ query: URLQueryItem?, in content: Content) -> [Note] {
    let notes = content.notes.values.filter { !$0.isDeleted }.sorted { $0.id > $1.id }
    let found =
      switch query?.name {
      case "before": notes.filter { $0.id < Int(query?.value ?? "") ?? .max }
      case "text": notes.filter { $0.text.localizedCaseInsensitiveContains(query?.value ?? "") }
      default: notes
      }
    return Array(found.prefix(20))
  }

  private static func read<Value: Decodable>(_ body: Data) throws(HTTPAnswer) -> Value {
    guard let value = try? JSONDecoder().decode(Value.self, from: body) else {
      throw .bad("the body is something else")
    }
    return value
  }
}
