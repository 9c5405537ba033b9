/// Decides which executions are recorded, where the cursor is, and which entry an undo is for.
///
/// The machine is the table and what was asked of the lane. Each event is one of its methods. The
/// owner acts once the lock is released, discards the drops, and lets go of the trash. `Step` is an
/// execution that can be undone.
struct HistoryMachine<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Table = HistoryTable<Step>
  typealias Row = HistoryRow<Step>
  typealias Ask = HistoryAsks.Element

  private(set) var table: Table
  private(set) var asks = HistoryAsks()
  /// The operation that has the lane, until its work is done.
  private var turn: ID?
  /// Whether the history was cleared during this turn.
  private var turnIsCleared = false
  /// Whether a `clear` from inside takes effect when what runs is over.
  private var clearsWhenOver = false
  private var window: MergeWindow
  /// Whether the move that begins is a recovery.
  private var isRecovering = false
  /// The entries into which executions were merged.
  private var merged: [ID: ID] = [:]
  private var mergedLimit = 64
  /// Kept while operations are only asked for, and computed anew after all else.
  private var forecast: HistoryForecast?
  /// Grows with each change that readers see.
  private(set) var version: UInt64 = 0
  private var trash = Trash()

  /// Values that must not be released under a lock.
  struct Trash: Sendable {
    fileprivate var asks: [Ask] = []
    fileprivate var forecasts: [HistoryForecast] = []
    fileprivate var rows: [Row] = []
  }

  init(limit: Int?, mergeWindow: Duration) {
    table = Table(limit: limit)
    window = MergeWindow(length: mergeWindow)
  }

  /// Returns the rows that have left, of which the use cases are to be told.
  mutating func takeDrops() -> [HistoryDrop<Step>] { table.takeDrops() }

  mutating func takeTrash() -> Trash {
    guard !table.trash.isEmpty || !trash.asks.isEmpty || !trash.forecasts.isEmpty
    else { return Trash() }
    defer { (trash, table.trash) = (Trash(), []) }
    trash.rows = table.trash
    return trash
  }
}

// MARK: - What waits

extension HistoryMachine {
  /// An execution or a group was asked for.
  mutating func admit(
    _ id: ID, title: String, footprint: HistoryFootprint?, at time: Duration
  ) {
    var ask = Ask(id, nil, window.asked(at: time))
    ask.title = title
    ask.footprint = footprint ?? .everything
    version += 1
    forecast?.record(id, touching: ask.footprint, in: table)
    asks.append(ask)
  }

  /// An undo, a redo or a move was asked for, which is bound to its target.
  mutating func admit(_ id: ID, _ move: HistoryMove) {
    let ask = Ask(id, move, target: target(of: move), window.asked(at: .zero))
    if ask.hasEffect { version += 1 }
    forecast?.foresee(move, for: ask.target, in: table)
    asks.append(ask)
  }

  /// The operation has the lane.
  mutating func start(_ id: ID) {
    (turn, turnIsCleared) = (id, false)
    // A move that runs makes a clean history dirty, and changes nothing else.
    if let ask = asks[id], ask.move != nil, ask.hasEffect, table.isSaved { version += 1 }
  }

  /// The operation has given the lane back, or left while it waited.
  mutating func leave(_ id: ID) {
    if turn == id { turn = nil }
    guard let ask = asks[id] else { return }
    if ask.hasEffect { version += 1 }
    remove(id)
  }

  private mutating func remove(_ id: ID) {
    forgetForecast()
    if let ask = asks.remove(id), ask.footprint != .everything || ask.move?.document != nil {
      trash.asks.append(ask)
    }
  }

  private mutating func forgetForecast() {
    if let old = forecast.take() { trash.forecasts.append(old) }
  }

  /// The work of the operation that has the lane is done. Undos that wait for it are for `entry`.
  private mutating func settle(as entry: ID? = nil) {
    guard let id = turn.take(), let ask = asks[id] else { return }
    if ask.hasEffect { version += 1 }
    if let entry, entry != id { asks.rebind(from: id, to: entry) }
    remove(id)
  }

