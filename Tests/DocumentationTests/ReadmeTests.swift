import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseTesting

#if canImport(SwiftUI)
  import SwiftUI
#else
  import SwiftUIStub
#endif

private func askServer(_ text: String) async throws -> [String] { [text] }

private func ask(_ text: String) async throws -> [String] { [text] }
private let document = Document()
private func put(_ title: String) async throws -> String { await document.rename(to: title) }

private actor Document {
  private(set) var title = "Untitled"

  func rename(to title: String) -> String {
    defer { self.title = title }
    return self.title
  }
}

/// The first screen of the READMEs.
private enum FirstScreen {
  @MainActor
  static func find(_ text: String, show: @escaping @MainActor ([String]) -> Void) {
    struct Search: UseCase {
      let queue = UseCaseQueue(.cancelPrevious)
      func main(_ text: String) async throws -> [String] { try await ask(text) }
    }
    let search = Search()  // kept, and executed at each keystroke:
    search.execute(text).then { titles in show(titles) }
  }

  static func correct(in history: UseCaseHistory) {
    struct Rename: UndoableUseCase {
      // Returns the old title.
      func main(_ title: String) async throws -> String { try await put(title) }
      func undo(_: String, _ oldTitle: String) async throws { _ = try await put(oldTitle) }
    }
    Rename().recorded(in: history).execute("Report")
    history.undo().catch { error in print("Not undone, try again: \(error)") }  // at ⌘Z
  }
}

/// The search of the READMEs.
private struct Search: UseCase {
  var ask: @Sendable (String) async throws -> [String] = { try await askServer($0) }  // your server
  let queue = UseCaseQueue(.cancelPrevious)  // or .cancelPrevious(debounce: .milliseconds(300))
  let timeout = Duration.seconds(5)  // then it fails with UseCaseTimeout

  func main(_ text: String) async throws -> [String] {
    try await text.isEmpty ? [] : ask(text)
  }
}

struct SearchView: View {
  @State private var titles = UseCaseModel(Search())
  @State private var text = ""

  var body: some View {
    NavigationStack {
      List(titles.value ?? [], id: \.self) { title in Text(title) }
        .searchable(text: $text)
        .onChange(of: text) { titles.execute(text) }
        .overlay { if titles.isRunning { ProgressView() } }
        .safeAreaInset(edge: .bottom) { if let error = titles.error { Text(verbatim: "\(error)") } }
    }
  }
}

/// The code of the READMEs.
struct ReadmeCode {
  /// The same without SwiftUI.
  @MainActor final class SearchScreen {
    private let search: any UseCase<String, [String]>
    private(set) var lines: [String] = []
    private(set) var isSpinning = false

    init(search: any UseCase<String, [String]>) { self.search = search }

    @discardableResult
    func type(_ text: String) -> UseCaseOperation<String, [String]> {
      defer { isSpinning = search.queue.isBusy }
      return search.execute(text)
        .then { titles in self.lines = titles }
        .catch { error in self.lines = [String(describing: error)] }
        .finally { self.isSpinning = self.search.queue.isBusy }
    }
  }

  func handle() async throws {
    let search = Search { text in [text] }  // answers in place of your server
    let operation = search.execute("swift")
      .onStart { print("Asking…") }  // when the body begins
      .then { titles in print(titles) }  // success
      .catch(UseCaseTimeout.self) { error in print(error) }  // no answer within 5 seconds
      .catch { error in print("Failed: \(error)") }  // every failure, a timeout too
      .onCancel { reason in print(reason) }  // superseded, dropped, requested, …
      .finally { outcome in print(outcome) }  // always
    print(try await operation.value)  // or await it: when it returns, the handlers have run
  }

  struct Rename: UndoableUseCase {
    let put: @Sendable (String) async throws -> String  // returns the old title

    func main(_ title: String) async throws -> String { try await put(title) }
    func undo(_ title: String, _ oldTitle: String) async throws {
      _ = try await put(oldTitle)
    }
  }

  let history = UseCaseHistory()  // keep one for each document

  func correct(_ rename: Rename) {
    rename.recorded(in: history).execute("Report")
    history.undo().catch { error in print("Not undone: \(error)") }
  }

  func edit(_ rename: Rename, in history: UseCaseHistory) {
    let rename = rename.recorded(in: history)
    rename.execute("Report")
    history.undo().catch { error in print("Not undone: \(error)") }
    history.redo()
    history.group("Tidy up") {  // one entry, undone in one step
      _ = try await rename("Draft")
      _ = try await rename("Draft 2")
    }
  }
}

/// The code of the READMEs, run.
@Suite(.mustEnd) @MainActor
struct ReadmeTests {
  @Test @MainActor func `only the newest search reaches the screen`() async throws {
    let server = ControlledUseCase<String, [String]>()
    let titles = UseCaseModel(Search { text in try await server(text) })
    let stale = titles.execute("s")
    _ = try await server.next()  // the server has the request

    let newest = titles.execute("sw")
    try await stale.settled()  // cancelled, it needs no answer
    #expect(titles.isRunning)

    try await server.next().succeed(["Swift"])
    try await newest.settled()
    #expect(titles.value == ["Swift"] && !titles.isRunning)
  }

  @Test func `the first code finds what the server answers`() async {
    let shown = await withCheckedContinuation { shown in
      FirstScreen.find("swift") { titles in shown.resume(returning: titles) }
    }
    #expect(shown == ["swift"])
  }

  @Test func `the first undo puts the old title back`() async {
    let history = UseCaseHistory()
    FirstScreen.correct(in: history)
    await history.idle()
    #expect(await document.title == "Untitled")
    #expect(history.state.redoTitle == "Rename")
  }

  @Test func `the search finds what the server answers, and nothing for an empty text`() async {
    let titles = UseCaseModel(Search())
    await titles.execute("swift").ended()
    #expect(titles.value == ["swift"])
    await titles.execute("").ended()
    #expect(titles.value == [])
  }

  @Test func `every line of the handlers runs`() async throws {
    try await ReadmeCode().handle()
  }

  @Test func `an undo puts the old title back`() async {
    let (document, code) = (Document(), ReadmeCode())
    let history = code.history
    code.correct(ReadmeCode.Rename { await document.rename(to: $0) })
    await history.idle()
    #expect(await document.title == "Untitled")
    #expect(history.state.redoTitle == "Rename")
  }

  @Test func `a group is one entry`() async {
    let (document, code) = (Document(), ReadmeCode())
    let history = code.history
    code.edit(ReadmeCode.Rename { await document.rename(to: $0) }, in: history)
    await history.idle()
    #expect(history.entries.map(\.title) == ["Rename", "Tidy up"])
    await history.undo().ended()
    #expect(await document.title == "Report")
  }
}
