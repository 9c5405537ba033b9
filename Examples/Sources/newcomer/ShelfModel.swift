import Observation
import UseCase
import UseCaseHistory

struct Search: UseCase {
  let shelf: Shelf
  let queue = UseCaseQueue(
    .cancelPrevious, interceptors: [RetryInterceptor(attempts: 3) { $0 is Shelf.Offline }])

  func main(_ text: String) async throws -> [String] {
    try await shelf.titles(containing: text)
  }
}

struct Import: ReportingUseCase {
  let shelf: Shelf
  let queue = UseCaseQueue(.dropWhileBusy)

  func main(_ titles: [String], report: @escaping @Sendable (Double) -> Void) async throws -> Int {
    for (index, title) in titles.enumerated() {
      try await shelf.insert(title)
      report(Double(index + 1) / Double(titles.count))
    }
    return titles.count
  }
}

struct Remove: UndoableUseCase {
  let shelf: Shelf

  func main(_ title: String) async throws -> Int? { try await shelf.remove(title) }
  func undo(_ title: String, _ index: Int?) async throws {
    if let index { try await shelf.insert(title, at: index) }
  }
  func title(for title: String) -> String { "Remove \(title)" }
}

@MainActor @Observable
final class ShelfModel {
  let search: UseCaseModel<Search>
  let importing: ReportingUseCaseModel<Import>
  let remove: UseCaseModel<RecordedUseCase<Remove>>
  let edits: HistoryModel
  private(set) var message = ""
  private let history = UseCaseHistory()

  init(shelf: Shelf) {
    search = UseCaseModel(Search(shelf: shelf))
    importing = ReportingUseCaseModel(Import(shelf: shelf))
    remove = UseCaseModel(Remove(shelf: shelf).recorded(in: history))
    edits = HistoryModel(history)
  }

  @discardableResult
  func undo() -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    message = ""
    return history.undo().catch { [weak self] error in self?.message = "Not undone: \(error)" }
  }
}
