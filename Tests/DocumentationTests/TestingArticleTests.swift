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

  @Test func `only the newest waiting draft is saved`() async {
    let saved = Log<String>()
    let queue = UseCaseQueue(.keepLatest)
    let save = AnyUseCase<String, Void>(queue: queue) { text in saved.append(text) }

    queue.suspend()
    let operations = ["a", "b", "c"].map { text in save.execute(text) }
    #expect(operations.map(\.state) == [.finished, .finished, .waiting])
    queue.resume()
    for operation in operations { await operation.ended() }
    #expect(saved.elements == ["c"])
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

  @Test func `an observer hears the whole story`() async {
    let events = Log<UseCaseEvent>()
    let queue = UseCaseQueue(.dropWhileBusy, observer: events.append)
    let pay = AnyUseCase<Int, Int>(queue: queue) { amount in amount }

    let operation = pay.execute(5)
    await operation.ended()
    let kinds = await events.elements(atLeast: 3).map(\.kind)
    #expect(kinds == [.running, .succeeded, .ended])
  }
}
