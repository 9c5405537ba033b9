import Testing
import UseCase
import UseCaseTesting

@testable import Books

@MainActor
struct SearchModelTests {
  let search = ControlledUseCase<String, [String]>(queue: UseCaseQueue(.cancelPrevious))

  @Test func `a failure is shown in a sentence`() async throws {
    let model = SearchModel(search: search)
    let operation = model.type("e")
    try await search.next().fail(UseCaseTimeout(duration: .seconds(5)))
    try await operation.settled()
    #expect(model.message == "It took longer than 5 seconds.")
  }

  @Test func `only the newest search is shown`() async throws {
    let model = SearchModel(search: search)
    let stale = model.type("e")
    let first = try await search.next()
    #expect(first.request == "e")

    let newest = model.type("em")
    try await stale.settled()
    #expect(model.isSearching)

    try await search.next().succeed(["Emma"])
    try await newest.settled()
    #expect(model.titles == ["Emma"])
    #expect(!model.isSearching)
  }
}
