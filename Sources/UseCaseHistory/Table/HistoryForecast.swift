/// The entries as they will be when everything asked for has run.
///
/// The oldest applied rows and the last undone rows of the table stay as they are. On top of them the
/// forecast keeps what differs, so that its size depends on what waits, and on what that looks through.
struct HistoryForecast: Sendable {
  typealias ID = HistoryEntry.ID

  fileprivate struct Item: Sendable {
    let id: ID
    let footprint: HistoryFootprint
    /// Undo passes over it.
    var isDoubtful = false
  }

  /// So many of the oldest applied rows of the table, and of the last undone ones, stay.
  private var (appliedBase, undoneBase): (Int, Int)
  private var (applied, undone): ([Item], [Item]) = ([], [])
  /// How many of the next undone ones were undone behind the last recording. Nil without one.
  private var fresh: Int?
  /// How many of the oldest applied ones were evicted.
  private var evicted = 0
  /// The newest applied entry, if it is half undone.
  private var half: ID?

  /// Creates the forecast that holds when nothing waits.
  init<Step>(of table: HistoryTable<Step>) {
    (appliedBase, undoneBase) = (table.applied.count, table.undone.count)
    half = table.half?.id
  }

  private var appliedCount: Int { appliedBase + applied.count }
  private var undoneCount: Int { undoneBase + undone.count }

  private func applied<Step>(at index: Int, of table: HistoryTable<Step>) -> Item {
    if index >= appliedBase { return applied[index - appliedBase] }
    return Item(table.applied[index])
  }

  private func undone<Step>(at index: Int, of table: HistoryTable<Step>) -> Item {
    if index >= undoneBase { return undone[index - undoneBase] }
    return Item(table.undone[index])
  }

  private func appliedIndex<Step>(of id: ID, in table: HistoryTable<Step>) -> Int? {
    if let index = applied.lastIndex(where: { $0.id == id }) { return appliedBase + index }
    guard let index = table.applied.position(of: id), index < appliedBase else { return nil }
    return index
  }

  private func undoneIndex<Step>(of id: ID, in table: HistoryTable<Step>) -> Int? {
    if let index = undone.lastIndex(where: { $0.id == id }) { return undoneBase + index }
    guard let index = table.undone.position(of: id), index < undoneBase else { return nil }
    return index
  }
}

extension HistoryForecast.Item {
  fileprivate init<Step>(_ row: HistoryRow<Step>) {
    self.init(id: row.id, footprint: row.footprint, isDoubtful: row.isDoubtfulExecution)
  }
}

// MARK: - Targets

extension HistoryForecast {
  /// Returns the entry of the document that an undo is for.
  func undoTarget<Step>(
    in document: HistoryFootprint = .everything, of table: HistoryTable<Step>
  ) -> ID? {
    var index = appliedCount - 1
    while index >= evicted {
      let item = applied(at: index, of: table)
      if !item.isDoubtful, item.footprint.isIn(document) { return item.id }
      index -= 1
    }
    return nil
  }

  /// Returns the entry of the document that a redo is for, and whether it was undone behind all new
  /// ones.
  func redoTarget<Step>(
    in document: HistoryFootprint = .everything, of table: HistoryTable<Step>
  ) -> (id: ID, isFresh: Bool)? {
    if let half, let row = table.row(of: half)?.row, row.footprint.isIn(document) {
      return (half, true)
    }
    var index = undoneCount - 1
    while index >= 0 {
      let item = undone(at: index, of: table)
      if item.footprint.isIn(document) {
        return (item.id, fresh.map { undoneCount - 1 - index < $0 } ?? true)
      }
      index -= 1
    }
    return nil
  }
}

// MARK: - What waits

extension HistoryForecast {
  /// An execution will become this entry, which drops what it contradicts.
  mutating func record<Step>(
    _ entry: ID, touching footprint: HistoryFootprint, in table: HistoryTable<Step>
  ) {
    var wave = HistoryFootprint.Wave(footprint)
    if half != nil, let row = table.half {
      for part in row.parts where part.state == .undone { wave.insert(part.footprint) }
    }
    if footprint == .everything {
      (undoneBase, undone) = (0, [])
    } else {
      drop(&wave, in: table)
    }
    half = nil
    fresh = 0
    applied.append(Item(id: entry, footprint: footprint))
    if let limit = table.head.limit {
      evicted = max(evicted, appliedCount - table.uncounted - limit)
    }
  }

