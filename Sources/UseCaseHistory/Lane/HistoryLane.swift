/// The operations that run and wait on the lane of a history, in the order of their admission.
///
/// The name of an operation on the lane is the entry that it may become.
struct HistoryLane: Sendable {
  typealias ID = HistoryEntry.ID

  private struct Pending: Sendable {
    let id: ID
    var ask: HistoryAsk
    /// The operation, if it is an execution or a group.
    var operation: Operation?
    /// Whether it was cancelled while others around it wait.
    var isGone = false
  }

  typealias Entrance = HistoryTurn.Entrance

  /// An execution, which knows its title. A machine only hands it on.
  typealias Operation = any AnyObject & Sendable

  /// The running operation, then the waiting ones. Their ids grow.
  private var pending = HistoryStack<Pending>()
  private var turn = HistoryTurn()
  private var recordings = 0
  /// How many undos, redos and moves with something to do wait or run.
  private var moves = 0
  private var forecast: HistoryForecast?
  /// Grows with each change that readers see.
  private(set) var version: UInt64 = 0

  // MARK: Reading

  var isBusy: Bool { recordings + moves > 0 }

  /// Whether something waits or runs that may become an entry.
  var isRecording: Bool { recordings > 0 }

  /// Whether something holds the lane that may change the history.
  var isRunning: Bool { turn.isRunning && pending[0].ask.hasEffect }

  /// Whether an undo, a redo or a move holds the lane.
  var runsMove: Bool { moves > 0 && isRunning && !pending[0].ask.isRecording }

  /// Whether a result of the running operation is not recorded.
  var losesResults: Bool { turn.losesResults }

  /// The ask of the operation that holds the lane.
  var ask: HistoryAsk {
    guard turn.isRunning else { preconditionFailure("A move holds the lane when it begins.") }
    return pending[0].ask
  }

  /// The move that holds the lane.
  var holder: ID { pending[0].id }

  /// The entry that an undo called now is for.
  func undoTarget<Step>(in pool: HistoryPool<Step>) -> ID? {
    if let last = pending.last, last.ask.isRecording, pool.limit != 0 {
      let index = pending.count - 1
      if willBeRecorded(index) { return entry(at: index) }
    }
    if pending.isEmpty { return pool.stacks.undoID }
    // In place: a copy of a forecast is one of several arrays.
    return forecast == nil
      ? simulate(recordingsFail: false, in: pool).undoTarget(in: pool)
      : forecast?.undoTarget(in: pool)
  }

  /// The entry that a redo called now is for.
  ///
  /// A redo behind an execution is for the next entry in case that the execution fails: a failed
  /// execution does not cost the branch.
  func redoTarget<Step>(in pool: HistoryPool<Step>) -> ID? {
    if pending.isEmpty { return pool.stacks.redoID }
    let target =
      forecast == nil
      ? simulate(recordingsFail: false, in: pool).redoTarget(in: pool)
      : forecast?.redoTarget(in: pool)
    return target
      ?? (isRecording ? simulate(recordingsFail: true, in: pool).redoTarget(in: pool) : nil)
  }

  /// The execution that waits or runs and will be this entry.
  func operation(of entry: ID) -> Operation? {
    (turn.promised == entry ? 0 : index(of: entry)).flatMap { pending[$0].operation }
  }

  // MARK: Waiting

  /// An execution or a group is admitted.
  mutating func admit<Step>(_ id: ID, _ operation: Operation?, in pool: HistoryPool<Step>) {
    append(id, .recording, operation, in: pool)
  }

  /// An undo, a redo or a move is admitted, and bound to its target.
  mutating func admit<Step>(_ id: ID, _ move: HistoryMove, in pool: HistoryPool<Step>) {
    lookAhead(in: pool)
    let ask: HistoryAsk =
      switch move {
      case .undo: .undo(undoTarget(in: pool))
      case .redo: .redo(redoTarget(in: pool))
      case .move(let entry): .move(to: entry)
      case .undoEntry(let entry): .undoEntry(entry)
      }
    append(id, ask, in: pool)
  }

  // Inlined, because otherwise the pool is copied for the call.
  @inline(__always)
  private mutating func append<Step>(
    _ id: ID, _ ask: HistoryAsk, _ operation: Operation? = nil, in pool: HistoryPool<Step>
  ) {
    pending.append(Pending(id: id, ask: ask, operation: operation))
    count(ask, 1)
    if ask.hasEffect { version += 1 }
    // In place: a forecast is several words, and most often there is none.
    guard forecast != nil else { return }
    if ask.isRecording {
      forecast?.record(id, in: pool)
    } else {
      forecast?.move(by: ask, isRunning: false, in: pool)
    }
  }

  /// The first of the waiting operations has the lane, in a history that is saved or not.
  mutating func start(_ id: ID, isSaved: Bool) {
    guard turn.isFree, pending.first?.id == id else {
      preconditionFailure("Operations start in the order of admission, one at a time.")
    }
    turn.start(id)
    // A move that runs makes a clean history dirty, and changes nothing else.
    if isSaved, runsMove { version += 1 }
  }

