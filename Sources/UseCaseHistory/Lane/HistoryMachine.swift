import UseCase

/// Decides which executions are recorded, where the cursor is, and which entry an undo is for.
///
/// The machine consists of the line of operations on the lane, the pool of entries, the groups that
/// are open, and the notes for a journal. Each event is one of its methods. The owner acts once the
/// lock is released, and discards the drops that a method returns. `Step` is an execution that can
/// be undone, `Waiter` a group that waits for its parts.
struct HistoryMachine<Step: Sendable, Waiter: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>
  typealias Plan = HistoryPlan<Step>
  typealias Drops = [HistoryDrop<Step>]
  typealias Groups = OpenGroups<Step, Waiter>

  private(set) var line = HistoryLine()
  private(set) var pool: HistoryPool<Step>
  var groups = Groups()
  /// The changes that the journal does not have yet. Nil without a journal.
  private var facts: [HistoryFact]?
  /// Executions that may have had an effect.
  private(set) var inDoubt: [Record] = []
  private var window: MergeWindow
  /// Grows with each change that is not the result of an operation on the lane.
  private var changes: UInt64 = 0

  init(limit: Int?, mergeWindow: Duration) {
    pool = HistoryPool(limit: limit)
    window = MergeWindow(length: mergeWindow)
  }
}

// MARK: - The journal

extension HistoryMachine {
  /// Takes over a restored history. From now on the machine notes its changes.
  mutating func restore(_ pool: HistoryPool<Step>, inDoubt: [Record]) {
    (self.pool, self.inDoubt) = (pool, inDoubt)
    facts = []
  }

  mutating func note(_ fact: @autoclosure () -> HistoryFact) {
    if facts != nil { facts?.append(fact()) }
  }

  /// Returns the facts since the last call, nil if there are none.
  mutating func takeFacts() -> [HistoryFact]? {
    guard let noted = facts, !noted.isEmpty else { return nil }
    facts = []
    return noted
  }
}

// MARK: - The lane

extension HistoryMachine {
  /// An execution or a group is admitted.
  mutating func admit(
    _ id: ID, _ operation: (any AdmittedOperation)?, isUncertain: Bool = false
  ) {
    line.admit(id, nil, operation, isUncertain: isUncertain, window.asked, in: pool)
  }

  mutating func admit(_ id: ID, _ move: HistoryMove) {
    line.admit(id, move, nil, window.asked, in: pool)
  }

  /// The executions that have just been admitted were asked for at this time.
  mutating func time(_ now: Duration) { line.time(now) }

  mutating func start(_ id: ID) { line.start(id, isSaved: pool.isSaved) }

  /// The operation that has the lane was cancelled, and its body never begins.
  mutating func neverBegins(_ id: ID) { line.neverBegins(id) }

  mutating func leave(_ id: ID, hasSucceeded: Bool) {
    line.leave(id, hasSucceeded: hasSucceeded, in: pool)
  }

  /// Executions are going to touch these. Release what this returns outside of the lock.
  mutating func describe(
    _ footprints: [(id: ID, footprint: HistoryFootprint)]
  ) -> [HistoryFootprint] {
    line.describe(footprints)
  }

  /// A recorded body begins. Returns whether it is recorded when it leaves, as this entry, by the
  /// operation that has the lane. If a move has the lane, the body only runs.
  mutating func enter(
    in operation: ID, leftIn left: ID?, spare: ID
  ) -> (isRecorded: Bool, entry: ID, holder: ID) {
    if let move = line.runningMove { return (false, move, move) }
    let entry = line.enter(in: operation, leftIn: left, spare: spare)
    return (true, entry, line.ask.id)
  }
}

// MARK: - Recording

extension HistoryMachine {
  /// The entry with which the execution that is recorded may merge. Ask its step outside of the
  /// lock, and give its answer to `record`, with the ticket.
  func mergeCandidate() -> (entry: Record, ticket: Int)? {
    guard !line.losesResults, let ticket = window.ticket(for: line.ask.asked),
      let entry = pool.applied.last, entry.content.step != nil
    else { return nil }
    return (entry, ticket)
  }

  /// Keeps what was asked for before from merging with what is asked for from now on.
  mutating func breakMerging() { window.breakOff() }

  var mergeWindow: Duration {
    get { window.length }
    set { window.length = newValue }
  }

  /// A body has returned a response.
  mutating func record(
    _ record: consuming Record, by holder: ID,
    _ merging: HistoryMerging<Record.Content> = .separate, _ ticket: Int? = nil
  ) -> Drops {
    var drops: Drops = []
    let asked = line.ask.asked
    bodyEnded(holder, into: &drops)
    let id = record.id
    if line.losesResults {
      note(.ended(id, .lost))
      pool.lose(record, into: &drops)
      line.settle()
      return drops
    }
    switch window.isValid(ticket) ? merging : .separate {
    case .separate:
      let dropped = contradicted(by: record.footprint)
      note(.ended(id, .recorded))
      pool.record(record, dropping: dropped, into: &drops)
      window.open(for: asked)
      line.settle(as: id)
    case .merged(let merged):
      let footprint = HistoryFootprint.union(of: [record.footprint, merged.footprint])
      let dropped = contradicted(by: footprint)
      note(.ended(id, .merged))
      pool.merge(into: merged, record, dropping: dropped, into: &drops)
      window.open(for: asked)
      line.settle(as: pool.undoID)
    case .annul:
      let dropped = contradicted(by: record.footprint)
      note(.ended(id, .annulled))
      pool.annul(record, dropping: dropped, into: &drops)
      window.close()
      line.settle()
    }
    return drops
  }

