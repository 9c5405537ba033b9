import Observation
import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// The code of “Getting started”, and of its Spanish version.
@Suite(.mustEnd)
struct GettingStartedTests {
  @Test @MainActor func `only the newest search is shown`() async throws {
    let server = ControlledUseCase<String, [String]>()
    let search = SearchBooks { text in try await server(text) }
    let model = SearchModel(search: search)

    model.type("e")
    let stale = try await server.next()
    let newest = model.type("em")
    try await stale.cancelled()  // returns when the queue has cancelled the call

    try await server.next().succeed(["Emma"])
    try await newest.settled()
    #expect(model.titles == ["Emma"])
  }

  @Test func `the first use case finds two books`() async throws {
    let findBooks = FindBooks(catalog: ["Emma", "Evelina", "Belinda"])
    findBooks.execute("E")
      .then { titles in print(titles) }  // ["Emma", "Evelina"]
    let titles = try await findBooks("E")
    #expect(titles == ["Emma", "Evelina"])
  }

  @Test func `every outcome has a handler`() async {
    let findBooks = FindBooks(catalog: ["Emma", "Evelina", "Belinda"])
    let operation = findBooks.execute("E")
      .then { titles in print(titles) }
      .catch { error in print("Failed: \(error)") }
      .onCancel { reason in print("Cancelled: \(reason)") }
      .finally { print("Done") }  // after every outcome
    await operation.ended()
    #expect((try? operation.outcome?.get()) == ["Emma", "Evelina"])
  }

  @Test func `an operation has an outcome when cancel has returned`() {
    let findBooks = FindBooks(catalog: ["Emma", "Evelina", "Belinda"])
    let search = findBooks.execute("E")
    search.cancel()
    #expect(search.outcome != nil)
  }

  @Test func `the model works with the real search, too`() async {
    let model = await SearchModel(search: SearchBooks { text in ["\(text)!"] })
    await model.type("Emma").ended()
    #expect(await model.titles == ["Emma!"])
  }

  struct FindBooks: UseCase {
    let catalog: [String]

    func main(_ text: String) async throws -> [String] {
      catalog.filter { title in title.contains(text) }
    }
  }

  struct SearchBooks: UseCase {
    let askServer: @Sendable (String) async throws -> [String]
    let queue = UseCaseQueue(.cancelPrevious)
    let timeout = Duration.seconds(5)

    func main(_ text: String) async throws -> [String] {
      try await askServer(text)
    }
  }

  @MainActor @Observable
  final class SearchModel {
    private let search: any UseCase<String, [String]>
    private(set) var titles: [String] = []

    init(search: any UseCase<String, [String]>) { self.search = search }

    @discardableResult
    func type(_ text: String) -> UseCaseOperation<String, [String]> {
      search.execute(text).then { titles in self.titles = titles }
    }
  }
}
