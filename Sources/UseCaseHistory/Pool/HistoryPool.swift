import UseCaseInternals

/// The undo stack: the entries with the cursor among them, the limit and the clean place.
///
/// Between two calls:
///
/// - The sum of the places is that of the applied records, and of the effects that have stayed
///   without their record. Equal sums mean equal documents: so the history knows that it is clean.
/// - Only the newest applied record can be applied in part.
/// - The records in the hand of a move are in their stacks until it hands them back with `finish`.
struct HistoryPool<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>
  typealias Plan = HistoryPlan<Step>
  typealias Drop = HistoryDrop<Step>

  private(set) var stacks = HistoryStacks<Step>()
  private(set) var limit: Int?
  private var hand = HistoryHand()
  private var places = HistoryPlaces()

  init(limit: Int?) {
    self.limit = limit
  }
}

// MARK: - Reading

extension HistoryPool {
  /// The position of the next record that is applied.
  private var top: Int { stacks.applied.positions.upperBound }

  /// Whether a move has records in its hands.
  var isMoving: Bool { !hand.isEmpty }

  /// How many applied records a move has in its hands.
  var heldCount: Int { hand.held.map { stacks.applied.records.count(in: $0.applied) } ?? 0 }

  /// The present place. Nil inside of a group that is half undone.
  var place: HistoryPlace? { stacks.partial == nil ? places.sum : nil }

  var isSaved: Bool { saved != nil && saved == place }
}

// MARK: - Recording

extension HistoryPool {
  /// Puts a record behind the newest applied one. The branch leaves, then the entries over the
  /// limit.
  mutating func record(_ record: consuming Record, into drops: inout [Drop]) {
    truncate(into: &drops)
    apply(record)
    evict(into: &drops)
  }

  /// The newest applied entry becomes `merged`, and `later` goes.
  mutating func merge(into content: Record.Content, _ later: Record, into drops: inout [Drop]) {
    truncate(into: &drops)
    guard let earlier = stacks.applied.popLast() else {
      preconditionFailure("A merge has an applied entry to merge with.")
    }
    stacks.applied.append(Record(id: earlier.id, content: content))
    stacks.noteMerge(of: later.id, into: earlier.id)
    drops.append(Drop(later, .merged))
  }

  /// The newest applied entry and `later` cancel each other out.
  mutating func annul(_ later: Record, into drops: inout [Drop]) {
    truncate(into: &drops)
    guard let earlier = stacks.applied.popLast() else {
      preconditionFailure("An execution annuls an applied entry.")
    }
    places.sum -= earlier.place
    drops.append(Drop(HistoryStack([earlier, later]), .annulled))
  }

  /// The record has an effect, and cannot be recorded, for example because the history was cleared.
  mutating func lose(
    _ record: Record, _ reason: HistoryDiscardReason = .cleared, into drops: inout [Drop]
  ) {
    places.sum += record.place
    places.cover(below: top)
    drops.append(Drop(record, reason))
  }

  /// Puts each record, in order, below those that were asked for later. The branch stays.
  mutating func insert(_ records: [Record], into drops: inout [Drop]) {
    if records.isEmpty { return }
    for record in records { places.sum += record.place }
    stacks.insert(records)
    places.cover(below: top)
    evict(into: &drops)
  }

  private mutating func apply(_ record: consuming Record) {
    places.sum += record.place
    stacks.applied.append(record)
  }

  /// Drops the undone records, and the undone leaves of a record that is half undone.
  private mutating func truncate(into drops: inout [Drop]) {
    if let count = stacks.partial.take(), let newest = stacks.applied.popLast() {
      places.sum -= newest.place
      let (kept, rest) = newest.split(at: count, place: places.unknown())
      if let kept { apply(kept) }
      if let rest { drops.append(Drop(rest, .truncated)) }
    }
    if !stacks.undone.isEmpty {
      drops.append(Drop(stacks.undone, .truncated, isReversed: true))
      stacks.undone = HistoryStack()
    }
  }
}

// MARK: - Limit, clear, forget and save