  /// Returns the positions of the undone entries that a recording drops, nil for all of them.
  private mutating func contradicted(by footprint: HistoryFootprint) -> [Int]? {
    guard let positions = pool.contradicted(by: footprint) else { return nil }
    facts?.append(.contradicts(positions.map { pool.undone[$0].id }))
    return positions
  }

  /// A body has thrown.
  mutating func fail(_ entry: ID, by holder: ID) -> Drops {
    window.close()
    note(.failed(entry))
    var drops: Drops = []
    bodyEnded(holder, into: &drops)
    line.settle()
    return drops
  }

  /// A body is over, and a `clear` from inside takes effect.
  private mutating func bodyEnded(_ holder: ID, into drops: inout Drops) {
    if line.bodyEnded(holder) { dropAll(into: &drops) }
  }
}

// MARK: - Groups

extension HistoryMachine {
  /// The body of a group on the lane begins. One that the end of a process has interrupted is noted
  /// already, and has its parts.
  mutating func enterGroup(
    _ title: String, in holder: ID, spare: ID, isInterrupted: Bool, writing bytes: [UInt8]
  ) {
    let entry = line.enter(in: holder, leftIn: nil, spare: spare)
    if isInterrupted { return }
    note(.opened(entry, in: nil, title: bytes))
    groups.open(entry, title)
  }

  /// The body of a group in another begins. Returns false if the group was cancelled before.
  mutating func enterNested(_ group: ID, writing bytes: [UInt8]) -> Bool {
    guard groups.enter(group) else { return false }
    let parent = groups.parent(of: group)
    note(.opened(group, in: parent, title: bytes))
    return true
  }

  /// A body in a group is over. After the last part, this returns the waiter.
  mutating func endPart(_ id: ID, _ part: Record?, in group: ID) -> Waiter? {
    note(part == nil ? .failed(id) : .ended(id, .part))
    return groups.closePart(part, in: group)
  }

  /// The group is over, and `kept` is left of it. If it was rolled back, undos that wait for it are
  /// for `nobody`, an entry that never comes to be. Returns the waiter of its parent, too, if it was
  /// the last part.
  mutating func end(
    _ group: Groups.Opened, as kept: Record?, rolledBack residue: HistoryResidue<Step>? = nil,
    in holder: ID, nobody: ID
  ) -> (drops: Drops, waiter: Waiter?) {
    var (drops, waiter): (Drops, Waiter?) = ([], nil)
    if let parent = group.parent {
      note(.closed(group.id, isLost: false))
      // At once, so that the parts have one order here and in the journal.
      waiter = groups.closePart(kept, in: parent)
    } else {
      bodyEnded(holder, into: &drops)
      let isLost = line.losesResults
      window.close()
      let dropped = isLost ? nil : kept.flatMap { contradicted(by: $0.footprint) }
      note(.closed(group.id, isLost: isLost))
      switch kept {
      case let kept? where isLost: pool.lose(kept, into: &drops)
      case let kept?: pool.record(kept, dropping: dropped, into: &drops)
      case nil: break
      }
      line.settle(as: kept == nil ? nil : residue != nil ? nobody : isLost ? nil : group.id)
    }
    if let undone = residue?.undone { drops.insert(HistoryDrop(undone, .truncated), at: 0) }
    for part in residue?.obsolete ?? [] { pool.lose(part, .obsolete, into: &drops) }
    return (drops, waiter)
  }
}

// MARK: - Undo and redo

extension HistoryMachine {
  /// The operation of a move that begins, nil if there is nothing to do; or why it does not begin.
  typealias Beginning = Result<ID?, HistoryError>

