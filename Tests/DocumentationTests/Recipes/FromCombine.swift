import Observation
import TestSupport
import Testing
import UseCase

/// The code of “Coming from another library”, about Combine.
@Suite(.mustEnd) @MainActor
struct FromCombine {
  struct Offline: Error {}

  struct Server: Sendable {
    let search: @Sendable (String) async throws -> [String]

    func search(_ text: String) async throws -> [String] { try await search(text) }
  }

  struct Search: UseCase {
    let server: Server
    let queue = UseCaseQueue(
      // debounce, switchToLatest
      .cancelPrevious(debounce: .milliseconds(300)),
      interceptors: [RetryInterceptor(attempts: 3)])  // retry(2)

    func main(_ text: String) async throws -> [String] {
      try await server.search(text)
    }
  }

  @MainActor @Observable
  final class SearchModel {
    private(set) var titles: [String] = []
    private let search: any UseCase<String, [String]>
    private let scope = UseCaseScope()

    var text = "" {
      didSet { if text != oldValue { find() } }  // removeDuplicates
    }

    init(search: any UseCase<String, [String]>) { self.search = search }

    private func find() {
      search.execute(text)
        // receive(on:), sink
        .then { [weak self] titles in self?.titles = titles }
        .catch { [weak self] _ in self?.titles = [] }  // catch
        .store(in: scope)
    }
  }

  @Test func `the newest text is searched once, and a search that fails is tried three times`()
    async
  {
    let asked = Log<String>()
    let search = Search(
      server: Server { text in
        asked.append(text)
        guard asked.count >= 3 else { throw Offline() }
        return [text]
      })
    let model = SearchModel(search: search)
    search.queue.suspend()
    for text in ["e", "em", "em"] { model.text = text }
    search.queue.resume()
    while model.titles.isEmpty { await Task.yield() }
    #expect(model.titles == ["em"])
    #expect(asked.elements == ["em", "em", "em"])
    #expect(search.queue.activity.executed == 2)
  }

  @Test func `a failure empties the list, and the next search goes on`() async throws {
    let search = ControlledUseCase<String, [String]>(queue: UseCaseQueue(.cancelPrevious))
    let model = SearchModel(search: search)
    model.text = "e"
    try await search.next().succeed(["Emma"])
    while model.titles.isEmpty { await Task.yield() }
    model.text = "em"
    try await search.next().fail(Offline())
    while !model.titles.isEmpty { await Task.yield() }
    model.text = "emm"
    try await search.next().succeed(["Emma"])
    while model.titles.isEmpty { await Task.yield() }
  }
}
