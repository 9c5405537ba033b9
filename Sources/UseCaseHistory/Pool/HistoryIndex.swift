/// Finds the applied records that touch the same things: for each mark the slots of those that have
/// it, in order.
///
/// There is none as long as all records touch everything. It begins with the first that says what it
/// touches; those below are never asked for.
struct HistoryIndex: Sendable {
  typealias ID = HistoryEntry.ID

  private var marked: [Int: HistoryStack<Int>] = [:]
  /// The slots of records that touch everything.
  private var everything = HistoryStack<Int>()
  /// Where those are that say what they touch.
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

  /// Mostly it is the last, or the first.
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
