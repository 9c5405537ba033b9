import TestSupport
import Testing

// A client in Swift 5 mode that has enabled no upcoming feature.

private func place() async -> String { isOnMainActor() ? "main actor" : "elsewhere" }

@MainActor
struct Swift5ModeTests {
  @Test func `an unmarked async function leaves the actor of its caller`() async {
    #expect(await place() == "elsewhere")
  }
}
