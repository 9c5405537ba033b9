import UseCaseInternals

/// The undo stack: the entries, the cursor among them, the limit and the clean place.
///
/// Applied and undone records are two stacks with the cursor between them. So an undo takes from
/// one and gives to the other, and dropping a branch of any size is an exchange of two words.
/// Positions are counted from the first record that the history ever had.
struct HistoryPool<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>
  typealias Plan = HistoryPlan<Step>
  typealias Drop = HistoryDrop<Step>

  /// The records that a move has in its hands: those at the cursor.
  private enum Hand {
    /// Next is `holding`.
    case empty
    /// So many of the applied or the undone ones are held. Next is `empty`, or `cleared`.
    case holding(applied: Int, undone: Int, evictsWhenOver: Bool)
    /// The history was cleared meanwhile. Next is `empty`.
    case cleared
  }

  private var applied = HistoryStack<Record>()
  /// The last one is the next to be redone.
  private var undone = HistoryStack<Record>()
  /// How many steps of the newest applied record are applied, if not all of them.
  private var partial: Int?
  /// The position of the oldest record.
  private(set) var start = 0
  private(set) var limit: Int?
  private var hand = Hand.empty

  /// The place below the oldest record.
  private var bottom = HistoryPlace.numbered(0)
  private var saved: HistoryPlace? = .numbered(0)
  private var lastNumber = 0

  init(limit: Int?) {
    self.limit = limit
  }
}

// MARK: - Reading

extension HistoryPool {
  var undoCount: Int { applied.count }
  var redoCount: Int { undone.count }
  var cursor: Int { start + applied.count }
  var end: Int { cursor + undone.count }
  var isPartial: Bool { partial != nil }

  /// Whether a move has records in its hands.
  var isMoving: Bool {
    if case .empty = hand { false } else { true }
  }

  /// The entry that an undo takes.
  var undoID: ID? { applied.isEmpty ? nil : applied[applied.count - 1].id }

  /// The entry that a redo takes.
  var redoID: ID? {
    if isPartial { return undoID }
    return undone.isEmpty ? nil : undone[undone.count - 1].id
  }

  /// Where the history is. Nil inside of a group that is half undone.
  var place: HistoryPlace? { partial == nil ? applied.last?.place ?? bottom : nil }

  var isSaved: Bool { saved != nil && saved == place }

  /// The newest applied entry, if it is a single step.
  var newestStep: Step? {
    guard case .single(let step)? = applied.last?.content else { return nil }
    return step
  }

  func id(at position: Int) -> ID { record(at: position).id }

  // Inlined, because a copy of a record is counted.
  @inline(__always)
  func record(at position: Int) -> Record {
    let index = position - start
    return index < applied.count
      ? applied[index] : undone[undone.count - 1 - (index - applied.count)]
  }

  /// Returns where the entry is, nil if there is none. The search begins at the cursor.
  ///
  /// - Complexity: O(*n*) in the distance from the cursor.
  func position(of id: ID) -> Int? {
    for distance in 0..<max(applied.count, undone.count) {
      let (below, above) = (cursor - 1 - distance, cursor + distance)
      if below >= start, record(at: below).id == id { return below }
      if above < end, record(at: above).id == id { return above }
    }
    return nil
  }

  /// Returns the applied records, the undone ones with the next one first, and how many steps of
  /// the newest applied one are applied.
  var contents: (applied: HistoryStack<Record>, undone: HistoryStack<Record>, partial: Int?) {
    (applied, undone, partial)
  }
}

// MARK: - Recording

extension HistoryPool {
  /// Puts a record behind the newest applied one. The branch goes, then what is over the limit.
  mutating func record(_ record: Record, into drops: inout [Drop]) {
    truncate(into: &drops)
    applied.append(record)
    evict(into: &drops)
  }

  /// The newest applied entry becomes `merged`, and `later` goes.
  mutating func merge(into merged: Step, _ later: Record, into drops: inout [Drop]) {
    truncate(into: &drops)
    guard let earlier = applied.popLast() else { preconditionFailure("It merges with an entry.") }
    applied.append(Record(id: earlier.id, content: .single(merged)))
    drops.append(Drop(later, .merged))
  }

  /// The newest applied entry and `later` cancel each other out.
  mutating func annul(_ later: Record, into drops: inout [Drop]) {
    truncate(into: &drops)
    guard let earlier = applied.popLast() else { preconditionFailure("An entry is annulled.") }
    drops.append(Drop(HistoryStack([earlier, later]), .annulled))
  }

  /// The record has an effect, and the history was cleared before it could be recorded.
  mutating func lose(_ record: Record, into drops: inout [Drop]) {
    bottom = record.place
    drops.append(Drop(record, .cleared))
  }

