/// The entries as they will be when everything asked for has run.
///
/// The oldest applied rows and the last undone rows of the table stay as they are. On top of them the
/// forecast keeps what differs, so that its size depends on what waits, and on how deep that reaches.
struct HistoryForecast: Sendable {
  typealias ID = HistoryEntry.ID

  fileprivate struct Item: Sendable {
    let id: ID
    var footprint: HistoryFootprint
    /// Undo passes over it.
    var isDoubtful = false
    /// It does not count for the limit, and is never evicted.
    var isUncounted = false
    /// It leaves as soon as it is undone or redone.
    var leaves = false
    /// The group was never complete: it leaves as soon as it is undone, and is whole once redone.
    var isIncomplete = false
  }

  /// One side of the cursor: the first rows of the table there, and what is on top of them.
  fileprivate struct Side: Sendable {
    private var base: Int
    private var added: [Item] = []

    init(_ count: Int) { base = count }

    var count: Int { base + added.count }

    func item<Step>(at index: Int, in rows: RowStack<Step>) -> Item {
      index < base ? Item(rows[index]) : added[index - base]
    }

    func index<Step>(of id: ID, in rows: RowStack<Step>) -> Int? {
      // The last one is undone or redone next, as a rule.
      if count > 0, item(at: count - 1, in: rows).id == id { return count - 1 }
      if let index = added.lastIndex(where: { $0.id == id }) { return base + index }
      guard let index = rows.position(of: id), index < base else { return nil }
      return index
    }

    mutating func append(_ item: Item) { added.append(item) }

    mutating func remove<Step>(at index: Int, in rows: RowStack<Step>) -> Item {
      let item = item(at: index, in: rows)
      replace(from: index, in: rows, with: index + 1..<count)
      return item
    }

    /// Keeps what is below an index, and of the rest only these.
    mutating func replace<Step>(
      from index: Int, in rows: RowStack<Step>, with kept: some Sequence<Int>
    ) {
      let kept = kept.map { item(at: $0, in: rows) }
      if index < base {
        (base, added) = (index, kept)
      } else {
        added.replaceSubrange((index - base)..., with: kept)
      }
    }

    mutating func touch<Step>(
      _ footprint: HistoryFootprint, at index: Int, in rows: RowStack<Step>
    ) {
      replace(from: index, in: rows, with: index..<count)
      added[index - base].footprint = footprint
    }

    mutating func removeAll() { (base, added) = (0, []) }
  }

  private var (applied, undone): (Side, Side)
  /// How many of the next undone ones were undone behind the last recording. Nil without one.
  private var fresh: Int?
  /// The applied ones below this index that count were evicted.
  private var evicted = 0
  /// How many of the applied ones do not count for the limit.
  private var uncounted: Int
  /// The newest applied entry, if it is half undone.
  private var half: ID?

  /// Creates the forecast that holds when nothing waits.
  init<Step>(of table: HistoryTable<Step>) {
    (applied, undone) = (Side(table.applied.count), Side(table.undone.count))
    (half, uncounted) = (table.half?.id, table.uncounted)
  }
}

extension HistoryForecast.Item {
  fileprivate init<Step>(_ row: HistoryRow<Step>) {
    self.init(
      id: row.id, footprint: row.footprint, isDoubtful: row.isDoubtfulExecution,
      isUncounted: row.isUncounted,
      leaves: row.marks.contains(.leavesLater), isIncomplete: row.marks.contains(.incomplete))
  }
}

// MARK: - Targets

extension HistoryForecast {
  /// Returns the entry of the document that an undo is for.
  func undoTarget<Step>(
    in document: HistoryFootprint = .everything, of table: HistoryTable<Step>
  ) -> ID? {
    for index in (0..<applied.count).reversed() {
      guard let item = applied(at: index, in: table), !item.isDoubtful else { continue }
      if item.footprint.isIn(document) { return item.id }
    }
    return nil
  }

