import UseCase

/// The operations on the lane of a history: the one that has it, and behind it those that wait, in
/// the order of their admission.
///
/// The name of an operation on the lane is the entry that it may become. Here `holder`, `operation`
/// and `left` name operations, and `entry`, `promised` and `spare` name entries.
struct HistoryLine: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Ask = HistoryAsks.Element

  private struct Run: Sendable {
    let holder: ID
    /// The target of an undo called now.
    var promised: ID
    /// Whether a body has taken the id of the operation for its entry.
    var isClaimed = false
    /// How many recorded bodies run.
    var bodies = 0
    /// Whether the history was cleared meanwhile.
    var isCleared = false
    /// Whether a `clear` from inside takes effect when the operation is over.
    var clearsWhenOver = false
    /// When its operation was asked for, once that has left the line.
    var asked: MergeWindow.Asked?
  }

  private enum Turn {
    /// No operation has the lane. Next is `running`.
    case free
    /// The first of the line has the lane. Next is `done`, or `free`.
    case running(Run)
    /// The operation has done its work and left the line, and code may still run in its slot. Next
    /// is `free`, or `running` if another recorded body begins there.
    case done(Run)
  }

  private var asks = HistoryAsks()
  private var turn = Turn.free
  /// Kept while operations are only admitted, and computed anew after all else.
  private var forecast: HistoryForecast?
  /// Grows with each change that readers see.
  private(set) var version: UInt64 = 0
}

// MARK: - Reading

extension HistoryLine {
  private var run: Run? {
    if case .running(let run) = turn { run } else { nil }
  }

  private func running(_ event: String) -> Run {
    guard let run else { preconditionFailure("\(event) needs an operation that runs: \(turn).") }
    return run
  }

  /// The ask of the operation that has the lane, if it may change the history.
  private var running: Ask? {
    run == nil ? nil : asks.first.flatMap { $0.hasEffect && !$0.isUncertain ? $0 : nil }
  }

  /// The operation that has the lane.
  var ask: Ask {
    guard run != nil, let ask = asks.first else {
      preconditionFailure("A body or a move begins without the lane: \(turn).")
    }
    return ask
  }

  var isBusy: Bool { asks.contains { $0.hasEffect && !$0.isGone } }

  /// Whether something waits or runs that becomes an entry unless it fails.
  var isRecording: Bool {
    asks.contains { $0.move == nil && !$0.isUncertain && !$0.isGone }
  }

  /// Whether something waits or runs that may become an entry.
  private var mayRecord: Bool { asks.contains { $0.move == nil && !$0.isGone } }

  /// Whether something has the lane that may change the history.
  var isRunning: Bool { running != nil }

  /// The undo, redo or move that has the lane.
  var runningMove: ID? { running.flatMap { $0.move == nil ? nil : $0.id } }

  /// Whether a result of the running operation is not recorded.
  var losesResults: Bool {
    let run = running("A result")
    return run.isCleared || run.clearsWhenOver
  }

  /// The execution that waits or runs and will be this entry.
  func operation(of entry: ID) -> (any AdmittedOperation)? {
    let index = run?.promised == entry ? asks.startIndex : asks.index(of: entry)
    return index.flatMap { asks[$0].operation }
  }
}

// MARK: - Waiting

extension HistoryLine {
  /// An execution or a group is admitted, or, without an operation, an undo, a redo or a move, which
  /// is bound to its target.
  mutating func admit<Step>(
    _ id: ID, _ move: HistoryMove?, _ operation: (any AdmittedOperation)?,
    isUncertain: Bool = false, _ asked: MergeWindow.Asked, in pool: HistoryPool<Step>
  ) {
    let ask = Ask(
      id: id, move: move, target: target(of: move, in: pool), operation: operation, asked: asked,
      isUncertain: isUncertain)
    if ask.hasEffect { version += 1 }
    append(ask, in: pool)
  }

  private mutating func target<Step>(of move: HistoryMove?, in pool: HistoryPool<Step>) -> ID? {
    switch move {
    case .undo: undoTarget(of: pool)
    case .redo: redoTarget(of: pool)
    case .undoIn(let document): undoTarget(in: document, of: pool)
    case .redoIn(let document): redoTarget(in: document, of: pool)
    case nil, .move, .undoEntry, .redoEntry: nil
    }
  }

  private mutating func append<Step>(_ ask: consuming Ask, in pool: HistoryPool<Step>) {
    if forecast != nil, !ask.isGone {
      if let move = ask.move {
        forecast?.foresee(move, for: ask.target, isRunning: false, in: pool)
      } else {
        forecast?.record(ask.id, touching: ask.footprint, in: pool)
      }
    }
    asks.append(ask)
  }

