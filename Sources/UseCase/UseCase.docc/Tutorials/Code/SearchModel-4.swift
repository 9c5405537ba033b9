import Observation
import UseCase

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
