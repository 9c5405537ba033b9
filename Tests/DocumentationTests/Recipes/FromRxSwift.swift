import TestSupport
import Testing
import UseCase

/// The code of “Migrating from RxSwift”.
@Suite(.mustEnd) @MainActor
struct FromRxSwift {
  struct Offline: Error {}

  struct Server: Sendable {
    let asked: Log<String>

    func search(_ text: String) async throws -> [String] {
      asked.append(text)
      return [text]
    }
  }

  struct Search: UseCase {
    let server: Server
    let queue = UseCaseQueue(
      // debounce, flatMapLatest
      .cancelPrevious(debounce: .milliseconds(300)),
      interceptors: [RetryInterceptor(attempts: 3)])  // retry(3)

    func main(_ text: String) async throws -> [String] {
      try await server.search(text)
    }
  }

  @MainActor
  final class SearchScreen {
    private(set) var titles: [String] = []
    private let search: Search
    private let scope = UseCaseScope()
    private var newestText: String?

    init(search: Search) { self.search = search }

    func type(_ text: String) {
      guard text != newestText else { return }  // distinctUntilChanged
      newestText = text
      search.execute(text)
        // observe(on:), subscribe
        .then { [weak self] titles in self?.titles = titles }
        .catch { [weak self] _ in self?.titles = [] }  // catchAndReturn
        .store(in: scope)  // disposed(by:)
    }
  }

  @Test func `the newest text is searched once`() async {
    let search = Search(server: Server(asked: Log()))
    let screen = SearchScreen(search: search)
    search.queue.suspend()
    for text in ["e", "em", "em"] { screen.type(text) }
    search.queue.resume()
    while screen.titles.isEmpty { await Task.yield() }
    #expect(screen.titles == ["em"] && search.server.asked.elements == ["em"])
    #expect(search.queue.activity.executed == 2)
  }

  struct Order: Sendable {
    let euros: Int
  }

  struct Bank: Sendable {
    let gate: Gate

    func pay(_ order: Order) async throws -> String {
      try await gate.pass()
      guard order.euros > 0 else { throw Offline() }
      return "\(order.euros) €"
    }
  }

  @Test func `a button that fails pays the next time`() async {
    let (bank, screen) = (Bank(gate: Gate()), TestScreen())
    let pay = AnyUseCase<Order, String>(
      queue: UseCaseQueue(.dropWhileBusy)
    ) { order in
      try await bank.pay(order)
    }
    func tap(_ order: Order) -> UseCaseOperation<Order, String> {
      pay.execute(order)
        .then { receipt in screen.show(receipt) }
        .catch { error in screen.show("Not paid: \(error)") }
    }
    let failing = tap(Order(euros: 0))
    await tap(Order(euros: 5)).ended()
    bank.gate.open()
    await failing.ended()
    await tap(Order(euros: 7)).ended()
    #expect(screen.lines == ["Not paid: Offline()", "7 €"])
    #expect(pay.queue.activity.cancelled == 1)
  }
}
