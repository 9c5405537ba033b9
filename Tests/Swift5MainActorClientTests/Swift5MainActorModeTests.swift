import Observation
import Testing
import UseCase

// A client in Swift 5 mode whose default isolation is the main actor, with the features of
// approachable concurrency: what Xcode 26 sets up for a new app. Nothing is marked.

@Observable
private final class ObservableScreen {
  let find = UseCaseModel(Find())
  let load = ReportingUseCaseModel(Load())
}

struct Swift5MainActorModeTests {
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
