import UseCaseInternals

/// An array that also removes elements at its front in constant time, and in its middle, where a
/// hole remains. The first and the last are never holes.
///
/// An element has a position, a number that it keeps as long as it is here and `compact` is not
/// called.
struct HistoryStack<Element> {
  private var items: [Element?]
  private var head = 0
  private var holes = 0
  /// The position of the first of the items.
  private var base = 0

  init(_ elements: [Element] = []) {
    items = elements
  }

  /// How many elements there are, without the holes.
  var count: Int { items.count - head - holes }

  var isEmpty: Bool { items.count == head }

  var first: Element? { isEmpty ? nil : items[head] }

  // Inlined, so that a part of the element is read without a copy of it.
  var last: Element? {
    @inline(__always) get { items.isEmpty ? nil : items[items.count - 1] }
  }

  mutating func append(_ element: consuming Element) { items.append(element) }

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

  /// Lets go of the first element, in place.
  mutating func removeFirst() {
    items[head] = nil
    head += 1
    tidy()
  }

  /// Removes and returns the `count` oldest elements. It touches either the elements that go or the
  /// elements that stay, whichever are fewer.
  mutating func removeFirst(_ count: Int) -> Self {
    var gone = Self()
    if holes > 0 || count < self.count - count {
      for _ in 0..<count { gone.items.append(popFirst()) }
    } else {
      gone.items = Array(items[(head + count)...])
      gone.base = base + head + count
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
    case 1: .one(self[items.count - head - 1])
    default: .several(Array(items[head...].reversed().lazy.compactMap { $0 }.prefix(count)))
    }
  }

  /// The elements without the holes.
  var elements: [Element] { items[head...].compactMap { $0 } }

  /// Gives the room of the elements gone at the front back, once they are half of all.
  private mutating func tidy() {
    if holes > 0 { trim() }
    if head == 0 { return }
    if isEmpty {
      // Few are left here, and to remove them one by one costs less than removing a range.
      while !items.isEmpty { items.removeLast() }
      base += head
      head = 0
    } else if head > 32, head * 2 > items.count {
      items.removeFirst(head)
      base += head
      head = 0
    }
  }
}

// MARK: - Slots

extension HistoryStack {
  /// The positions from the first to the last element, holes among them.
  var positions: Range<Int> { base + head..<base + items.count }

  /// The element at a position, nil for a hole.
  subscript(at position: Int) -> Element? {
    positions.contains(position) ? items[position - base] : nil
  }

  /// Returns how many elements there are at the positions.
  func count(in positions: Range<Int>) -> Int {
    holes == 0 ? positions.count : positions.reduce(0) { self[at: $1] == nil ? $0 : $0 + 1 }
  }

  /// Returns the positions of the last `count` elements.
  func newestPositions(_ count: Int) -> Range<Int> {
    let positions = positions
    var left = count
    if holes == 0 { return positions.upperBound - count..<positions.upperBound }
    let first = positions.last { position in
      if self[at: position] != nil { left -= 1 }
      return left <= 0
    }
    return
      (count == 0 ? positions.upperBound : first ?? positions.lowerBound)..<positions.upperBound
  }

  /// Takes an element out, wherever it is.
  mutating func take(at position: Int) -> Element? {
    guard positions.contains(position), let element = items[position - base].take() else {
      return nil
    }
    holes += 1
    tidy()
    return element
  }

  /// Whether more than half of it are holes.
  var isSparse: Bool { holes > 32 && holes > count }

  /// Gives the room of the holes back, if it is sparse. Returns whether it was, and so whether the
  /// elements have other positions now.
  mutating func compact() -> Bool {
    guard isSparse else { return false }
    items = elements
    (head, holes) = (0, 0)
    return true
  }

  /// Removes the holes at both ends.
  private mutating func trim() {
    while let last = items.last, last == nil, items.count > head {
      items.removeLast()
      holes -= 1
    }
    while head < items.count, items[head] == nil {
      head += 1
      holes -= 1
    }
  }
}

// MARK: - Indices

extension HistoryStack {
  /// The indices of a stack without holes: the first element has index 0.
  var indices: Range<Int> { 0..<items.count - head }

  subscript(index: Int) -> Element {
    @inline(__always) get {
      guard let element = items[head + index] else {
        preconditionFailure("An index leads to an element, not to a hole.")
      }
      return element
    }
    set { items[head + index] = newValue }
  }

  /// Returns the index of the first element for which `isBehind` is true, which is also true for
  /// all behind it.
  func firstIndex(behind isBehind: (Element) -> Bool) -> Int {
    var range = indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = isBehind(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
  }
}

extension HistoryStack: Sendable where Element: Sendable {}
