import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// The code of “Testing with gates and clocks”.
@Suite(.mustEnd)
struct TestingArticleTests {
  @Test @MainActor func `a screen shows the titles for its newest text`() async {
    let gate = Gate()
    let queue = UseCaseQueue(.cancelPrevious)
    let search = AnyUseCase<String, [String]>(queue: queue) { text in
      try await gate.pass()
      return [text]
    }
    let screen = SearchScreen(search: search)

    screen.type("sw")
    screen.type("swift")
    #expect(screen.titles.isEmpty)
    #expect(queue.activity.executed == 2)

    gate.open()
    await screen.newest?.ended()
    #expect(screen.titles == ["swift"])
  }

  @Test func `only the newest waiting draft is saved`() async throws {
    let queue = UseCaseQueue(.keepLatest)
    let save = AnyUseCase<String, String>(queue: queue) { text in
      "saved \(text)"
    }

    queue.suspend()
    let operations = ["a", "b", "c"].map { text in save.execute(text) }
    #expect(operations.map(\.state) == [.finished, .finished, .waiting])
    queue.resume()
    #expect(try await operations[2].value == "saved c")
    #expect(queue.activity.cancelled == 2)
  }

  @Test func `a search begins after a pause in typing`() async throws {
    let clock = ManualClock()
    let queue = UseCaseQueue(
      .cancelPrevious(debounce: .milliseconds(300)), clock: clock)
    let search = AnyUseCase<String, String>(queue: queue) { text in text }

    let first = search.execute("sw")
    let second = search.execute("swift")
    await first.ended()
    await clock.sleeping()
    await clock.advance(by: .milliseconds(300))
    #expect(try await second.value == "swift")
    #expect(queue.activity.cancelled == 1)
  }

  private struct Offline: Error {}

  @Test func `a test answers calls in any order`() async throws {
    let search = ControlledUseCase<String, [String]>()
    let swift = search.execute("swift")
    let first = await search.next()
    let rust = search.execute("rust")
    await search.next().succeed(["Rust"])
    first.fail(Offline())

    #expect(try await rust.value == ["Rust"])
    await #expect(throws: Offline.self) { try await swift.value }
  }

  @Test func `an observer hears the whole story`() async {
    let (events, heard) = AsyncStream<UseCaseEvent>.makeStream()
    let queue = UseCaseQueue(.dropWhileBusy) { event in heard.yield(event) }
    let pay = AnyUseCase<Int, Int>(queue: queue) { amount in amount }

    await pay.execute(5).ended()
    var kinds: [UseCaseEvent.Kind] = []
    for await event in events.prefix(3) { kinds.append(event.kind) }
    #expect(kinds == [.running, .succeeded, .ended])
  }
}
