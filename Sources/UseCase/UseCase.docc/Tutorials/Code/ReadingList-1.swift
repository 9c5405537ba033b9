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
