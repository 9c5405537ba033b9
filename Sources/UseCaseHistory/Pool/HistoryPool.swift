/// The undo stack: the entries with the cursor among them, the limit and the clean place.
///
/// An undo takes from one stack and gives to the other, and dropping a whole branch of any size is
/// an exchange of two words. Between two calls:
///
/// - The sum of the places is that of the applied records, and of the effects that have stayed
///   without their record. Equal sums mean equal documents: so the history knows that it is clean.
/// - Only the newest applied record can be applied in part.
/// - The records in the hand of a move are in their stacks until it puts them back.
struct HistoryPool<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>
  typealias Plan = HistoryPlan<Step>
  typealias Drop = HistoryDrop<Step>

  private(set) var applied = HistoryStack<Step>()
  /// The last one is the next to be redone.
  private(set) var undone = HistoryStack<Step>()
  /// How many leaves of the newest applied record are applied, if not all of them.
  private(set) var partial: Int?
  private(set) var limit: Int?
  private(set) var places = HistoryPlaces()
  var saved: HistoryPlace? = .beginning
  private var hand: Hand?
  private(set) var merged = MergedIDs()

  /// The records that a move has in its hand: the next ones at the cursor, or one below.
  private struct Hand {
    /// The orders of the applied ones.
    var applied: Range<Int>
    /// The orders of the undone ones.
    var undone: Range<Int>
    /// Whether the history was cleared meanwhile.
    var isCleared = false
    /// Whether the limit was lowered meanwhile.
    var evictsWhenOver = false
    /// The entries among them that leave when the move is over.
    var forgotten: [ID] = []
  }

  init(limit: Int?) { self.limit = limit }
}

// MARK: - Reading

extension HistoryPool {
  /// The entry that an undo takes.
  var undoID: ID? { applied.last?.id }

  /// The entry that a redo takes.
  var redoID: ID? { partial == nil ? undone.last?.id : undoID }

  /// The newest applied entry, if it is a single step.
  var newestStep: Step? { applied.last?.content.step }

  /// How many records a redo can take. A half undone group counts among the undone ones.
  var redoable: Int { undone.count + (partial == nil ? 0 : 1) }

  /// Whether a move has records in its hand.
  var isMoving: Bool { hand != nil }

  /// How many applied records a move has in its hand.
  var heldCount: Int {
    guard let held = hand?.applied else { return 0 }
    return applied.count(below: held.upperBound) - applied.count(below: held.lowerBound)
  }

  /// The present place. Nil inside of a group that is half undone.
  var place: HistoryPlace? { partial == nil ? places.sum : nil }

  var isSaved: Bool { saved != nil && saved == place }
}

// MARK: - Recording

extension HistoryPool {
  /// Puts a record behind the newest applied one. The undone entries at these positions leave, or
  /// all, and then the entries over the limit.
  mutating func record(
    _ record: consuming Record, dropping positions: [Int]?, into drops: inout [Drop]
  ) {
    truncate(positions, into: &drops)
    apply(record)
    evict(into: &drops)
  }

  /// The newest applied entry becomes `merged`, and `later` goes.
  mutating func merge(
    into content: Record.Content, _ later: Record, dropping positions: [Int]?,
    into drops: inout [Drop]
  ) {
    truncate(positions, into: &drops)
    guard let earlier = applied.popLast() else {
      preconditionFailure("\(later.id) has no applied entry to merge with.")
    }
    applied.push(Record(id: earlier.id, content: content))
    if merged.add(later.id, to: earlier.id) {
      merged.keep(Set((applied.records + undone.records).map(\.id)))
    }
    drops.append(Drop(later, .merged))
  }

  /// The newest applied entry and `later` cancel each other out.
  mutating func annul(
    _ later: Record, dropping positions: [Int]?, into drops: inout [Drop]
  ) {
    truncate(positions, into: &drops)
    guard let earlier = applied.popLast() else {
      preconditionFailure("\(later.id) has no applied entry to annul.")
    }
    places.uncover(at: applied.count)
    places.sum -= earlier.place
    drops.append(Drop([earlier, later], .annulled))
  }

  /// The record has an effect, and cannot be recorded, for example because the history was cleared.
  mutating func lose(
    _ record: Record, _ reason: HistoryDiscardReason = .cleared, into drops: inout [Drop]
  ) {
    places.sum += record.place
    places.cover(applied.count)
    drops.append(Drop(record, reason))
  }

  /// Puts each record, in order, below those that were asked for later. The branch stays.
  mutating func insert(_ records: [Record], into drops: inout [Drop]) {
    if records.isEmpty { return }
    for record in records { places.sum += record.place }
    var later: [Record] = []
    for record in records.reversed() {
      // Only the newest one can be half undone.
      while let newest = applied.last, newest.id > record.id || (partial != nil && later.isEmpty) {
        _ = applied.popLast()
        later.append(newest)
      }
      later.append(record)
    }
    for record in later.reversed() { applied.push(record) }
    places.cover(applied.count)
    evict(into: &drops)
  }

  private mutating func apply(_ record: consuming Record) {
    places.sum += record.place
    applied.push(record)
  }

