import UseCaseInternals

/// The undo stack: the entries, the cursor among them, the limit and the clean place.
///
/// Applied and undone records are two stacks with the cursor between them. So an undo takes from
/// one and gives to the other, and dropping a branch of any size is an exchange of two words. An
/// undo of one entry takes it out of the middle, and a hole remains in its slot.
struct HistoryPool<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>
  typealias Plan = HistoryPlan<Step>
  typealias Drop = HistoryDrop<Step>

  /// Where an entry is.
  enum Spot {
    case applied(slot: Int)
    case undone(slot: Int)
  }

  /// The records that a move has in its hands: those at the cursor, or one below.
  private struct Held {
    let applied: Range<Int>
    let undone: Range<Int>
    var evictsWhenOver = false
    /// The entries among them that are to leave when the move is over.
    var forgotten: [ID] = []

    func holds(_ spot: Spot) -> Bool {
      switch spot {
      case .applied(let slot): applied.contains(slot)
      case .undone(let slot): undone.contains(slot)
      }
    }
  }

  private enum Hand {
    /// Next is `holding`.
    case empty
    /// Next is `empty`, or `cleared`.
    case holding(Held)
    /// The history was cleared meanwhile. Next is `empty`.
    case cleared
  }

  private var applied = HistoryApplied<Step>()
  /// The last one is the next to be redone.
  private var undone = HistoryStack<Record>()
  /// How many leaves of the newest applied record are applied, if not all of them.
  private var partial: Int?
  private(set) var limit: Int?
  private var hand = Hand.empty

  /// The sum of all that has an effect, also of what has left with its effect.
  private var sum = HistoryPlace.beginning
  private var saved: HistoryPlace? = .beginning
  private var lastNumber: UInt64 = 0
  /// Above the slots below this one there is an effect that has no entry any more. An entry undone
  /// there and redone comes to lie above it, and that is another place.
  private var covered = 0
  private var merged = MergedIDs()

  init(limit: Int?) {
    self.limit = limit
  }
}

// MARK: - Reading

extension HistoryPool {
  var undoCount: Int { applied.count }
  var redoCount: Int { undone.live }
  var appliedSlots: Range<Int> { applied.slots }
  var undoneSlots: Range<Int> { undone.slots }
  var isPartial: Bool { partial != nil }

  /// Whether a move has records in its hands.
  var isMoving: Bool {
    if case .empty = hand { false } else { true }
  }

  /// How many applied records a move has in its hands.
  var heldCount: Int {
    guard case .holding(let held) = hand else { return 0 }
    return applied.records.live(in: held.applied)
  }

  /// The entry that an undo takes.
  var undoID: ID? { applied.last?.id }

  /// The entry that a redo takes.
  var redoID: ID? { isPartial ? undoID : undone.last?.id }

  /// Where the history is. Nil inside of a group that is half undone.
  var place: HistoryPlace? { partial == nil ? sum : nil }

  var isSaved: Bool { saved != nil && saved == place }

  /// The newest applied entry, if it is a single step.
  var newestStep: Step? { applied.last?.content.step }

  func record(at spot: Spot) -> Record? {
    switch spot {
    case .applied(let slot): applied[slot]
    case .undone(let slot): undone[slot: slot]
    }
  }

  /// Returns what the execution has become, and how many leaves of that are applied.
  func record(of id: ID) -> (record: Record, applied: Int)? {
    guard let spot = spot(of: id), let record = record(at: spot) else {
      return merged[id].flatMap { record(of: $0) }
    }
    if case .undone = spot { return (record, 0) }
    return (record, id == undoID ? partial ?? record.size : record.size)
  }

  /// Returns where the entry is, nil if there is none. The search begins at the cursor.
  ///
  /// - Complexity: O(1) for an applied entry that says what it touches, for another one O(*n*) in the
  ///   distance from the cursor.
  func spot(of id: ID) -> Spot? {
    if let slot = applied.slot(of: id) { return .applied(slot: slot) }
    let (oldest, last) = (applied.slots.lowerBound, undone.slots.lowerBound)
    var (below, above) = (applied.slots.upperBound, undone.slots.upperBound)
    while below > oldest || above > last {
      (below, above) = (below - 1, above - 1)
      if applied[below]?.id == id { return .applied(slot: below) }
      if undone[slot: above]?.id == id { return .undone(slot: above) }
    }
    return nil
  }

