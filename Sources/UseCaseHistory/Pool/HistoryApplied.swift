import UseCaseInternals

/// The applied records, the oldest first, with an index of their footprints.
struct HistoryApplied<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>

  private(set) var records = HistoryStack<Record>()
  private var index: HistoryIndex?

  var count: Int { records.count }
  var isEmpty: Bool { records.isEmpty }
  var positions: Range<Int> { records.positions }

  // Inlined, because a copy of a record is counted.
  var last: Record? {
    @inline(__always) get { records.last }
  }

  subscript(position: Int) -> Record? {
    @inline(__always) get { records[at: position] }
  }

  /// Returns the position of an entry with marks. The index has no other entries.
  func position(of id: ID) -> Int? { index?.position(of: id) }

  /// Returns how many records are below the position.
  func count(below position: Int) -> Int {
    records.count(in: positions.clamped(to: .min..<position))
  }

  mutating func append(_ record: consuming Record) {
    note(record, at: positions.upperBound)
    records.append(record)
  }

  private mutating func note(_ record: Record, at position: Int) {
    if index == nil {
      if record.marks == nil { return }
      index = HistoryIndex()
    }
    index?.append(record.id, record.marks, at: position)
  }

  mutating func popLast() -> Record? {
    let position = positions.upperBound - 1
    return forget(records.popLast(), at: position)
  }

  mutating func take(_ position: Int) -> Record? {
    forget(records.take(at: position), at: position)
  }

  /// Removes and returns the `count` oldest records.
  mutating func removeFirst(_ count: Int) -> HistoryStack<Record> {
    guard index != nil else { return records.removeFirst(count) }
    var gone = HistoryStack<Record>()
    for _ in 0..<count {
      let position = positions.lowerBound
      if let record = forget(records.popFirst(), at: position) { gone.append(record) }
    }
    return gone
  }

  /// Removes and returns all records, and their index.
  mutating func removeAll() -> (records: HistoryStack<Record>, index: HistoryIndex?) {
    defer { records = HistoryStack() }
    return (records, index.take())
  }

  private mutating func forget(_ record: Record?, at position: Int) -> Record? {
    if index != nil, let record { index?.remove(record.id, record.marks, at: position) }
    return record
  }

  /// Gives the room of holes back. Returns whether the records have other positions now.
  mutating func compact() -> Bool {
    guard records.compact() else { return false }
    guard index.take() != nil else { return true }
    for position in positions {
      if let record = self[position] { note(record, at: position) }
    }
    return true
  }

  /// Returns the later records that may overlap the one at the position, the oldest first.
  func rivals(of position: Int) -> [Record] {
    guard let record = self[position], position + 1 < positions.upperBound else { return [] }
    if let marks = record.marks {
      return index?.positions(behind: position, touching: marks).compactMap { self[$0] } ?? []
    }
    return positions[(position + 1)...].compactMap { self[$0] }.filter { $0.marks?.isEmpty != true }
  }
}
