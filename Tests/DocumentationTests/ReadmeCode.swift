import UseCase
import UseCaseHistory

/// The code of the READMEs, to be compiled. It runs nowhere.
@MainActor
enum ReadmeCode {
  struct Offline: Error {}

  struct Search: UseCase {
    let queue = UseCaseQueue(.cancelPrevious)

    func main(_ text: String) async throws -> [String] {
      try await library.titles(matching: text)
    }
  }

  static func firstLine() {
    let search = Search()

    search.execute("swift")
      .then { titles in list.show(titles) }
      .catch(Offline.self) { _ in list.show("You are offline.") }
      .finally { spinner.stop() }
  }

  static func awaiting() async throws -> [String] {
    let operation = search.execute("swift")
    let titles = try await operation.value

    let more = try await search("ember")
    return titles + more
  }

  static func cancelling(operation: UseCaseOperation<String, [String]>) -> UseCaseScope {
    operation.cancel()

    let scope = UseCaseScope()
    search.execute("swift").then { titles in list.show(titles) }.store(in: scope)
    return scope
  }

  struct Import: ReportingUseCase {
    let timeout = Duration.seconds(60)

    func main(
      _ lines: [String], report: @escaping @Sendable (Double) -> Void
    ) async throws -> Int {
      for (index, line) in lines.enumerated() {
        try await library.add(line)
        report(Double(index + 1) / Double(lines.count))
      }
      return lines.count
    }
  }

  static func importing(lines: [String]) {
    Import().execute(lines) { fraction in bar.show(fraction) }
      .then { count in list.show("\(count) lines") }
      .catch(UseCaseTimeout.self) { error in list.show("Not done in \(error.duration)") }
  }

  struct Sync: UseCase {
    let queue = UseCaseQueue(
      .keepLatest,
      interceptors: [
        RetryInterceptor(attempts: 3, delay: .exponential(.milliseconds(200), cap: .seconds(5)))
      ])

    func main(_ draft: String) async throws { try await library.add(draft) }
  }

  static func syncing() {
    let sync = UseCaseModel(Sync())
    sync.execute("Dear Ada")
    // Whenever the view is drawn:
    status.show(sync.isRunning ? "Saving…" : sync.error == nil ? "Saved" : "Not saved")
  }

  struct Rename: UndoableUseCase {
    func main(_ title: String) async throws -> String {
      try await library.rename(to: title)  // returns the old title
    }

    func undo(_ title: String, _ oldTitle: String) async throws {
      _ = try await library.rename(to: oldTitle)
    }
  }

  static func undoing() {
    let history = UseCaseHistory(limit: 100)
    let rename = Rename().recorded(in: history)

    rename.execute("Report")
    history.undo()
    history.redo().catch { error in list.show(error) }

    history.group("Tidy up") {
      _ = try await rename("Draft")
      _ = try await rename("Draft 2")
    }
  }
}

private struct Library {
  func rename(to title: String) async throws -> String { title }
  func titles(matching text: String) async throws -> [String] { [text] }
  func add(_ line: String) async throws {}
}

/// Views of an app: they live on the main actor.
@MainActor
private struct View {
  func show(_ content: Any) {}
  func stop() {}
}

private let library = Library()
@MainActor private let search = ReadmeCode.Search()
@MainActor private let list = View()
@MainActor private let bar = View()
@MainActor private let status = View()
@MainActor private let spinner = View()
