import TestSupport
import Testing
import UseCase
import UseCaseHistory

// The code of a client, and the promises to a client, compiled in each mode that a client may have.
// Each target of clients links to this file, and has a file of its own for the differences.

struct Find: UseCase {
  let queue = UseCaseQueue(.cancelPrevious)

  func main(_ request: String) async throws -> [String] {
    guard !request.isEmpty else { throw Missing() }
    return ["arrow left", "arrow right", "dash"].filter { $0.hasPrefix(request) }
  }
}

struct Load: ReportingUseCase {
  func main(
    _ request: Int, report: @escaping @Sendable (Double) -> Void
  ) async throws -> String {
    for step in 1...request { report(Double(step) / Double(request)) }
    return "loaded"
  }
}

struct Locate: UseCase {
  func main(_ request: Void) async -> String { isOnMainActor() ? "main actor" : "elsewhere" }
}

/// One that is marked: its body runs where it says.
@MainActor
struct Sketch: UseCase {
  let queue = UseCaseQueue(.serial)

  func main(_ request: Void) async -> String { isOnMainActor() ? "main actor" : "elsewhere" }
}

/// An actor as a use case: its body runs on it.
actor Counter: UseCase {
  private var count = 0

  func main(_ request: Int) async -> Int {
    preconditionIsolated()
    count += request
    return count
  }
}

/// The time-out is what it looks like.
struct Late: UseCase {
  let queue: UseCaseQueue
  let timeout = Duration.seconds(5)

  func main(_ request: Gate) async throws { try await request.pass() }
}

struct Missing: Error {}

struct Quiet: UseCaseInterceptor {
  let names = Log<String>()

  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution,
    next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    names.append(isOnMainActor() ? "main actor" : execution.useCase)
    return try await next(request)
  }
}

struct Insert: UndoableUseCase {
  let line: Log<String>

  func main(_ word: String) async throws { line.append(word) }
  func undo(_ word: String, _ response: Void) async throws { line.append("no \(word)") }
}

@MainActor
final class Screen {
  var lines: [String] = []
  private let find = Find()

  func search(_ text: String) -> UseCaseOperation<String, [String]> {
    find.execute(text)
      .then { self.show("found \($0.count)") }
      .catch(Missing.self) { _ in self.show("missing") }
      .catch { _ in self.show("failed") }
      .common { self.show("common") }
      .onCancel { self.show("cancelled \($0)") }
      .finally { self.show("finally") }
  }

  func load() -> UseCaseOperation<Int, String> {
    Load().execute(2) { self.show("\($0)") }.then { self.show($0) }
  }

  func show(_ line: String) {
    lines.append(isOnMainActor() ? line : "\(line), not on the main actor")
  }
}

actor Store {
  private(set) var names: [String] = []

  func fill() -> UseCaseOperation<String, [String]> {
    Find().execute("arrow").then { names in
      self.preconditionIsolated()
      self.names = names
    }
  }
}

@MainActor
struct ClientTests {
  @Test(.holds("Every kind of module"))
  func `handlers of every kind run on the main actor in which they were written`() async {
    let screen = Screen()
    await screen.search("arrow").ended()
    await screen.search("").ended()
    #expect(
      screen.lines == [
        "found 2", "common", "finally", "missing", "failed", "common", "finally",
      ])
  }

  @Test func `a cancelled search shows that it was cancelled, and nothing of its result`() async {
    let screen = Screen()
    let operation = screen.search("arrow")
    operation.cancel()
    await operation.ended()
    #expect(screen.lines == ["cancelled requested", "finally"])
  }

  @Test func `a superseded search shows nothing of its result`() async {
    let screen = Screen()
    let first = screen.search("arrow")
    let second = screen.search("dash")
    await first.ended()
    await second.ended()
    #expect(screen.lines.filter { $0 == "finally" }.count == 2)
    #expect(screen.lines.contains("found 1"))
  }

  @Test func `updates come on the main actor before the response`() async {
    let screen = Screen()
    await screen.load().ended()
    #expect(screen.lines == ["0.5", "1.0", "loaded"])
  }

  @Test func `a handler runs on the actor in which it was written`() async {
    let store = Store()
    await store.fill().ended()
    #expect(await store.names == ["arrow left", "arrow right"])
  }

  @Test(.holds("Isolation"))
  func `a body stays off the main actor`() async throws {
    #expect(try await Locate().execute().value == "elsewhere")
    #expect(try await Locate()() == "elsewhere")
    let closure = AnyUseCase { (_: Void) in isOnMainActor() }
    #expect(try await closure() == false)
  }

  @Test(.holds("Isolation"))
  func `a body of a type on the main actor runs on the main actor`() async throws {
    #expect(try await Sketch().execute().value == "main actor")
    #expect(try await Sketch()() == "main actor")
    #expect(try await AnyUseCase(Sketch())() == "main actor")
    let quiet = UseCaseQueue(.serial, interceptors: [Quiet()])
    let outer = AnyUseCase<Void, String>(queue: quiet) { try await Sketch()() }
    #expect(try await outer() == "main actor")
    #expect(try await Task.detached { try await Sketch().execute().value }.value == "main actor")
  }

  @Test(.holds("Isolation"))
  func `an actor is a use case, whose bodies run on it`() async throws {
    let counter = Counter()
    #expect(try await counter.execute(2).value == 2)
    #expect(try await counter(3) == 5)
  }

  @Test func `a timeout that is written as a duration is one`() async throws {
    let clock = ManualClock()
    let late = Late(queue: UseCaseQueue(.serial, clock: clock))
    let operation = late.execute(Gate())
    try await clock.sleeping()
    await clock.advance(by: .seconds(5))
    await #expect(throws: UseCaseTimeout(duration: .seconds(5))) { try await operation.value }
    let base: any UseCase = late
    #expect(base.timeout == .seconds(5) && AnyUseCase(late).timeout == .seconds(5))
    #expect(Find().timeout == UseCaseTimeout.never)
  }

  @Test func `the call form answers, for any kind of use case`() async throws {
    #expect(try await Find()("dash") == ["dash"])
    let find: any UseCase<String, [String]> = Find()
    #expect(try await find("arrow").count == 2)
    #expect(try await Load()(3) == "loaded")
    #expect(try await AnyUseCase(Find())("dash") == ["dash"])
    #expect(try await AnyUseCase { (number: Int) in number + 1 }(1) == 2)
    await #expect(throws: Missing.self) { try await Find()("") }
  }

  @Test func `an interceptor and an observer hear of each body`() async {
    let (quiet, heard) = (Quiet(), Log<String>())
    let queue = UseCaseQueue(.serial, interceptors: [quiet]) { heard.append("\($0.kind)") }
    let scope = UseCaseScope()
    let double = AnyUseCase<Int, Int>(queue: queue) { $0 * 2 }.execute(2).store(in: scope)
    await double.ended()
    #expect(quiet.names.elements == ["AnyUseCase<Int, Int>"])
    #expect(heard.elements == ["running", "succeeded", "ended"])
  }

  @Test func `a model shows what became of it, and a history undoes it`() async throws {
    let (find, load) = (UseCaseModel(Find()), ReportingUseCaseModel(Load()))
    await find.execute("dash").ended()
    await load.execute(2).ended()
    #expect(find.value == ["dash"] && load.update == 1)

    let (line, history) = (Log<String>(), UseCaseHistory())
    try await Insert(line: line).recorded(in: history)("arrow")
    #expect(try await history.undo().value?.title == "Insert")
    #expect(line.elements == ["arrow", "no arrow"] && HistoryModel(history).state.canRedo)
  }
}
