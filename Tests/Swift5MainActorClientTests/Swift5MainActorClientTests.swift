import Observation
import TestSupport
import Testing
import UseCase

// A client in Swift 5 mode whose default isolation is the main actor, with the features of
// approachable concurrency: what Xcode 26 sets up for a new app. Nothing is marked.

private struct Find: UseCase {
  let queue = UseCaseQueue(.cancelPrevious)

  func main(_ request: String) async throws -> [String] {
    guard !request.isEmpty else { throw Missing() }
    return ["arrow left", "arrow right", "dash"].filter { $0.hasPrefix(request) }
  }
}

private struct Load: ReportingUseCase {
  func main(
    _ request: Int, report: @escaping @Sendable (Double) -> Void
  ) async throws -> String {
    for step in 1...request { report(Double(step) / Double(request)) }
    return isOnMainActor() ? "loaded on the main actor" : "loaded"
  }
}

private struct Missing: Error {}

private struct Quiet: UseCaseInterceptor {
  let names = Log<String>()

  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution,
    next: UseCaseNext<Request, Response>
  ) async throws -> Response {
    names.append(isOnMainActor() ? "main actor" : execution.useCase)
    return try await next(request)
  }
}

@Observable
private final class Screen {
  var lines: [String] = []
  let find = UseCaseModel(Find())
  let load = ReportingUseCaseModel(Load())
  private let search = Find()

  @discardableResult
  func search(_ text: String) -> UseCaseOperation<String, [String]> {
    search.execute(text)
      .then { self.show("found \($0.count)") }
      .catch(Missing.self) { _ in self.show("missing") }
      .onCancel { self.show("cancelled \($0)") }
      .finally { self.show("finally") }
  }

  func show(_ line: String) {
    lines.append(isOnMainActor() ? line : "\(line), not on the main actor")
  }
}

struct Swift5MainActorClientTests {
  @Test func `handlers run on the main actor in which they were written`() async {
    let screen = Screen()
    await screen.search("arrow").ended()
    await screen.search("").ended()
    #expect(screen.lines == ["found 2", "finally", "missing", "finally"])
  }

  @Test func `a cancelled search shows nothing of its result`() async {
    let screen = Screen()
    let operation = screen.search("arrow")
    operation.cancel()
    await operation.ended()
    #expect(screen.lines == ["cancelled requested", "finally"])
  }

  @Test func `models show what became of it`() async {
    let screen = Screen()
    await screen.find.execute("dash").ended()
    await screen.load.execute(2).ended()
    #expect(screen.find.value == ["dash"])
    #expect(screen.load.update == 1 && screen.load.value == "loaded")
    await screen.find.execute("").ended()
    #expect(screen.find.error is Missing)
  }

  @Test func `an interceptor is written as its example says`() async throws {
    let quiet = Quiet()
    let double = AnyUseCase<Int, Int>(queue: UseCaseQueue(interceptors: [quiet])) { $0 * 2 }
    #expect(try await double(2) == 4)
    #expect(quiet.names.elements == ["AnyUseCase<Int, Int>"])
  }

  @Test func `the call form and the closure form answer, off the main actor`() async throws {
    #expect(try await Find()("dash") == ["dash"])
    let find: any UseCase<String, [String]> = Find()
    #expect(try await find("arrow").count == 2)
    let closure = AnyUseCase { (_: Void) in isOnMainActor() }
    #expect(try await closure() == false)
  }
}