  /// The ask of the operation that has the lane, which has not done its work.
  var running: Ask? { turn.flatMap { asks[$0] } }

  private var isRecording: Bool { asks.present.contains { $0.move == nil } }

  /// Whether something has the lane that may change the history.
  private var isRunning: Bool { running?.hasEffect == true }

  /// Whether an undo, a redo or a move has the lane.
  private var isMoving: Bool { running.map { $0.move != nil && $0.hasEffect } ?? false }
}

extension HistoryMove {
  fileprivate var document: HistoryFootprint? {
    switch self {
    case .undoIn(let document), .redoIn(let document): document
    case .undo, .redo, .move, .undoEntry, .redoEntry: nil
    }
  }
}

// MARK: - Looking ahead

extension HistoryMachine {
  private mutating func target(of move: HistoryMove) -> ID? {
    switch move {
    case .undo: undoTarget()
    case .redo: redoTarget()
    case .undoIn(let document): undoTarget(in: document)
    case .redoIn(let document): redoTarget(in: document)
    case .move, .undoEntry, .redoEntry: nil
    }
  }

  private mutating func undoTarget(in document: HistoryFootprint = .everything) -> ID? {
    if asks.isEmpty, document == .everything { return table.undoID }
    lookAhead()
    return forecast?.undoTarget(in: document, of: table)
  }

  /// A redo behind an execution is for the next entry in case that the execution fails: a failed
  /// execution does not cost the branch. If it will be undone before, the redo is for that.
  private mutating func redoTarget(in document: HistoryFootprint = .everything) -> ID? {
    if asks.isEmpty, document == .everything { return table.redoID }
    lookAhead()
    let target = forecast?.redoTarget(in: document, of: table)
    if let target, target.isFresh { return target.id }
    guard isRecording else { return nil }
    return simulate(recordingsFail: true).redoTarget(in: document, of: table)?.id
  }

  private mutating func lookAhead() {
    if forecast == nil { forecast = simulate(recordingsFail: false) }
  }

  private func simulate(recordingsFail: Bool) -> HistoryForecast {
    var forecast = HistoryForecast(of: table)
    for ask in asks.present {
      if ask.id == turn, let walk = table.walk, !walk.isRollBack {
        forecast.foresee(walk, in: table)
      } else if let move = ask.move {
        forecast.foresee(move, for: ask.target, in: table)
      } else if !recordingsFail, !(ask.id == turn && losesResults) {
        forecast.record(ask.id, touching: ask.footprint, in: table)
      }
    }
    return forecast
  }
}

// MARK: - Recording

extension HistoryMachine {
  /// Whether the operation has the lane, and has not begun its work.
  func mayBegin(_ id: ID) -> Bool {
    turn == id && asks[id] != nil && table.running == nil && table.walk == nil
  }

  /// A recorded body begins. Returns false if it may not.
  mutating func begin(_ id: ID, _ draft: Step?) -> Bool {
    guard mayBegin(id), let ask = asks[id] else { return false }
    var row = Row(id: id, title: ask.title, step: draft)
    row.state = .executing
    run(row)
    return true
  }

  private mutating func run(_ row: consuming Row) {
    row.stamp = table.nextStamp()
    if turnIsCleared { row.marks.insert(.leavesLater) }
    table.running = row
    table.note(.running)
  }

  /// Whether what has the lane will be no entry, as far as that is known.
  private var losesResults: Bool {
    clearsWhenOver || turnIsCleared || isRollingBack
      || table.running?.marks.contains(.leavesLater) == true
  }

  /// Whether the parts of the group that has the lane are undone, not only those of one in it.
  private var isRollingBack: Bool {
    guard let turn, let walk = table.walk else { return false }
    return walk.isRollBack && walk.holds(turn)
  }

  /// The entry with which the execution that is recorded may merge. Ask its step outside of the
  /// lock, and give its answer to `record`, with the ticket.
  func mergeCandidate() -> (entry: Row, ticket: Int)? {
    guard !losesResults, let asked = running?.asked, let ticket = window.ticket(for: asked),
      let newest = table.newest, table.applied[newest].standing == .normal,
      !table.applied[newest].isGroup
    else { return nil }
    return (table.applied[newest], ticket)
  }