  /// Returns the applied records that are to be undone before the one in the slot: some that are, and
  /// some that may touch the same. Compare their footprints.
  func rivals(of slot: Int) -> (certain: [ID], possible: [Record]) {
    // A group that is half undone is undone or redone first, so that there is one at most.
    if isPartial, slot + 1 < applied.slots.upperBound, let newest = undoID {
      return ([newest], [])
    }
    return ([], applied.rivals(of: slot))
  }

  /// Returns the entry, or the part of one, with this id.
  ///
  /// - Complexity: O(*n*) for a part, and as that of `spot(of:)` for an entry.
  func recordOrPart(_ id: ID) -> Record? {
    if let spot = spot(of: id) { return record(at: spot) }
    for record in applied.records.elements + undone.elements {
      if let part = record.part(id) { return part }
    }
    return nil
  }

  /// Returns the applied records, the undone ones with the last one next, and how many leaves of the
  /// newest applied one are applied.
  var contents: (applied: HistoryStack<Record>, undone: HistoryStack<Record>, partial: Int?) {
    (applied.records, undone, partial)
  }
}

// MARK: - Recording

extension HistoryPool {
  /// Puts a record behind the newest applied one. The branch goes, then what is over the limit.
  mutating func record(_ record: consuming Record, into drops: inout [Drop]) {
    truncate(into: &drops)
    apply(record)
    evict(into: &drops)
  }

  /// The newest applied entry becomes `merged`, and `later` goes.
  mutating func merge(into content: Record.Content, _ later: Record, into drops: inout [Drop]) {
    truncate(into: &drops)
    guard let earlier = applied.popLast() else { preconditionFailure("It merges with an entry.") }
    applied.append(Record(id: earlier.id, content: content))
    if merged.add(later.id, to: earlier.id) {
      merged.keep(Set(applied.records.elements.map(\.id)))
    }
    drops.append(Drop(later, .merged))
  }

  /// The newest applied entry and `later` cancel each other out.
  mutating func annul(_ later: Record, into drops: inout [Drop]) {
    truncate(into: &drops)
    guard let earlier = applied.popLast() else { preconditionFailure("An entry is annulled.") }
    sum -= earlier.place
    drops.append(Drop(HistoryStack([earlier, later]), .annulled))
  }

  /// The record has an effect, and cannot be recorded: the history was cleared before, say.
  mutating func lose(
    _ record: Record, _ reason: HistoryDiscardReason = .cleared, into drops: inout [Drop]
  ) {
    sum += record.place
    covered = applied.slots.upperBound
    drops.append(Drop(record, reason))
  }

  private mutating func apply(_ record: consuming Record) {
    sum += record.place
    applied.append(record)
  }

  /// Drops the undone records, and the undone leaves of a record that is half undone.
  private mutating func truncate(into drops: inout [Drop]) {
    if let count = partial.take(), let newest = applied.popLast() {
      sum -= newest.place
      let (kept, rest) = newest.split(at: count, place: unknownPlace())
      if let kept { apply(kept) }
      if let rest { drops.append(Drop(rest, .truncated)) }
    }
    if !undone.isEmpty {
      drops.append(Drop(undone, .truncated, isReversed: true))
      undone = HistoryStack()
    }
  }
}

// MARK: - Limit, clear, forget and save

extension HistoryPool {
  mutating func setLimit(_ limit: Int?, into drops: inout [Drop]) {
    let isLower = limit.map { $0 < self.limit ?? .max } ?? false
    self.limit = limit
    guard isLower else { return }
    if case .holding(var held) = hand {
      held.evictsWhenOver = true
      hand = .holding(held)
    }
    evict(into: &drops)
  }

  /// Drops the oldest records over the limit, but none that a move has in its hands.
  private mutating func evict(into drops: inout [Drop]) {
    guard let limit, applied.count > limit else { return }
    var count = applied.count - limit
    if case .holding(let held) = hand, !held.applied.isEmpty {
      let slots = applied.slots.lowerBound..<held.applied.lowerBound
      count = min(count, applied.records.live(in: slots))
    }
    guard count > 0 else { return }
    if count == applied.count { settle() }
    drops.append(Drop(applied.removeFirst(count), .evicted))
  }

  /// A group that is half undone leaves as it is. Where it has led to is a place of its own.
  private mutating func settle() {
    if partial.take() != nil { sum += unknownPlace() }
  }

