import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseTesting

/// The examples in the documentation of types and functions.
@Suite(.mustEnd)
@MainActor
struct SymbolCodeTests {
  @Test func `a use case answers by handler and by call`() async throws {
    struct Greet: UseCase {
      func main(_ name: String) async throws -> String { "Hello, \(name)!" }
    }

    Greet().execute("Ada").then { greeting in print(greeting) }  // Hello, Ada!
    let greeting = try await Greet()("Grace")  // Hello, Grace!
    #expect(greeting == "Hello, Grace!")
    #expect(try await Greet().execute("Ada").value == "Hello, Ada!")
  }

  @Test func `a use case reports while it works`() async throws {
    struct Count: ReportingUseCase {
      func main(
        _ limit: Int, report: @escaping @Sendable (Int) -> Void
      ) async throws -> String {
        for number in 1...limit { report(number) }
        return "done"
      }
    }

    Count().execute(3) { number in print(number) }  // 1 2 3
      .then { text in print(text) }  // done
    let heard = Log<Int>()
    let operation = Count().execute(3) { number in heard.append(number) }
    #expect(try await operation.value == "done")
    await operation.ended()
    #expect(heard.elements == [1, 2, 3])
  }

  @Test func `an operation, its outcome and its queue tell what they do`() async {
    let operation = search.execute("swift")
      .then { results in print(results) }
      .catch { error in print(error) }
      .finally { print("done") }
    await operation.ended()

    switch await search.execute("swift").ended() {
    case .success(let titles): print(titles)
    case .failure(let error): print("failed: \(error)")
    case .cancelled(let reason): print("cancelled: \(reason)")
    }

    search.execute("swift")
    let activity = search.queue.activity
    print("\(activity.running) run, \(activity.waiting) wait")  // 1 run, 0 wait
    #expect(activity.waiting == 0)
    await search.queue.idle()
  }

  @Test func `closures and other use cases are use cases of any type`() async throws {
    let double = AnyUseCase<Int, Int> { number in number * 2 }
    let screen = Screen(search: AnyUseCase(Search()))
    #expect(try await double(21) == 42)
    #expect(try await screen.search("swift") == ["swift!"])
  }

  @Test func `a closure reports to its receiver`() async {
    let count = AnyReportingUseCase<Int, String, Int> { limit, report in
      for number in 1...limit { report(number) }
      return "done"
    }
    count.execute(3) { number in print(number) }  // 1 2 3
    let numbers = Log<Int>()
    await count.execute(3) { numbers.append($0) }.ended()
    #expect(numbers.elements == [1, 2, 3])
  }

  @Test func `two pictures of one user get the avatar of one shared use case`() async {
    struct LoadAvatar: UseCase {
      func main(_ user: Int) async throws -> String { "avatar \(user)" }
    }
    struct Picture {
      let shown = Log<String>()
      func show(_ image: String) { shown.append(image) }
    }
    let (header, list, user) = (Picture(), Picture(), 7)

    let avatar = LoadAvatar().shared()
    avatar.execute(user).then { image in header.show(image) }
    avatar.execute(user).then { image in list.show(image) }  // the same download
    #expect(await header.shown.elements(atLeast: 1) == ["avatar 7"])
    #expect(await list.shown.elements(atLeast: 1) == ["avatar 7"])
  }

  @Test func `a queue tells its observer and wraps its bodies`() async throws {
    let queue = UseCaseQueue(.serial) { event in
      print("\(event.useCase) \(event.id) \(event.kind)")  // Search #7 running
    }
    let logged = UseCaseQueue(interceptors: [Logging.Log()])
    for queue in [queue, logged, retrying()] {
      #expect(try await AnyUseCase<Int, Int>(queue: queue) { $0 }(1) == 1)
    }
  }

  private func retrying() -> UseCaseQueue {
    let queue = UseCaseQueue(
      interceptors: [
        RetryInterceptor(
          attempts: 3, delay: .exponential(.seconds(1), cap: .seconds(5)))
      ])
    return queue
  }

