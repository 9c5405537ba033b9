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
  private var groups = Groups()
  private var window: MergeWindow
  /// Grows with each change of what readers see.
  private(set) var version: UInt64 = 0

  init(limit: Int?, mergeWindow: Duration) {
    pool = HistoryPool(limit: limit)
    window = MergeWindow(length: mergeWindow)
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
    _ step: Step, _ entrance: HistoryLane.Entrance, _ merging: HistoryMerging<Step> = .separate,
    _ ticket: MergeWindow.Ticket? = nil, at now: Duration
  ) -> Drops {
    let record = Record(id: entrance.entry, content: .single(step))
    guard var drops = endBody(in: entrance.slot) else { return keepLate(record) }
    switch window.isValid(ticket) && !lane.isCleared ? merging : .separate {
    case .separate:
      drops += keep(record, asForecast: true)
      window.open(at: now)
    case .merged(let merged):
      drops += pool.merge(into: merged, record)
      if let earlier = pool.undoID { lane.become(earlier) }
      lane.finish(asForecast: false)
      window.open(at: now)
    case .annul:
      drops += pool.annul(record)
      lane.finish(asForecast: false)
      window.close()
    }
    version += 1
    return drops
  }

  private mutating func keep(_ record: Record, asForecast: Bool) -> Drops {
    let isCleared = lane.isCleared
    let drops = isCleared ? pool.lose(record) : pool.record(record)
    if !isCleared, asForecast { lane.become(record.id) }
    lane.finish(asForecast: asForecast && !isCleared)
    return drops
  }

  /// The lane has gone on without the body: its entry goes on top, if nothing is in the hands of
  /// a move.
  private mutating func keepLate(_ record: Record) -> Drops {
    window.close()
    lane.forget()
    version += 1
    return pool.isMoving ? pool.lose(record) : pool.record(record)
  }

  /// A body has thrown.
  mutating func fail(_ entrance: HistoryLane.Entrance) -> Drops {
    window.close()
    guard let drops = endBody(in: entrance.slot) else { return [] }
    lane.finish(asForecast: false)
    version += 1
    return drops
  }

  /// A body is over: what was asked for inside of it takes effect. Nil if the lane has gone on
  /// without it.
  private mutating func endBody(in slot: ID) -> Drops? {
    switch lane.endBody(in: slot) {
    case .late: return nil
    case .inTurn: return []
    case .clears:
      lane.unbind()
      return clear()
    }
  }
}

// MARK: - Groups

extension HistoryMachine {
  /// The body of a group begins on the lane.
  mutating func openGroup(_ title: String, in entrance: HistoryLane.Entrance) {
    groups.open(entrance.entry, title)
  }

  /// The body of a group in another begins.
  mutating func beginGroup(_ id: ID) { groups.begin(id) }

  /// A group in another was cancelled. Returns who waits for it, if its body never begins.
  mutating func abandonGroup(_ id: ID) -> Waiter? { groups.abandon(id) }

  /// Returns false if the parent has ended.
  mutating func openGroup(_ id: ID, _ title: String, in parent: ID) -> Bool {
    groups.open(id, title, in: parent)
  }

  /// Returns false if the group has ended.
  mutating func openPart(in group: ID) -> Bool { groups.openPart(in: group) }

  /// Returns who waits for the end of the part.
  mutating func closePart(_ step: Step?, as id: ID, in group: ID) -> Waiter? {
    groups.closePart(step.map { Record(id: id, content: .single($0)) }, in: group)
  }

  /// Returns the waiter if nothing is open in the group, and keeps it otherwise.
  mutating func wait(_ waiter: Waiter, for group: ID) -> Waiter? { groups.wait(waiter, for: group) }

  /// Returns the group if nothing is open in it. From then on it takes nothing.
  mutating func closeGroup(_ id: ID) -> Groups.Closed? { groups.close(id) }

  struct GroupEnd: Sendable {
    var drops: Drops = []
    /// The parent waits no longer.
    var waiter: Waiter?
  }

  /// The group is over, and of its parts the first `applied` steps are still there: all if that is
  /// nil, fewer if it has been rolled back.
  mutating func end(_ group: Groups.Closed, in slot: ID, applied: Int?) -> GroupEnd {
    var (kept, rest) = (group.record, Record?.none)
    if let applied {
      (kept, rest) = kept?.split(at: applied, place: .behind(group.id)) ?? (nil, nil)
    }
    var end = GroupEnd()
    if let parent = group.parent {
      end.waiter = groups.closePart(kept, in: parent)
    } else {
      end.drops = endGroup(in: slot, as: kept, isResidue: applied != nil)
    }
    if let rest { end.drops.insert(HistoryDrop(rest, .truncated), at: 0) }
    return end
  }