  /// A body has returned a response.
  mutating func record(
    _ step: Step, touching footprint: HistoryFootprint,
    _ merging: HistoryMerging<(step: Step, title: String, footprint: HistoryFootprint)> = .separate,
    _ ticket: Int? = nil
  ) {
    guard let asked = running?.asked, var row = table.running.take() else {
      preconditionFailure("A body ends, and none has begun: \(String(describing: turn)).")
    }
    row.apply(step, footprint)
    if clearIfDue(row.marks) {
      table.lose(row)
      return settle()
    }
    let id = row.id
    switch window.isValid(ticket) ? merging : .separate {
    case .separate:
      table.record(row)
      window.open(for: asked)
      settle(as: id)
    case .merged(let merged):
      let new = Row(
        id: id, title: merged.title, step: merged.step, footprint: merged.footprint)
      table.merge(into: new, row)
      window.open(for: asked)
      if let entry = table.undoID {
        note(id, mergedInto: entry)
        settle(as: entry)
      }
    case .annul:
      table.annul(row)
      window.close()
      settle()
    }
  }

  /// The turn of the lane is over, and a `clear` from inside takes effect. Returns whether a `clear`
  /// keeps what has run from being recorded.
  @discardableResult
  private mutating func clearIfDue(_ marks: Row.Marks = []) -> Bool {
    if clearsWhenOver {
      clearsWhenOver = false
      dropAll()
      return true
    }
    return marks.contains(.leavesLater)
  }

  private mutating func note(_ id: ID, mergedInto entry: ID) {
    merged[id] = entry
    guard merged.count > mergedLimit else { return }
    let present = Set([table.applied, table.undone].joined().map(\.id))
    merged = merged.filter { present.contains($0.value) }
    mergedLimit = Swift.max(64, 2 * merged.count, present.count)
  }

  /// The operation has failed before its body.
  mutating func failEarly(_ id: ID) {
    window.close()
    leave(id)
  }

  /// A body has thrown.
  mutating func fail(_ id: ID) {
    guard let row = table.running.take() else {
      preconditionFailure("\(id) ends, and has not begun.")
    }
    window.close()
    table.noteGone(row.id)
    clearIfDue(row.marks)
    settle()
  }

  /// Keeps what was asked for before from merging with what is asked for from now on.
  mutating func breakMerging() { window.breakOff() }

  var mergeWindow: Duration {
    get { window.length }
    set { window.length = newValue }
  }
}

// MARK: - Groups

extension HistoryMachine {
  /// The body of a group on the lane begins. Returns false if its operation has not got the lane.
  mutating func beginGroup(_ id: ID, title: String) -> Bool {
    guard mayBegin(id) else { return false }
    run(Row(group: id, title: title))
    return true
  }

  /// The body of a group in another begins.
  mutating func beginNested(_ id: ID, in parent: ID, title: String) {
    table.beginPart(Row(group: id, in: parent, title: title))
  }

  /// The body of a part begins.
  mutating func beginPart(_ id: ID, in group: ID, title: String, _ draft: Step?) {
    var row = Row(id: id, title: title, step: draft)
    row.parent = group
    table.beginPart(row)
  }

  /// The body of a part has ended: with its step, or it has thrown.
  mutating func endPart(_ id: ID, _ answer: (step: Step, footprint: HistoryFootprint)?) {
    table.endPart(id, answer)
  }

  /// Whether the group, or what is left of it, is a part of the running one.
  func hasPart(_ group: ID) -> Bool {
    table.running?.parts.contains { $0.id == group } ?? false
  }

  /// The group becomes an entry, or a part of the group around it. Returns it, nil if it is empty.
  mutating func recordGroup(_ group: ID, in parent: ID?) -> Row? {
    end(group, in: parent, isResidue: false)
  }

  /// The parts of the group are going to be undone, the newest first.
  mutating func beginRollBack(of group: ID) {
    table.beginRollBack(of: group)
    guard isRollingBack else { return }
    version += 1
    forgetForecast()
  }

