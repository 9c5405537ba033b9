/// Decides what a history does: what is recorded, where the cursor is, what an undo is for.
///
/// It puts the small machines together: the pool, the lane, the groups and the merge window. The
/// owner acts once the lock is released; what is to be discarded comes back as drops. `Step` is an
/// execution that can be undone, `Waiter` a group that waits for its parts.
struct HistoryMachine<Step: Sendable, Waiter: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>
  typealias Plan = HistoryPlan<Step>
  typealias Drops = [HistoryDrop<Step>]
  typealias Groups = OpenGroups<Step, Waiter>

  private var pool: HistoryPool<Step>
  private var lane = HistoryLane()
  var groups = Groups()
  var window: MergeWindow
  /// Executions of which nobody knows whether they had an effect.
  private var inDoubt: [Record] = []
  /// Facts to be written to a journal. Nil without one.
  private var facts: [HistoryFact]?
  /// Grows with each change of what readers see.
  private(set) var version: UInt64 = 0

  init(limit: Int?, mergeWindow: Duration) {
    pool = HistoryPool(limit: limit)
    window = MergeWindow(length: mergeWindow)
  }
}

// MARK: - The journal

extension HistoryMachine {
  /// From now on the machine says what it does.
  mutating func open(_ pool: HistoryPool<Step>, inDoubt: [Record]) {
    (self.pool, self.inDoubt) = (pool, inDoubt)
    facts = []
    version += 1
  }

  mutating func note(_ fact: @autoclosure () -> HistoryFact) {
    if facts != nil { facts?.append(fact()) }
  }

  /// Returns what has been noted since it was asked for, nil if that is nothing.
  mutating func takeFacts() -> [HistoryFact]? {
    guard let noted = facts, !noted.isEmpty else { return nil }
    facts = []
    return noted
  }

  /// The whole history, nil while something holds the lane that may change it.
  var whole: (pool: HistoryPool<Step>, inDoubt: [Record])? {
    lane.isRunning ? nil : (pool, inDoubt)
  }
}

// MARK: - The lane

extension HistoryMachine {
  mutating func admit(_ id: ID, _ operation: HistoryLane.Operation?) {
    lane.admit(id, operation, in: pool)
    version += 1
  }

  mutating func admit(_ id: ID, _ move: HistoryMove) {
    if lane.admit(id, move, in: pool) { version += 1 }
  }

  mutating func start(_ id: ID) {
    // A move that runs makes a clean history dirty, and changes nothing else.
    if lane.start(id), pool.isSaved { version += 1 }
  }

  mutating func leave(_ id: ID) {
    if lane.leave(id) { version += 1 }
  }

  /// A recorded body begins. Nil if the lane has gone on meanwhile.
  mutating func enter(in operation: ID, leftIn slot: ID?, spare: ID) -> HistoryLane.Entrance? {
    let wasBusy = lane.isRecording
    let entrance = lane.enter(in: operation, leftIn: slot, spare: spare)
    if lane.isRecording != wasBusy { version += 1 }
    return entrance
  }
}

// MARK: - Recording

extension HistoryMachine {
  /// The step with which one that is recorded at `now` may merge. Ask it outside of the lock, and
  /// give the answer to `record` together with the ticket.
  func mergeCandidate(at now: Duration) -> (step: Step, ticket: MergeWindow.Ticket)? {
    guard let ticket = window.ticket(at: now), !lane.isCleared, let step = pool.newestStep
    else { return nil }
    return (step, ticket)
  }

