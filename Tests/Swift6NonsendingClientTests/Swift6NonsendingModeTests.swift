import TestSupport
import Testing

// A client in Swift 6 mode with NonisolatedNonsendingByDefault.

private func place() async -> String { isOnMainActor() ? "main actor" : "elsewhere" }

@MainActor
struct Swift6NonsendingModeTests {
  @Test func `an unmarked async function stays on the actor of its caller`() async {
    #expect(await place() == "main actor")
  }
}
