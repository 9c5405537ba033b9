import UseCaseInternals

/// An array that also loses elements at its front in constant time, as a limit does.
struct HistoryStack<Element> {
  private var items: [Element?]
  private var head = 0

  init(_ elements: [Element] = []) {
    items = elements
  }

  mutating func append(_ element: Element) { items.append(element) }

  mutating func popLast() -> Element? {
    guard !isEmpty else { return nil }
    defer { tidy() }
    return items.removeLast()
  }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    defer { tidy() }
    defer { head += 1 }
    return items[head].take()
  }

  /// Returns the `count` oldest elements, which are no longer here. It touches the fewer ones: those
  /// that go, or those that stay.
  mutating func removeFirst(_ count: Int) -> Self {
    var gone = Self()
    if count < self.count - count {
      for _ in 0..<count { gone.items.append(popFirst()) }
    } else {
      gone.items = Array(items[(head + count)...])
      swap(&self, &gone)
      gone.items.removeLast(items.count)
    }
    return gone
  }

  /// Calls `body` with each element but the last `spared`, and lets go of it before the next one.
  mutating func removeAll(sparing spared: Int, isReversed: Bool, _ body: (Element) -> Void) {
    let end = items.count - spared
    for index in head..<Swift.max(head, end) {
      if let element = items[isReversed ? end - 1 - index + head : index].take() {
        body(element)
      }
    }
    self = Self()
  }

  /// Returns the last `count` elements, the last one first.
  func newest(_ count: Int) -> Few<Element> {
    switch count {
    case 0: .none
    case 1: .one(self[self.count - 1])
    default: .several((0..<count).map { self[self.count - 1 - $0] })
    }
  }

  /// Gives the room of the elements gone at the front back, once they are half of all.
  private mutating func tidy() {
    if isEmpty {
      // Few are left here, and to remove them one by one costs less than removing a range.
      while !items.isEmpty { items.removeLast() }
      head = 0
    } else if head > 32, head * 2 > items.count {
      items.removeFirst(head)
      head = 0
    }
  }
}

extension HistoryStack: RandomAccessCollection, MutableCollection {
  var startIndex: Int { 0 }
  var endIndex: Int { items.count - head }

  subscript(index: Int) -> Element {
    @inline(__always) get {
      guard let element = items[head + index] else { preconditionFailure("it has been taken") }
      return element
    }
    set { items[head + index] = newValue }
  }

  /// Returns the index of the first element for which `isBehind` is true, which is also true for
  /// all behind it.
  func firstIndex(behind isBehind: (Element) -> Bool) -> Int {
    var range = startIndex..<endIndex
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = isBehind(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
  }
}

extension HistoryStack: Sendable where Element: Sendable {}
