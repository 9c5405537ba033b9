import Observation
import UseCase
import UseCaseHistory

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