  /// A body has returned a response.
  mutating func record(
    _ content: consuming Record.Content, _ entrance: HistoryLane.Entrance,
    _ merging: HistoryMerging<Record.Content> = .separate,
    _ ticket: MergeWindow.Ticket? = nil, at now: Duration
  ) -> Drops {
    let record = Record(id: entrance.entry, content: content)
    var drops: Drops = []
    guard endBody(in: entrance.slot, into: &drops) else {
      keepLate(record, into: &drops)
      return drops
    }
    let isCleared = lane.isCleared
    switch window.isValid(ticket) && !isCleared ? merging : .separate {
    case .separate:
      note(.ended(record.id, isCleared ? .lost : .recorded))
      keep(record, asForecast: true, into: &drops)
      window.open(at: now)
    case .merged(let merged):
      note(.ended(record.id, .merged))
      pool.merge(into: merged, record, into: &drops)
      if let earlier = pool.undoID { lane.become(earlier) }
      lane.finish(asForecast: false)
      window.open(at: now)
    case .annul:
      note(.ended(record.id, .annulled))
      pool.annul(record, into: &drops)
      lane.finish(asForecast: false)
      window.close()
    }
    version += 1
    return drops
  }

  private mutating func keep(
    _ record: consuming Record, asForecast: Bool, into drops: inout Drops
  ) {
    if lane.isCleared {
      pool.lose(record, into: &drops)
      return lane.finish(asForecast: false)
    }
    // A half undone group that stands above a hole comes to another slot.
    let wasPartial = pool.isPartial
    if asForecast { lane.become(record.id) }
    pool.record(record, into: &drops)
    lane.finish(asForecast: asForecast && !wasPartial)
  }

  /// The lane has gone on without the body: its entry goes on top, if nothing is in the hands of
  /// a move.
  private mutating func keepLate(_ record: Record, into drops: inout Drops) {
    window.close()
    lane.forget()
    version += 1
    let isMoving = pool.isMoving
    note(.ended(record.id, isMoving ? .lost : .recorded))
    if isMoving { pool.lose(record, into: &drops) } else { pool.record(record, into: &drops) }
  }

  /// A body has thrown.
  mutating func fail(_ entrance: HistoryLane.Entrance) -> Drops {
    window.close()
    note(.failed(entrance.entry))
    var drops: Drops = []
    guard endBody(in: entrance.slot, into: &drops) else { return [] }
    lane.finish(asForecast: false)
    version += 1
    return drops
  }

  /// A body is over: what was asked for inside of it takes effect. Returns false if the lane has
  /// gone on without it.
  private mutating func endBody(in slot: ID, into drops: inout Drops) -> Bool {
    switch lane.endBody(in: slot) {
    case .late: return false
    case .inTurn: return true
    case .clears:
      lane.unbind()
      clear(into: &drops)
      return true
    }
  }
}

// MARK: - Groups

extension HistoryMachine {
  struct GroupEnd: Sendable {
    var drops: Drops = []
    /// The parent waits no longer.
    var waiter: Waiter?
  }

  /// A group has been rolled back, and this is what is left of it.
  struct Residue: Sendable {
    /// Nil if all of its parts have left.
    let record: Record?
    /// How many of its leaves are still applied.
    let applied: Int
    let obsoleteParts: [Record]
    /// The entry that undos are for which wait for the group: it never comes to be.
    let nobody: ID
  }

  /// The group is over.
  mutating func end(
    _ group: Groups.Closed, in slot: ID, rolledBack residue: Residue? = nil
  ) -> GroupEnd {
    var (kept, rest) = (group.record, Record?.none)
    if let residue {
      (kept, rest) = residue.record?.split(at: residue.applied, place: .of(group.id)) ?? (nil, nil)
    }
    var end = GroupEnd()
    if let parent = group.parent {
      note(.closed(group.id, isLost: false))
      end.waiter = groups.closePart(kept, in: parent)
    } else {
      window.close()
      guard endBody(in: slot, into: &end.drops) else {
        preconditionFailure("A group holds its slot.")
      }
      let isLost = lane.isCleared
      note(.closed(group.id, isLost: isLost))
      endGroup(as: kept, insteadOf: residue?.nobody, into: &end.drops)
    }
    if let rest { end.drops.insert(HistoryDrop(rest, .truncated), at: 0) }
    for part in residue?.obsoleteParts ?? [] { pool.lose(part, .obsolete, into: &end.drops) }
    return end
  }

