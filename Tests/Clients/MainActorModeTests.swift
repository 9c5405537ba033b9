import TestSupport
import Testing
import UseCase

// A client whose default isolation is the main actor, in Swift 6 mode and in Swift 5 mode:
// nothing is marked.

private final class UnmarkedScreen {
  var lines: [String] = []

  func search(_ text: String) -> UseCaseOperation<String, [String]> {
    Find().execute(text)
      .then { self.show("found \($0.count)") }
      .finally { self.show("finally") }
  }

  func show(_ line: String) {
    lines.append(isOnMainActor() ? line : "\(line), not on the main actor")
  }
}

struct MainActorModeTests {
  @Test(.holds("Every kind of module"))
  func `handlers run on the main actor though nothing is marked`() async {
    let screen = UnmarkedScreen()
    await screen.search("arrow").ended()
    #expect(screen.lines == ["found 2", "finally"])
  }
}
