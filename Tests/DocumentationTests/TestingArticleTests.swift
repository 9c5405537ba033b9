import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// The code of “Testing with gates and clocks”.
@Suite(.mustEnd)
struct TestingArticleTests {
  @Test @MainActor func `a screen shows the titles for its newest text`() async throws {
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
    try await screen.newest?.settled()
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
    try await first.settled()
    try await clock.sleeping()
    await clock.advance(by: .milliseconds(300))
    #expect(try await second.value == "swift")
    #expect(queue.activity.cancelled == 1)
  }

  private struct Offline: Error {}

  @Test func `a test answers calls in any order`() async throws {
    let search = ControlledUseCase<String, [String]>()
    let swift = search.execute("swift")
    let first = try await search.next()
    let rust = search.execute("rust")
    try await search.next().succeed(["Rust"])
    first.fail(Offline())

    #expect(try await rust.value == ["Rust"])
    await #expect(throws: Offline.self) { try await swift.value }
  }

  @Test func `a call of a reporting use case reports before it is answered`() async throws {
    let upload = ControlledReportingUseCase<String, Int, Double>()
    let (updates, reported) = AsyncStream<Double>.makeStream()
    let operation = upload.execute("cat.png") { part in reported.yield(part) }
    let call = try await upload.next()
    call.report(0.5)
    for await part in updates.prefix(1) { #expect(part == 0.5) }

    call.succeed(1_024)
    #expect(try await operation.value == 1_024)
  }

  /// As Swift Testing ends a test when its time is up: it cancels the task.
  @Test func `a test that waits in vain ends when its time is up`() async throws {
    let (clock, server) = (ManualClock(), ControlledUseCase<String, [String]>())
    let operation = server.execute("swift")
    let call = try await server.next()
    let waits: [@Sendable () async throws -> Void] = [
      { _ = try await server.next() }, { try await call.cancelled() },
      { try await clock.sleeping() }, { try await clock.sleeping(for: .seconds(1)) },
      { try await Gate().pass() }, { _ = try await operation.value },
      { try await operation.settled() },
    ]
    for wait in waits {
      let test = Task { try await wait() }
      test.cancel()
      await #expect(throws: CancellationError.self) { try await test.value }
    }
    call.succeed([])
    await operation.ended()
  }

  @Test func `an observer hears the whole story`() async throws {
    let (events, heard) = AsyncStream<UseCaseEvent>.makeStream()
    let queue = UseCaseQueue(.dropWhileBusy) { event in heard.yield(event) }
    let pay = AnyUseCase<Int, Int>(queue: queue) { amount in amount }

    try await pay.execute(5).settled()
    var kinds: [UseCaseEvent.Kind] = []
    for await event in events.prefix(3) { kinds.append(event.kind) }
    #expect(kinds == [.running, .succeeded, .ended])
  }
}