  /// Drops the undone records at these positions, or all, and the undone leaves of a record that is
  /// half undone.
  private mutating func truncate(_ positions: [Int]?, into drops: inout [Drop]) {
    if let count = partial.take(), let newest = applied.popLast() {
      places.sum -= newest.place
      let (kept, rest) = newest.split(at: count, place: places.unknown())
      if let kept { apply(kept) }
      if let rest { drops.append(Drop(rest, .truncated)) }
    }
    if let positions {
      if !positions.isEmpty { drops.append(Drop(undone.remove(at: positions), .truncated)) }
    } else if !undone.isEmpty {
      drops.append(Drop(undone, .truncated, isReversed: true))
      undone = HistoryStack()
    }
  }
}

// MARK: - Limit, clear and forget

extension HistoryPool {
  mutating func setLimit(_ limit: Int?, into drops: inout [Drop]) {
    let isLower = limit ?? .max < self.limit ?? .max
    self.limit = limit
    guard isLower else { return }
    hand?.evictsWhenOver = true
    evict(into: &drops)
  }

  /// Drops the oldest records over the limit, but none that a move has in its hand.
  private mutating func evict(into drops: inout [Drop]) {
    guard let limit, applied.count > limit else { return }
    let count = min(
      applied.count - limit, applied.count(below: hand?.applied.lowerBound ?? .max))
    guard count > 0 else { return }
    if count == applied.count { settle() }
    places.uncover(oldest: count)
    drops.append(Drop(applied.removeFirst(count), .evicted))
  }

  /// A group that is half undone leaves as it is, which is an unknown place.
  private mutating func settle() {
    if partial.take() != nil { places.sum += places.unknown() }
  }

  /// Drops all records. The records that a move has in its hand go when it is over.
  mutating func clear(into drops: inout [Drop]) {
    settle()
    places.uncover(oldest: applied.count)
    var (applied, undone) = (HistoryStack<Step>(), HistoryStack<Step>())
    swap(&applied, &self.applied)
    swap(&undone, &self.undone)
    if let hand, !hand.isCleared {
      applied.spare(hand.applied)
      undone.spare(hand.undone)
      self.hand?.isCleared = true
    }
    if !applied.isEmpty { drops.append(Drop(applied, .cleared)) }
    if !undone.isEmpty { drops.append(Drop(undone, .cleared, isReversed: true)) }
  }

  /// The entry leaves, and its effect stays, so the sum does not change. An entry in the hand of a
  /// move leaves when the move is over.
  mutating func forget(_ id: ID, into drops: inout [Drop]) {
    switch spot(of: id) {
    case .applied(let position):
      if hand?.applied.contains(applied[position].order) == true {
        hand?.forgotten.append(id)
        return
      }
      if position == applied.count - 1 { settle() }
      drops.append(Drop(applied.remove(at: position), .forgotten))
      places.uncover(at: position)
      places.cover(position)
    case .undone(let position):
      if hand?.undone.contains(undone[position].order) == true {
        hand?.forgotten.append(id)
        return
      }
      drops.append(Drop(undone.remove(at: position), .forgotten))
    case nil: break
    }
  }
}

// MARK: - Moving the cursor

extension HistoryPool {
  /// Gives so many records into the hand of a move, which puts them back.
  mutating func take(_ count: Int, isRedo: Bool) -> Plan {
    let fromApplied = !isRedo ? count : partial != nil ? 1 : 0
    let fromUndone = count - fromApplied
    hold(applied.newestOrders(fromApplied), undone.newestOrders(fromUndone))
    var records = isRedo ? undone.newest(fromUndone) : applied.newest(fromApplied)
    if isRedo, partial != nil { records.insert(applied[applied.count - 1], at: 0) }
    return Plan(isRedo: isRedo, records, partial: partial)
  }

  /// Gives more records into the hand of a move, `count` in all.
  mutating func extend(_ plan: inout Plan, to count: Int) {
    let fromApplied = !plan.isRedo ? count : partial != nil ? 1 : 0
    let fromUndone = count - fromApplied
    hand?.applied = applied.newestOrders(fromApplied)
    hand?.undone = undone.newestOrders(fromUndone)
    let records = applied.newest(fromApplied) + undone.newest(fromUndone)
    plan.append(records.dropFirst(plan.records.count))
  }

  /// Gives one applied record into the hand of an undo, or an undone one into that of a redo.
  mutating func take(_ id: ID) -> Plan {
    switch spot(of: id) {
    case .applied(let position):
      let record = applied[position]
      hold(record.order..<record.order + 1, .max..<Int.max)
      return Plan(isRedo: false, [record], partial: id == undoID ? partial : nil)
    case .undone(let position):
      let record = undone[position]
      hold(.max..<Int.max, record.order..<record.order + 1)
      return Plan(isRedo: true, [record])
    case nil: preconditionFailure("\(id) is not there to move.")
    }
  }

  private mutating func hold(_ applied: Range<Int>, _ undone: Range<Int>) {
    guard hand == nil else {
      preconditionFailure("A move takes \(applied), and another has \(hand.debugDescription).")
    }
    hand = Hand(applied: applied, undone: undone)
  }