  private mutating func endGroup(
    as record: Record?, insteadOf nobody: ID?, into drops: inout Drops
  ) {
    if let record {
      if let nobody { lane.become(nobody) }
      keep(record, asForecast: nobody == nil, into: &drops)
    } else {
      lane.finish(asForecast: false)
    }
    version += 1
  }
}

// MARK: - Undo and redo

extension HistoryMachine {
  enum Beginning: ~Copyable, Sendable {
    case nothing
    case refuse(HistoryError)
    /// Look whether one of these touches what the record touches, outside of the lock. If none does,
    /// begin again, and name them.
    case compare(Record, to: [Record])
    case go(Plan)
  }

  /// The turn of the undo, redo or move has come. The records `apart` have been compared.
  mutating func begin(apart: Set<ID> = []) -> Beginning {
    let distance: Int
    switch lane.ask {
    case .recording: preconditionFailure("A move does what it was admitted for.")
    case .undo(nil), .redo(nil): distance = 0
    case .undo(let target):
      guard target == pool.undoID else { return refuse(.outOfTurn) }
      distance = -1
    case .redo(let target):
      guard target == pool.redoID else { return refuse(.outOfTurn) }
      distance = 1
    case .move(nil): distance = -pool.undoCount
    case .move(let id?):
      guard let way = pool.distance(to: id) else { return refuse(.unknownEntry(id)) }
      distance = way
    case .undoEntry(let id): return begin(undoing: id, apart: apart)
    }
    guard distance != 0 else { return nothing() }
    window.close()
    note(.moves(isRedo: distance > 0, count: abs(distance)))
    return .go(pool.begin(isRedo: distance > 0, count: abs(distance)))
  }

  private mutating func begin(undoing id: ID, apart: Set<ID>) -> Beginning {
    switch pool.spot(of: id) {
    case nil: return refuse(.unknownEntry(id))
    case .undone: return nothing()
    case .applied(let slot):
      let (certain, possible) = pool.rivals(of: slot)
      if !certain.isEmpty { return refuse(.blocked(by: certain)) }
      let rivals = possible.filter { !apart.contains($0.id) }
      if !rivals.isEmpty, let record = pool.record(at: .applied(slot: slot)) {
        return .compare(record, to: rivals)
      }
      window.close()
      note(.undoes(id))
      return .go(pool.begin(undoing: slot))
    }
  }

  private mutating func nothing() -> Beginning {
    endEarly(asForecast: true)
    return .nothing
  }

  /// The undo, redo or move does not begin.
  mutating func refuse(_ error: HistoryError) -> Beginning {
    window.close()
    endEarly(asForecast: false)
    return .refuse(error)
  }

  private mutating func endEarly(asForecast: Bool) {
    if lane.isRunning { version += 1 }
    lane.finish(asForecast: asForecast)
  }

  /// The undo, redo or move has come as far as it could, and the plan is closed.
  mutating func finish(_ plan: inout Plan) -> Drops {
    var drops: Drops = []
    note(.moved)
    let wasPartial = pool.isPartial
    pool.finish(&plan, into: &drops)
    if lane.endMove() { clear(into: &drops) }
    let isComplete = !plan.isIncomplete && drops.isEmpty && plan.obsolete == nil
    lane.finish(asForecast: isComplete && !wasPartial)
    compact()
    version += 1
    return drops
  }
}

// MARK: - Limit, clear and save

extension HistoryMachine {
  var limit: Int? { pool.limit }

  mutating func setLimit(_ limit: Int?) -> Drops {
    var drops: Drops = []
    note(.limited(limit))
    pool.setLimit(limit, into: &drops)
    if pool.undoCount == 0 { window.close() }
    lane.forget()
    version += 1
    return drops
  }

