/// Finds the applied records that touch the same things: for each mark, the positions of the
/// records with this mark, in order.
///
/// A pool has no index as long as all records touch everything. The index begins with the first
/// record that has marks, and the records below are never looked up.
struct HistoryIndex: Sendable {
  typealias ID = HistoryEntry.ID

  private var marked: [Int: HistoryStack<Int>] = [:]
  /// The positions of records that touch everything.
  private var everything = HistoryStack<Int>()
  /// The positions of records with marks.
  private var positions: [ID: Int] = [:]

  func position(of id: ID) -> Int? { positions[id] }

  /// The record stands at the last position now.
  mutating func append(_ id: ID, _ marks: [Int]?, at position: Int) {
    guard let marks else { return everything.append(position) }
    positions[id] = position
    for mark in marks { marked[mark, default: HistoryStack()].append(position) }
  }

  mutating func remove(_ id: ID, _ marks: [Int]?, at position: Int) {
    guard let marks else { return everything.remove(position) }
    positions[id] = nil
    for mark in marks {
      marked[mark]?.remove(position)
      if marked[mark]?.isEmpty == true { marked[mark] = nil }
    }
  }

  /// Returns the positions behind this one of the records that may touch the same things, in order.
  func positions(behind position: Int, touching marks: [Int]) -> [Int] {
    if marks.isEmpty { return [] }
    var found = Set(everything.newest(behind: position))
    for mark in marks { found.formUnion(marked[mark]?.newest(behind: position) ?? []) }
    return found.sorted()
  }
}

extension HistoryStack<Int> {
  fileprivate func newest(behind position: Int) -> [Int] {
    Array(indices.reversed().lazy.map { self[$0] }.prefix { $0 > position })
  }

  /// Removes a position, which most often is the last, or the first.
  fileprivate mutating func remove(_ position: Int) {
    if last == position {
      _ = popLast()
    } else if first == position {
      _ = popFirst()
    } else if let first, first < position {
      self = Self(elements.filter { $0 != position })
    }
  }
}