  /// Drops the undone records, and the undone steps of a record that is half undone.
  private mutating func truncate(into drops: inout [Drop]) {
    if let count = partial.take(), let newest = applied.popLast() {
      let (kept, rest) = newest.split(at: count, place: unknownPlace())
      if let kept { applied.append(kept) }
      if let rest { drops.append(Drop(rest, .truncated)) }
    }
    if !undone.isEmpty {
      drops.append(Drop(undone, .truncated, isReversed: true))
      undone = HistoryStack()
    }
  }
}

// MARK: - Limit, clear and save

extension HistoryPool {
  mutating func setLimit(_ limit: Int?, into drops: inout [Drop]) {
    let isLower = limit.map { $0 < self.limit ?? .max } ?? false
    self.limit = limit
    guard isLower else { return }
    if case .holding(let applied, let undone, _) = hand {
      hand = .holding(applied: applied, undone: undone, evictsWhenOver: true)
    }
    evict(into: &drops)
  }

  /// Drops the oldest records over the limit, but none that a move has in its hands.
  private mutating func evict(into drops: inout [Drop]) {
    guard let limit, applied.count > limit else { return }
    let count = min(applied.count - limit, applied.count - held.applied)
    guard count > 0 else { return }
    bottom = count == applied.count ? place ?? unknownPlace() : applied[count - 1].place
    start += count
    if count == applied.count { partial = nil }
    if count == 1, let oldest = applied.popFirst() {
      drops.append(Drop(oldest, .evicted))
    } else {
      drops.append(Drop(applied.removeFirst(count), .evicted))
    }
  }

  private var held: (applied: Int, undone: Int) {
    switch hand {
    case .empty, .cleared: (0, 0)
    case .holding(let applied, let undone, _): (applied, undone)
    }
  }

  /// Drops all records. The records that a move has in its hands go when it is over.
  mutating func clear(into drops: inout [Drop]) {
    bottom = place ?? unknownPlace()
    if applied.count > held.applied {
      drops.append(Drop(applied, .cleared, sparing: held.applied))
    }
    if undone.count > held.undone {
      drops.append(Drop(undone, .cleared, isReversed: true, sparing: held.undone))
    }
    if isMoving { hand = .cleared }
    start += applied.count
    (applied, undone, partial) = (HistoryStack(), HistoryStack(), nil)
  }

  mutating func markSaved(_ place: HistoryPlace?) { saved = place }

  /// Returns a place where the history has never been.
  private mutating func unknownPlace() -> HistoryPlace {
    lastNumber += 1
    return .numbered(lastNumber)
  }
}

// MARK: - Moving the cursor

extension HistoryPool {
  /// Returns how many records lie between the cursor and behind the entry, below 0 if they are to be
  /// undone. A half undone group counts among the undone ones. Nil if there is no such entry.
  func distance(to id: ID) -> Int? {
    guard let distance = position(of: id).map({ $0 + 1 - cursor }) else { return nil }
    return distance < 0 || !isPartial ? distance : distance + 1
  }

  /// Gives so many records into the hands of a move, which hands them back with `finish`.
  mutating func begin(isRedo: Bool, count: Int) -> Plan {
    guard case .empty = hand else { preconditionFailure("One move runs at a time.") }
    var redone = isRedo ? applied.newest(isPartial ? 1 : 0) : applied.newest(count)
    let fromUndone = isRedo ? count - redone.count : 0
    for record in undone.newest(fromUndone) { redone.append(record) }
    hand = .holding(applied: redone.count - fromUndone, undone: fromUndone, evictsWhenOver: false)
    let first = redone[0]
    return Plan(isRedo: isRedo, redone, applied: partial ?? (isRedo ? 0 : first.size))
  }

  /// The move has come as far as it could, and the plan is closed. The redone records are left in the
  /// plan as it was before: the last reference to a step is not to go under a lock.
  mutating func finish(_ plan: inout Plan, into drops: inout [Drop]) {
    defer { hand = .empty }
    switch hand {
    case .empty: preconditionFailure("A move ends once.")
    case .cleared:
      // Nobody knows any more where a half-done move has led.
      if plan.hasMoved { bottom = unknownPlace() }
      drops.append(Drop(HistoryStack(Array(plan.records)), .cleared, isReversed: !plan.isRedo))
    case .holding(_, _, let evictsWhenOver):
      for index in 0..<plan.moved { shift(&plan, index) }
      if plan.isIncomplete, plan.applied > 0 { stop(in: &plan) }
      hand = .empty
      if evictsWhenOver { evict(into: &drops) }
    }
  }

  private mutating func shift(_ plan: inout Plan, _ index: Int) {
    let wasPartial = partial.take() != nil
    let record = !plan.isRedo || wasPartial ? applied.popLast() : undone.popLast()
    guard let record else { preconditionFailure("What a move holds is there.") }
    if plan.isRedo { applied.append(plan.swap(record, at: index)) } else { undone.append(record) }
  }

  /// The move has stopped in the middle of a group.
  private mutating func stop(in plan: inout Plan) {
    let size = plan.records[plan.moved].size
    if plan.isRedo { shift(&plan, plan.moved) }
    partial = plan.applied < size ? plan.applied : nil
  }
}
