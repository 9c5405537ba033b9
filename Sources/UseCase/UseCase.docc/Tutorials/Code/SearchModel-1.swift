import Observation
import UseCase

@MainActor @Observable
final class SearchModel {
  private let search: any UseCase<String, [String]>
  private(set) var titles: [String] = []

  init(search: any UseCase<String, [String]>) {
    self.search = search
  }
}
