// MARK: - Overlapping entries

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

// MARK: - The line

/// The applied entries and then the undone ones, from the next to redo, each with its number.
extension HistoryPool {
  subscript(number: Int) -> Record {
    number < applied.count ? applied[number] : undone[position(of: number)]
  }

  private func position(of number: Int) -> Int { undone.count - 1 - (number - applied.count) }

  /// Returns the positions of the undone entries with these numbers.
  private func positions(of numbers: Range<Int>) -> Range<Int> {
    let undone = numbers.clamped(to: applied.count..<applied.count + undone.count)
    return position(of: undone.upperBound) + 1..<position(of: undone.lowerBound) + 1
  }

  private func number(of position: Int) -> Int { applied.count + undone.count - 1 - position }

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