  @Test func `a timeout is a failure in words`() async throws {
    struct Download: UseCase {
      let queue: UseCaseQueue
      let timeout = Duration.seconds(5)
      func main(_ url: String) async throws { try await Gate().pass() }
    }
    let (clock, url) = (ManualClock(), "https://example.org")
    let download = Download(queue: UseCaseQueue(clock: clock))
    download.execute(url)
      .catch(UseCaseTimeout.self) { error in
        print(error)  // It took longer than 5 seconds.
      }
    try await clock.sleeping()
    await clock.advance(by: .seconds(5))
    await download.queue.idle()
    #expect(download.queue.activity.failed == 1)
    #expect("\(UseCaseTimeout(duration: download.timeout))" == "It took longer than 5 seconds.")
  }

  @Test func `reactions attach handlers whoever executes`() async throws {
    let badge = Badge()
    let reactions = UseCaseReactions()
    let queue = UseCaseQueue(reactions: reactions)
    reactions.to(LogIn.self) { operation in
      operation.then { user in badge.show(user) }
    }
    await LogIn(queue: queue).execute("Ada").ended()
    #expect(try await LogIn(queue: queue)("Grace") == "Grace")
    #expect(await badge.shown.elements(atLeast: 2) == ["Ada", "Grace"])
  }

  @Test func `policies bound a line, and the pace of a preview`() {
    let uploads = UseCaseQueue(.limit(2, waiting: 100))
    let preview = UseCaseQueue(.throttle(.milliseconds(100)))
    #expect(uploads.policy != .limit(2) && preview.policy != .keepLatest)
  }

  // The hook is one for the process: a test that sets it is in a suite of its own.
  private func tellFailures() {
    let log = FailureLog()
    UseCaseQueue.unhandledFailure = { failure in log.error("\(failure)") }
  }

  /// Fails or answers when the gate opens, and ignores its cancellation.
  private func heldSearch(
    _ policy: UseCaseQueue.Policy, _ gate: Gate, fails: Bool
  ) -> AnyUseCase<String, [String]> {
    AnyUseCase(queue: UseCaseQueue(policy)) { text in
      await gate.passIgnoringCancellation()
      if fails { throw UseCaseTimeout(duration: .seconds(5)) }
      return [text]
    }
  }

  @Test(
    arguments: [UseCaseQueue.Policy.cancelPrevious, .dropWhileBusy, .keepLatest, .serial],
    [true, false])
  func `a spinner that follows the activities is right`(
    policy: UseCaseQueue.Policy, fails: Bool
  ) async {
    let (spinner, gate) = (WatchedSpinner(), Gate())
    let search = heldSearch(policy, gate, fails: fails)
    let following = Task {
      for await activity in search.queue.activities() {
        spinner.isAnimating = !activity.isIdle
      }
    }
    var operations = (1...3).map { search.execute("\($0)") }
    await spinner.state.wait { $0 }
    operations.append(search.execute("4"))
    gate.open()
    for operation in operations { await operation.ended() }
    await spinner.state.wait { !$0 }
    following.cancel()
    await following.value
    #expect(spinner.changes.elements == [true, false])
    #expect(!search.queue.isBusy)
  }

  @Test(arguments: [UseCaseQueue.Policy.cancelPrevious, .dropWhileBusy], [true, false])
  func `a spinner that a finally stops goes on for the operation that goes on`(
    policy: UseCaseQueue.Policy, fails: Bool
  ) async {
    let (spinner, gate) = (WatchedSpinner(), Gate())
    let search = heldSearch(policy, gate, fails: fails)
    let operations = ["s", "sw"].map { text in
      search.execute(text).onStart { spinner.start() }
        .finally { outcome in
          switch outcome {
          case .cancelled(.superseded), .cancelled(.dropped): break
          case .success, .failure, .cancelled: spinner.stop()
          }
        }
    }
    await spinner.state.wait { $0 }
    if policy == .dropWhileBusy { await operations[1].ended() }
    #expect(spinner.isAnimating)
    gate.open()
    for operation in operations { await operation.ended() }
    #expect(spinner.changes.elements == [true, false])
  }

  @Test func `a scope belongs to a screen`() async {
    Scoped.SearchScreen().type("swift")
    await search.queue.idle()
  }

  @Test func `a renaming is undone`() async {
    let document = Document()
    let history = UseCaseHistory()
    history.execute(Rename(document: document), "Report")
    history.undo()
    await history.group("") {}.ended()
    #expect(await document.name == "Untitled")
  }

