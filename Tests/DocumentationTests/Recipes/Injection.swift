import TestSupport
import Testing
import UseCase
import UseCaseTesting

@Suite(.mustEnd) @MainActor
struct Injection {
  struct WrongPassword: Error {}

  @MainActor
  final class LoginScreen {
    private(set) var title = "Please log in"
    private let login: any UseCase<String, String>

    init(login: any UseCase<String, String>) {
      self.login = login
    }

    func logIn(_ password: String) -> UseCaseOperation<String, String> {
      login.execute(password)
        .then { name in self.title = "Welcome, \(name)!" }
        .catch { _ in self.title = "Try again" }
    }
  }

  @Test func `a fake answers in place of the server`() async throws {
    let login = AnyUseCase<String, String> { password in
      guard password == "secret" else { throw WrongPassword() }
      return "Ada"
    }
    let screen = LoginScreen(login: login)
    try await screen.logIn("guess").settled()
    #expect(screen.title == "Try again")
    try await screen.logIn("secret").settled()
    #expect(screen.title == "Welcome, Ada!")
  }
}