extension HistoryPool {
  mutating func setLimit(_ limit: Int?, into drops: inout [Drop]) {
    let isLower = limit.map { $0 < self.limit ?? .max } ?? false
    self.limit = limit
    guard isLower else { return }
    hand.evictWhenOver()
    evict(into: &drops)
  }

  /// Drops the oldest records over the limit, but none that a move has in its hands.
  private mutating func evict(into drops: inout [Drop]) {
    guard let limit, stacks.applied.count > limit else { return }
    var count = stacks.applied.count - limit
    if let held = hand.held, !held.applied.isEmpty {
      count = min(count, stacks.applied.count(below: held.applied.lowerBound))
    }
    guard count > 0 else { return }
    if count == stacks.applied.count { settle() }
    drops.append(Drop(stacks.applied.removeFirst(count), .evicted))
  }

  /// A group that is half undone leaves as it is, which is an unknown place.
  private mutating func settle() {
    if stacks.partial.take() != nil { places.sum += places.unknown() }
  }

  /// Drops all records. The records that a move has in its hands go when it is over.
  mutating func clear(into drops: inout [Drop]) {
    settle()
    var (heldApplied, heldUndone) = (0, 0)
    if let held = hand.clear() {
      (heldApplied, heldUndone) = (held.applied.count, held.undone.count)
      if held.applied.upperBound < top {
        for position in held.applied { _ = stacks.applied.take(position) }
        heldApplied = 0
      }
    }
    let (records, index) = stacks.applied.removeAll()
    places.trim(to: 0)
    if records.positions.count > heldApplied {
      drops.append(Drop(records, .cleared, sparing: heldApplied, with: index))
    }
    if stacks.undone.positions.count > heldUndone {
      drops.append(Drop(stacks.undone, .cleared, isReversed: true, sparing: heldUndone))
    }
    stacks.undone = HistoryStack()
  }

  /// The entry leaves, and its effect stays, so the sum does not change. An entry in the hands of a
  /// move leaves when the move is over.
  mutating func forget(_ id: ID, into drops: inout [Drop]) {
    guard let spot = stacks.spot(of: id), !hand.forget(id, at: spot) else { return }
    let record: Record?
    switch spot {
    case .applied(let position):
      if position == top - 1 { settle() }
      places.cover(below: position)
      record = stacks.applied.take(position)
      places.trim(to: top)
    case .undone(let position): record = stacks.undone.take(at: position)
    }
    if let record { drops.append(Drop(record, .forgotten)) }
  }

  /// Closes the holes, unless a move holds positions. Returns whether positions have changed.
  mutating func compact() -> Bool {
    guard !isMoving else { return false }
    let isSecond = stacks.undone.compact()
    guard stacks.applied.records.isSparse else { return isSecond }
    let covered = stacks.applied.count(below: places.covered)
    _ = stacks.applied.compact()
    places.trim(to: 0)
    if covered > 0 { places.cover(below: stacks.applied.positions.lowerBound + covered) }
    return true
  }

  var saved: HistoryPlace? {
    get { places.saved }
    set { places.saved = newValue }
  }
}

// MARK: - Moving the cursor

extension HistoryPool {
  /// Gives so many records into the hands of a move, which hands them back with `finish`.
  mutating func begin(isRedo: Bool, count: Int) -> Plan {
    let (records, applied, undone) = stacks.next(count, isRedo: isRedo)
    hand.hold(applied: applied, undone: undone)
    return Plan(isRedo: isRedo, records, partial: stacks.partial)
  }

  /// Gives more records into the hands of a move, `count` in all.
  mutating func extend(_ plan: inout Plan, to count: Int) {
    let (records, applied, undone) = stacks.next(count, isRedo: plan.isRedo)
    hand.extend(applied: applied, undone: undone)
    plan.append(records.indices.dropFirst(plan.records.count).map { records[$0] })
  }

