import Foundation
import TestSupport
import Testing
import UseCase

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.mustEnd)
struct NetworkTests {
  /// The server answers the path /held when this opens, and then with an empty text.
  private let gate = Gate()
  private let server: LocalServer

  init() throws {
    server = try LocalServer { [gate] path in
      if path == "/held" { await gate.passIgnoringCancellation() }
      return LocalServer.Answer(status: path == "/missing" ? 404 : 200, body: "text of \(path)")
    }
  }

  @Test(.holds("Superseded requests"))
  func `an incoming request ends the request in flight long before the server answers`()
    async throws
  {
    let fetch = Fetch(server: server, queue: UseCaseQueue(.cancelPrevious))
    let reasons = Log<UseCaseCancellation>()
    let held = fetch.execute("/held").onCancel { reasons.append($0) }
    await server.requests.elements(atLeast: 1)
    #expect(try await fetch.execute("/new").value == "text of /new")
    await held.ended()
    #expect(reasons.elements == [.superseded])
    // The body has returned too, and the connection is closed: nobody waits for that answer.
    await fetch.queue.idle()
    await server.hangUps.elements(atLeast: 1)
    #expect(server.hangUps.elements == ["/held"])
    #expect(!gate.isOpen)
    gate.open()
  }

  @Test(.holds("Superseded requests"))
  func `a cancelled task ends its call and its request`() async throws {
    let fetch = Fetch(server: server)
    let task = Task { try await fetch("/held") }
    await server.requests.elements(atLeast: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await fetch.queue.idle()
    await server.hangUps.elements(atLeast: 1)
    #expect(!gate.isOpen)
    gate.open()
  }

  @Test(.holds("Silent servers"))
  func `a server that never answers times out`() async throws {
    let clock = ManualClock()
    let fetch = Fetch(
      server: server, queue: UseCaseQueue(clock: clock), timeout: .seconds(10))
    let caught = Log<UseCaseTimeout>()
    let operation = fetch.execute("/held").catch(UseCaseTimeout.self) { caught.append($0) }
    await server.requests.elements(atLeast: 1)
    try await clock.sleeping()
    await clock.advance(by: .seconds(10))
    await operation.ended()
    #expect(caught.elements == [UseCaseTimeout(duration: .seconds(10))])
    await server.hangUps.elements(atLeast: 1)
    #expect(!gate.isOpen)
    gate.open()
  }

  @Test(.holds("Errors by type"))
  func `an error status is a typed error`() async {
    let caught = Log<Status>()
    let others = Log<URLError>()
    await Fetch(server: server).execute("/missing")
      .catch(Status.self) { caught.append($0) }
      .catch(URLError.self) { others.append($0) }
      .ended()
    #expect(caught.elements == [Status(code: 404)])
    #expect(others.elements.isEmpty)
  }

  @Test(.holds("Errors by type"))
  func `a refused connection is a typed error`() async throws {
    let closed = try LocalServer(isListening: false)
    let caught = Log<URLError.Code>()
    let statuses = Log<Status>()
    await Fetch(server: closed).execute("/new")
      .catch(URLError.self) { caught.append($0.code) }
      .catch(Status.self) { statuses.append($0) }
      .ended()
    #expect(caught.elements == [.cannotConnectToHost])
    #expect(statuses.elements.isEmpty)
  }

  @Test(.holds("Busy servers"))
  func `a server that is busy for a while is asked again`() async throws {
    let asked = Watched(0)
    let busy = try LocalServer { _ in
      let count = asked.update { count in
        count += 1
        return count
      }
      return LocalServer.Answer(status: count < 3 ? 503 : 200, body: "attempt \(count)")
    }
    let retry = RetryInterceptor(attempts: 5) { $0 as? Status == Status(code: 503) }
    let fetch = Fetch(server: busy, queue: UseCaseQueue(interceptors: [retry]))
    #expect(try await fetch("/new") == "attempt 3")
    #expect(busy.requests.count == 3)
  }
}
