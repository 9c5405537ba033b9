import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// The code of the page about `UseCaseTesting`, and of its symbols.
@Suite(.mustEnd)
struct UseCaseTestingPageTests {
  @Test @MainActor
  func `a search waits, retries, and says why it failed`() async throws {
    let clock = ManualClock()
    let server = ControlledUseCase<String, [String]>()
    let model = SearchModel(search: Search(server: server, clock: clock))

    // Debounce: the server is asked for the last keystroke only.
    model.type("s")
    model.type("sw")
    try await clock.sleeping()
    await clock.advance(by: .milliseconds(300))
    let first = try await server.next()
    #expect(first.request == "sw")

    // Retry: the search runs again after a second. The timeout sleeps,
    // too: wait for the sleep of one second.
    first.fail(Offline())
    try await clock.sleeping(for: .seconds(1))
    await clock.advance(by: .seconds(1))
    try await server.next().succeed(["Swift"])
    try await model.newest?.settled()
    #expect(model.shown == ["Swift"])

    // Timeout: the call is cancelled after five seconds.
    model.type("swift")
    try await clock.sleeping()
    await clock.advance(by: .milliseconds(300))
    let slow = try await server.next()
    try await clock.sleeping(for: .seconds(5))
    await clock.advance(by: .seconds(5))
    try await slow.cancelled()
    try await model.newest?.settled()
    #expect(model.shown == ["Too slow"])
  }

  @Test @MainActor
  func `a search whose second attempt fails, too, says so`() async throws {
    let clock = ManualClock()
    let server = ControlledUseCase<String, [String]>()
    let model = SearchModel(search: Search(server: server, clock: clock))
    model.type("swift ui")
    try await clock.sleeping()
    await clock.advance(by: .milliseconds(300))
    try await server.next().fail(Offline())
    try await clock.sleeping(for: .seconds(1))
    await clock.advance(by: .seconds(1))
    try await server.next().fail(Offline())
    try await model.newest?.settled()
    #expect(model.shown == ["Offline"])
  }

  @Test func `a gate holds a body until the test opens it`() async throws {
    let gate = Gate()
    let search = AnyUseCase<String, [String]>(queue: .init(.serial)) { text in
      try await gate.pass()
      return [text]
    }
    let operation = search.execute("swift")
    print(operation.state)  // running

    gate.open()
    print(try await operation.value)  // ["swift"]
    #expect(try await operation.value == ["swift"])
  }

  @Test func `a clock holds a debounce until the test advances it`() async throws {
    let clock = ManualClock()
    let queue = UseCaseQueue(
      .cancelPrevious(debounce: .milliseconds(300)), clock: clock)
    let search = AnyUseCase<String, [String]>(queue: queue) { text in [text] }
    let operation = search.execute("swift")
    try await clock.sleeping()
    print(operation.state)  // waiting

    await clock.advance(by: .milliseconds(300))
    print(try await operation.value)  // ["swift"]
    #expect(try await operation.value == ["swift"])
  }

  @Test func `a task that sleeps repeatedly is followed in its steps`() async throws {
    let clock = ManualClock()
    let ticking = Task {
      for tick in 1...3 {
        try await clock.sleep(for: .seconds(1))
        print("tick \(tick) at \(clock.now.offset)")  // tick 1 at 1.0 seconds
      }
    }
    for _ in 1...3 {
      try await clock.sleeping()
      await clock.advance(by: .seconds(1))
    }
    try await ticking.value
    #expect(clock.now.offset == .seconds(3))
  }

  @Test func `a controlled use case gives the answer of the test`() async throws {
    let search = ControlledUseCase<String, [String]>()
    let operation = search.execute("swift")

    let call = try await search.next()
    print(call.request)  // swift

    call.succeed(["Swift by Tutorials"])
    print(try await operation.value)  // ["Swift by Tutorials"]
    #expect(try await operation.value == ["Swift by Tutorials"])
  }

  @Test func `a wait for a certain sleep passes over the timeout`() async throws {
    let clock = ManualClock()
    let retry = RetryInterceptor(attempts: 2, delay: .constant(.seconds(1)))
    let queue = UseCaseQueue(clock: clock, interceptors: [retry])
    let server = ControlledUseCase<String, [String]>()
    let search = AnyUseCase<String, [String]>(
      queue: queue, timeout: .seconds(5)
    ) { text in try await server(text) }
    let operation = search.execute("swift")
    try await server.next().fail(Offline())

    try await clock.sleeping(for: .seconds(1))  // the timeout sleeps, too, for five
    await clock.advance(by: .seconds(1))
    try await server.next().succeed(["Swift"])
    print(try await operation.value)  // ["Swift"]
    #expect(try await operation.value == ["Swift"])
  }

  @Test func `a controlled use case reports what the test reports`() async throws {
    let upload = ControlledReportingUseCase<String, Int, Double>()
    let operation = upload.execute("cat.png") { part in print(part) }  // 0.5

    let call = try await upload.next()
    call.report(0.5)
    call.succeed(1_024)
    print(try await operation.value)  // 1024
    #expect(try await operation.value == 1_024)
  }

  struct Offline: Error {}

  struct Search: UseCase {
    let server: any UseCase<String, [String]>
    let queue: UseCaseQueue
    let timeout = Duration.seconds(5)

    init(server: any UseCase<String, [String]>, clock: any Clock<Duration>) {
      self.server = server
      queue = UseCaseQueue(
        .cancelPrevious(debounce: .milliseconds(300)), clock: clock,
        interceptors: [
          RetryInterceptor(attempts: 2, delay: .constant(.seconds(1)))
        ])
    }

    func main(_ text: String) async throws -> [String] {
      try await server(text)
    }
  }

  @MainActor
  final class SearchModel {
    private let search: Search
    private(set) var newest: UseCaseOperation<String, [String]>?
    private(set) var shown: [String] = []

    init(search: Search) { self.search = search }

    func type(_ text: String) {
      newest = search.execute(text)
        .then { titles in self.shown = titles }
        .catch { error in
          self.shown = [error is UseCaseTimeout ? "Too slow" : "Offline"]
        }
    }
  }
}
