import Observation
import UseCase
import UseCaseHistory

@MainActor @Observable
final class SearchModel {
  private let search: any UseCase<String, [String]>
  private let addBook: RecordedUseCase<AddBook>
  private let history = UseCaseHistory()
  private(set) var titles: [String] = []
  private(set) var message = ""
  private(set) var isSearching = false

  init(search: any UseCase<String, [String]>, list: ReadingList = ReadingList()) {
    self.search = search
    addBook = AddBook(list: list).recorded(in: history)
  }

  @discardableResult
  func type(_ text: String) -> UseCaseOperation<String, [String]> {
    defer { isSearching = search.queue.isBusy }
    return search.execute(text)
      .then { titles in self.titles = titles }
      .catch { error in self.message = "\(error)" }
      .finally { self.isSearching = self.search.queue.isBusy }
  }

  @discardableResult
  func add(_ title: String) -> UseCaseOperation<String, Int> {
    addBook.execute(title)
      .catch { error in self.message = "\(error)" }
  }
}