  /// The roll-back has come as far as it could. Returns whether parts are left.
  mutating func endRollBack(of group: ID, in parent: ID?) -> Bool {
    let isLeft = table.endRollBack()
    _ = end(group, in: parent, isResidue: true)
    return isLeft
  }

  private mutating func end(
    _ group: ID, in parent: ID?, isResidue: Bool
  ) -> Row? {
    if parent != nil {
      let entry = isResidue ? nil : table.running.flatMap { $0.nested(group) }
      table.endNested(group)
      return entry
    }
    let marks = table.running?.marks ?? []
    let row = table.takeGroup()
    let isLost = clearIfDue(marks)
    window.close()
    switch row {
    case let row? where isLost: table.lose(row)
    case let row?: table.record(row)
    case nil: break
    }
    table.coverLosses()
    // A residue is nobody's target.
    settle(as: isResidue ? .nobody : nil)
    return isLost ? nil : row
  }
}

extension HistoryRow {
  /// A group in this one, as an entry of its own. Nil if it has no parts.
  fileprivate func nested(_ id: ID) -> Self? {
    guard var group = parts.first(where: { $0.id == id }) else { return nil }
    let groups = groups(in: id)
    group.parts = parts.filter { groups.contains($0.parent) }
    return group.parts.contains { !$0.isGroup } ? group : nil
  }
}

// MARK: - Undo and redo

extension HistoryMachine {
  /// The turn of the undo, redo or move has come. Returns whether there is something to do.
  mutating func beginMove(isRecovery: Bool = false) -> Result<Bool, any Error> {
    guard let ask = running, let move = ask.move else {
      preconditionFailure("A move begins without the lane: \(String(describing: turn)).")
    }
    guard ask.hasEffect else { return nothing() }
    isRecovering = isRecovery
    switch move {
    case .undo:
      guard let target = ask.target, target == table.undoID
      else { return refuse(HistoryError.outOfTurn) }
      return go([target], isRedo: false)
    case .redo:
      guard let target = ask.target, target == table.redoID
      else { return refuse(HistoryError.outOfTurn) }
      return go(one: target, isRedo: true)
    case .move(let goal): return go(to: goal)
    case .undoEntry(let id):
      switch table.row(of: id) {
      case (let row, true)? where row.isDoubtfulExecution:
        return refuse(HistoryJournalError(.inDoubt))
      case (_, true)?: return go(one: id, isRedo: false)
      case (_, false)?: return nothing()
      case nil: return refuse(HistoryError.unknownEntry(id))
      }
    case .redoEntry(let id):
      switch table.row(of: id) {
      case (let row, true)? where row.isDoubtfulExecution:
        return refuse(HistoryJournalError(.inDoubt))
      case (let row, true)? where !row.isPartial: return nothing()
      case _?: return go(one: id, isRedo: true)
      case nil: return refuse(HistoryError.unknownEntry(id))
      }
    case .undoIn(let document):
      guard let target = ask.target, let (row, isApplied) = table.row(of: target), isApplied,
        row.footprint.isIn(document)
      else { return refuse(HistoryError.outOfTurn) }
      return go(one: target, isRedo: false)
    case .redoIn(let document):
      guard let target = ask.target, let (row, isApplied) = table.row(of: target),
        !isApplied || table.half?.id == target, row.footprint.isIn(document)
      else { return refuse(HistoryError.outOfTurn) }
      return go(one: target, isRedo: true)
    }
  }

  private mutating func go(to goal: ID?) -> Result<Bool, any Error> {
    switch goal.map({ table.spot(of: $0) }) {
    case .undone(let index)??:
      let blockers = table.interrupted(blocking: table.undone[index...])
      if !blockers.isEmpty { return refuse(HistoryError.blocked(by: blockers)) }
      let ids = table.undone[index...].reversed().map(\.id)
      return go((table.half.map { [$0.id] } ?? []) + ids, isRedo: true)
    case .applied(let index)?? where !table.applied[index].isDoubtfulExecution:
      // A half undone group counts among the undone ones.
      if let half = table.half, half.id == goal { return go([half.id], isRedo: true) }
      return go(below: index + 1)
    case nil: return go(below: 0)
    case .applied??: return refuse(HistoryJournalError(.inDoubt))
    case .held??, .running??, .some(nil): return refuse(HistoryError.unknownEntry(goal ?? .nobody))
    }
  }