  /// Gives one applied record into the hands of an undo.
  mutating func begin(undoing position: Int) -> Plan {
    guard position < top - 1, let record = stacks.applied[position] else {
      return begin(isRedo: false, count: 1)
    }
    hand.hold(applied: position..<position + 1, undone: stacks.undone.newestPositions(0))
    return Plan(isRedo: false, .one(record))
  }

  /// The move has come as far as it could, and the plan is closed. The plan keeps changed records as
  /// they were before, so that no step is released under a lock.
  mutating func finish(_ plan: inout Plan, into drops: inout [Drop]) {
    if plan.hasLost { drops.append(Drop(HistoryStack(plan.obsoleteParts), .obsolete)) }
    guard let held = hand.open() else {
      // A half-done move has led to an unknown place.
      if plan.hasMoved { places.sum += places.unknown() }
      let left = plan.records.indices.filter { $0 >= plan.moved || !plan.isObsolete($0) }
      let records = left.map { plan.records[$0] }
      return drops.append(Drop(HistoryStack(records), .cleared, isReversed: !plan.isRedo))
    }
    for index in 0..<plan.moved { shift(&plan, index, from: held) }
    if plan.isIncomplete { stop(in: &plan, from: held, into: &drops) }
    for id in held.forgotten { forget(id, into: &drops) }
    if held.evictsWhenOver { evict(into: &drops) }
  }

  /// The record at the index has been undone or redone, or is gone with all of its parts.
  private mutating func shift(_ plan: inout Plan, _ index: Int, from held: HistoryHand.Held) {
    let (record, isApplied, position) = stacks.take(plan.isRedo, from: held.applied)
    let old = isApplied ? record.place : nil
    let new = plan.exchange(record, at: index)
    let isGone = plan.isObsolete(index)
    if plan.isRedo {
      if let old { places.sum -= old }
      if !isGone { apply(new) }
    } else {
      let isCovered = position < places.covered || new.size < record.size
      if isGone || isCovered { places.cover(below: position) }
      places.trim(to: top)
      if isGone { return }
      places.sum -= new.place
      if isCovered { places.sum += places.unknown() }
      stacks.undone.append(new)
    }
  }

  /// The move has stopped at a record.
  ///
  /// A group in the middle of which it has stopped goes on top of the applied records, where the
  /// next undo and redo find it. An undo may move it there from below, since no record above
  /// overlaps it.
  private mutating func stop(
    in plan: inout Plan, from held: HistoryHand.Held, into drops: inout [Drop]
  ) {
    let (index, count, size) = (plan.moved, plan.applied, plan.records[plan.moved].size)
    if plan.isObsolete(index) {
      let (record, isApplied, position) = stacks.take(plan.isRedo, from: held.applied)
      if isApplied { places.cover(below: position) }
      places.trim(to: top)
      return drops.append(Drop(record, .obsolete))
    }
    guard count != (plan.isRedo ? 0 : size) || plan.hasLost else { return }
    let (record, isApplied, position) = stacks.take(plan.isRedo, from: held.applied)
    let new = plan.exchange(record, at: index)
    if count == 0 { return stacks.undone.append(new) }
    if plan.isRedo { places.sum += isApplied ? new.place - record.place : new.place }
    stacks.applied.append(new)
    stacks.partial = count < size ? count : nil
    if plan.isRedo { return }
    if count < size, position < places.covered || size < record.size {
      places.sum += places.unknown()
    }
    if size < record.size { places.cover(below: top) }
  }
}

// MARK: - Writing it down and making it again

extension HistoryPool {
  /// The needs of a journal besides the records.
  var marks: HistoryMarks {
    places.marks(covered: stacks.applied.count(below: places.covered))
  }

  mutating func restore(_ marks: HistoryMarks) { places = HistoryPlaces(marks) }

  /// Puts the record behind the newest applied one, or in front of the undone ones. The sum has it.
  mutating func restore(_ record: Record, isApplied: Bool) {
    if isApplied { stacks.applied.append(record) } else { stacks.undone.append(record) }
  }

  mutating func restore(partial count: Int) -> Bool { stacks.restore(partial: count) }
}
