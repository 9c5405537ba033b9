/// A shelf of books behind a bad connection.
actor Shelf {
  struct Offline: Error {}

  private(set) var titles: [String]
  private var failures = 0
  private var answers = Int.max
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ titles: [String]) {
    self.titles = titles
  }

  /// The connection is down for that many requests.
  func goOffline(for requests: Int) { failures = requests }

  /// The connection answers that many requests; the others wait for `answerAll`.
  func answerOnly(_ requests: Int) { answers = requests }

  func answerAll() {
    answers = .max
    for request in waiting { request.resume() }
    waiting = []
  }

  func titles(containing text: String) async throws -> [String] {
    try await connect()
    return titles.filter { $0.contains(text) }
  }

  func insert(_ title: String, at index: Int? = nil) async throws {
    try await connect()
    titles.insert(title, at: index ?? titles.endIndex)
  }

  /// Returns where the book stood, nil if it was not there.
  func remove(_ title: String) async throws -> Int? {
    try await connect()
    guard let index = titles.firstIndex(of: title) else { return nil }
    titles.remove(at: index)
    return index
  }

  private func connect() async throws {
    if answers == 0 { await withCheckedContinuation { waiting.append($0) } } else { answers -= 1 }
    guard failures > 0 else { return }
    failures -= 1
    throw Offline()
  }
}
