// MARK: - By id

extension HistoryPool {
  /// The stack and the position of an entry.
  enum Spot {
    case applied(at: Int)
    case undone(at: Int)
  }

  /// Returns where the entry is, nil if there is none.
  func spot(of id: ID) -> Spot? {
    applied.position(of: id).map { .applied(at: $0) }
      ?? undone.position(of: id).map { .undone(at: $0) }
  }

  /// Returns the entry, and how many of its leaves are applied.
  func record(of id: ID) -> (record: Record, applied: Int)? {
    switch spot(of: id) {
    case .applied(let position):
      let record = applied[position]
      return (record, id == undoID ? partial ?? record.size : record.size)
    case .undone(let position): return (undone[position], 0)
    case nil: return nil
    }
  }

  /// Returns the entry that the execution has become, and how many of its leaves are applied.
  func entry(of execution: ID) -> (record: Record, applied: Int)? {
    record(of: execution) ?? merged[execution].flatMap { entry(of: $0) }
  }

  /// Returns the entry, or the part of one, with this id.
  func recordOrPart(_ id: ID) -> Record? {
    if let (record, _) = record(of: id) { return record }
    for record in applied.records + undone.records {
      if let part = record.part(id) { return part }
    }
    return nil
  }
}

// MARK: - By what they touch

extension HistoryPool {
  /// Returns the later entries that overlap an applied one, the oldest first. A half undone group
  /// is undone or redone before all others.
  func blockers(ofUndoing id: ID) -> [ID] {
    if partial != nil, let undoID, undoID != id { return [undoID] }
    guard case .applied(let position) = spot(of: id) else { return [] }
    let later = position + 1..<applied.count
    return applied.positions(overlapping: applied[position].footprint, in: later)
      .map { applied[$0].id }
  }

  /// Returns the undone entries that would be redone before this one and overlap it, in that order.
  func blockers(ofRedoing id: ID) -> [ID] {
    if partial != nil, let undoID, undoID != id { return [undoID] }
    guard case .undone(let position) = spot(of: id) else { return [] }
    let sooner = position + 1..<undone.count
    return undone.positions(overlapping: undone[position].footprint, in: sooner)
      .reversed().map { undone[$0].id }
  }

  func isApplied(_ id: ID, in document: HistoryFootprint) -> Bool {
    guard case .applied(let position) = spot(of: id) else { return false }
    return applied[position].footprint.overlaps(document)
  }

  /// Whether the entry is undone, or half undone.
  func isUndone(_ id: ID, in document: HistoryFootprint) -> Bool {
    switch spot(of: id) {
    case .applied(let position):
      partial != nil && id == undoID && applied[position].footprint.overlaps(document)
    case .undone(let position): undone[position].footprint.overlaps(document)
    case nil: false
    }
  }

  /// Returns the positions of the undone entries that a recording with this footprint drops, from
  /// the next to redo. Nil for all of them.
  func contradicted(by footprint: HistoryFootprint) -> [Int]? {
    if undone.isEmpty || footprint == .everything { return nil }
    let numbers = HistoryForecast(of: self).contradicted(by: footprint, in: self)
    return numbers.count == undone.count ? nil : numbers.map { position(of: $0) }
  }

  /// Returns what a recording with this footprint contradicts, with the undone leaves of the group
  /// that is half undone, which it drops.
  func withUndoneLeaves(_ footprint: HistoryFootprint) -> HistoryFootprint {
    guard let partial, let newest = applied.last else { return footprint }
    return .union(of: [footprint] + newest.leaves[partial...].map(\.footprint))
  }

  /// Returns the positions of these undone entries, which are in the order in which they would be
  /// redone. Nil if one of them is not there.
  func positions(ofUndone ids: [ID]) -> [Int]? {
    var positions: [Int] = []
    for id in ids {
      guard let position = undone.position(of: id), position < positions.last ?? undone.count
      else { return nil }
      positions.append(position)
    }
    return positions
  }
}

// MARK: - By number

/// The applied entries and then the undone ones, from the next to redo, each with its number.
extension HistoryPool {
  /// How many entries there are. The next number is that of the first new one.
  var entryCount: Int { applied.count + undone.count }

  subscript(number: Int) -> Record {
    number < applied.count ? applied[number] : undone[position(of: number)]
  }

  private func position(of number: Int) -> Int { undone.count - 1 - (number - applied.count) }

  /// Returns the positions of the undone entries with these numbers.
  private func positions(of numbers: Range<Int>) -> Range<Int> {
    let undone = numbers.clamped(to: applied.count..<entryCount)
    return position(of: undone.upperBound) + 1..<position(of: undone.lowerBound) + 1
  }

  private func number(of position: Int) -> Int { entryCount - 1 - position }

  func number(of id: ID) -> Int? {
    switch spot(of: id) {
    case .applied(let position): position
    case .undone(let position): number(of: position)
    case nil: nil
    }
  }

  /// Returns how many records lie between the cursor and behind the entry, below 0 if they are to
  /// be undone. A half undone group counts among the undone ones. Nil if there is no such entry.
  func distance(to id: ID) -> Int? {
    guard let number = number(of: id) else { return nil }
    let distance = number + 1 - applied.count
    return distance < 0 || partial == nil ? distance : distance + 1
  }

  func numbers(overlapping footprint: HistoryFootprint, in numbers: Range<Int>) -> [Int] {
    applied.positions(overlapping: footprint, in: numbers.clamped(to: 0..<applied.count))
      + undone.positions(overlapping: footprint, in: positions(of: numbers)).reversed()
      .map { number(of: $0) }
  }

  func first(overlapping footprint: HistoryFootprint, in numbers: Range<Int>) -> Int? {
    applied.first(overlapping: footprint, in: numbers.clamped(to: 0..<applied.count))
      ?? undone.last(overlapping: footprint, in: positions(of: numbers)).map { number(of: $0) }
  }

  func last(overlapping footprint: HistoryFootprint, in numbers: Range<Int>) -> Int? {
    undone.first(overlapping: footprint, in: positions(of: numbers)).map { number(of: $0) }
      ?? applied.last(overlapping: footprint, in: numbers.clamped(to: 0..<applied.count))
  }
}

// MARK: - By an execution that has merged

/// Maps each merged execution to its entry.
///
/// The ids of an entry that leaves stay, until there are more ids than entries, and twice as many as
/// after the last removal. So a merge costs O(1), and leaving costs nothing.
struct MergedIDs: Sendable {
  typealias ID = HistoryEntry.ID

  private var entries: [ID: ID] = [:]
  private var limit = 64

  /// The entry that the execution went into. It may have left since.
  subscript(execution: ID) -> ID? { entries[execution] }

  /// The execution has become a part of the entry. Returns whether to call `keep`.
  mutating func add(_ execution: ID, to entry: ID) -> Bool {
    entries[execution] = entry
    return entries.count > limit
  }

  mutating func keep(_ present: Set<ID>) {
    entries = entries.filter { present.contains($0.value) }
    limit = max(64, 2 * entries.count, present.count)
  }
}