  /// Undoes the entries from this index on.
  private mutating func go(below index: Int) -> Result<Bool, any Error> {
    let ids = table.applied[index...].reversed().lazy.filter { !$0.isDoubtfulExecution }
      .map(\.id)
    return go(Array(ids), isRedo: false)
  }

  /// Undoes or redoes this entry, unless others have to be undone or redone before.
  private mutating func go(one id: ID, isRedo: Bool) -> Result<Bool, any Error> {
    let blockers = isRedo ? table.blockers(ofRedoing: id) : table.blockers(ofUndoing: id)
    return blockers.isEmpty ? go([id], isRedo: isRedo) : refuse(HistoryError.blocked(by: blockers))
  }

  private mutating func go(_ ids: [ID], isRedo: Bool) -> Result<Bool, any Error> {
    if ids.isEmpty { return nothing() }
    window.close()
    table.walk = Table.Walk(
      isRedo: isRedo, ids, half: table.half?.id, isRecovery: isRecovering)
    return .success(true)
  }

  private mutating func nothing() -> Result<Bool, any Error> {
    settle()
    return .success(false)
  }

  /// The undo, redo or move does not begin.
  private mutating func refuse(_ error: any Error) -> Result<Bool, any Error> {
    window.close()
    settle()
    return .failure(error)
  }

  /// Returns the execution to undo or redo next, which begins. Nil at the end, and at one that is
  /// refused.
  mutating func nextStep() -> (id: ID, step: Step)? { table.next() }

  var isRefused: Bool { table.walk?.refused != nil }

  /// The execution that was not to be undone or redone.
  var refused: Row? { table.walk?.refused.flatMap { table.journaledRow($0) } }

  /// The undo or redo has ended. Returns whether the walk may go on.
  mutating func stepEnded(_ end: Table.StepEnd) -> Bool {
    switch end {
    case .undone, .failed: break
    // It may touch something else now.
    case .redone: forgetForecast()
    // A part leaves, and perhaps its group.
    case .obsolete:
      version += 1
      forgetForecast()
    }
    return table.ended(end)
  }

  var isRedo: Bool { table.walk?.isRedo ?? false }

  /// Whether no entry was undone or redone so far.
  var hasMovedNothing: Bool { table.walk?.hasResult == false }

  /// The undo, redo or move has come as far as it could. Returns the entries that it has moved.
  mutating func finishMove() -> [Row] {
    let moved = table.finish()
    clearIfDue()
    settle()
    return moved
  }
}

// MARK: - Limit, clear, forget and save

extension HistoryMachine {
  mutating func setLimit(_ limit: Int?) {
    version += 1
    let newest = table.undoID
    table.setLimit(limit)
    if table.undoID != newest { window.close() }
    forgetForecast()
  }

  mutating func forget(_ entry: ID) {
    guard table.spot(of: entry) != nil else { return }
    window.close()
    version += 1
    table.forget(entry)
    forgetForecast()
  }

  /// From inside of what runs, the history is cleared when that is over.
  mutating func clear(isInside: Bool) {
    if isInside, isRunning {
      clearsWhenOver = true
      version += 1
      forgetForecast()
    } else {
      dropAll()
    }
  }

  /// Waiting undos and redos find nothing.
  private mutating func dropAll() {
    version += 1
    asks.rebind(to: nil, except: table.walk == nil ? nil : turn)
    turnIsCleared = isRunning
    table.clear()
    forgetForecast()
  }

  /// Returns where the history is. Nil while something runs: then the document is uncertain.
  mutating func savePoint() -> HistoryPlace? {
    window.breakOff()
    if isRunning { return nil }
    // Else the place could be merged over.
    window.close()
    return table.place
  }

  mutating func markSaved(_ place: HistoryPlace?) {
    version += 1
    table.head.saved = place
  }
}

