import UseCaseInternals

/// The applied records, the oldest first, with an index of their footprints.
struct HistoryApplied<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>

  private(set) var records = HistoryStack<Record>()
  private var index: HistoryIndex?

  var count: Int { records.live }
  var isEmpty: Bool { records.isEmpty }
  var slots: Range<Int> { records.slots }

  // Inlined, because a copy of a record is counted.
  var last: Record? {
    @inline(__always) get { records.last }
  }

  subscript(slot: Int) -> Record? {
    @inline(__always) get { records[slot: slot] }
  }

  /// Returns the slot of an entry with marks. The index has no other entries.
  func slot(of id: ID) -> Int? { index?.slot(of: id) }

  mutating func append(_ record: consuming Record) {
    note(record, in: slots.upperBound)
    records.append(record)
  }

  private mutating func note(_ record: Record, in slot: Int) {
    if index == nil {
      if record.marks == nil { return }
      index = HistoryIndex()
    }
    index?.append(record.id, record.marks, in: slot)
  }

  mutating func popLast() -> Record? {
    let slot = slots.upperBound - 1
    return forget(records.popLast(), in: slot)
  }

  mutating func take(_ slot: Int) -> Record? { forget(records.take(slot: slot), in: slot) }

  /// Removes and returns the `count` oldest records.
  mutating func removeFirst(_ count: Int) -> HistoryStack<Record> {
    guard index != nil else { return records.removeFirst(count) }
    var gone = HistoryStack<Record>()
    for _ in 0..<count {
      let slot = slots.lowerBound
      if let record = forget(records.popFirst(), in: slot) { gone.append(record) }
    }
    return gone
  }

  /// Removes and returns all records, and their index.
  mutating func removeAll() -> (records: HistoryStack<Record>, index: HistoryIndex?) {
    defer { records = HistoryStack() }
    return (records, index.take())
  }

  private mutating func forget(_ record: Record?, in slot: Int) -> Record? {
    if index != nil, let record { index?.remove(record.id, record.marks, from: slot) }
    return record
  }

  /// Gives the room of holes back. Returns whether the records have other slots now.
  mutating func compact() -> Bool {
    guard records.compact() else { return false }
    guard index.take() != nil else { return true }
    for slot in slots {
      if let record = self[slot] { note(record, in: slot) }
    }
    return true
  }

  /// Returns the later records that may overlap the one in the slot, the oldest first.
  func rivals(of slot: Int) -> [Record] {
    guard let record = self[slot], slot + 1 < slots.upperBound else { return [] }
    if let marks = record.marks {
      return index?.slots(behind: slot, touching: marks).compactMap { self[$0] } ?? []
    }
    return slots[(slot + 1)...].compactMap { self[$0] }.filter { $0.marks?.isEmpty != true }
  }
}
