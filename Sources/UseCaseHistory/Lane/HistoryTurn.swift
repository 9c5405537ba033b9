/// The turn of the operation that holds the lane of a history.
///
/// An operation and the entry that it may become have the same id. Here `holder`, `operation` and
/// `left` name operations, and `entry`, `promised` and `spare` name entries.
struct HistoryTurn: Sendable {
  typealias ID = HistoryEntry.ID

  /// The operation that held the lane when a recorded body began, and the entry that the body will
  /// be.
  struct Entrance: Sendable {
    let holder: ID
    let entry: ID
  }

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
  }

  private enum State {
    /// No operation holds the lane. Next is `running`.
    case free
    /// An operation holds the lane. Next is `done`, or `free`.
    case running(Run)
    /// The operation has done its work, and code may still run in its slot. Next is `free`, or
    /// `running` if another recorded body begins there.
    case done(holder: ID, promised: ID)
  }

  private var state = State.free

  // MARK: Reading

  var isFree: Bool {
    if case .free = state { true } else { false }
  }

  var isRunning: Bool {
    if case .running = state { true } else { false }
  }

  /// The entry of the running operation, as waiting undos know it.
  var promised: ID? {
    if case .running(let run) = state { run.promised } else { nil }
  }

  /// Whether the history was cleared since the running operation began.
  var isCleared: Bool {
    if case .running(let run) = state { run.isCleared } else { false }
  }

  /// Whether a result of the running operation is not recorded.
  var losesResults: Bool {
    if case .running(let run) = state { run.isCleared || run.clearsWhenOver } else { false }
  }

  /// Whether the history is to be cleared when the running operation is over.
  var clearsWhenOver: Bool { run.clearsWhenOver }

  private var run: Run {
    guard case .running(let run) = state else {
      preconditionFailure("A body runs in an operation that holds the lane.")
    }
    return run
  }

  // MARK: Changing

  mutating func start(_ id: ID) { state = .running(Run(holder: id, promised: id)) }

  /// The operation gives the lane back, if it has it. Returns whether it had done its work.
  mutating func leave(_ id: ID) -> Bool {
    switch state {
    case .done(id, _):
      state = .free
      return true
    case .running(let run) where run.holder == id:
      state = .free
      return false
    case .free, .running, .done: return false
    }
  }

  /// A recorded body begins in `operation`. The first body becomes the entry with the id of the
  /// operation on the lane, and each other body becomes `spare`.
  ///
  /// The operation holds the lane, or is a guest of the one that does, and younger.
  ///
  /// `left` is the holder in the time of the body that has left this one behind, in a task. If it
  /// still holds the lane, waiting undos are for this body from now on.
  mutating func enter(in operation: ID, leftIn left: ID?, spare: ID) -> Entrance {
    switch state {
    case .running(var run) where run.holder <= operation:
      let entry = run.isClaimed ? spare : run.holder
      run.isClaimed = true
      run.bodies += 1
      state = .running(run)
      return Entrance(holder: run.holder, entry: entry)
    case .done(let holder, let promised) where holder <= operation:
      let run = Run(
        holder: holder, promised: left == holder ? spare : promised, isClaimed: true, bodies: 1)
      state = .running(run)
      return Entrance(holder: holder, entry: spare)
    case .free, .running, .done:
      preconditionFailure("A body on the lane begins while it is held for it.")
    }
  }

  /// A recorded body, or the body of a group, is over. Returns whether a `clear` from inside takes
  /// effect now.
  mutating func endBody(in holder: ID) -> Bool {
    guard case .running(var run) = state, run.holder == holder, run.bodies > 0 else {
      preconditionFailure(
        """
        A task called `main` of a recorded use case, and outlived the operation in whose slot it \
        ran. Execute the use case instead.
        """)
    }
    run.bodies -= 1
    defer { state = .running(run) }
    guard run.bodies == 0, run.clearsWhenOver else { return false }
    (run.isCleared, run.clearsWhenOver) = (true, false)
    return true
  }

  /// The running operation becomes another entry than waiting undos know. Returns the one before.
  mutating func promise(_ entry: ID) -> ID {
    var run = run
    let old = run.promised
    run.promised = entry
    state = .running(run)
    return old
  }

  /// The operation has done its work. Returns false if other bodies run in its slot.
  mutating func finish() -> Bool {
    let run = run
    if run.bodies > 0 { return false }
    state = .done(holder: run.holder, promised: run.promised)
    return true
  }

  /// The history is to be cleared. Returns whether it is cleared now: not if the call came from
  /// inside of the running operation.
  mutating func clear(isInside: Bool) -> Bool {
    guard case .running(var run) = state else { return true }
    if isInside { run.clearsWhenOver = true } else { run.isCleared = true }
    state = .running(run)
    return !isInside
  }
}
