import TestSupport
import Testing
import UseCase

@Suite(.mustEnd) @MainActor
struct FromThePod {
  struct NoName: Error {}

  struct Greet: UseCase {
    func main(_ name: String) async throws -> String {
      guard !name.isEmpty else { throw NoName() }
      return "Hello, \(name)!"
    }
  }

  let screen = TestScreen()

  @discardableResult
  private func greet(_ name: String) -> UseCaseOperation<String, String> {
    let greet = Greet()
    return
      greet.execute(name).then { greeting in
        screen.show(greeting)
      }.catch { error in
        screen.show("Who are you?")
      }
  }

  @Test func `a response goes to then, an error to catch`() async {
    await greet("Ada").ended()
    await greet("").ended()
    #expect(screen.lines == ["Hello, Ada!", "Who are you?"])
  }

  @Test func `each execution has handlers of its own`() async {
    let greet = Greet()
    let ada = greet.execute("Ada").then { screen.show("first: \($0)") }
    let bob = greet.execute("Bob").then { screen.show("second: \($0)") }
    await ada.ended()
    await bob.ended()
    #expect(screen.lines.sorted() == ["first: Hello, Ada!", "second: Hello, Bob!"])
  }
}
