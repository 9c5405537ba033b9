/// Records in line, the newest last, of which each can be found by what it touches.
///
/// A record gets a number when it comes, its order, which grows along the stack. So the position of
/// a record is found by a binary search, whatever has left below it. A position is counted from the
/// oldest record.
struct HistoryStack<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>

  /// From `head` on, a slot is empty only while its record leaves. The slots before it are free.
  private var slots: [Record?] = []
  private var head = 0
  /// The orders of the records that touch everything, without those below all that touch keys.
  private var everything: ArraySlice<Int> = []
  /// The orders of the records that touch a key, for each.
  private var touching: [ObjectIdentifier: ArraySlice<Int>] = [:]
  /// The orders of the records that touch keys.
  private var orders: [ID: Int] = [:]
  /// Whether the ids grow along the stack, as far as is known, and whether they fall. An undo of one
  /// entry may break the line.
  private var (grows, falls) = (true, true)
  /// The orders of all records, once their ids neither grow nor fall.
  private var index: [ID: Int]?
}

// MARK: - Reading

extension HistoryStack {
  var count: Int { slots.count - head }
  var isEmpty: Bool { count == 0 }
  var last: Record? { slots.last ?? nil }
  var records: [Record] { slots[head...].compactMap(\.self) }

  subscript(position: Int) -> Record {
    guard let record = slots[head + position] else {
      preconditionFailure("The slot at position \(position) of \(count) is empty.")
    }
    return record
  }

  /// Returns the last `count` records, the last one first.
  func newest(_ count: Int) -> [Record] { (0..<count).map { self[self.count - 1 - $0] } }

  /// Returns the orders of the last `count` records.
  func newestOrders(_ count: Int) -> Range<Int> {
    (count == 0 ? .max : self[self.count - count].order)..<Int.max
  }

  /// Returns how many records have a lower order.
  func count(below order: Int) -> Int {
    if order == .max { return count }
    return slots[head...].partitioningIndex { ($0?.order ?? order) >= order } - head
  }

  /// Returns the position of the record, nil if it is not here.
  ///
  /// - Complexity: O(log *n*).
  func position(of id: ID) -> Int? {
    if let order = orders[id] ?? index?[id] { return count(below: order) }
    guard grows || falls else { return nil }
    let index = slots[head...].partitioningIndex { slot in
      slot.map { grows ? $0.id >= id : $0.id <= id } ?? true
    }
    return index < slots.endIndex && slots[index]?.id == id ? index - head : nil
  }

  /// How many of the oldest records touch everything, and are listed nowhere.
  private var unlisted: Int { count - orders.count - everything.count }

  /// Returns the positions in the range of the records that overlap the footprint.
  func positions(overlapping footprint: HistoryFootprint, in range: Range<Int>) -> [Int] {
    guard let keys = footprint.keys else { return range.filter { !self[$0].footprint.isEmpty } }
    if keys.isEmpty || range.isEmpty { return [] }
    let bounds = orders(at: range)
    var found = Array(everything.sorted(in: bounds))
    for key in keys { found += touching[key.address]?.sorted(in: bounds) ?? [] }
    let listed = keys.count == 1 && everything.isEmpty ? found : Set(found).sorted()
    return Array(range.clamped(to: 0..<unlisted)) + listed.map { count(below: $0) }
  }

  /// Returns the lowest position in the range of a record that overlaps the footprint.
  func first(overlapping footprint: HistoryFootprint, in range: Range<Int>) -> Int? {
    guard let keys = footprint.keys else { return range.first { !self[$0].footprint.isEmpty } }
    if keys.isEmpty || range.isEmpty { return nil }
    if range.lowerBound < unlisted { return range.lowerBound }
    let bounds = orders(at: range)
    var first = everything.sorted(in: bounds).first
    for key in keys {
      guard let order = touching[key.address]?.sorted(in: bounds).first else { continue }
      first = min(first ?? order, order)
    }
    return first.map { count(below: $0) }
  }

  /// Returns the highest position in the range of a record that overlaps the footprint.
  func last(overlapping footprint: HistoryFootprint, in range: Range<Int>) -> Int? {
    guard let keys = footprint.keys else { return range.last { !self[$0].footprint.isEmpty } }
    if keys.isEmpty || range.isEmpty { return nil }
    let bounds = orders(at: range)
    var last = everything.sorted(in: bounds).last
    for key in keys {
      guard let order = touching[key.address]?.sorted(in: bounds).last else { continue }
      last = max(last ?? order, order)
    }
    return last.map { count(below: $0) } ?? range.clamped(to: 0..<unlisted).last
  }

  /// Returns how many records overlap the footprint.
  func count(overlapping footprint: HistoryFootprint) -> Int {
    guard let keys = footprint.keys, keys.count == 1 else {
      return positions(overlapping: footprint, in: 0..<count).count
    }
    return unlisted + everything.count + (touching[keys[0].address]?.count ?? 0)
  }

  private func orders(at range: Range<Int>) -> Range<Int> {
    self[range.lowerBound].order..<self[range.upperBound - 1].order + 1
  }
}

// MARK: - Changing

extension HistoryStack {
  mutating func push(_ record: consuming Record) {
    record.order = (slots.last??.order ?? 0) + 1
    if let below = slots.last??.id {
      if record.id < below { grows = false } else { falls = false }
    } else {
      (grows, falls, index) = (true, true, nil)
    }
    if let keys = record.footprint.keys {
      orders[record.id] = record.order
      for key in keys { touching[key.address, default: []].append(record.order) }
    } else if !orders.isEmpty {
      everything.append(record.order)
    }
    if !grows, !falls { list(record.id, record.order) }
    slots.append(record)
  }