  /// The turn of the undo, redo or move has come. If it begins, this is its plan.
  ///
  /// The plan is no part of the result: with optimization, unspecialized code copies an enum that has a
  /// plan, which traps.
  mutating func begin(_ plan: inout Plan) -> Beginning {
    let ask = line.ask
    guard ask.hasEffect else { return nothing() }
    switch ask.move {
    case nil: preconditionFailure("\(ask.id) moves, and was admitted as an execution.")
    case .undo: return ask.target == pool.undoID ? go(by: -1, &plan) : refuse(.outOfTurn)
    case .redo: return ask.target == pool.redoID ? go(by: 1, &plan) : refuse(.outOfTurn)
    case .move(nil): return go(by: -pool.applied.count, &plan)
    case .move(let id?):
      guard let distance = pool.distance(to: id) else { return refuse(.unknownEntry(id)) }
      return go(by: distance, &plan)
    case .undoEntry(let id):
      switch pool.spot(of: id) {
      case .applied: return go(to: id, isRedo: false, &plan)
      case .undone: return nothing()
      case nil: return refuse(.unknownEntry(id))
      }
    case .redoEntry(let id):
      switch pool.spot(of: id) {
      case .applied where id != pool.redoID: return nothing()
      case .applied, .undone: return go(to: id, isRedo: true, &plan)
      case nil: return refuse(.unknownEntry(id))
      }
    case .undoIn(let document):
      guard let target = ask.target, pool.isApplied(target, in: document)
      else { return refuse(.outOfTurn) }
      return go(to: target, isRedo: false, &plan)
    case .redoIn(let document):
      guard let target = ask.target, pool.isUndone(target, in: document)
      else { return refuse(.outOfTurn) }
      return go(to: target, isRedo: true, &plan)
    }
  }

  /// Undoes or redoes so many entries. They are to be undone if `distance` is below 0.
  private mutating func go(by distance: Int, _ plan: inout Plan) -> Beginning {
    if distance == 0 { return nothing() }
    window.close()
    note(.moves(isRedo: distance > 0, count: abs(distance)))
    plan = pool.take(abs(distance), isRedo: distance > 0)
    return .success(line.ask.id)
  }

  /// Undoes or redoes this entry, unless others have to be undone or redone before.
  private mutating func go(to id: ID, isRedo: Bool, _ plan: inout Plan) -> Beginning {
    if isRedo, id == pool.redoID { return go(by: 1, &plan) }
    let blockers = isRedo ? pool.blockers(ofRedoing: id) : pool.blockers(ofUndoing: id)
    if !blockers.isEmpty { return refuse(.blocked(by: blockers)) }
    window.close()
    note(isRedo ? .redoes(id) : .undoes(id))
    plan = pool.take(id)
    return .success(line.ask.id)
  }

  private mutating func nothing() -> Beginning {
    line.settle()
    return .success(nil)
  }

  /// The undo, redo or move does not begin.
  private mutating func refuse(_ error: HistoryError) -> Beginning {
    window.close()
    line.settle()
    return .failure(error)
  }

  /// The undo, redo or move has come as far as it could, and the plan is closed.
  mutating func finish(_ plan: inout Plan) -> Drops {
    var drops: Drops = []
    note(.moved)
    pool.putBack(&plan, into: &drops)
    if line.endMove() { dropAll(into: &drops) }
    line.settle()
    return drops
  }
}

// MARK: - Limit, clear, forget and save

extension HistoryMachine {
  mutating func setLimit(_ limit: Int?) -> Drops {
    var drops: Drops = []
    changes += 1
    note(.limited(limit))
    pool.setLimit(limit, into: &drops)
    if pool.applied.isEmpty { window.close() }
    line.forgetForecast()
    return drops
  }

  mutating func forget(_ entry: ID) -> Drops {
    var drops: Drops = []
    guard pool.spot(of: entry) != nil || inDoubt.contains(where: { $0.id == entry }) else {
      return drops
    }
    window.close()
    changes += 1
    note(.forgot(entry))
    inDoubt.removeAll { $0.id == entry }
    pool.forget(entry, into: &drops)
    line.forgetForecast()
    return drops
  }

  mutating func clear(isInside: Bool) -> Drops {
    var drops: Drops = []
    if line.askToClear(isInside: isInside, isMoving: pool.isMoving) { dropAll(into: &drops) }
    return drops
  }

  private mutating func dropAll(into drops: inout Drops) {
    changes += 1
    note(.cleared)
    inDoubt = []
    pool.clear(into: &drops)
  }

  /// Returns where the history is. Nil while something runs: then the document is uncertain.
  mutating func savePoint() -> HistoryPlace? {
    window.breakOff()
    if line.isRunning { return nil }
    // Else the place could be merged over.
    window.close()
    return pool.place
  }

  mutating func markSaved(_ place: HistoryPlace?) {
    changes += 1
    note(.saved(place))
    pool.saved = place
  }
}

// MARK: - State

extension HistoryMachine {
  /// Grows with each change that readers see.
  var version: UInt64 { changes + line.version }

  /// Returns the state of the document without its titles, and the entries that these are of.
  mutating func snapshot(of document: HistoryFootprint = .everything) -> (
    state: HistoryState, undo: ID?, redo: ID?
  ) {
    let isWhole = document == .everything
    let (undo, redo) = line.shownTargets(in: document, of: pool)
    let isClean = pool.isSaved && !line.isRecording && line.runningMove == nil
    let state = HistoryState(
      canUndo: undo != nil, canRedo: redo != nil, isBusy: line.isBusy, isClean: isClean,
      undoCount: isWhole ? pool.applied.count : pool.applied.count(overlapping: document),
      redoCount: isWhole ? pool.undone.count : pool.undone.count(overlapping: document),
      version: version)
    return (state, undo, redo)
  }
}
