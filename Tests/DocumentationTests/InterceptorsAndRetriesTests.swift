import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// The code of “Interceptors and retries”.
@Suite(.mustEnd)
struct InterceptorsAndRetriesTests {
  struct Offline: Error {}
  struct Unauthorized: Error {}
  struct Refused: Error {}

  struct Timing: UseCaseInterceptor {
    let clock = ContinuousClock()
    let report: @Sendable (String) -> Void

    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution,
      next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      let start = clock.now
      defer { report("\(execution.useCase) took \(clock.now - start)") }
      return try await next(request)
    }
  }

  struct Logged<Base: UseCase>: UseCase {
    let base: Base
    let log: @Sendable (String) -> Void

    func main(_ request: Base.Request) async throws -> Base.Response {
      log("\(base.useCaseName) begins")
      return try await base(request)
    }
  }

  actor Cache: UseCaseInterceptor {
    private struct Key: Hashable {
      let useCase: String
      let request: AnyHashable
    }

    private var responses: [Key: any Sendable] = [:]

    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution,
      next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      guard let hashable = request as? AnyHashable else {
        return try await next(request)
      }
      let key = Key(useCase: execution.useCase, request: hashable)
      if let response = responses[key] as? Response { return response }
      let response = try await next(request)
      responses[key] = response
      return response
    }
  }

  actor Session {
    private(set) var token: String

    init(token: String) { self.token = token }

    func setToken(_ token: String) { self.token = token }
  }

  struct RenewToken: UseCase {
    let session: Session
    let logIn: @Sendable () async throws -> String
    let queue = UseCaseQueue(.serial)

    func main(_ expired: String) async throws {
      guard await session.token == expired else { return }
      await session.setToken(try await logIn())
    }
  }

  struct Authenticated: UseCaseInterceptor {
    let session: Session
    let renewToken: SharedUseCase<RenewToken>

    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution,
      next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      let token = await session.token
      do {
        return try await next(request)
      } catch is Unauthorized {
        try await renewToken.execute(token).value
        return try await next(request)
      }
    }
  }

  @Test func `the first interceptor is the outermost`() async throws {
    let (runs, reports) = (Watched(0), Log<String>())
    @Sendable func report(_ line: String) { reports.append(line) }
    let queue = UseCaseQueue(
      interceptors: [Timing(report: report), RetryInterceptor(attempts: 3)])
    let search = AnyUseCase<Int, Int>(queue: queue) { number in
      if runs.update({
        $0 += 1; return $0
      }) < 3 {
        throw Offline()
      }
      return number
    }
    #expect(try await search(7) == 7)
    #expect(runs.value == 3 && reports.count == 1)
    #expect(reports.elements[0].hasPrefix("AnyUseCase<Int, Int> took "))
  }

  @Test func `the delays double, each shortened by up to a half`() async throws {
    let (clock, runs) = (ManualClock(), Log<Duration>())
    let retries = RetryInterceptor(
      attempts: 4,
      delay: .exponential(.milliseconds(200), cap: .seconds(5))
        .jittered(by: 0.5, using: SystemRandomNumberGenerator()),
      when: { error in error is Offline })
    let queue = UseCaseQueue(clock: clock, interceptors: [retries])
    let search = AnyUseCase<Int, Int>(queue: queue) { _ in
      runs.append(clock.now.offset)
      throw Offline()
    }
    let operation = search.execute(1)
    for delay in [200, 400, 800] {
      try await clock.sleeping()
      // A half of it is never enough, and all of it always is.
      await clock.advance(by: .milliseconds(delay) / 2 - .nanoseconds(1))
      #expect(clock.sleepers == 1)
      await clock.advance(by: .milliseconds(delay) / 2 + .nanoseconds(1))
    }
    await operation.ended()
    #expect(runs.count == 4)
  }

  @Test func `a cached response runs no body`() async throws {
    let bodies = Watched(0)
    let queue = UseCaseQueue(interceptors: [Cache()])
    let double = AnyUseCase<Int, Int>(queue: queue) { number in
      bodies.update { $0 += 1 }
      return 2 * number
    }
    for number in [3, 3, 4] { #expect(try await double(number) == 2 * number) }
    #expect(bodies.value == 2)
  }

  @Test func `each attempt of a retry counts for the rate`() async throws {
    let queue = UseCaseQueue(
      .limit(4).rate(10, per: .seconds(1)),
      interceptors: [RetryInterceptor(attempts: 5)])

    let (clock, runs) = (ManualClock(), Watched(0))
    let timed = UseCaseQueue(
      queue.policy, clock: clock, interceptors: [RetryInterceptor(attempts: 5)])
    let load = AnyUseCase<Int, Int>(queue: timed) { _ in
      runs.update { $0 += 1 }
      throw Offline()
    }
    for page in 1...3 { load.execute(page) }
    await runs.wait { $0 >= 10 }
    try await clock.sleeping()
    #expect(runs.value == 10)
    await clock.advance(by: .seconds(1))
    await timed.idle()
    #expect(runs.value == 15)
  }

  @Test(arguments: [true, false])
  func `ten requests make one log-in, also when it is refused`(isRefused: Bool) async throws {
    let (session, logIn) = (Session(token: "old"), ControlledUseCase<Void, String>())
    let renewToken = RenewToken(session: session) { try await logIn() }.shared()
    let load = AnyUseCase<Int, Int>(
      queue: UseCaseQueue(
        interceptors: [Authenticated(session: session, renewToken: renewToken)])
    ) { page in
      guard await session.token == "new" else { throw Unauthorized() }
      return page
    }
    let pages = (1...10).map { load.execute($0) }
    let call = try await logIn.next()
    while renewToken.queue(for: "old").activity.running < 10 { await Task.yield() }
    if isRefused { call.fail(Refused()) } else { call.succeed("new") }
    for (index, page) in pages.enumerated() {
      switch try await page.settled() {
      case .success(let number): #expect(number == index + 1 && !isRefused)
      case .failure(let error): #expect(error is Refused && isRefused)
      case .cancelled: Issue.record("Nothing cancels a page.")
      }
    }
    #expect(renewToken.queue.activity.executed == 1)
  }

  @Test func `a wrapper keeps the attempts of its base, and one on its queue multiplies them`()
    async throws
  {
    struct Borrowing<Base: UseCase>: UseCase {
      let base: Base
      var queue: UseCaseQueue { base.queue }
      func main(_ request: Base.Request) async throws -> Base.Response { try await base(request) }
    }
    let (calls, log) = (Log<Int>(), Log<String>())
    let retry = RetryInterceptor(attempts: 3, delay: .constant(.zero))
    let base = AnyUseCase<Int, Int>(queue: UseCaseQueue(interceptors: [retry])) { number in
      calls.append(number)
      throw Offline()
    }
    let logged = Logged(base: base) { log.append($0) }
    await #expect(throws: Offline.self) { try await logged.execute(1).value }
    #expect(calls.elements == [1, 1, 1])
    #expect(log.elements == ["AnyUseCase<Int, Int> begins"])
    await #expect(throws: Offline.self) { try await Borrowing(base: base).execute(2).value }
    #expect(calls.elements.count { $0 == 2 } == 9)
  }

  @Test func `a log-in outlives the search that asked for it`() async throws {
    let (session, logIn) = (Session(token: "old"), ControlledUseCase<Void, String>())
    let renewToken = RenewToken(session: session) { try await logIn() }.shared()
    let queue = UseCaseQueue(
      .cancelPrevious,
      interceptors: [Authenticated(session: session, renewToken: renewToken)])
    let search = AnyUseCase<String, String>(queue: queue) { text in
      guard await session.token == "new" else { throw Unauthorized() }
      return text
    }
    let first = search.execute("s")
    let call = try await logIn.next()
    let second = search.execute("sw")
    try await first.settled()
    while renewToken.queue(for: "old").activity.running < 2 { await Task.yield() }
    #expect(!call.isCancelled)
    call.succeed("new")
    #expect(try await second.value == "sw")
    #expect(renewToken.queue.activity.executed == 1)
  }
}