// MARK: - State

extension HistoryMachine {
  /// Returns the entry that the execution has become.
  func entry(of execution: ID) -> (row: Row, isApplied: Bool)? {
    var id = execution
    while true {
      if let found = table.row(of: id) { return found }
      guard let next = merged[id] else { return nil }
      id = next
    }
  }

  /// Returns the state of the document, for `undo()` and `redo()` called now.
  ///
  /// The titles are those of what waits. The rows have those of the entries that are there.
  mutating func state(
    of document: HistoryFootprint
  ) -> (state: HistoryState, undo: Row?, redo: Row?) {
    let isWhole = document == .everything
    var undo = undoTarget(in: document)
    var redo = isWhole && isRecording ? nil : shownRedo(in: document)
    if let id = undo, let (row, isApplied) = table.row(of: id) {
      let isBlocked = isApplied && !isWhole && !table.blockers(ofUndoing: id).isEmpty
      if isBlocked || row.worstStanding == .unreadable { undo = nil }
    }
    if let id = redo, let (row, isApplied) = table.row(of: id) {
      let blockers = isWhole ? table.interrupted(blocking: [row]) : table.blockers(ofRedoing: id)
      let isBlocked = !isApplied && !blockers.isEmpty
      if isBlocked || row.worstStanding == .unreadable { redo = nil }
    }
    let state = HistoryState(
      canUndo: undo != nil, canRedo: redo != nil, isBusy: isBusy,
      isClean: table.isSaved && !isRecording && !isMoving,
      undoTitle: undo.flatMap(title), redoTitle: redo.flatMap(title),
      undoCount: isWhole ? table.undoCount : count(table.applied, in: document),
      redoCount: isWhole ? table.undone.count : count(table.undone, in: document),
      version: version)
    return (state, undo.flatMap { table.row(of: $0)?.row }, redo.flatMap { table.row(of: $0)?.row })
  }

  private mutating func shownRedo(in document: HistoryFootprint) -> ID? {
    if asks.isEmpty, document == .everything { return table.redoID }
    lookAhead()
    return forecast?.redoTarget(in: document, of: table)?.id
  }

  var isBusy: Bool { asks.present.contains(where: \.hasEffect) }

  private func title(_ entry: ID) -> String? {
    asks[entry].flatMap { $0.move == nil ? $0.title : nil }
  }

  private func count(_ rows: RowStack<Step>, in document: HistoryFootprint) -> Int {
    rows.count { !$0.isDoubtfulExecution && $0.footprint.isIn(document) }
  }
}

// MARK: - The journal

extension HistoryMachine {
  /// Returns what the journal has not been told yet, which is taken to be written.
  mutating func takeOwed() -> (rows: [ID: Row?], head: Table.Head, leaving: [Row]) {
    defer { table.changed = [:] }
    return (table.changed ?? [:], table.head, table.leaving)
  }

  /// The rows were not written, and are owed again, except those that have changed since. Returns those
  /// not to be released under a lock.
  mutating func owe(_ rows: [ID: Row?]) -> [ID: Row?] {
    table.changed?.merge(rows) { newer, _ in newer }
    return rows
  }

  /// Returns the rows, which are not to be released under a lock.
  mutating func haveLeft(_ ids: Set<ID>) -> [Row] {
    let gone = table.leaving.filter { ids.contains($0.id) }
    table.leaving.removeAll { ids.contains($0.id) }
    for id in ids { table.noteGone(id) }
    return gone
  }

  /// The journal may have been told something untrue of these rows.
  mutating func oweAgain(_ ids: [ID]) {
    for id in ids {
      guard table.changed?[id] == nil else { continue }
      if let row = table.journaledRow(id) { table.note(row) } else { table.noteGone(id) }
    }
  }

  /// A recovery is over. The rows that have waited for that leave, except those still being undone.
  mutating func endRecovery() { table.leaveNow(except: Set(table.walk?.ids ?? [])) }

  /// Takes over a table that was opened.
  mutating func take(_ table: Table) {
    self.table = table
    version += 1
  }
}
