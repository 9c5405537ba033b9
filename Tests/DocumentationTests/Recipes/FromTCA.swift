import Observation
import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// The code of “Migrating from TCA effects”.
@Suite(.mustEnd) @MainActor
struct FromTCA {
  struct Offline: Error, CustomStringConvertible {
    let description = "You are offline."
  }

  struct Server: Sendable {
    func search(_ text: String) async throws -> [String] { [text] }
  }

  struct Search: UseCase {
    let server: Server
    let queue = UseCaseQueue(.cancelPrevious(debounce: .milliseconds(300)))

    func main(_ text: String) async throws -> [String] {
      try await server.search(text)
    }
  }

  @MainActor @Observable
  final class SearchModel {
    private(set) var titles: [String] = []
    private(set) var message = ""
    private let search: any UseCase<String, [String]>
    private let scope = UseCaseScope()

    init(search: any UseCase<String, [String]>) { self.search = search }

    @discardableResult
    func textChanged(_ text: String) -> UseCaseOperation<String, [String]> {
      search.execute(text)
        .then { [weak self] titles in self?.titles = titles }
        .catch { [weak self] error in
          self?.message = String(describing: error)
        }
        .store(in: scope)
    }
  }

  @Test func `handlers take the place of actions`() async throws {
    let search = ControlledUseCase<String, [String]>()
    let model = SearchModel(search: search)
    let operation = model.textChanged("em")
    try await search.next().succeed(["Emma"])
    try await operation.settled()
    #expect(model.titles == ["Emma"])

    let failing = model.textChanged("emm")
    try await search.next().fail(Offline())
    await failing.ended()
    #expect(model.message == "You are offline.")
  }

  @Test func `in an effect, a superseded search throws CancellationError`() async throws {
    let server = ControlledUseCase<String, [String]>(queue: UseCaseQueue(.cancelPrevious))
    let superseded = Task { try await server("e") }
    _ = try await server.next()
    let newest = Task { try await server("em") }
    await #expect(throws: CancellationError.self) { try await superseded.value }
    #expect(!superseded.isCancelled)
    try await server.next().succeed(["Emma"])
    #expect((try? await newest.value) == ["Emma"])
  }

  @Test func `the search waits for a pause`() async throws {
    let search = Search(server: Server())
    #expect(try await search("em") == ["em"])
  }
}