  /// The move has come as far as it could, and the plan is closed. The plan keeps changed records as
  /// they were before, so that no step is released under a lock.
  mutating func putBack(_ plan: inout Plan, into drops: inout [Drop]) {
    if plan.hasLost { drops.append(Drop(plan.obsoleteParts, .obsolete)) }
    guard let hand = hand.take() else {
      preconditionFailure("A move puts back \(plan.records.map(\.id)), and holds nothing.")
    }
    if hand.isCleared {
      // A half-done move has led to an unknown place.
      if plan.hasMoved { places.sum += places.unknown() }
      let left = plan.records.indices.filter { $0 >= plan.moved || !plan.isObsolete($0) }
      let records = HistoryStack(leaving: left.map { plan.records[$0] })
      return drops.append(Drop(records, .cleared, isReversed: !plan.isRedo))
    }
    for index in 0..<plan.moved {
      if plan.isRedo {
        redid(&plan, index, from: hand)
      } else {
        undid(&plan, index, from: hand)
      }
    }
    if plan.isIncomplete { stop(&plan, from: hand, into: &drops) }
    for id in hand.forgotten { forget(id, into: &drops) }
    if hand.evictsWhenOver { evict(into: &drops) }
  }

  /// The record at the index has been redone, or is gone with all of its parts.
  private mutating func redid(_ plan: inout Plan, _ index: Int, from hand: Hand) {
    let (record, wasApplied) = takeRedone(from: hand)
    if wasApplied { places.sum -= record.place }
    let new = plan.exchange(record, at: index)
    if !plan.isObsolete(index) { apply(new) }
  }

  /// The record at the index has been undone, or is gone with all of its parts.
  private mutating func undid(_ plan: inout Plan, _ index: Int, from hand: Hand) {
    let (record, position) = takeUndone(from: hand)
    let new = plan.exchange(record, at: index)
    let isLess = new.size < record.size
    let isElsewhere = places.uncover(at: position) || isLess
    if plan.isObsolete(index) { return places.cover(position) }
    if isLess { places.cover(position) }
    places.sum -= new.place
    if isElsewhere { places.sum += places.unknown() }
    undone.push(new)
  }

  /// The move has stopped at a record.
  private mutating func stop(_ plan: inout Plan, from hand: Hand, into drops: inout [Drop]) {
    let (index, count, size) = (plan.moved, plan.applied, plan.records[plan.moved].size)
    let isObsolete = plan.isObsolete(index)
    guard isObsolete || plan.hasLost || count != (plan.isRedo ? 0 : size) else { return }
    if plan.isRedo {
      let (record, wasApplied) = takeRedone(from: hand)
      if isObsolete { return drops.append(Drop(record, .obsolete)) }
      let new = plan.exchange(record, at: index)
      if count == 0 { return undone.push(new) }
      places.sum += wasApplied ? new.place - record.place : new.place
      applied.push(new)
      partial = count < size ? count : nil
      return
    }
    let wasCovered = places.covered
    let (record, position) = takeUndone(from: hand)
    let isNewest = position == applied.count
    let isCovered = places.uncover(at: position)
    if isObsolete {
      places.cover(position)
      return drops.append(Drop(record, .obsolete))
    }
    // A group in the middle of which it has stopped goes on top of the applied records, where the
    // next undo and redo find it. Since no record above overlaps it, that changes nothing.
    let new = plan.exchange(record, at: index)
    applied.push(new)
    partial = count < size ? count : nil
    if count < size, isCovered || size < record.size { places.sum += places.unknown() }
    if isNewest { places.cover(wasCovered) }
    if size < record.size { places.cover(applied.count) }
  }

  /// Takes the next record of a redo out of its stack. A half undone group was applied before.
  private mutating func takeRedone(from hand: Hand) -> (record: Record, wasApplied: Bool) {
    let wasApplied = partial.take() != nil
    if wasApplied, let record = applied.popLast() { return (record, true) }
    let position = undone.count(below: hand.undone.upperBound) - 1
    guard position >= 0 else { preconditionFailure("A redo has put back more than it took.") }
    return (undone.remove(at: position), false)
  }

  /// Takes the next record of an undo out of the stack.
  private mutating func takeUndone(from hand: Hand) -> (record: Record, position: Int) {
    partial = nil
    let position = applied.count(below: hand.applied.upperBound) - 1
    guard position >= 0 else { preconditionFailure("An undo has put back more than it took.") }
    return (applied.remove(at: position), position)
  }
}

// MARK: - Making it again of a journal

extension HistoryPool {
  mutating func restore(_ places: HistoryPlaces) { self.places = places }

  /// Puts the record behind the newest applied one, or in front of the undone ones. The sum has it.
  mutating func restore(_ record: Record, isApplied: Bool) {
    if isApplied { applied.push(record) } else { undone.push(record) }
  }

  /// So many leaves of the newest applied record are applied. Returns false if it has no more.
  mutating func restore(partial count: Int) -> Bool {
    guard let newest = applied.last, count > 0, count < newest.size else { return false }
    partial = count
    return true
  }
}
