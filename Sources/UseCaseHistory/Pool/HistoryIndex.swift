/// Finds the applied records that touch the same things: for each mark, the slots of the records
/// with this mark, in order.
///
/// A pool has no index as long as all records touch everything. The index begins with the first
/// record that has marks, and the records below are never looked up.
struct HistoryIndex: Sendable {
  typealias ID = HistoryEntry.ID

  private var marked: [Int: HistoryStack<Int>] = [:]
  /// The slots of records that touch everything.
  private var everything = HistoryStack<Int>()
  /// The slots of records with marks.
  private var slots: [ID: Int] = [:]

  func slot(of id: ID) -> Int? { slots[id] }

  /// The record stands in the last slot now.
  mutating func append(_ id: ID, _ marks: [Int]?, in slot: Int) {
    guard let marks else { return everything.append(slot) }
    slots[id] = slot
    for mark in marks { marked[mark, default: HistoryStack()].append(slot) }
  }

  mutating func remove(_ id: ID, _ marks: [Int]?, from slot: Int) {
    guard let marks else { return everything.remove(slot) }
    slots[id] = nil
    for mark in marks {
      marked[mark]?.remove(slot)
      if marked[mark]?.isEmpty == true { marked[mark] = nil }
    }
  }

  /// Returns the slots behind this one of the records that may touch the same things, in order.
  func slots(behind slot: Int, touching marks: [Int]) -> [Int] {
    if marks.isEmpty { return [] }
    var found = Set(everything.newest(behind: slot))
    for mark in marks { found.formUnion(marked[mark]?.newest(behind: slot) ?? []) }
    return found.sorted()
  }
}

extension HistoryStack<Int> {
  fileprivate func newest(behind slot: Int) -> [Int] {
    Array(reversed().prefix { $0 > slot })
  }

  /// Removes a slot, which most often is the last, or the first.
  fileprivate mutating func remove(_ slot: Int) {
    if last == slot {
      _ = popLast()
    } else if first == slot {
      _ = popFirst()
    } else if contains(slot) {
      self = Self(filter { $0 != slot })
    }
  }
}
