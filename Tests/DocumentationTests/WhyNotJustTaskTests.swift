import Foundation
import TestSupport
import Testing
import UseCase

#if canImport(SwiftUI)
  import SwiftUI
#else
  import SwiftUIStub
#endif

/// The code of “Why not just Task?”, and of its Spanish version.
@Suite(.mustEnd) @MainActor
struct WhyNotJustTaskTests {
  struct Offline: Error {}

  /// Answers in spite of a cancellation, in the order that the test wants.
  final class Server: Sendable {
    let (asked, answered) = (Log<String>(), Log<String>())
    private let gates = ["s": Gate(), "sw": Gate()]

    func ask(_ text: String) async throws -> [String] {
      asked.append(text)
      await gates[text]?.passIgnoringCancellation()
      answered.append(text)
      return [text]
    }

    func answer(_ text: String) { gates[text]?.open() }
  }

  @Test func `neither screen shows a stale result, or stops the spinner of the newer search`() async
  {
    let servers = (Server(), Server())
    let bare = BareScreen(askServer: servers.0.ask)
    let screen = WhyNotJustTaskScreen(
      search: AnyUseCase(queue: UseCaseQueue(.cancelPrevious), main: servers.1.ask))
    for text in ["s", "sw"] {
      bare.type(text)
      screen.type(text)
    }
    let (stale, newest) = (bare.searches[0], bare.searches[1])
    servers.0.answer("s")
    servers.1.answer("s")
    await stale.value
    while screen.search.queue.activity.running > 1 { await Task.yield() }
    #expect(bare.titles.isEmpty && bare.isSpinning)
    #expect(screen.titles.isEmpty && screen.isSpinning)
    servers.0.answer("sw")
    servers.1.answer("sw")
    await newest.value
    while screen.isSpinning { await Task.yield() }
    #expect(bare.titles == ["sw"] && !bare.isSpinning)
    #expect(screen.titles == ["sw"])
  }

  @Test func `neither screen shows a result that was on its way`() async {
    let servers = (Server(), Server())
    let bare = BareScreen(askServer: servers.0.ask)
    let screen = WhyNotJustTaskScreen(
      search: AnyUseCase(queue: UseCaseQueue(.cancelPrevious), main: servers.1.ask))
    bare.type("s")
    screen.type("s")
    await servers.0.asked.elements(atLeast: 1)
    servers.0.answer("s")
    servers.1.answer("s")
    // Both answers are there, and the main actor, which is busy here, has not heard of them.
    while servers.0.answered.count + servers.1.answered.count < 2 { sched_yield() }
    bare.type("sw")
    screen.type("sw")
    await bare.searches[0].value
    for _ in 1...10 { await Task.yield() }
    #expect(bare.titles.isEmpty && bare.isSpinning)
    #expect(screen.titles.isEmpty && screen.isSpinning)
    servers.0.answer("sw")
    servers.1.answer("sw")
    await bare.searches[1].value
    while screen.isSpinning { await Task.yield() }
    #expect(bare.titles == ["sw"] && !bare.isSpinning)
    #expect(screen.titles == ["sw"] && !screen.isSpinning)
  }

  @Test func `both screens show an error`() async {
    let bare = BareScreen { _ in throw Offline() }
    bare.type("s")
    await bare.searches[0].value
    let screen = WhyNotJustTaskScreen(
      search: AnyUseCase(queue: UseCaseQueue(.cancelPrevious)) { _ in throw Offline() })
    screen.type("s")
    while screen.isSpinning { await Task.yield() }
    #expect(bare.message == "Offline()" && screen.message == "Offline()" && !bare.isSpinning)
  }

  @Test func `two increments of an actor overlap, and on a serial queue they do not`() async throws
  {
    let (gate, stored) = (Gate(), Log<Int>())
    let overlapping = Counter { number in
      stored.append(number)
      await gate.passIgnoringCancellation()
    }
    let tasks = [
      Task { try await overlapping.increment() }, Task { try await overlapping.increment() },
    ]
    await stored.elements(atLeast: 2)
    gate.open()
    for task in tasks { try await task.value }
    #expect(stored.elements == [1, 1])

    let counter = Counter { _ in await Task.yield() }
    let increment = AnyUseCase<Void, Void>(queue: UseCaseQueue(.serial)) {
      try await counter.increment()
    }
    increment.execute()
    try await increment.execute().value
    #expect(await counter.value == 2)
  }

  @Test func `a task may lose its error without a warning`() async {
    let draft = "Dear"
    let hasRun = Gate()
    @Sendable func save(_ text: String) async throws {
      hasRun.open()
      throw Offline()
    }
    Task { try await save(draft) }
    await hasRun.passIgnoringCancellation()
  }
}

@MainActor
private final class BareScreen {
  let askServer: @Sendable (String) async throws -> [String]
  private(set) var titles: [String] = []
  private(set) var message = ""
  private(set) var isSpinning = false
  private(set) var searches: [Task<Void, Never>] = []
  private var search: Task<Void, Never>? {
    didSet { if let search { searches.append(search) } }
  }

  init(askServer: @escaping @Sendable (String) async throws -> [String]) {
    self.askServer = askServer
  }

  func type(_ text: String) {
    search?.cancel()
    isSpinning = true
    search = Task {
      do {
        let titles = try await askServer(text)
        guard !Task.isCancelled else { return }
        self.titles = titles
      } catch {
        guard !Task.isCancelled else { return }
        message = String(describing: error)
      }
      isSpinning = false
    }
  }
}

private struct TaskSearchView: View {
  let askServer: @Sendable (String) async throws -> [String]
  @State private var text = ""
  @State private var titles: [String] = []
  @State private var message = ""
  @State private var isSpinning = false

  var body: some View {
    List(titles, id: \.self) { title in Text(title) }
      .searchable(text: $text)
      .task(id: text) {
        isSpinning = true
        do {
          let found = try await askServer(text)
          guard !Task.isCancelled else { return }
          titles = found
        } catch {
          guard !Task.isCancelled else { return }
          message = String(describing: error)
        }
        isSpinning = false
      }
  }
}

@MainActor
final class WhyNotJustTaskScreen {
  let search: AnyUseCase<String, [String]>
  private(set) var titles: [String] = []
  private(set) var message = ""
  private(set) var isSpinning = false

  init(search: AnyUseCase<String, [String]>) { self.search = search }

  func type(_ text: String) {
    isSpinning = true
    search.execute(text)
      .then { titles in self.titles = titles }
      .catch { error in self.message = String(describing: error) }
      .common { self.isSpinning = false }
  }
}

private actor Counter {
  private(set) var value = 0
  let store: @Sendable (Int) async throws -> Void

  init(store: @escaping @Sendable (Int) async throws -> Void) {
    self.store = store
  }

  func increment() async throws {
    let next = value + 1
    try await store(next)  // another increment can begin here
    value = next
  }
}