  /// The newest executions were asked for at this time.
  mutating func time(_ now: Duration) { asks.time(now) }

  /// The executions that have not been asked yet what they are going to touch.
  var undescribed: [(id: ID, operation: any AdmittedOperation)] { asks.undescribed }

  /// Executions are going to touch these, if they are still there. Returns footprints to release.
  mutating func describe(_ footprints: [(id: ID, footprint: HistoryFootprint)])
    -> [HistoryFootprint]
  {
    if asks.describe(footprints) { forgetForecast() }
    return asks.takeLeftFootprints()
  }

  /// The first of the line has the lane, in a history that is saved or not.
  mutating func start(_ id: ID, isSaved: Bool) {
    guard case .free = turn, asks.first?.id == id else {
      preconditionFailure("\(id) starts out of turn: \(turn).")
    }
    turn = .running(Run(holder: id, promised: id))
    // A move that runs makes a clean history dirty, and changes nothing else.
    if isSaved, runningMove != nil { version += 1 }
  }

  /// The operation has given the lane back, or left while it waited.
  ///
  /// If it has succeeded and recorded nothing, undos and redos behind it are for the entries that they
  /// would be for without it.
  mutating func leave<Step>(_ id: ID, hasSucceeded: Bool, in pool: HistoryPool<Step>) {
    switch turn {
    case .done(let run) where run.holder == id:
      turn = .free
      return
    case .running(let run) where run.holder == id: turn = .free
    case .free, .running, .done: break
    }
    guard let index = asks.index(of: id) else {
      preconditionFailure("\(id) leaves, and is not in line: \(turn).")
    }
    if asks[index].hasEffect { version += 1 }
    forgetForecast()
    let recordsNothing = hasSucceeded && asks[index].isUncertain
    asks.remove(at: index)
    if recordsNothing { bindAgain(in: pool) }
  }

  /// Binds the undos and redos that have a target, as if they were called now.
  private mutating func bindAgain<Step>(in pool: HistoryPool<Step>) {
    for var ask in asks.takeAll() {
      if ask.target != nil { ask.target = target(of: ask.move, in: pool) }
      append(ask, in: pool)
    }
  }
}

// MARK: - Running

extension HistoryLine {
  /// A recorded body begins in `operation`, which has the lane, or is a guest of the one that has
  /// it, and younger. Returns the entry that the body will be: the first body that with the id of the
  /// operation on the lane, and each other body `spare`.
  ///
  /// `left` is the holder in the time of the body that has left this one behind, in a task. If it
  /// still has the lane, waiting undos are for this body from now on.
  mutating func enter(in operation: ID, leftIn left: ID?, spare: ID) -> ID {
    switch turn {
    case .running(var run) where run.holder <= operation:
      let entry = run.isClaimed ? spare : run.holder
      if asks.first?.isUncertain == true {
        asks[asks.startIndex].isUncertain = false
        version += 1
      }
      run.isClaimed = true
      run.bodies += 1
      turn = .running(run)
      return entry
    case .done(let done) where done.holder <= operation:
      guard let asked = done.asked else { preconditionFailure("\(done) has left the line.") }
      let promised = left == done.holder ? spare : done.promised
      turn = .running(Run(holder: done.holder, promised: promised, isClaimed: true, bodies: 1))
      asks.insertFirst(Ask(id: done.holder, move: nil, asked: asked))
      version += 1
      forgetForecast()
      return spare
    case .free, .running, .done:
      preconditionFailure("A body begins in \(operation), which has not the lane: \(turn).")
    }
  }

  /// A recorded body, or the body of a group, is over. Returns whether a `clear` from inside takes
  /// effect now.
  mutating func bodyEnded(_ holder: ID) -> Bool {
    guard case .running(var run) = turn, run.holder == holder, run.bodies > 0 else {
      fatalError(
        """
        A task called `main` of a recorded use case, and outlived the operation in whose slot it \
        ran. Execute the use case instead. (\(holder) ends: \(turn).)
        """)
    }
    run.bodies -= 1
    let clears = run.bodies == 0 && run.clearsWhenOver
    turn = .running(run)
    if clears { unbind(fromFirst: false) }
    return clears
  }

