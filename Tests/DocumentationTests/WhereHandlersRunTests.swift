import TestSupport
import Testing
import UseCase
import UseCaseTesting

private let search = AnyUseCase<String, [String]> { text in [text] }

/// The code of “Where handlers run”.
@Suite(.mustEnd)
struct WhereHandlersRunTests {
  @Test func `a handler may use the actor in which it was written`() async {
    let archive = Archive()
    await archive.load()
    #expect(await archive.titles == ["swift"])
  }

  @Test func `a program without a run loop hears of its results`() async {
    await search.execute("swift").then { titles in print(titles) }.ended()
  }

  @Test func `handlers on different actors run in the order of attaching`() async {
    let log = Log<String>()
    let list = View(name: "list", log: log)
    let operation =
      search.execute("swift")
      .then { @MainActor titles in list.show(titles) }
      .then { @MainActor _ in list.scrollToTop() }
      .finally { log.append("searched") }
    await operation.ended()
    #expect(log.elements == ["list shows true", "list scrolls true", "searched"])
  }

  @Test func `a handler may execute on a queue that drops while it is busy`() async {
    let bills = [5, 7]
    let pay = AnyUseCase<Int, Int>(queue: UseCaseQueue(.dropWhileBusy)) { amount in amount }
    let first =
      pay.execute(bills[0]).then { _ in pay.execute(bills[1]) }
    await first.ended()
    await pay.queue.idle()
    #expect(pay.queue.activity.succeeded == 2)
  }

  @Test @MainActor func `a screen that goes away cancels its search`() async throws {
    var screen: AdvertScreen? = AdvertScreen(find: ControlledUseCase<String, [Advert]>())
    let operation = try #require(screen).search("bike")
    screen = nil
    guard case .cancelled(.scopeEnded) = try await operation.settled() else {
      Issue.record("The handler has kept the screen.")
      return
    }
  }
}

private struct Advert: Sendable {
  let title: String
}

@MainActor
private final class AdvertScreen {
  private let find: any UseCase<String, [Advert]>
  private let scope = UseCaseScope()
  private(set) var titles: [String] = []

  init(find: any UseCase<String, [Advert]>) { self.find = find }

  func search(_ text: String) -> UseCaseOperation<String, [Advert]> {
    find.execute(text)
      .then { [weak self] adverts in self?.show(adverts) }
      .store(in: scope)
  }

  private func show(_ adverts: [Advert]) { titles = adverts.map(\.title) }
}

actor Archive {
  private(set) var titles: [String] = []

  func load() async {
    await search.execute("swift")
      .then { titles in self.titles = titles }
      .ended()
  }
}

private struct View {
  let name: String
  let log: Log<String>

  @MainActor func show(_ content: Any) { log.append("\(name) shows \(isOnMainActor())") }
  @MainActor func scrollToTop() { log.append("\(name) scrolls \(isOnMainActor())") }
}
