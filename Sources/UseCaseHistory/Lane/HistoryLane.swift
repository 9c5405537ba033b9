/// The operations that run and wait on the lane of a history, in the order in which it was asked for.
///
/// An operation on the lane is named by the entry that it may become.
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

  /// The fate of the results of the running operation.
  private enum Fate {
    case kept
    /// A `clear` came meanwhile: nothing is recorded.
    case cleared
    /// A `clear` came from inside, and takes effect when the operation is over. Another one may have
    /// come meanwhile.
    case clearsWhenOver(isCleared: Bool)

    /// Whether what an undo would be for is gone already.
    var isCleared: Bool {
      switch self {
      case .kept: false
      case .cleared: true
      case .clearsWhenOver(let isCleared): isCleared
      }
    }
  }

  private struct Run: Sendable {
    let slot: ID
    /// The entry that undos mean which are asked for at present.
    var promised: ID
    /// Whether a body has taken the id of the operation for its entry.
    var isClaimed = false
    /// How many recorded bodies run.
    var bodies = 0
    var fate = Fate.kept
  }

  private enum Turn {
    /// No operation holds the lane. Next is `running`.
    case free
    /// The first of `pending` holds the lane. Next is `done`, or `free`.
    case running(Run)
    /// The operation has done what it was asked for, and code may still run in its slot. Next is
    /// `free`, or `running` if another recorded body begins there.
    case done(slot: ID, promised: ID)
  }

  /// An execution, which knows its title. A machine only hands it on.
  typealias Operation = any AnyObject & Sendable

  /// The running operation, then those that wait. Their ids grow.
  private var pending = HistoryStack<Pending>()
  private var turn = Turn.free
  private var recordings = 0
  /// How many undos, redos and moves with something to do wait or run.
  private var moves = 0
  private var forecast: HistoryForecast?

  // MARK: Reading

  var isBusy: Bool { recordings + moves > 0 }

  /// Whether something waits or runs that may become an entry.
  var isRecording: Bool { recordings > 0 }

  /// Whether something holds the lane that may change the history.
  var isRunning: Bool {
    guard case .running = turn else { return false }
    return pending[0].ask.hasEffect
  }

  /// Whether an undo, a redo or a move holds the lane.
  var runsMove: Bool { isRunning && !pending[0].ask.isRecording }

  /// The ask of the operation that holds the lane.
  var ask: HistoryAsk {
    guard case .running = turn else { preconditionFailure("A move holds the lane when it begins.") }
    return pending[0].ask
  }

  /// The entry that an undo called now is for.
  func undoTarget<Step>(in pool: HistoryPool<Step>) -> ID? {
    if let last = pending.last, last.ask.isRecording, pool.limit != 0 {
      let index = pending.count - 1
      if willBeRecorded(index) { return entry(at: index) }
    }
    if pending.isEmpty { return pool.undoID }
    // In place: a copy of a forecast is one of several arrays.
    return forecast == nil
      ? simulate(recordingsFail: false, in: pool).undoTarget(in: pool)
      : forecast?.undoTarget(in: pool)
  }

  /// The entry that a redo called now is for.
  ///
  /// A redo behind an execution is for what would come next if that failed: a failed execution
  /// does not cost the branch.
  func redoTarget<Step>(in pool: HistoryPool<Step>) -> ID? {
    if pending.isEmpty { return pool.redoID }
    let target =
      forecast == nil
      ? simulate(recordingsFail: false, in: pool).redoTarget(in: pool)
      : forecast?.redoTarget(in: pool)
    return target
      ?? (isRecording ? simulate(recordingsFail: true, in: pool).redoTarget(in: pool) : nil)
  }

  /// The execution that waits or runs and will be this entry.
  func operation(of entry: ID) -> Operation? {
    let isRunning: Bool
    switch turn {
    case .running(let run): isRunning = run.promised == entry
    case .free, .done: isRunning = false
    }
    return (isRunning ? 0 : index(of: entry)).flatMap { pending[$0].operation }
  }

  // MARK: Waiting

  /// An execution or a group is admitted.
  mutating func admit<Step>(_ id: ID, _ operation: Operation?, in pool: HistoryPool<Step>) {
    append(Pending(id: id, ask: .recording, operation: operation), in: pool)
  }

  /// An undo, a redo or a move is admitted, and bound to its target. Returns whether it will have
  /// an effect.
  mutating func admit<Step>(_ id: ID, _ move: HistoryMove, in pool: HistoryPool<Step>) -> Bool {
    lookAhead(in: pool)
    let ask: HistoryAsk =
      switch move {
      case .undo: .undo(undoTarget(in: pool))
      case .redo: .redo(redoTarget(in: pool))
      case .move(let entry): .move(to: entry)
      case .undoEntry(let entry): .undoEntry(entry)
      }
    append(Pending(id: id, ask: ask), in: pool)
    return ask.hasEffect
  }

  private mutating func append<Step>(_ last: Pending, in pool: HistoryPool<Step>) {
    pending.append(last)
    count(last.ask, 1)
    // In place: a forecast is several words, and most often there is none.
    guard forecast != nil else { return }
    if last.ask.isRecording {
      forecast?.record(last.id, in: pool)
    } else {
      forecast?.move(by: last.ask, isRunning: false, in: pool)
    }
  }

  /// The operation, the first of those that wait, has the lane. Returns whether it is a move with
  /// something to do.
  mutating func start(_ id: ID) -> Bool {
    guard case .free = turn, pending.first?.id == id else {
      preconditionFailure("Operations start in the order of admission, one at a time.")
    }
    turn = .running(Run(slot: id, promised: id))
    return runsMove
  }

  /// The operation has left the lane, or left while it waited. Returns whether that is a change.
  mutating func leave(_ id: ID) -> Bool {
    switch turn {
    case .done(id, _):
      turn = .free
      return false
    case .running(let run) where run.slot == id: turn = .free
    case .free, .running, .done: break
    }
    guard let index = index(of: id) else { preconditionFailure("An operation leaves once.") }
    let ask = pending[index].ask
    count(ask, -1)
    pending[index].isGone = true
    pending[index].operation = nil
    forecast = nil
    trim()
    return ask.hasEffect
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

  /// Where a recorded body has begun, and the entry that it will be.
  struct Entrance: Sendable {
    let slot: ID
    let entry: ID
  }

  /// A recorded body begins in `operation`. Its entry is the one that the operation on the lane was
  /// to become, or else `spare`. Nil if the lane has gone on meanwhile.
  ///
  /// `leftIn` is the slot of the body that has left it behind. Waiting undos then mean that body.
  mutating func enter(in operation: ID, leftIn left: ID?, spare: ID) -> Entrance? {
    switch turn {
    case .running(var run) where run.slot <= operation:
      let entry = run.isClaimed ? spare : run.slot
      run.isClaimed = true
      run.bodies += 1
      turn = .running(run)
      return Entrance(slot: run.slot, entry: entry)
    case .done(let present, let promised) where present <= operation:
      pending = HistoryStack([Pending(id: present, ask: .recording)] + pending)
      recordings += 1
      forecast = nil
      let run = Run(
        slot: present, promised: left == present ? spare : promised, isClaimed: true, bodies: 1)
      turn = .running(run)
      return Entrance(slot: present, entry: spare)
    case .free, .running, .done:
      return nil
    }
  }

  enum BodyEnd {
    /// The lane is still that of the body.
    case inTurn
    /// The same, and what was asked to be cleared inside of it is cleared now.
    case clears
    /// A task that a wrapper has left behind: the lane has gone on without it.
    case late
  }

  /// A recorded body, or the body of a group, is over.
  mutating func endBody(in slot: ID) -> BodyEnd {
    guard case .running(var run) = turn, run.slot == slot, run.bodies > 0 else { return .late }
    run.bodies -= 1
    defer { turn = .running(run) }
    guard run.bodies == 0, case .clearsWhenOver = run.fate else { return .inTurn }
    run.fate = .cleared
    return .clears
  }

  /// Whether what runs is not recorded any more.
  var isCleared: Bool {
    guard case .running(let run) = turn else { return false }
    return switch run.fate {
    case .kept: false
    case .cleared, .clearsWhenOver: true
    }
  }

  /// The result of the running operation is this entry, and undos that wait for it mean this one.
  mutating func become(_ entry: ID) {
    var run = run
    if run.promised != entry {
      // It expects the entry that was promised.
      forecast = nil
      if moves > 0 { retarget(from: run.promised, to: entry) }
    }
    run.promised = entry
    turn = .running(run)
  }

  private mutating func retarget(from old: ID, to new: ID) {
    for index in pending.indices {
      pending[index].ask = pending[index].ask.retargeted(from: old, to: new)
    }
  }

  /// A body has done what the operation was asked for: as in the forecast, or otherwise.
  mutating func finish(asForecast: Bool) {
    let run = run
    if !asForecast || run.bodies > 0 || pending.count == 1 { forecast = nil }
    guard run.bodies == 0, !pending.isEmpty else { return }
    count(pending[0].ask, -1)
    pending.removeFirst()
    trim()
    turn = .done(slot: run.slot, promised: run.promised)
    // It has come true for the most part: what is left is forecast anew.
    if let forecast, forecast.size > 2 * pending.count + 64 { self.forecast = nil }
  }

  private var run: Run {
    guard case .running(let run) = turn else {
      preconditionFailure("What ends has begun in the slot that holds the lane.")
    }
    return run
  }

  // MARK: Clearing

  /// The history is to be cleared: from inside of the running operation, in whose hands the records
  /// are, only when it is over. Returns whether it is cleared now.
  mutating func clear(isInside: Bool, isMoving: Bool) -> Bool {
    if case .running(var run) = turn {
      switch run.fate {
      case .kept, .cleared:
        run.fate = isInside ? .clearsWhenOver(isCleared: run.fate.isCleared) : .cleared
      case .clearsWhenOver(let isCleared):
        run.fate = .clearsWhenOver(isCleared: isCleared || !isInside)
      }
      turn = .running(run)
      if isInside { return false }
    }
    unbind(fromFirst: !isMoving)
    return true
  }

  /// The running move is over. Returns whether the history is to be cleared now.
  mutating func endMove() -> Bool {
    guard case .clearsWhenOver = run.fate else { return false }
    unbind(fromFirst: false)
    return true
  }

  /// Waiting undos and redos find nothing.
  mutating func unbind(fromFirst: Bool = false) {
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

  /// Computes what will be when everything asked for has run, if that is not known.
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

  private func willBeRecorded(_ index: Int) -> Bool {
    guard index == 0, case .running(let run) = turn else { return true }
    return !run.fate.isCleared
  }

  /// The entry that undos mean which are for this execution.
  private func entry(at index: Int) -> ID {
    guard index == 0, case .running(let run) = turn else { return pending[index].id }
    return run.promised
  }
}
