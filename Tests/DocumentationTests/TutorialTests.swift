import Observation
import TestSupport
import Testing
import UseCase
import UseCaseHistory
import UseCaseTesting

/// The code of the tutorial as it is at its end.
@Suite(.mustEnd)
struct TutorialTests {
  struct Search: UseCase {
    let askServer: @Sendable (String) async throws -> [String]
    let queue = UseCaseQueue(.cancelPrevious)
    let timeout = Duration.seconds(5)

    func main(_ text: String) async throws -> [String] {
      try await askServer(text)
    }
  }

  @MainActor @Observable
  final class SearchModel {
    private let search: any UseCase<String, [String]>
    private(set) var titles: [String] = []
    private(set) var message = ""
    private(set) var isSearching = false

    init(search: any UseCase<String, [String]>) {
      self.search = search
    }

    @discardableResult
    func type(_ text: String) -> UseCaseOperation<String, [String]> {
      defer { isSearching = search.queue.isBusy }
      return search.execute(text)
        .then { titles in self.titles = titles }
        .catch { error in self.message = "\(error)" }
        .finally { self.isSearching = self.search.queue.isBusy }
    }
  }

  actor ReadingList {
    private(set) var titles: [String] = []

    func add(_ title: String) -> Int {
      titles.append(title)
      return titles.count - 1
    }

    func remove(at position: Int) {
      titles.remove(at: position)
    }
  }

  struct AddBook: UndoableUseCase {
    let list: ReadingList

    func main(_ title: String) async throws -> Int {
      await list.add(title)
    }

    func undo(_ title: String, _ position: Int) async throws {
      await list.remove(at: position)
    }

    func title(for title: String) -> String { "Add “\(title)”" }
  }

  @MainActor @Observable
  final class ReadingListModel {
    private let addBook: RecordedUseCase<AddBook>
    private let history = UseCaseHistory()
    private(set) var message = ""

    init(list: ReadingList) {
      addBook = AddBook(list: list).recorded(in: history)
    }

    @discardableResult
    func add(_ title: String) -> UseCaseOperation<String, Int> {
      addBook.execute(title)
        .catch { error in self.message = "\(error)" }
    }

    @discardableResult
    func undo() -> UseCaseOperation<HistoryMove, HistoryEntry?> {
      history.undo()
        .then { entry in
          if let entry { self.message = "Undone: \(entry.title)" }
        }
        .catch { error in self.message = "Not undone: \(error)" }
    }
  }

  @MainActor
  struct SearchModelTests {
    let search = ControlledUseCase<String, [String]>(queue: UseCaseQueue(.cancelPrevious))

    @Test func `a failure is shown in a sentence`() async throws {
      let model = SearchModel(search: search)
      let operation = model.type("e")
      try await search.next().fail(UseCaseTimeout(duration: .seconds(5)))
      try await operation.settled()
      #expect(model.message == "It took longer than 5 seconds.")
    }

    @Test func `only the newest search is shown`() async throws {
      let model = SearchModel(search: search)
      let stale = model.type("e")
      let first = try await search.next()
      #expect(first.request == "e")

      let newest = model.type("em")
      try await stale.settled()
      #expect(model.isSearching)

      try await search.next().succeed(["Emma"])
      try await newest.settled()
      #expect(model.titles == ["Emma"])
      #expect(!model.isSearching)
    }
  }

  @MainActor
  struct UndoTests {
    @Test func `undo removes the newest book`() async throws {
      let list = ReadingList()
      let model = ReadingListModel(list: list)
      model.add("Emma")
      model.add("Evelina")
      try await model.undo().settled()

      #expect(await list.titles == ["Emma"])
      #expect(model.message == "Undone: Add “Evelina”")
    }
  }
}
