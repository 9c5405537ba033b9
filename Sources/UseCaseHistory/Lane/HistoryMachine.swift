/// Decides which executions are recorded, where the cursor is, and which entry an undo is for.
///
/// The machine consists of smaller ones: the pool, the lane and the groups. The owner acts once the
/// lock is released, and discards the drops that a method returns. `Step` is an execution that can
/// be undone, `Waiter` a group that waits for its parts.
struct HistoryMachine<Step: Sendable, Waiter: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>
  typealias Plan = HistoryPlan<Step>
  typealias Drops = [HistoryDrop<Step>]
  typealias Groups = OpenGroups<Step, Waiter>

  private(set) var noted: NotedPool<Step>
  private var lane = HistoryLane()
  var groups = Groups()

  init(limit: Int?, mergeWindow: Duration) {
    noted = NotedPool(limit: limit, mergeWindow: mergeWindow)
  }
}

// MARK: - The journal

extension HistoryMachine {
  /// Takes over a restored history. From now on the machine notes its changes.
  mutating func open(_ pool: HistoryPool<Step>, inDoubt: [Record]) {
    noted.open(pool, inDoubt: inDoubt)
  }

  mutating func note(_ fact: @autoclosure () -> HistoryFact) { noted.note(fact()) }

  mutating func takeFacts() -> [HistoryFact]? { noted.takeFacts() }

  /// The whole history, nil while something holds the lane that may change it.
  var whole: NotedPool<Step>? { lane.isRunning ? nil : noted }
}

// MARK: - The lane

extension HistoryMachine {
  mutating func admit(_ id: ID, _ operation: HistoryLane.Operation?) {
    lane.admit(id, operation, in: noted.pool)
  }

  mutating func admit(_ id: ID, _ move: HistoryMove) { lane.admit(id, move, in: noted.pool) }

  mutating func start(_ id: ID) { lane.start(id, isSaved: noted.pool.isSaved) }

  mutating func leave(_ id: ID) { lane.leave(id) }

  /// The undo, redo or move that holds the lane.
  var runningMove: ID? { lane.runsMove ? lane.holder : nil }

  /// A recorded body begins. Nil while entries move.
  mutating func enter(in operation: ID, leftIn left: ID?, spare: ID) -> HistoryLane.Entrance? {
    lane.enter(in: operation, leftIn: left, spare: spare)
  }
}

// MARK: - Recording

extension HistoryMachine {
  /// The step with which an execution that is recorded at `now` may merge. Ask the step outside of
  /// the lock, and give its answer to `record`, with the ticket.
  func mergeCandidate(at now: Duration) -> (step: Step, ticket: MergeWindow.Ticket)? {
    lane.losesResults ? nil : noted.mergeCandidate(at: now)
  }

  mutating func breakMerging() { noted.breakMerging() }

  /// A body has returned a response.
  mutating func record(
    _ content: consuming Record.Content, _ entrance: HistoryLane.Entrance,
    _ merging: HistoryMerging<Record.Content> = .separate,
    _ ticket: MergeWindow.Ticket? = nil, at now: Duration
  ) -> Drops {
    let record = Record(id: entrance.entry, content: content)
    var drops: Drops = []
    endBody(in: entrance.holder, into: &drops)
    if lane.losesResults {
      noted.lose(record, into: &drops)
      finish(as: nil)
    } else {
      let wasPartial = noted.pool.stacks.partial != nil
      let entry = noted.record(record, merging, ticket, at: now, into: &drops)
      finish(as: entry, isForecast: entry == entrance.entry && !wasPartial)
    }
    return drops
  }

  /// A body has thrown.
  mutating func fail(_ entrance: HistoryLane.Entrance) -> Drops {
    noted.fail(entrance.entry)
    var drops: Drops = []
    endBody(in: entrance.holder, into: &drops)
    finish(as: nil)
    return drops
  }

  /// A body is over, and a `clear` from inside takes effect.
  private mutating func endBody(in holder: ID, into drops: inout Drops) {
    if lane.endBody(in: holder) { noted.clear(into: &drops) }
  }

  /// The running operation has become this entry, or none. An entry that is forecast lies where the
  /// lane expects it: a half undone group that stands above a hole comes to another position.
  private mutating func finish(as entry: ID?, isForecast: Bool = false) {
    if let entry { lane.become(entry) }
    lane.finish(asForecast: isForecast)
  }
}

// MARK: - Groups

extension HistoryMachine {
  struct GroupEnd: Sendable {
    var drops: Drops = []
    /// The parent waits no longer.
    var waiter: Waiter?
  }

  /// The group is over. If it was rolled back, undos that wait for it are for `nobody`, an entry
  /// that never comes to be.
  mutating func end(
    _ group: Groups.Closed, in holder: ID, rolledBack residue: HistoryResidue<Step>? = nil,
    nobody: ID
  ) -> GroupEnd {
    let kept = residue.map(\.kept) ?? group.record
    var end = GroupEnd()
    if let parent = group.parent {
      note(.closed(group.id, isLost: false))
      end.waiter = groups.closePart(kept, in: parent)
    } else {
      endBody(in: holder, into: &end.drops)
      let wasPartial = noted.pool.stacks.partial != nil
      let entry = noted.close(
        group.id, as: kept, isLost: lane.losesResults, into: &end.drops)
      finish(
        as: residue != nil && kept != nil ? nobody : entry,
        isForecast: residue == nil && entry != nil && !wasPartial)
    }
    if let undone = residue?.undone { end.drops.insert(HistoryDrop(undone, .truncated), at: 0) }
    for part in residue?.obsolete ?? [] { noted.lose(obsolete: part, into: &end.drops) }
    return end
  }
}

