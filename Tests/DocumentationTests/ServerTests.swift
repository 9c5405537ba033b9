import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// The code of “On a server”.
@Suite(.mustEnd)
struct ServerTests {
  struct Broken: Error {}

  struct Response: Equatable {
    let status: Int
    var body = ""
  }

  struct Database: Sendable {
    let query: ControlledUseCase<String, [String]>

    func orders(of customer: String) async throws -> [String] { try await query(customer) }
  }

  struct FindOrders: UseCase {
    let database: Database
    var queue = UseCaseQueue(.limit(8))
    let timeout = Duration.seconds(2)

    func main(_ customer: String) async throws -> [String] {
      try await database.orders(of: customer)
    }
  }

  struct Answer: UseCase {
    let findOrders: any UseCase<String, [String]>
    var queue = UseCaseQueue(.limit(64, waiting: 64))
    let timeout = Duration.seconds(5)

    func main(_ customer: String) async throws -> String {
      let orders = try await findOrders(customer)
      return orders.joined(separator: "\n")
    }
  }

  struct Server: Sendable {
    let answer: Answer
    let clock: any Clock<Duration>
    let errors = Log<String>()

    init(_ findOrders: any UseCase<String, [String]>, clock: any Clock<Duration> = ManualClock()) {
      // No timeout passes, however busy the machine is.
      answer = Answer(
        findOrders: findOrders, queue: UseCaseQueue(.limit(64, waiting: 64), clock: ManualClock()))
      self.clock = clock
    }

    func log(_ error: any Error) { errors.append("\(error)") }

    func respond(to customer: String) async -> Response {
      switch await answer.outcome(of: customer) {
      case .success(let body):
        return Response(status: 200, body: body)
      case .cancelled(.dropped):
        return Response(status: 429)  // too busy
      case .cancelled where Task.isCancelled:
        return Response(status: 499)  // the client has gone
      case .cancelled:
        return Response(status: 503)  // the server is shutting down
      case .failure(is UseCaseTimeout):
        return Response(status: 504)
      case .failure(let error):
        log(error)
        return Response(status: 500)
      }
    }

    func shutDown(within grace: Duration) async {
      answer.queue.close()
      answer.queue.flush()
      let deadline = Task {
        try await clock.sleep(for: grace)
        answer.queue.cancelAll()
      }
      await answer.queue.idle()
      deadline.cancel()
    }
  }

  struct Forbidden: Error {}

  struct ReadReport: UseCase {
    struct Request: Sendable {
      let reader: String
      let report: String
    }

    let mayRead: @Sendable (Request) async throws -> Bool
    let loadReport: any UseCase<String, String>  // `LoadReport(…).shared()`

    func main(_ request: Request) async throws -> String {
      guard try await mayRead(request) else { throw Forbidden() }
      return try await loadReport(request.report)
    }
  }

  private let query = ControlledUseCase<String, [String]>()

  @Test func `a request is answered through the line of the database`() async throws {
    let server = Server(
      FindOrders(
        database: Database(query: query), queue: UseCaseQueue(.limit(8), clock: ManualClock())))
    async let response = server.respond(to: "ada")
    try await query.next().succeed(["tea", "jam"])
    #expect(await response == Response(status: 200, body: "tea\njam"))
  }

  @Test func `an error and a timeout have a status`() async {
    let broken = Server(AnyUseCase { _ in throw Broken() })
    #expect(await broken.respond(to: "ada") == Response(status: 500))
    #expect(broken.errors.elements == ["Broken()"])
    let late = Server(AnyUseCase { _ in throw UseCaseTimeout(duration: .seconds(2)) })
    #expect(await late.respond(to: "ada") == Response(status: 504))
  }

  @Test func `64 requests run, 64 wait, and one more is dropped`() async throws {
    let server = Server(query)
    try await withThrowingTaskGroup(of: Response.self) { group in
      for _ in 1...128 { group.addTask { await server.respond(to: "ada") } }
      while server.answer.queue.activity.executed < 128 { await Task.yield() }
      #expect(server.answer.queue.activity.waiting == 64)
      #expect(await server.respond(to: "ada") == Response(status: 429))
      for _ in 1...128 { try await query.next().succeed([]) }
      for try await response in group { #expect(response.status == 200) }
    }
  }

  @Test func `a client that has gone takes its query with it`() async throws {
    let findOrders = FindOrders(
      database: Database(query: query), queue: UseCaseQueue(.limit(8), clock: ManualClock()))
    let server = Server(findOrders)
    let connection = Task { await server.respond(to: "ada") }
    let call = try await query.next()
    connection.cancel()
    try await call.cancelled()
    #expect(await connection.value == Response(status: 499))
    await findOrders.queue.idle()
  }

  @Test func `a shutdown waits, and cancels what takes too long`() async throws {
    let clock = ManualClock()
    let server = Server(query, clock: clock)
    async let quick = server.respond(to: "ada")
    async let slow = server.respond(to: "bob")
    let calls = try await [query.next(), query.next()]
    async let end: Void = server.shutDown(within: .seconds(10))
    while !server.answer.queue.isClosed { await Task.yield() }
    #expect(await server.respond(to: "eve") == Response(status: 503))
    for call in calls where call.request == "ada" { call.succeed(["tea"]) }
    #expect(await quick.status == 200)
    try await clock.sleeping()
    await clock.advance(by: .seconds(10))
    #expect(await slow == Response(status: 503))
    await end
  }

  @Test func `a reader without rights gets nothing from the run of another one`() async throws {
    let loadReport = ControlledUseCase<String, String>(queue: UseCaseQueue())
    let shared = loadReport.shared()
    let readReport = ReadReport(
      mayRead: { request in request.reader != "eve" }, loadReport: shared)
    let readings = ["ada", "bob", "eve"].map { reader in
      readReport.execute(ReadReport.Request(reader: reader, report: "sales"))
    }
    await #expect(throws: Forbidden.self) { try await readings[2].value }
    let call = try await loadReport.next()
    while shared.queue(for: "sales").activity.running < 2 { await Task.yield() }
    call.succeed("up")
    for reading in readings[..<2] { #expect(try await reading.value == "up") }
    #expect(loadReport.queue.activity.executed == 1)
  }
}
