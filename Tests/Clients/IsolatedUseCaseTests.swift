import TestSupport
import Testing
import UseCase

// Where the body of a use case runs in each kind of client, as “Inside a body” says.

@MainActor
struct Edit: UseCase {
  func main(_ text: String) async -> String { isOnMainActor() ? "main actor" : "elsewhere" }
}

@MainActor
final class Editor: UseCase {
  private var texts: [String] = []

  func main(_ text: String) async throws -> String {
    texts.append(text)
    return isOnMainActor() ? "main actor" : "elsewhere"
  }
}

actor Shelf: UseCase {
  private var texts: [String] = []

  func main(_ text: String) async -> Bool {
    texts.append(text)
    return isOnMainActor()
  }
}

@MainActor
struct IsolatedUseCaseTests {
  @Test func `a body runs on the main actor if its use case is isolated to it`() async throws {
    #expect(try await Edit().execute("a").value == "main actor")
    #expect(try await Edit()("a") == "main actor")
    #expect(try await AnyUseCase(Edit())("a") == "main actor")
    #expect(try await Editor()("a") == "main actor")
  }

  @Test func `the body of an actor runs on that actor`() async throws {
    #expect(try await Shelf()("a") == false)
  }
}