  private mutating func list(_ id: ID, _ order: Int) {
    if index == nil { index = Dictionary(records.map { ($0.id, $0.order) }) { $1 } }
    index?[id] = order
  }

  mutating func popLast() -> Record? {
    guard !isEmpty, let record = slots.popLast() ?? nil else { return nil }
    forget(record)
    return record
  }

  /// Takes a record out, wherever it is. Below the last one, the records above move by one slot.
  mutating func remove(at position: Int) -> Record {
    if position == count - 1, let last = popLast() { return last }
    guard let record = slots.remove(at: head + position) else {
      preconditionFailure("The slot at position \(position) of \(count) is empty.")
    }
    forget(record)
    return record
  }

  /// Removes and returns the records at these positions, of which each is below the one before.
  mutating func remove(at positions: [Int]) -> [Record] {
    if positions.count == 1 { return [remove(at: positions[0])] }
    let removed = positions.map { position in
      guard let record = slots[head + position].take() else {
        preconditionFailure("The slot at position \(position) of \(count) is empty.")
      }
      return record
    }
    if let lowest = positions.last {
      let rest = slots[(head + lowest)...].filter { $0 != nil }
      slots.replaceSubrange((head + lowest)..., with: rest)
    }
    removed.forEach { forget($0) }
    return removed
  }

  /// Removes and returns the `count` oldest records.
  mutating func removeFirst(_ count: Int) -> [Record] {
    let removed = (0..<count).map { _ in
      let record = self[0]
      slots[head] = nil
      head += 1
      forget(record)
      return record
    }
    if head > 64, head > slots.count / 2 {
      slots.removeSubrange(..<head)
      head = 0
    }
    return removed
  }

  private mutating func forget(_ record: Record) {
    index?[record.id] = nil
    guard let keys = record.footprint.keys else { return everything.remove(sorted: record.order) }
    orders[record.id] = nil
    if orders.isEmpty { everything = [] }
    for key in keys {
      touching[key.address]?.remove(sorted: record.order)
      if touching[key.address]?.isEmpty == true { touching[key.address] = nil }
    }
  }
}

// MARK: - Leaving

extension HistoryStack {
  /// Creates a stack of records that leave. They are looked up no more.
  init(leaving records: [Record]) { slots = records.map(Optional.some) }

  /// Takes the records with these orders out of a stack that leaves.
  mutating func spare(_ orders: Range<Int>) {
    let positions = count(below: orders.lowerBound)..<count(below: orders.upperBound)
    slots.removeSubrange(head + positions.lowerBound..<head + positions.upperBound)
  }

  /// Calls `body` with each record, and lets go of it before the next one.
  mutating func removeAll(isReversed: Bool, _ body: (Record) -> Void) {
    for offset in 0..<count {
      let index = isReversed ? slots.endIndex - 1 - offset : head + offset
      if let record = slots[index].take() { body(record) }
    }
    self = Self()
  }
}

/// Records that leave the history for good, for one reason.
struct HistoryDrop<Step: Sendable>: Sendable {
  /// With its lists of what is touched, which may be as large as the records.
  private var records: HistoryStack<Step>
  private let reason: HistoryDiscardReason
  /// Whether the newest come first in `records`.
  private let isReversed: Bool

  init(_ records: HistoryStack<Step>, _ reason: HistoryDiscardReason, isReversed: Bool = false) {
    (self.records, self.reason, self.isReversed) = (records, reason, isReversed)
  }

  init(_ records: [HistoryRecord<Step>], _ reason: HistoryDiscardReason) {
    self.init(HistoryStack(leaving: records), reason)
  }

  init(_ record: HistoryRecord<Step>, _ reason: HistoryDiscardReason) {
    self.init([record], reason)
  }

  var count: Int { records.count }

  /// Calls `body` with each step and the reason, the oldest first, and lets go of each record at
  /// once, while it is at hand: a million of them are not walked through twice.
  mutating func removeAll(_ body: (Step, HistoryDiscardReason) -> Void) {
    let reason = reason
    records.removeAll(isReversed: isReversed) { record in
      if let step = record.content.step { return body(step, reason) }
      for leaf in record.leaves { leaf.content.step.map { body($0, reason) } }
    }
  }
}

// MARK: - Sorted arrays

extension ArraySlice {
  /// Returns the index of the first element for which `isBehind` is true, which is also true for
  /// all behind it.
  func partitioningIndex(where isBehind: (Element) -> Bool) -> Int {
    var range = indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = isBehind(self[middle]) ? range.lowerBound..<middle : middle + 1..<range.upperBound
    }
    return range.lowerBound
  }
}

extension ArraySlice<Int> {
  fileprivate func sorted(in orders: Range<Int>) -> Self {
    let start = partitioningIndex { $0 >= orders.lowerBound }
    return self[start..<self[start...].partitioningIndex { $0 >= orders.upperBound }]
  }

  /// Removes an order if it is here: most often it is the last, or the first.
  fileprivate mutating func remove(sorted order: Int) {
    guard let first, first <= order else { return }
    if last == order {
      removeLast()
    } else if first == order {
      removeFirst()
    } else {
      let index = partitioningIndex { $0 >= order }
      if index < endIndex, self[index] == order { remove(at: index) }
    }
  }
}
