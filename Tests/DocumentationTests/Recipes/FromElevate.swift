import TestSupport
import Testing
import UseCase

@Suite(.mustEnd) @MainActor
struct FromElevate {
  struct WrongPassword: Error {}

  struct Login: ReportingUseCase {
    let queue: UseCaseQueue
    let timeout = Duration.seconds(30)
    let connection: Gate
    let gate: Gate

    func main(
      _ password: String, report: @escaping @Sendable (String) -> Void
    ) async throws -> String {
      try await connection.pass()
      report("connected")
      try await gate.pass()
      guard password == "secret" else { throw WrongPassword() }
      return "Ada"
    }
  }

  private let screen = TestScreen()
  private let clock = ManualClock()
  private let connection = Gate()
  private let gate = Gate()

  private func login(_ password: String) -> UseCaseOperation<String, String> {
    let login = Login(queue: UseCaseQueue(clock: clock), connection: connection, gate: gate)
    let operation =
      login.execute(password) { status in screen.show(status) }  // on_update
      .onStart { screen.show("Logging in…") }  // on_start
      .catch(UseCaseTimeout.self) { _ in screen.show("Late") }  // on_timeout
      .catch(WrongPassword.self) { _ in screen.show("Wrong") }  // on_error
      .then { name in screen.show("Welcome, \(name)!") }  // on_finish: result
      .finally { screen.show("over") }
    connection.open()
    return operation
  }

  @Test func `a login goes through each callback`() async {
    gate.open()
    await login("secret").ended()
    #expect(screen.lines == ["Logging in…", "connected", "Welcome, Ada!", "over"])
  }

  @Test func `an error has a callback`() async {
    gate.open()
    await login("guess").ended()
    #expect(screen.lines == ["Logging in…", "connected", "Wrong", "over"])
  }

  @Test func `a timeout has a callback`() async throws {
    let operation = login("secret")
    try await clock.sleeping()
    while screen.lines.count < 2 { await Task.yield() }
    await clock.advance(by: .seconds(30))
    await operation.ended()
    #expect(screen.lines == ["Logging in…", "connected", "Late", "over"])
  }
}