  /// Returns the entry of the document that a redo is for, and whether its undo follows all recordings.
  func redoTarget<Step>(
    in document: HistoryFootprint = .everything, of table: HistoryTable<Step>
  ) -> (id: ID, isFresh: Bool)? {
    if let half, let row = table.row(of: half)?.row, row.footprint.isIn(document) {
      return (half, true)
    }
    for index in (0..<undone.count).reversed() {
      let item = undone.item(at: index, in: table.undone)
      if item.footprint.isIn(document) {
        return (item.id, fresh.map { undone.count - 1 - index < $0 } ?? true)
      }
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
    if half != nil { dropUndoneParts(&wave, in: table) }
    if footprint == .everything {
      undone.removeAll()
    } else {
      drop(&wave, in: table)
    }
    half = nil
    fresh = 0
    applied.append(Item(id: entry, footprint: footprint))
    evict(in: table)
  }

  /// The half undone group keeps its applied parts only.
  private mutating func dropUndoneParts<Step>(
    _ wave: inout HistoryFootprint.Wave, in table: HistoryTable<Step>
  ) {
    guard let row = table.half, let index = applied.index(of: row.id, in: table.applied)
    else { return }
    for part in row.leaves where part.state == .undone { wave.insert(part.footprint) }
    let kept = row.leaves.filter { $0.state != .undone }.map(\.footprint)
    applied.touch(.union(of: kept), at: index, in: table.applied)
  }

  /// The oldest ones that count are evicted by now, if they are over the limit.
  private mutating func evict<Step>(in table: HistoryTable<Step>) {
    guard let limit = table.head.limit else { return }
    let count = applied.count - uncounted - limit
    var (index, left) = (0, count)
    if uncounted == 0 { (index, left) = (count, 0) }
    while left > 0 {
      if !applied.item(at: index, in: table.applied).isUncounted { left -= 1 }
      index += 1
    }
    evicted = max(evicted, index)
  }

  /// The applied item at an index, nil if it is evicted.
  private func applied<Step>(at index: Int, in table: HistoryTable<Step>) -> Item? {
    let item = applied.item(at: index, in: table.applied)
    return index >= evicted || item.isUncounted ? item : nil
  }

  private mutating func drop<Step>(
    _ wave: inout HistoryFootprint.Wave, in table: HistoryTable<Step>
  ) {
    var dropped: Set<Int> = []
    for index in (0..<undone.count).reversed() {
      let item = undone.item(at: index, in: table.undone)
      guard wave.overlaps(item.footprint) else { continue }
      dropped.insert(index)
      wave.insert(item.footprint)
    }
    guard let first = dropped.min() else { return }
    undone.replace(
      from: first, in: table.undone,
      with: (first..<undone.count).lazy.filter { !dropped.contains($0) })
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
    if walk.evictsWhenOver { evict(in: table) }
  }

  private mutating func go<Step>(to goal: ID?, in table: HistoryTable<Step>) {
    if let goal, let index = undone.index(of: goal, in: table.undone) {
      if let half { redo(half, in: table) }
      for _ in index..<undone.count {
        redo(undone.item(at: undone.count - 1, in: table.undone).id, in: table)
      }
    } else if goal.map({ isGoal($0, in: table) }) ?? true {
      while let id = undoTarget(of: table), id != goal { undo(id, in: table) }
      half = nil
    }
  }

  private func isGoal<Step>(_ id: ID, in table: HistoryTable<Step>) -> Bool {
    applied.index(of: id, in: table.applied).flatMap { applied(at: $0, in: table) }?.isDoubtful
      == false
  }

  private mutating func undo<Step>(_ id: ID, in table: HistoryTable<Step>) {
    guard let index = applied.index(of: id, in: table.applied), half == nil || half == id,
      applied(at: index, in: table)?.isDoubtful == false
    else { return }
    half = nil
    let item = takeApplied(at: index, in: table)
    if item.leaves || item.isIncomplete { return }
    undone.append(item)
    fresh = fresh.map { $0 + 1 }
  }

  /// Takes an item that is undone, or redone to its end: it counts from now on.
  private mutating func takeApplied<Step>(
    at index: Int, in table: HistoryTable<Step>
  ) -> Item {
    var item = applied.remove(at: index, in: table.applied)
    if index < evicted { evicted -= 1 }
    if item.isUncounted { uncounted -= 1 }
    item.isUncounted = false
    return item
  }

  private mutating func redo<Step>(_ id: ID, in table: HistoryTable<Step>) {
    if let half, half != id { return }
    guard let index = undone.index(of: id, in: table.undone) else {
      return finish(id, in: table)
    }
    if let fresh, undone.count - 1 - index < fresh { self.fresh = fresh - 1 }
    let item = undone.remove(at: index, in: table.undone)
    if !item.leaves { applied.append(item) }
  }

  /// The rest of a half undone or an interrupted group is redone, which goes on top.
  private mutating func finish<Step>(_ id: ID, in table: HistoryTable<Step>) {
    guard let index = applied.index(of: id, in: table.applied),
      half == id || applied.item(at: index, in: table.applied).isUncounted,
      table.row(of: id)?.row.isPartial == true
    else { return }
    half = nil
    var item = takeApplied(at: index, in: table)
    item.isIncomplete = false
    if !item.leaves { applied.append(item) }
  }
}