  private mutating func drop<Step>(
    _ wave: inout HistoryFootprint.Wave, in table: HistoryTable<Step>
  ) {
    var dropped: Set<Int> = []
    for index in undone.indices.reversed() where wave.overlaps(undone[index].footprint) {
      dropped.insert(undoneBase + index)
      wave.insert(undone[index].footprint)
    }
    for index in (0..<undoneBase).reversed() where wave.overlaps(table.undone[index].footprint) {
      dropped.insert(index)
      wave.insert(table.undone[index].footprint)
    }
    guard let first = dropped.min() else { return }
    let kept = (first..<undoneCount).filter { !dropped.contains($0) }
      .map { undone(at: $0, of: table) }
    if first < undoneBase {
      (undoneBase, undone) = (first, kept)
    } else {
      undone.replaceSubrange((first - undoneBase)..., with: kept)
    }
  }

  /// An undo, a redo or a move will run. Out of turn it will change nothing.
  mutating func foresee<Step>(
    _ move: HistoryMove, for target: ID?, in table: HistoryTable<Step>
  ) {
    switch move {
    case .undo:
      guard let target, target == undoTarget(of: table) else { return }
      undo(target, in: table)
    case .redo:
      guard let target, target == redoTarget(of: table)?.id else { return }
      redo(target, in: table)
    case .undoEntry(let id): undo(id, in: table)
    case .redoEntry(let id): redo(id, in: table)
    case .undoIn: if let target { undo(target, in: table) }
    case .redoIn: if let target { redo(target, in: table) }
    case .move(let goal): go(to: goal, in: table)
    }
  }

  /// The move that has the lane goes through these, whatever becomes of its goal.
  mutating func foresee<Step>(_ walk: HistoryWalk<Step>, in table: HistoryTable<Step>) {
    for id in walk.ids { if walk.isRedo { redo(id, in: table) } else { undo(id, in: table) } }
  }

  private mutating func go<Step>(to goal: ID?, in table: HistoryTable<Step>) {
    if let goal, let index = undoneIndex(of: goal, in: table) {
      if let half { redo(half, in: table) }
      for _ in index..<undoneCount { redo(undone(at: undoneCount - 1, of: table).id, in: table) }
    } else if goal.map({ isGoal($0, in: table) }) ?? true {
      while let id = undoTarget(of: table), id != goal { undo(id, in: table) }
      half = nil
    }
  }

  private func isGoal<Step>(_ id: ID, in table: HistoryTable<Step>) -> Bool {
    guard let index = appliedIndex(of: id, in: table), index >= evicted else { return false }
    return !applied(at: index, of: table).isDoubtful
  }

  private mutating func undo<Step>(_ id: ID, in table: HistoryTable<Step>) {
    guard let index = appliedIndex(of: id, in: table), index >= evicted, half == nil || half == id
    else { return }
    half = nil
    let item = applied(at: index, of: table)
    if index >= appliedBase {
      applied.remove(at: index - appliedBase)
    } else {
      applied = table.applied[(index + 1)..<appliedBase].map { Item($0) } + applied
      appliedBase = index
    }
    undone.append(item)
    fresh = fresh.map { $0 + 1 }
  }

  private mutating func redo<Step>(_ id: ID, in table: HistoryTable<Step>) {
    if let half, half != id { return }
    if half.take() != nil { return }
    guard let index = undoneIndex(of: id, in: table) else { return }
    let item = undone(at: index, of: table)
    if let fresh, undoneCount - 1 - index < fresh { self.fresh = fresh - 1 }
    if index >= undoneBase {
      undone.remove(at: index - undoneBase)
    } else {
      undone = table.undone[(index + 1)..<undoneBase].map { Item($0) } + undone
      undoneBase = index
    }
    applied.append(item)
  }
}