  @Test func `a recorded use case knows its history, and whoever has it does not`() async throws {
    let document = Document()
    let history = UseCaseHistory()
    let rename = Rename(document: document).recorded(in: history)
    rename.execute("Report")
    history.undo()
    history.redo().then { entry in print(entry?.title ?? "nothing") }  // Rename
    await history.group("") {}.ended()

    let state = history.state
    print(state.canUndo, state.undoTitle ?? "")  // true Rename
    for entry in history.entries {
      print(entry.isApplied ? "●" : "○", entry.title)  // ● Rename
    }
    #expect(state.undoTitle == "Rename")
    #expect(history.entries.map(\.isApplied) == [true])
    #expect(try await recordedButton(document, history).rename("Draft") == "Report")
  }

  private func recordedButton(_ document: Document, _ history: UseCaseHistory) -> RenameButton {
    let rename = Rename(document: document).recorded(in: history)
    let button = RenameButton(rename: AnyUseCase(rename))  // doesn't know the history
    return button
  }

  @Test func `an undo of what is gone takes its entry off the list`() async {
    let favorites = Favorites()
    let history = UseCaseHistory()
    await history.execute(AddFavorite(favorites: favorites), "Emma").ended()
    await favorites.remove("Emma")
    await #expect(throws: HistoryObsolete.self) { _ = try await history.undo().value }
    #expect(history.entries.isEmpty)
    await history.execute(AddFavorite(favorites: favorites), "Dune").ended()
    await history.undo().ended()
    #expect(await !favorites.contains("Dune"))
  }

  @Test func `all places are replaced in one step`() async {
    let document = Document()
    let history = UseCaseHistory()
    let replace = Rename(document: document).recorded(in: history)
    let places = ["a", "b"]
    await replaceAll(places, replace, history).ended()
    #expect(history.entries.map(\.title) == ["Replace all"])
  }

  private func replaceAll(
    _ places: [String], _ replace: RecordedUseCase<Rename>, _ history: UseCaseHistory
  ) -> UseCaseOperation<String, Void> {
    history.group("Replace all") {
      for place in places { _ = try await replace(place) }
    }
  }
}

private let search = Search()

private struct Search: UseCase {
  let queue = UseCaseQueue(.cancelPrevious)
  func main(_ text: String) async throws -> [String] { ["\(text)!"] }
}

@MainActor
private final class WatchedSpinner {
  let state = Watched(false)
  let changes = Log<Bool>()

  var isAnimating: Bool {
    get { state.value }
    set {
      if newValue != state.value { changes.append(newValue) }
      state.update { $0 = newValue }
    }
  }

  func start() { isAnimating = true }
  func stop() { isAnimating = false }
}

private struct Badge: Sendable {
  let shown = Log<String>()
  func show(_ user: String) { shown.append(user) }
}

private struct LogIn: UseCase {
  let queue: UseCaseQueue
  func main(_ user: String) async throws -> String { user }
}

private struct FailureLog: Sendable {
  func error(_ message: String) { print(message) }
}

private struct Screen {
  let search: AnyUseCase<String, [String]>
}

private struct RenameButton {
  let rename: AnyUseCase<String, String>
}

private enum Logging {
  struct Log: UseCaseInterceptor {
    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution,
      next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      print("\(execution.useCase) \(execution.id) begins")
      defer { print("\(execution.useCase) \(execution.id) is over") }
      return try await next(request)
    }
  }
}

private enum Scoped {
  final class SearchScreen {
    let scope = UseCaseScope()
    func type(_ text: String) {
      search.execute(text).then { results in print(results) }.store(in: scope)
    }
  }
}

private actor Document {
  private(set) var name = "Untitled"

  func rename(to name: String) -> String {
    defer { self.name = name }
    return self.name
  }
}

private struct Rename: UndoableUseCase {
  let document: Document

  func main(_ name: String) async throws -> String {
    await document.rename(to: name)
  }

  func undo(_ name: String, _ old: String) async throws {
    _ = await document.rename(to: old)
  }
}

private actor Favorites {
  private var titles: Set<String> = []

  func add(_ title: String) { titles.insert(title) }
  func remove(_ title: String) { titles.remove(title) }
  func contains(_ title: String) -> Bool { titles.contains(title) }
}

private struct AddFavorite: UndoableUseCase {
  let favorites: Favorites

  func main(_ title: String) async throws { await favorites.add(title) }