  /// Drops all records. The records that a move has in its hands go when it is over.
  mutating func clear(into drops: inout [Drop]) {
    settle()
    var (heldApplied, heldUndone) = (0, 0)
    if case .holding(let held) = hand {
      (heldApplied, heldUndone) = (held.applied.count, held.undone.count)
      if held.applied.upperBound < applied.slots.upperBound {
        for slot in held.applied { _ = applied.take(slot) }
        heldApplied = 0
      }
      hand = .cleared
    }
    let (records, index) = applied.removeAll()
    covered = 0
    if records.count > heldApplied {
      drops.append(Drop(records, .cleared, sparing: heldApplied, with: index))
    }
    if undone.count > heldUndone {
      drops.append(Drop(undone, .cleared, isReversed: true, sparing: heldUndone))
    }
    undone = HistoryStack()
  }

  /// The entry leaves, and its effect stays: the sum is what it is. If a move has it in its hands, it
  /// leaves when that is over.
  mutating func forget(_ id: ID, into drops: inout [Drop]) {
    guard let spot = spot(of: id) else { return }
    if case .holding(var held) = hand, held.holds(spot) {
      held.forgotten.append(id)
      hand = .holding(held)
      return
    }
    let record: Record?
    switch spot {
    case .applied(let slot):
      if slot == applied.slots.upperBound - 1 { settle() }
      covered = max(covered, slot)
      record = applied.take(slot)
      trimCovered()
    case .undone(let slot): record = undone.take(slot: slot)
    }
    if let record { drops.append(Drop(record, .forgotten)) }
  }

  /// Gives the room of holes back, unless a move holds slots. Returns whether slots have changed.
  mutating func compact() -> Bool {
    guard !isMoving else { return false }
    let (isFirst, isSecond) = (applied.compact(), undone.compact())
    if isFirst, covered > 0 { covered = applied.slots.upperBound }
    return isFirst || isSecond
  }

  private mutating func trimCovered() { covered = min(covered, applied.slots.upperBound) }

  mutating func markSaved(_ place: HistoryPlace?) { saved = place }

  /// Returns a place where the history has never been.
  private mutating func unknownPlace() -> HistoryPlace {
    lastNumber += 1
    return .unknown(lastNumber)
  }
}

// MARK: - Moving the cursor

extension HistoryPool {
  /// Returns how many records lie between the cursor and behind the entry, below 0 if they are to be
  /// undone. A half undone group counts among the undone ones. Nil if there is no such entry.
  func distance(to id: ID) -> Int? {
    switch spot(of: id) {
    case .applied(let slot):
      let distance = -applied.records.live(in: slot + 1..<applied.slots.upperBound)
      return distance < 0 || !isPartial ? distance : 1
    case .undone(let slot):
      return undone.live(in: slot..<undone.slots.upperBound) + (isPartial ? 1 : 0)
    case nil: return nil
    }
  }

  /// Gives so many records into the hands of a move, which hands them back with `finish`.
  mutating func begin(isRedo: Bool, count: Int) -> Plan {
    let fromApplied = !isRedo ? count : isPartial ? 1 : 0
    let fromUndone = count - fromApplied
    var redone = applied.records.newest(fromApplied)
    for record in undone.newest(fromUndone) { redone.append(record) }
    hold(applied.records.newestSlots(fromApplied), undone.newestSlots(fromUndone))
    let size = isRedo ? 0 : redone[0].size
    return Plan(isRedo: isRedo, redone, applied: partial ?? size)
  }

  /// Gives one applied record into the hands of an undo.
  mutating func begin(undoing slot: Int) -> Plan {
    guard slot < applied.slots.upperBound - 1, let record = applied[slot] else {
      return begin(isRedo: false, count: 1)
    }
    hold(slot..<slot + 1, undone.newestSlots(0))
    return Plan(isRedo: false, .one(record), applied: record.size)
  }

  private mutating func hold(_ applied: Range<Int>, _ undone: Range<Int>) {
    guard case .empty = hand else { preconditionFailure("One move runs at a time.") }
    hand = .holding(Held(applied: applied, undone: undone))
  }

  /// The move has come as far as it could, and the plan is closed. The records that have changed are
  /// left in the plan as they were before: the last reference to a step is not to go under a lock.
  mutating func finish(_ plan: inout Plan, into drops: inout [Drop]) {
    defer { hand = .empty }
    if plan.hasLost { drops.append(Drop(HistoryStack(plan.obsoleteParts), .obsolete)) }
    switch hand {
    case .empty: preconditionFailure("A move ends once.")
    case .cleared:
      // Nobody knows any more where a half-done move has led.
      if plan.hasMoved { sum += unknownPlace() }
      let left = plan.records.indices.filter { $0 >= plan.moved || !plan.isObsolete($0) }
      let records = left.map { plan.records[$0] }
      drops.append(Drop(HistoryStack(records), .cleared, isReversed: !plan.isRedo))
    case .holding(let held):
      for index in 0..<plan.moved { shift(&plan, index, from: held) }
      if plan.isIncomplete { stop(in: &plan, from: held, into: &drops) }
      hand = .empty
      for id in held.forgotten { forget(id, into: &drops) }
      if held.evictsWhenOver { evict(into: &drops) }
    }
  }