  /// The operation has left the lane, or left while it waited.
  mutating func leave(_ id: ID) {
    if turn.leave(id) { return }
    guard let index = index(of: id) else { preconditionFailure("An operation leaves once.") }
    count(pending[index].ask, -1)
    if pending[index].ask.hasEffect { version += 1 }
    pending[index].isGone = true
    pending[index].operation = nil
    forecast = nil
    trim()
  }

  private func index(of id: ID) -> Int? {
    guard let first = pending.first?.id, first <= id else { return nil }
    let index = first == id ? 0 : pending.firstIndex(behind: { $0.id >= id })
    guard index < pending.count, pending[index].id == id, !pending[index].isGone else { return nil }
    return index
  }

  private mutating func trim() {
    while !pending.isEmpty, pending[0].isGone { pending.removeFirst() }
    while !pending.isEmpty, pending[pending.count - 1].isGone { _ = pending.popLast() }
  }

  private mutating func count(_ ask: HistoryAsk, _ change: Int) {
    if ask.isRecording { recordings += change } else if ask.hasEffect { moves += change }
  }

  // MARK: Running

  /// A recorded body begins in `operation`: see `HistoryTurn.enter`. Nil if a move holds the lane.
  mutating func enter(in operation: ID, leftIn left: ID?, spare: ID) -> Entrance? {
    let wasRunning = turn.isRunning
    if runsMove { return nil }
    let entrance = turn.enter(in: operation, leftIn: left, spare: spare)
    if !wasRunning {
      pending = HistoryStack([Pending(id: entrance.holder, ask: .recording)] + pending.elements)
      recordings += 1
      version += 1
      forecast = nil
    }
    return entrance
  }

  /// A recorded body, or the body of a group, is over. Returns whether a `clear` from inside takes
  /// effect now.
  mutating func endBody(in holder: ID) -> Bool {
    let clears = turn.endBody(in: holder)
    if clears { unbind(fromFirst: false) }
    return clears
  }

  /// The result of the running operation is this entry, and undos that wait for it mean this one.
  mutating func become(_ entry: ID) {
    let promised = turn.promise(entry)
    if promised == entry { return }
    // The forecast expects the entry that was promised.
    forecast = nil
    if moves > 0 { retarget(from: promised, to: entry) }
  }

  private mutating func retarget(from old: ID, to new: ID) {
    for index in pending.indices {
      pending[index].ask = pending[index].ask.retargeted(from: old, to: new)
    }
  }

  /// The operation has done its work: as in the forecast, or otherwise.
  mutating func finish(asForecast: Bool) {
    if isRunning { version += 1 }
    let isDone = turn.finish()
    if !asForecast || !isDone || pending.count == 1 { forecast = nil }
    guard isDone, !pending.isEmpty else { return }
    count(pending[0].ask, -1)
    pending.removeFirst()
    trim()
    // Most of the forecast has come true. The rest is computed anew.
    if let size = forecast?.size, size > 2 * pending.count + 64 { forecast = nil }
  }

  // MARK: Clearing

  /// The history is to be cleared: from inside of the running operation, in whose hands the records
  /// are, only when it is over. Returns whether it is cleared now.
  mutating func clear(isInside: Bool, isMoving: Bool) -> Bool {
    guard turn.clear(isInside: isInside) else { return false }
    unbind(fromFirst: !isMoving)
    return true
  }

  /// The running move is over. Returns whether the history is to be cleared now.
  mutating func endMove() -> Bool {
    if turn.clearsWhenOver { unbind(fromFirst: false) }
    return turn.clearsWhenOver
  }

  /// Waiting undos and redos find nothing.
  private mutating func unbind(fromFirst: Bool) {
    for index in pending.indices where fromFirst || index > 0 {
      let ask = pending[index].ask
      guard !pending[index].isGone, !ask.isRecording else { continue }
      count(ask, -1)
      pending[index].ask = ask.unbound
      count(ask.unbound, 1)
    }
    forecast = nil
  }

  // MARK: Looking ahead

  /// Something has changed that the forecast did not know of.
  mutating func forget() { forecast = nil }

  /// Computes the forecast, if there is none.
  mutating func lookAhead<Step>(in pool: HistoryPool<Step>) {
    if forecast == nil, !pending.isEmpty { forecast = simulate(recordingsFail: false, in: pool) }
  }

  private func simulate<Step>(
    recordingsFail: Bool, in pool: HistoryPool<Step>
  ) -> HistoryForecast {
    var forecast = HistoryForecast(of: pool)
    for index in pending.indices where !pending[index].isGone {
      if recordingsFail, pending[index].ask.isRecording { continue }
      advance(&forecast, by: index, in: pool)
    }
    return forecast
  }

  private func advance<Step>(
    _ forecast: inout HistoryForecast, by index: Int, in pool: HistoryPool<Step>
  ) {
    let ask = pending[index].ask
    if !ask.isRecording {
      forecast.move(by: ask, isRunning: index == 0 && pool.isMoving, in: pool)
    } else if willBeRecorded(index) {
      forecast.record(entry(at: index), in: pool)
    }
  }

  private func willBeRecorded(_ index: Int) -> Bool { index > 0 || !turn.isCleared }

  /// The target of undos that are called right after this execution.
  private func entry(at index: Int) -> ID {
    (index == 0 ? turn.promised : nil) ?? pending[index].id
  }
}