  /// The running operation has done its work, unless other bodies run in its slot. If it has become
  /// an entry, undos that wait for it mean this one.
  mutating func settle(as entry: ID? = nil) {
    if isRunning { version += 1 }
    forgetForecast()
    var run = running("The end of a body or a move")
    if let entry, entry != run.promised {
      for index in asks.indices where asks[index].target == run.promised {
        asks[index].target = entry
      }
      run.promised = entry
    }
    if run.bodies > 0 {
      turn = .running(run)
    } else {
      run.asked = asks.first?.asked
      turn = .done(run)
      asks.remove(at: asks.startIndex)
    }
  }

  /// The history is to be cleared: from inside of the running operation, in whose hands the records
  /// are, only when it is over. Returns whether it is cleared now.
  mutating func askToClear(isInside: Bool, isMoving: Bool) -> Bool {
    if var run {
      if isInside { run.clearsWhenOver = true } else { run.isCleared = true }
      turn = .running(run)
      if isInside { return false }
    }
    unbind(fromFirst: !isMoving)
    return true
  }

  /// The running move is over. Returns whether the history is to be cleared now.
  mutating func endMove() -> Bool {
    guard running("The end of a move").clearsWhenOver else { return false }
    unbind(fromFirst: false)
    return true
  }

  /// Waiting undos and redos find nothing.
  private mutating func unbind(fromFirst: Bool) {
    for index in asks.indices where fromFirst || index > asks.startIndex {
      asks[index].target = nil
    }
    forgetForecast()
  }
}

// MARK: - Looking ahead

extension HistoryLine {
  /// Entries have left that the forecast has.
  mutating func forgetForecast() {
    // To look costs less than to write.
    if forecast != nil { forecast = nil }
  }

  /// The entry of the document that an undo called now is for.
  mutating func undoTarget<Step>(
    in document: HistoryFootprint = .everything, of pool: HistoryPool<Step>
  ) -> ID? {
    if asks.isEmpty, document == .everything { return pool.undoID }
    lookAhead(in: pool)
    return forecast?.undoTarget(in: document, of: pool)
  }

  /// The entry of the document that a redo called now is for.
  ///
  /// A redo behind an execution is for the next entry in case that the execution fails: a failed
  /// execution does not cost the branch. If it will be undone before, the redo is for that.
  mutating func redoTarget<Step>(
    in document: HistoryFootprint = .everything, of pool: HistoryPool<Step>
  ) -> ID? {
    if asks.isEmpty, document == .everything { return pool.redoID }
    lookAhead(in: pool)
    let target = forecast?.redoTarget(in: document, of: pool)
    if let target, target.isFresh { return target.id }
    return mayRecord
      ? simulate(recordingsFail: true, in: pool).redoTarget(in: document, of: pool)?.id : nil
  }

  /// The entries of the document that can be undone and redone when all executions that wait have
  /// succeeded, if those that are uncertain record nothing.
  mutating func shownTargets<Step>(
    in document: HistoryFootprint, of pool: HistoryPool<Step>
  ) -> (undo: ID?, redo: ID?) {
    let isWhole = document == .everything
    if asks.isEmpty, isWhole { return (pool.undoID, pool.redoID) }
    let shown: HistoryForecast?
    if asks.contains(where: \.isUncertain) {
      shown = simulate(recordingsFail: false, uncertainOnesRecord: false, in: pool)
    } else {
      lookAhead(in: pool)
      shown = forecast
    }
    let undo = shown?.undoTarget(in: document, of: pool)
    if isWhole, isRecording { return (undo, nil) }
    return (undo, shown?.redoTarget(in: document, of: pool)?.id)
  }

  private mutating func lookAhead<Step>(in pool: HistoryPool<Step>) {
    if forecast == nil { forecast = simulate(recordingsFail: false, in: pool) }
  }

  private func simulate<Step>(
    recordingsFail: Bool, uncertainOnesRecord: Bool = true, in pool: HistoryPool<Step>
  ) -> HistoryForecast {
    var forecast = HistoryForecast(of: pool)
    var isBoundAnew = false
    for ask in asks where !ask.isGone {
      if ask.isUncertain, !uncertainOnesRecord {
        isBoundAnew = true
        continue
      }
      let run = ask.id == run?.holder ? run : nil
      if let move = ask.move {
        let target =
          isBoundAnew && ask.target != nil ? forecast.target(of: move, in: pool) : ask.target
        forecast.foresee(move, for: target, isRunning: run != nil && pool.isMoving, in: pool)
      } else if !recordingsFail, run?.isCleared != true {
        // The target of undos that are called right after this execution.
        forecast.record(run?.promised ?? ask.id, touching: ask.footprint, in: pool)
      }
    }
    return forecast
  }
}
