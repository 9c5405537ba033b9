import Foundation
import TestSupport
import Testing
import UseCase

/// The code of “Cancellation, exactly”, and of its Spanish version.
@Suite(.mustEnd)
struct CancellationArticleTests {
  @Test(arguments: [true, false])
  @MainActor func `a screen shows nothing for a text that is not there any more`(
    clears: Bool
  ) async {
    let gates = [Gate(), Gate()]
    let search = AnyUseCase<String, [String]>(queue: UseCaseQueue(.cancelPrevious)) { text in
      await gates[text.count - 1].passIgnoringCancellation()
      return [text]
    }
    let screen = SearchScreen(search: search)
    screen.type("s")
    let first = screen.newest
    gates[0].open()
    // The first one has its outcome, and its handler is kept from the main actor meanwhile.
    while first?.state != .finished { sched_yield() }
    if clears { screen.clear() } else { screen.type("sw") }
    await first?.ended()
    #expect(screen.titles.isEmpty)
    gates[1].open()
    if clears { screen.type("sw") }
    await screen.newest?.ended()
    #expect(screen.titles == ["sw"])
    #expect(search.queue.activity.succeeded == 2)
  }

  @Test func `a body that looks at its cancellation stops there`() async throws {
    #expect(try await CountWords().execute(["one two", "three"]).value == 3)
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await CountWords().main(["one"])
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }

  @Test @MainActor func `a handler may decide by the reason`() async {
    let (gate, screen, order) = (Gate(), Screen(), 5)
    let pay = AnyUseCase<Int, String>(queue: UseCaseQueue(.dropWhileBusy)) { euros in
      await gate.passIgnoringCancellation()
      return "\(euros) €"
    }
    let first = pay.execute(1)
    @discardableResult func tap() -> UseCaseOperation<Int, String> {
      pay.execute(order)
        .then { receipt in screen.show(receipt) }
        .onCancel { reason in
          if reason == .dropped { screen.show("One moment.") }
        }
    }
    await tap().ended()
    gate.open()
    await first.ended()
    await tap().ended()
    #expect(screen.shown == ["One moment.", "5 €"])
  }
}

@MainActor
final class SearchScreen {
  let search: AnyUseCase<String, [String]>
  private(set) var newest: UseCaseOperation<String, [String]>?
  private(set) var titles: [String] = []

  init(search: AnyUseCase<String, [String]>) {
    self.search = search
  }

  func clear() {
    newest?.cancel()
    titles = []
  }

  func type(_ text: String) {
    newest = search.execute(text).then { titles in self.titles = titles }
  }
}

struct CountWords: UseCase {
  func main(_ pages: [String]) async throws -> Int {
    var count = 0
    for page in pages {
      try Task.checkCancellation()
      count += page.split(separator: " ").count
    }
    return count
  }
}

@MainActor
private final class Screen {
  private(set) var shown: [String] = []

  func show(_ content: Any) { shown.append("\(content)") }
}