  mutating func forget(_ entry: ID) -> Drops {
    guard pool.spot(of: entry) != nil || inDoubt.contains(where: { $0.id == entry }) else {
      return []
    }
    var drops: Drops = []
    note(.forgot(entry))
    inDoubt.removeAll { $0.id == entry }
    pool.forget(entry, into: &drops)
    window.close()
    lane.forget()
    compact()
    version += 1
    return drops
  }

  private mutating func compact() {
    if pool.compact() { lane.forget() }
  }

  mutating func clear(isInside: Bool) -> Drops {
    var drops: Drops = []
    if lane.clear(isInside: isInside, isMoving: pool.isMoving) { clear(into: &drops) }
    return drops
  }

  private mutating func clear(into drops: inout Drops) {
    window.close()
    version += 1
    note(.cleared)
    inDoubt = []
    pool.clear(into: &drops)
  }

  /// Returns where the history is. Nil while something runs: nobody knows what a file would hold.
  mutating func savePoint() -> HistoryPlace? {
    window.close()
    return lane.isRunning ? nil : pool.place
  }

  mutating func markSaved(_ place: HistoryPlace?) {
    note(.saved(place))
    pool.markSaved(place)
    version += 1
  }
}

// MARK: - State

/// The source of the title of an entry, which is made outside of the lock.
enum HistoryLabel<Step: Sendable>: Sendable {
  case step(Step)
  case group(String)
  /// An execution that waits or runs.
  case pending(HistoryLane.Operation)
}

extension HistoryMachine {
  /// The state without its titles, and what they are made of.
  struct Snapshot: Sendable {
    var state: HistoryState
    var undo: HistoryLabel<Step>?
    var redo: HistoryLabel<Step>?
  }

  /// Makes the next snapshots cheap.
  mutating func lookAhead() { lane.lookAhead(in: pool) }

  var snapshot: Snapshot {
    let undo = lane.undoTarget(in: pool)
    let redo = lane.isRecording ? nil : lane.redoTarget(in: pool)
    let isClean = pool.isSaved && !lane.isRecording && !lane.runsMove
    let state = HistoryState(
      canUndo: undo != nil, canRedo: redo != nil, isBusy: lane.isBusy, isClean: isClean,
      undoCount: pool.undoCount, redoCount: pool.redoCount, version: version)
    return Snapshot(
      state: state, undo: undo.flatMap { label(of: $0) }, redo: redo.flatMap { label(of: $0) })
  }

  private func label(of entry: ID) -> HistoryLabel<Step>? {
    if let operation = lane.operation(of: entry) { return .pending(operation) }
    switch pool.spot(of: entry).flatMap({ pool.record(at: $0) })?.content {
    case .single(let step): return .step(step)
    case .marked(let marked): return .step(marked.step)
    case .group(let group): return .group(group.title)
    case nil: return nil
    }
  }

  /// Returns what the execution has become, and how many leaves of that are applied.
  func record(of execution: ID) -> (record: Record, applied: Int)? {
    pool.record(of: execution)
  }

  /// Returns the entry, or the part of one, with this id.
  func recordOrPart(_ id: ID) -> Record? { pool.recordOrPart(id) }

  /// Returns an applied entry, and the later ones that are to be undone before it, or may be.
  func rivals(of entry: ID) -> (record: Record, certain: [ID], possible: [Record])? {
    guard let spot = pool.spot(of: entry), case .applied(let slot) = spot,
      let record = pool.record(at: spot)
    else { return nil }
    let rivals = pool.rivals(of: slot)
    return (record, rivals.certain, rivals.possible)
  }

  /// The records, and how many leaves of the newest applied one are applied.
  var contents: (applied: HistoryStack<Record>, undone: HistoryStack<Record>, partial: Int?) {
    pool.contents
  }

  /// Executions of which nobody knows whether they had an effect.
  var doubtful: [Record] { inDoubt }
}