// MARK: - Undo and redo

extension HistoryMachine {
  enum Beginning: ~Copyable, Sendable {
    case nothing
    case refuse(HistoryError)
    /// Look outside of the lock whether one of these overlaps the record. If none does, begin
    /// again, and name them.
    case compare(Record, to: [Record])
    case go(Plan)
  }

  /// The move that holds the lane.
  var holder: ID { lane.holder }

  /// The turn of the undo, redo or move has come. The records `apart` have been compared.
  mutating func begin(apart: Set<ID> = []) -> Beginning {
    let distance: Int
    switch lane.ask {
    case .recording: preconditionFailure("A move does what it was admitted for.")
    case .undo(nil), .redo(nil): distance = 0
    case .undo(let target):
      guard target == noted.pool.stacks.undoID else { return refuse(.outOfTurn) }
      distance = -1
    case .redo(let target):
      guard target == noted.pool.stacks.redoID else { return refuse(.outOfTurn) }
      distance = 1
    case .move(nil): distance = -noted.pool.stacks.applied.count
    case .move(let id?):
      guard let way = noted.pool.stacks.distance(to: id) else { return refuse(.unknownEntry(id)) }
      distance = way
    case .undoEntry(let id): return begin(undoing: id, apart: apart)
    }
    return distance == 0 ? nothing() : .go(noted.begin(by: distance))
  }

  private mutating func begin(undoing id: ID, apart: Set<ID>) -> Beginning {
    let stacks = noted.pool.stacks
    guard let (position, record, certain, possible) = stacks.rivals(of: id) else {
      return stacks.spot(of: id) == nil ? refuse(.unknownEntry(id)) : nothing()
    }
    if !certain.isEmpty { return refuse(.blocked(by: certain)) }
    let rivals = possible.filter { !apart.contains($0.id) }
    return rivals.isEmpty
      ? .go(noted.begin(undoing: id, at: position)) : .compare(record, to: rivals)
  }

  private mutating func nothing() -> Beginning {
    lane.finish(asForecast: true)
    return .nothing
  }

  /// The undo, redo or move does not begin.
  mutating func refuse(_ error: HistoryError) -> Beginning {
    noted.breakMerging()
    lane.finish(asForecast: false)
    return .refuse(error)
  }

  /// The undo, redo or move has come as far as it could, and the plan is closed.
  mutating func finish(_ plan: inout Plan) -> Drops {
    var drops: Drops = []
    let wasPartial = noted.pool.stacks.partial != nil
    noted.finish(&plan, into: &drops)
    if lane.endMove() { noted.clear(into: &drops) }
    let isComplete = !plan.isIncomplete && drops.isEmpty && plan.obsolete == nil
    lane.finish(asForecast: isComplete && !wasPartial)
    compact()
    return drops
  }
}

// MARK: - Limit, clear and save

extension HistoryMachine {
  mutating func setLimit(_ limit: Int?) -> Drops {
    var drops: Drops = []
    noted.setLimit(limit, into: &drops)
    lane.forget()
    return drops
  }

  mutating func forget(_ entry: ID) -> Drops {
    var drops: Drops = []
    if noted.forget(entry, into: &drops) {
      lane.forget()
      compact()
    }
    return drops
  }

  private mutating func compact() {
    if noted.compact() { lane.forget() }
  }

  mutating func clear(isInside: Bool) -> Drops {
    var drops: Drops = []
    if lane.clear(isInside: isInside, isMoving: noted.pool.isMoving) { noted.clear(into: &drops) }
    return drops
  }

  /// Returns where the history is. Nil while something runs: then the document is uncertain.
  mutating func savePoint() -> HistoryPlace? {
    noted.breakMerging()
    return lane.isRunning ? nil : noted.pool.place
  }

  mutating func markSaved(_ place: HistoryPlace?) { noted.markSaved(place) }
}

// MARK: - State

extension HistoryMachine {
  /// Grows with each change that readers see.
  var version: UInt64 { noted.version + lane.version }

  /// Makes the next snapshots cheap.
  mutating func lookAhead() { lane.lookAhead(in: noted.pool) }

  var snapshot: HistorySnapshot<Step> {
    let undo = lane.undoTarget(in: noted.pool)
    let redo = lane.isRecording ? nil : lane.redoTarget(in: noted.pool)
    let isClean = noted.pool.isSaved && !lane.isRecording && !lane.runsMove
    let state = HistoryState(
      canUndo: undo != nil, canRedo: redo != nil, isBusy: lane.isBusy, isClean: isClean,
      undoCount: noted.pool.stacks.applied.count, redoCount: noted.pool.stacks.undone.count,
      version: version)
    return HistorySnapshot(
      state: state, undo: undo.flatMap { label(of: $0) }, redo: redo.flatMap { label(of: $0) })
  }

  private func label(of entry: ID) -> HistorySnapshot<Step>.Label? {
    if let operation = lane.operation(of: entry) { return .pending(operation) }
    switch noted.pool.stacks.record(of: entry)?.record.content {
    case .single(let step): return .step(step)
    case .marked(let marked): return .step(marked.step)
    case .group(let group): return .group(group.title)
    case nil: return nil
    }
  }
}