  func undo(_ title: String, _: Void) async throws {
    guard await favorites.contains(title) else { throw HistoryObsolete() }
    await favorites.remove(title)
  }
}

extension SymbolCodeTests {
  @Test func `policies are made of parts`() async {
    let uploads = UseCaseQueue(.limit(2).waiting(atMost: 100).byPriority)
    let autosave = UseCaseQueue(
      .keepLatest.debounced(by: .seconds(1), atMost: .seconds(10)))
    let likes = UseCaseQueue(.dropWhileBusy.spaced(by: .seconds(1)))  // leading edge only
    let requests = UseCaseQueue(.limit(4).rate(10, per: .seconds(1)))
    for queue in [uploads, autosave, likes, requests] { #expect(!queue.isBusy) }
  }

  @Test func `the more urgent of two that wait goes first`() async {
    struct LoadImage: UseCase {
      let queue: UseCaseQueue
      func main(_ image: Int) async throws -> Int { image }
    }

    let (prefetched, visible) = (1, 2)
    let load = LoadImage(queue: UseCaseQueue(.limit(4).byPriority))
    load.execute(prefetched, priority: .background)
    load.execute(visible, priority: .userInitiated)  // goes first
    await load.queue.idle()
    #expect(load.queue.activity.succeeded == 2)
  }

  @Test func `a delay follows what a server asks for, and else it grows`() async throws {
    struct Offline: Error {}
    struct TooManyRequests: Error { var retryAfter: Duration }

    let backoff = RetryInterceptor.Delay.exponential(.seconds(1), cap: .seconds(30))
    let delay = RetryInterceptor.Delay.custom { error, attempt in
      (error as? TooManyRequests)?.retryAfter
        ?? backoff.duration(after: error, attempt: attempt)
    }
    let (clock, runs) = (ManualClock(), Watched(0))
    let queue = UseCaseQueue(
      clock: clock, interceptors: [RetryInterceptor(attempts: 3, delay: delay)])
    let useCase = AnyUseCase<Int, Int>(queue: queue) { number in
      runs.update { $0 += 1 }
      switch runs.value {
      case 1: throw TooManyRequests(retryAfter: .seconds(7))
      case 2: throw Offline()
      default: return number
      }
    }
    let operation = useCase.execute(1)
    for pause in [7, 2] {
      try await clock.sleeping(for: .seconds(pause))
      await clock.advance(by: .seconds(pause))
    }
    #expect(try await operation.value == 1)
  }

  @Test func `a queue that is closed lets what is in it end`() async throws {
    let (clock, saved) = (ManualClock(), Log<String>())
    let queue = UseCaseQueue(.keepLatest.debounced(by: .seconds(1)), clock: clock)
    let save = AnyUseCase<String, String>(queue: queue) { text in text }
    save.execute("Dear").then { @MainActor text in saved.append(text) }

    save.queue.close()
    save.queue.flush()
    await save.queue.idle()  // the last handler has run
    #expect(saved.elements == ["Dear"])
    guard case .cancelled(.closed) = await save.outcome(of: "Dear Ada") else {
      Issue.record("It came after the end.")
      return
    }
  }

  @Test func `a test waits for the outcome`() async throws {
    let search = AnyUseCase<String, [String]> { _ in ["Swift"] }
    #expect(try await search.execute("swift").settled().get() == ["Swift"])
  }
}

#if canImport(SwiftUI)
  import SwiftUI

  private struct Flushing: View {
    let save: any UseCase<String, Void>
    @Environment(\.scenePhase) private var scenePhase

    var body: some View {
      Text("")
        .onChange(of: scenePhase) { _, phase in
          if phase == .background { save.queue.flush() }
        }
    }
  }

  private struct SearchView: View {
    @State private var search = UseCaseModel(Search())
    @State private var text = ""

    var body: some View {
      NavigationStack {
        List(search.value ?? [], id: \.self) { Text($0) }
          .searchable(text: $text)
          .onChange(of: text) { search.execute(text) }
          .overlay { if search.isRunning { ProgressView() } }
      }
    }
  }

  private struct UndoButton: View {
    let model: HistoryModel

    var body: some View {
      Button("Undo \(model.undoTitle ?? "")") { model.undo() }
        .disabled(!model.canUndo)
    }
  }
#endif
