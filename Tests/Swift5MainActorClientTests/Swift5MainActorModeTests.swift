import Observation
import TestSupport
import Testing
import UseCase

// A client in Swift 5 mode whose default isolation is the main actor, with the features of
// approachable concurrency: what Xcode 26 sets up for a new app. Nothing is marked.

@Observable
private final class ObservableScreen {
  var lines: [String] = []
  let find = UseCaseModel(Find())
  let load = ReportingUseCaseModel(Load())

  func search(_ text: String) -> UseCaseOperation<String, [String]> {
    Find().execute(text)
      .then { self.show("found \($0.count)") }
      .finally { self.show("finally") }
  }

  func show(_ line: String) {
    lines.append(isOnMainActor() ? line : "\(line), not on the main actor")
  }
}

struct Swift5MainActorModeTests {
  @Test func `handlers run on the main actor though nothing is marked`() async {
    let screen = ObservableScreen()
    await screen.search("arrow").ended()
    #expect(screen.lines == ["found 2", "finally"])
  }

  @Test func `an observable screen may own models`() async {
    let screen = ObservableScreen()
    await screen.find.execute("dash").ended()
    await screen.load.execute(2).ended()
    #expect(screen.find.value == ["dash"])
    #expect(screen.load.update == 1 && screen.load.value == "loaded")
    await screen.find.execute("").ended()
    #expect(screen.find.error is Missing)
  }
}
