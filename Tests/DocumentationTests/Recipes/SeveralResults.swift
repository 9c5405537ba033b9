import TestSupport
import Testing
import UseCase

@Suite(.mustEnd) @MainActor
struct SeveralResults {
  struct FollowPrice: ReportingUseCase {
    let prices: @Sendable (String) -> AsyncStream<Int>

    func main(
      _ name: String, report: @escaping @Sendable (Int) -> Void
    ) async throws -> Int {
      var last = 0
      for await price in prices(name) {
        last = price
        report(price)
      }
      return last
    }
  }

  private let screen = TestScreen()
  private var followPrice = FollowPrice { _ in
    AsyncStream { continuation in
      for price in [7, 9, 8] { continuation.yield(price) }
      continuation.finish()
    }
  }

  @Test func `each result is an update, and the last one the response`() async {
    let operation =
      followPrice.execute("tea") { price in screen.show("\(price)") }
      .then { last in screen.show("closed at \(last)") }
    await operation.ended()
    #expect(screen.lines == ["7", "9", "8", "closed at 8"])
  }

  private func prices(of name: String) -> AsyncStream<Int> {
    AsyncStream { continuation in
      let operation = followPrice.execute(name) { price in
        continuation.yield(price)
      }
      .finally { continuation.finish() }
      continuation.onTermination = { _ in operation.cancel() }
    }
  }

  @Test func `updates become a sequence`() async {
    for await price in prices(of: "tea") { screen.show("\(price)") }
    #expect(screen.lines == ["7", "9", "8"])
  }

  @Test mutating func `a loop that is left early cancels the operation`() async {
    let cancelled = Gate()
    followPrice = FollowPrice { _ in
      AsyncStream { continuation in
        for price in [7, 9] { continuation.yield(price) }
        continuation.onTermination = { _ in cancelled.open() }
      }
    }
    for await price in prices(of: "tea") {
      screen.show("\(price)")
      if price > 8 { break }  // cancels the operation
    }
    await cancelled.passIgnoringCancellation()
    #expect(screen.lines == ["7", "9"])
  }
}

@Suite(.mustEnd) @MainActor
struct CacheThenNetwork {
  struct Offline: Error {}

  struct LoadTitles: ReportingUseCase {
    let cache: Cache
    let fetch: any UseCase<String, [String]>

    func main(
      _ shelf: String, report: @escaping @Sendable ([String]) -> Void
    ) async throws -> [String] {
      if let titles = await cache.titles(of: shelf) { report(titles) }
      let titles = try await fetch(shelf)
      await cache.keep(titles, of: shelf)
      return titles
    }
  }

  actor Cache {
    private var shelves = ["novels": ["Emma"]]

    func titles(of shelf: String) -> [String]? { shelves[shelf] }
    func keep(_ titles: [String], of shelf: String) { shelves[shelf] = titles }
  }

  private let screen = TestScreen()

  private func load(_ fetch: any UseCase<String, [String]>, _ cache: Cache) async {
    let loadTitles = LoadTitles(cache: cache, fetch: fetch)
    let operation = loadTitles.execute("novels") { titles in screen.show("\(titles) so far") }
      .then { titles in screen.show("\(titles)") }
      .catch { error in screen.show("Not up to date: \(error)") }
    await operation.ended()
  }

  @Test func `the cache shows at once, and then the fresh answer`() async {
    let cache = Cache()
    await load(AnyUseCase { _ in ["Emma", "Persuasion"] }, cache)
    await load(AnyUseCase { _ in throw Offline() }, cache)
    #expect(
      screen.lines == [
        #"["Emma"] so far"#, #"["Emma", "Persuasion"]"#,
        #"["Emma", "Persuasion"] so far"#, "Not up to date: Offline()",
      ])
  }
}
