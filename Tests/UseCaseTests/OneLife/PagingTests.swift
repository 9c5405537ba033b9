import TestSupport
import Testing
import UseCase

/// A list that loads its next page when its last row appears.
@Suite(.mustEnd) @MainActor
struct PagingTests {
  private struct Page: Sendable {
    let number: Int
    /// Open once the handler is attached.
    let gate = Gate()
  }

  @MainActor private final class List {
    private(set) var rows: [Int] = []
    private(set) var refused = 0
    private let last: Int
    private let loadMore = AnyUseCase(queue: UseCaseQueue(.dropWhileBusy)) { (page: Page) in
      await page.gate.passIgnoringCancellation()
      for _ in 0..<page.number % 3 { await Task.yield() }
      return (0..<10).map { page.number * 10 + $0 }
    }

    init(pages: Int) { last = pages * 10 }

    var isComplete: Bool { rows.count >= last }

    /// The user scrolls, perhaps while the page is on its way.
    func scroll() {
      guard !isComplete else { return }
      load()
    }

    /// The next thing that the main actor does after the page has been appended.
    private func lastRowAppears() {
      guard !isComplete else { return }
      if load().fate == "D" { refused += 1 }
    }

    @discardableResult private func load() -> UseCaseOperation<Page, [Int]> {
      let page = Page(number: rows.count / 10)
      defer { page.gate.open() }
      return loadMore.execute(page).then { rows in
        self.rows += rows
        Task { self.lastRowAppears() }
      }
    }
  }

  @Test func `no page is appended twice, however often the user scrolls meanwhile`() async {
    for _ in 1...200 {
      let list = List(pages: 5)
      while !list.isComplete {
        list.scroll()
        await Task.yield()
      }
      #expect(list.rows == Array(0..<50))
    }
  }

  /// The body waits until the handler is attached.
  @Test func `the very next job of the main actor after then is admitted`() async {
    let held = Held(.dropWhileBusy)
    var refused = 0
    for round in 1...tries("RACES", or: 1_000) {
      let next = Log<Operation>()
      let first = held.execute(2 * round)
        .then { _ in Task { next.append(held.execute(2 * round + 1)) } }
      held.open(2 * round)
      await next.elements(atLeast: 1)
      if next.elements[0].fate == "D" { refused += 1 }
      held.open(2 * round + 1)
      await allEnded([first] + next.elements)
    }
    #expect(refused == 0)
  }

  @Test func `a page whose row appears as the next thing is never refused`() async {
    var refused = 0
    for _ in 1...100 {
      let list = List(pages: 10)
      list.scroll()
      #expect(await isReached { list.isComplete })
      #expect(list.rows == Array(0..<100))
      refused += list.refused
    }
    #expect(refused == 0)
  }
}
