/// The undo stack as it will be when everything asked for has run.
///
/// The forecast lies over the pool. Of each stack it keeps the part that no waiting operation will
/// touch, and above that it has a list of its own. So the forecast stays as it is while the pool
/// comes to it step by step.
struct HistoryForecast: Sendable {
  typealias ID = HistoryEntry.ID

  /// The positions of the applied records that are kept, and of the undone ones.
  private var applied: Range<Int>
  private var undone: Range<Int>
  /// The positions of kept applied records that are to be taken out of the middle.
  private var taken: Set<Int> = []
  private var newApplied = HistoryStack<ID>()
  private var newUndone = HistoryStack<ID>()
  /// How many are applied.
  private var count: Int
  private var isPartial: Bool

  /// Creates the forecast that holds when nothing waits.
  init<Step>(of pool: HistoryPool<Step>) {
    (applied, undone) = (pool.stacks.applied.positions, pool.stacks.undone.positions)
    (count, isPartial) = (pool.stacks.applied.count, pool.stacks.partial != nil)
  }

  /// How much it remembers.
  var size: Int { newApplied.count + newUndone.count }

  func undoTarget<Step>(in pool: HistoryPool<Step>) -> ID? {
    newApplied.last ?? newestKept(in: pool)?.id
  }

  func redoTarget<Step>(in pool: HistoryPool<Step>) -> ID? {
    isPartial ? undoTarget(in: pool) : newUndone.last ?? nextKept(in: pool)?.id
  }

  private func newestKept<Step>(in pool: HistoryPool<Step>) -> (position: Int, id: ID)? {
    for position in applied.reversed() where !taken.contains(position) {
      if let id = pool.stacks.applied[position]?.id { return (position, id) }
    }
    return nil
  }

  private func nextKept<Step>(in pool: HistoryPool<Step>) -> (position: Int, id: ID)? {
    for position in undone.reversed() {
      if let id = pool.stacks.undone[at: position]?.id { return (position, id) }
    }
    return nil
  }

  // MARK: Steps

  /// An execution will become this entry.
  mutating func record<Step>(_ entry: ID, in pool: HistoryPool<Step>) {
    (undone, newUndone) = (0..<0, HistoryStack())
    newApplied.append(entry)
    count += 1
    isPartial = false
    if let limit = pool.limit {
      while count > limit { evict(in: pool) }
    }
  }

  private mutating func evict<Step>(in pool: HistoryPool<Step>) {
    count -= 1
    while let position = applied.first {
      applied.removeFirst()
      if taken.remove(position) == nil, pool.stacks.applied[position] != nil { return }
    }
    _ = newApplied.popFirst()
  }

  /// An undo, a redo or a move will run. Out of turn it will change nothing.
  mutating func move<Step>(
    by ask: HistoryAsk, isRunning: Bool, in pool: HistoryPool<Step>
  ) {
    switch ask {
    case .recording: preconditionFailure("A recording is forecast by its entry.")
    case .undo(let target):
      guard let target, target == undoTarget(in: pool) else { return }
      undo(in: pool)
    case .redo(let target):
      guard let target, target == redoTarget(in: pool) else { return }
      redo(in: pool)
    case .move(nil): while count > 0 { undo(in: pool) }
    case .move(let id?): move(to: id, isRunning: isRunning, in: pool)
    case .undoEntry(let id): undo(id, in: pool)
    }
  }

  private mutating func undo<Step>(in pool: HistoryPool<Step>) {
    isPartial = false
    count -= 1
    if let id = newApplied.popLast() { return newUndone.append(id) }
    guard let (position, id) = newestKept(in: pool) else { return }
    let end = applied.upperBound
    applied = applied.lowerBound..<position
    // Holes at the end go, too, and their positions are given out again.
    applied =
      applied.lowerBound..<(newestKept(in: pool).map { $0.position + 1 } ?? applied.lowerBound)
    for above in applied.upperBound..<end { taken.remove(above) }
    newUndone.append(id)
  }

  private mutating func redo<Step>(in pool: HistoryPool<Step>) {
    if isPartial { return isPartial = false }
    count += 1
    if let id = newUndone.popLast() { return newApplied.append(id) }
    guard let (position, id) = nextKept(in: pool) else { return }
    undone = undone.lowerBound..<position
    undone = undone.lowerBound..<(nextKept(in: pool).map { $0.position + 1 } ?? undone.lowerBound)
    newApplied.append(id)
  }

  private mutating func move<Step>(to id: ID, isRunning: Bool, in pool: HistoryPool<Step>) {
    if isApplied(id, in: pool) {
      if id == undoTarget(in: pool) { isPartial = false }
      while id != undoTarget(in: pool) { undo(in: pool) }
    } else if isUndone(id, in: pool) {
      isPartial = false
      while id != undoTarget(in: pool) { redo(in: pool) }
    } else if isRunning {
      // The entry has left, and the move still goes there.
      for _ in 0..<min(count, pool.heldCount) { undo(in: pool) }
    }
  }

  /// Takes an entry out of the middle, on the assumption that it will not be blocked.
  private mutating func undo<Step>(_ id: ID, in pool: HistoryPool<Step>) {
    if id == undoTarget(in: pool) { return undo(in: pool) }
    guard !isPartial, isApplied(id, in: pool) else { return }
    count -= 1
    newUndone.append(id)
    if let position = newApplied.positions.first(where: { newApplied[at: $0] == id }) {
      _ = newApplied.take(at: position)
    } else if case .applied(let position) = pool.stacks.spot(of: id) {
      taken.insert(position)
    }
  }

  private func isApplied<Step>(_ id: ID, in pool: HistoryPool<Step>) -> Bool {
    if newApplied.positions.contains(where: { newApplied[at: $0] == id }) { return true }
    guard case .applied(let position) = pool.stacks.spot(of: id) else { return false }
    return applied.contains(position) && !taken.contains(position)
  }

  private func isUndone<Step>(_ id: ID, in pool: HistoryPool<Step>) -> Bool {
    if newUndone.elements.contains(id) { return true }
    guard case .undone(let position) = pool.stacks.spot(of: id) else { return false }
    return undone.contains(position)
  }
}
