/// A shelf of books behind a bad connection.
actor Shelf {
  struct Offline: Error {}

  private(set) var titles: [String]
  private var failures = 0

  init(_ titles: [String]) {
    self.titles = titles
  }

  /// The connection is down for that many requests.
  func goOffline(for requests: Int) { failures = requests }

  func titles(containing text: String) throws -> [String] {
    try connect()
    return titles.filter { $0.contains(text) }
  }

  func insert(_ title: String, at index: Int? = nil) throws {
    try connect()
    titles.insert(title, at: index ?? titles.endIndex)
  }

  /// Returns where the book stood, nil if it was not there.
  func remove(_ title: String) throws -> Int? {
    try connect()
    guard let index = titles.firstIndex(of: title) else { return nil }
    titles.remove(at: index)
    return index
  }

  private func connect() throws {
    guard failures > 0 else { return }
    failures -= 1
    throw Offline()
  }
}