  private mutating func endGroup(in slot: ID, as record: Record?, isResidue: Bool) -> Drops {
    window.close()
    guard var drops = endBody(in: slot) else { preconditionFailure("A group holds its slot.") }
    if isResidue { lane.disappoint() }
    if let record {
      drops += keep(record, asForecast: !isResidue)
    } else {
      lane.finish(asForecast: false)
    }
    version += 1
    return drops
  }
}

// MARK: - Undo and redo

extension HistoryMachine {
  enum Beginning: ~Copyable, Sendable {
    case nothing
    case refuse(HistoryError)
    case go(Plan)
  }

  /// The turn of the undo, redo or move has come.
  mutating func begin(_ move: HistoryMove) -> Beginning {
    let (next, isRedo, count): (ID?, Bool, Int)
    switch (move, lane.ask) {
    case (.undo, .undo(let target)): (next, isRedo, count) = (target, false, 1)
    case (.redo, .redo(let target)): (next, isRedo, count) = (target, true, 1)
    case (.undo, .nothing), (.redo, .nothing): return endEarly(.nothing)
    case (.undo, .lost), (.redo, .lost): return endEarly(.refuse(.outOfTurn))
    case (.move(nil), .move): (next, isRedo, count) = (nil, false, pool.undoCount)
    case (.move(let id?), .move):
      guard let distance = pool.distance(to: id) else {
        return endEarly(.refuse(.unknownEntry(id)))
      }
      (next, isRedo, count) = (nil, distance > 0, abs(distance))
    case (.undo, .recording), (.undo, .redo), (.undo, .move), (.redo, .recording), (.redo, .undo),
      (.redo, .move), (.move, .recording), (.move, .undo), (.move, .redo), (.move, .lost),
      (.move, .nothing):
      preconditionFailure("A move does what it was admitted for.")
    }
    if let next, next != (isRedo ? pool.redoID : pool.undoID) {
      return endEarly(.refuse(.outOfTurn))
    }
    guard count > 0 else { return endEarly(.nothing) }
    window.close()
    return .go(pool.begin(isRedo: isRedo, count: count))
  }

  private mutating func endEarly(_ beginning: consuming Beginning) -> Beginning {
    let hadEffect = lane.isRunning
    switch beginning {
    case .nothing: lane.finish(asForecast: true)
    case .refuse:
      window.close()
      lane.finish(asForecast: false)
    case .go: preconditionFailure("A move that goes on has not ended.")
    }
    if hadEffect { version += 1 }
    return beginning
  }

  /// The undo, redo or move has come as far as it could, and the plan is closed.
  mutating func finish(_ plan: inout Plan) -> Drops {
    var drops = pool.finish(&plan)
    if lane.endMove() { drops += clear() }
    lane.finish(asForecast: !plan.isIncomplete && drops.isEmpty)
    version += 1
    return drops
  }
}

// MARK: - Limit, clear and save

extension HistoryMachine {
  var limit: Int? { pool.limit }

  mutating func setLimit(_ limit: Int?) -> Drops {
    let drops = pool.setLimit(limit)
    if pool.undoCount == 0 { window.close() }
    lane.forget()
    version += 1
    return drops
  }

  mutating func clear(isInside: Bool) -> Drops {
    lane.clear(isInside: isInside, isMoving: pool.isMoving) ? clear() : []
  }

  private mutating func clear() -> Drops {
    window.close()
    version += 1
    return pool.clear()
  }

  /// Nothing that comes later merges into what is there.
  mutating func breakMerging() { window.close() }

  /// Returns where the history is. Nil while something runs: nobody knows what a file would hold.
  mutating func savePoint() -> HistoryPlace? {
    window.close()
    return lane.isRunning ? nil : pool.place
  }

  mutating func markSaved(_ place: HistoryPlace?) {
    pool.markSaved(place)
    version += 1
  }
}

// MARK: - State

/// What the title of an entry is made of, outside of the lock.
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
    guard let position = pool.position(of: entry) else { return nil }
    return switch pool.record(at: position).content {
    case .single(let step): .step(step)
    case .group(let group): .group(group.title)
    }
  }

  /// The records, and how many steps of the newest applied one are applied.
  var contents: (applied: HistoryStack<Record>, undone: HistoryStack<Record>, partial: Int?) {
    pool.contents
  }
}