  /// The record at the index has been undone or redone, or is gone with all of its parts.
  private mutating func shift(_ plan: inout Plan, _ index: Int, from held: Held) {
    let (record, isApplied, slot) = take(plan.isRedo, from: held)
    let old = isApplied ? record.place : nil
    let new = plan.exchange(record, at: index)
    let isGone = plan.isObsolete(index)
    if plan.isRedo {
      if let old { sum -= old }
      if !isGone { apply(new) }
    } else {
      let isCovered = slot < covered || new.size < record.size
      if isGone || isCovered { covered = max(covered, slot) }
      trimCovered()
      if isGone { return }
      sum -= new.place
      if isCovered { sum += unknownPlace() }
      undone.append(new)
    }
  }

  /// Takes the next record that the move is about out of its stack. It was applied, or at least half
  /// of it, if `isApplied` is true.
  private mutating func take(
    _ isRedo: Bool, from held: Held
  ) -> (record: Record, isApplied: Bool, slot: Int) {
    let isApplied = partial.take() != nil || !isRedo
    let isMiddle = held.applied.upperBound < applied.slots.upperBound
    let slot = isMiddle ? held.applied.lowerBound : applied.slots.upperBound - 1
    let record =
      !isApplied ? undone.popLast() : isMiddle ? applied.take(slot) : applied.popLast()
    guard let record else { preconditionFailure("What a move holds is there.") }
    return (record, isApplied, slot)
  }

  /// The move has stopped at a record.
  ///
  /// A group in the middle of which it has stopped goes on top of the applied records, where the next
  /// undo and redo find it. An undo that has taken it from below may do so, since nothing above
  /// touches what it touches.
  private mutating func stop(in plan: inout Plan, from held: Held, into drops: inout [Drop]) {
    let (index, count, size) = (plan.moved, plan.applied, plan.records[plan.moved].size)
    if plan.isObsolete(index) {
      let (record, isApplied, slot) = take(plan.isRedo, from: held)
      if isApplied { covered = max(covered, slot) }
      trimCovered()
      return drops.append(Drop(record, .obsolete))
    }
    guard count != (plan.isRedo ? 0 : size) || plan.hasLost else { return }
    let (record, isApplied, slot) = take(plan.isRedo, from: held)
    let new = plan.exchange(record, at: index)
    if count == 0 { return undone.append(new) }
    if plan.isRedo { sum += isApplied ? new.place - record.place : new.place }
    applied.append(new)
    partial = count < size ? count : nil
    if plan.isRedo { return }
    if count < size, slot < covered || size < record.size { sum += unknownPlace() }
    if size < record.size { covered = applied.slots.upperBound }
  }
}

// MARK: - Writing it down and making it again

extension HistoryPool {
  /// The needs of a journal besides the records.
  var marks: HistoryMarks {
    let slots = applied.slots
    let below = slots.lowerBound..<min(max(covered, slots.lowerBound), slots.upperBound)
    return HistoryMarks(
      sum: sum, lastNumber: lastNumber, covered: applied.records.live(in: below))
  }

  mutating func restore(_ marks: HistoryMarks) {
    (sum, lastNumber, covered) = (marks.sum, marks.lastNumber, marks.covered)
  }

  var savedPlace: HistoryPlace? { saved }

  /// Puts the record behind the newest applied one, or in front of the undone ones. The sum has it.
  mutating func restore(_ record: Record, isApplied: Bool) {
    if isApplied { applied.append(record) } else { undone.append(record) }
  }

  /// Returns false if the newest applied record has no such part.
  mutating func restore(partial count: Int) -> Bool {
    guard let newest = applied.last, count > 0, count < newest.size else { return false }
    partial = count
    return true
  }
}

/// The places that a pool knows besides the saved one and those of its records.
struct HistoryMarks: Equatable, Sendable {
  let sum: HistoryPlace
  let lastNumber: UInt64
  /// How many of the oldest applied records are below an effect that has no entry any more.
  let covered: Int
}
