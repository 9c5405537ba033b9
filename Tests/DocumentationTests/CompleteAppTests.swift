import Foundation
import Observation
import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseTesting

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif
#if canImport(SwiftUI)
  import SwiftUI
#else
  import SwiftUIStub
#endif

/// The app of the page "A complete app".
enum CompleteApp {
  struct Book: Codable, Hashable, Identifiable, Sendable {
    let id: Int
    let title: String
  }

  enum ServerError: Error, Equatable, CustomStringConvertible {
    case offline
    case refused(Int)

    var description: String {
      switch self {
      case .offline: "You are offline."
      case .refused(let status): "The server answered with the status \(status)."
      }
    }
  }

  struct Server: Sendable {
    let root: URL
    var send: @Sendable (URLRequest) async throws -> (Data, URLResponse) = { request in
      try await URLSession.shared.data(for: request)
    }

    func call(_ method: String, _ url: URL) async throws -> Data {
      var request = URLRequest(url: url)
      request.httpMethod = method
      do {
        let (data, response) = try await send(request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard status == 200 else { throw ServerError.refused(status) }
        return data
      } catch let error as URLError where error.code == .notConnectedToInternet {
        throw ServerError.offline
      }
    }
  }

  struct FindBooks: UseCase {
    let server: Server
    let queue = UseCaseQueue(.cancelPrevious)
    let timeout = Duration.seconds(10)

    func main(_ text: String) async throws -> [Book] {
      let url = server.root.appending(path: "books")
        .appending(queryItems: [URLQueryItem(name: "title", value: text)])
      return try JSONDecoder().decode([Book].self, from: await server.call("GET", url))
    }
  }

  struct RemoveBook: UndoableUseCase {
    let server: Server

    func main(_ book: Book) async throws {
      _ = try await server.call("DELETE", url(of: book))
    }

    func undo(_ book: Book, _ response: Void) async throws {
      _ = try await server.call("PUT", url(of: book))
    }

    func title(for book: Book) -> String { "Remove “\(book.title)”" }

    private func url(of book: Book) -> URL {
      server.root.appending(path: "books/\(book.id)")
    }
  }

  @MainActor @Observable
  final class BooksModel {
    let search: UseCaseModel<FindBooks>
    let edits: HistoryModel
    private(set) var message: String?
    private var text = ""
    private let removal: RecordedUseCase<RemoveBook>

    init(server: Server) {
      let history = UseCaseHistory()
      search = UseCaseModel(FindBooks(server: server))
      removal = RemoveBook(server: server).recorded(in: history)
      edits = HistoryModel(history)
    }

    @discardableResult
    func find(_ text: String) -> UseCaseOperation<String, [Book]> {
      self.text = text
      return search.execute(text)
        .then { [weak self] _ in self?.message = nil }
        .catch { [weak self] error in self?.message = String(describing: error) }
    }

    @discardableResult
    func remove(_ book: Book) -> UseCaseOperation<Book, Void> {
      removal.execute(book)
        .then { [weak self] in self?.findAgain() }
        .catch { [weak self] error in self?.message = "Not removed. \(error)" }
    }

    @discardableResult
    func undo() -> UseCaseOperation<HistoryMove, HistoryEntry?> {
      edits.undo()
        .then { [weak self] _ in self?.findAgain() }
        .catch { [weak self] error in self?.message = "Not undone. \(error)" }
    }

    private func findAgain() { find(text) }
  }

  #if !os(tvOS)
    struct BooksView: View {
      @State var model: BooksModel
      @State private var text = ""

      var body: some View {
        NavigationStack {
          List(model.search.value ?? []) { book in
            Text(book.title)
              .swipeActions { Button("Remove") { model.remove(book) } }
          }
          .searchable(text: $text)
          .onChange(of: text, initial: true) { model.find(text) }
          .overlay { if model.search.isRunning { ProgressView() } }
          .safeAreaInset(edge: .bottom) {
            if let message = model.message { Text(message) }
          }
          .toolbar {
            Button("Undo \(model.edits.undoTitle ?? "")") { model.undo() }
              .disabled(!model.edits.canUndo)
          }
        }
      }
    }
  #endif

  actor Shelf {
    private var books = [1: "Emma", 2: "Evelina"]
    private var isOffline = false

    func goOffline() { isOffline = true }

    func answer(_ request: URLRequest) throws -> (Data, URLResponse) {
      guard !isOffline, let url = request.url else { throw URLError(.notConnectedToInternet) }
      switch (request.httpMethod, Int(url.lastPathComponent)) {
      case ("DELETE", let id?): books[id] = nil
      case ("PUT", let id?): books[id] = "Emma"
      default: break
      }
      let found = books.map { Book(id: $0.key, title: $0.value) }.sorted { $0.id < $1.id }
      let response = HTTPURLResponse(
        url: url, statusCode: 200, httpVersion: nil, headerFields: nil)
      guard let response else { throw URLError(.badServerResponse) }
      return (try JSONEncoder().encode(found), response)
    }
  }
}

@Suite(.mustEnd)
struct CompleteAppTests {
  private typealias BooksModel = CompleteApp.BooksModel
  private typealias Server = CompleteApp.Server
  private typealias ServerError = CompleteApp.ServerError
  private typealias Shelf = CompleteApp.Shelf

  @Test @MainActor func `a removed book comes back, and being offline is said`() async throws {
    let shelf = Shelf()
    let root = try #require(URL(string: "https://books.example"))
    let model = BooksModel(
      server: Server(root: root) { request in try await shelf.answer(request) })

    try await model.find("E").settled()
    let emma = try #require(model.search.value?.first)
    try await model.remove(emma).settled()
    #expect(model.edits.undoTitle == "Remove “Emma”")
    try await model.undo().settled()
    try await model.find("E").settled()
    #expect(model.search.value?.map(\.title) == ["Emma", "Evelina"])

    await shelf.goOffline()
    try await model.remove(emma).settled()
    #expect(model.message == "Not removed. You are offline.")
    #expect(!model.edits.canUndo)
  }

  @Test func `the server tells what went wrong`() async throws {
    let root = try #require(URL(string: "https://books.example"))
    let server = Server(root: root) { request in
      let response = HTTPURLResponse(
        url: root, statusCode: 404, httpVersion: nil, headerFields: nil)
      return (Data(), try #require(response))
    }
    await #expect(throws: ServerError.refused(404)) { try await server.call("GET", root) }
    #expect("\(ServerError.refused(404))" == "The server answered with the status 404.")
  }
}
