import Synchronization
import UseCase

/// The place of the running code, as a task-local value: in a recorded body, an undo or a redo, or
/// in the body of a group. Tasks made there inherit the frame and may outlive it.
final class HistoryFrame: Sendable {
  typealias ID = HistoryEntry.ID

  enum Role {
    /// A recorded body that becomes an entry.
    case body
    /// A body that becomes a part of this group, as soon as nothing is in its line.
    case part(of: ID, behind: UseCaseQueue?)
    /// An undo or a redo, or a body called in one of them or in another body, which answers for it.
    case answered
    case group(GroupLine)
  }

  static let local = TaskLocal<HistoryFrame?>(wrappedValue: nil)

  let role: Role
  /// The entry that the body becomes, or that is undone or redone.
  let entry: ID
  /// The operation that has the lane for it.
  let holder: ID
  /// The innermost operation around the code that made the frame.
  let operation: UseCaseOperationID?
  /// Only named, not kept: a task that was made in here may live longer than the history.
  private let history: ID
  /// A body may call the recorded use cases of another history.
  private let outer: HistoryFrame?
  private let isOver = Atomic(false)

  init(
    _ role: Role, of entry: ID, by holder: ID, in history: ID, operation: UseCaseOperationID?,
    inside here: HistoryFrame?
  ) {
    self.role = role
    self.entry = entry
    self.holder = holder
    self.operation = operation
    self.history = history
    outer = here?.running { _ in true }
  }

  /// The group of which the body becomes a part.
  var group: ID? {
    if case .part(let group, _) = role { group } else { nil }
  }

  /// The line of parts that the body has to let go first.
  var line: UseCaseQueue? {
    if case .part(_, let line) = role { line } else { nil }
  }

  /// Whether the body is recorded, as an entry or as a part.
  var isRecorded: Bool {
    switch role {
    case .body, .part: true
    case .answered, .group: false
    }
  }

  /// Returns a frame in this one for the undo or redo of another entry.
  func frame(of entry: ID) -> HistoryFrame {
    HistoryFrame(
      .answered, of: entry, by: holder, in: history, operation: operation, inside: self)
  }

  /// The innermost frame, whether code runs in it or not.
  static var innermost: HistoryFrame? { local.get() }

  /// The innermost frame in which code runs.
  static var current: HistoryFrame? { innermost?.running { _ in true } }

  /// Returns the innermost frame of the history in which code runs, this one or one around it.
  func running(of history: ID) -> HistoryFrame? { running { $0.history == history } }

  private func running(where isMeant: (HistoryFrame) -> Bool) -> HistoryFrame? {
    var next: HistoryFrame? = self
    while let frame = next {
      if !frame.isOver.load(ordering: .relaxed), isMeant(frame) { return frame }
      next = frame.outer
    }
    return nil
  }

  /// Runs `body` in no frame. The caller may run in a frame, `here`, although it has lost the lane.
  /// The handlers of the operation that it executes must not inherit that frame.
  static func outside<Value>(of here: HistoryFrame?, _ body: () -> Value) -> Value {
    here == nil ? body() : local.withValue(nil, operation: body)
  }

  func end() { isOver.store(true, ordering: .relaxed) }
}

// MARK: - How a body, a group or a move begins

extension HistoryLedger {
  /// A recorded use case of this type begins: its `main` is called. Returns the frame in which it
  /// runs, nil if it is executed first, which makes an operation of its own for it.
  ///
  /// 1. The code does not run on the lane: a wrapper on another queue calls `main`. It is executed.
  ///
  ///        other queue:  wrapper { main ← we are here }
  ///
  /// 2. It runs inside a recorded body, an undo or a redo, which answers for it.
  ///
  ///        lane:  recorded body { main ← we are here }
  ///
  /// 3. It runs in the body of a group, and becomes a part of it.
  ///
  ///        lane:  group { main ← we are here }
  ///
  /// 4. A wrapper on the lane calls it, or an operation on another queue that runs inside of one on
  ///    the lane, or a task that was left behind by a body which is over. It is executed: as a guest
  ///    in the slot, which stays occupied whatever its caller does, or on its own if the slot was
  ///    given back meanwhile.
  ///
  ///        lane:  wrapper { main ← we are here }
  ///        lane:  use case of a client { other queue:  wrapper { main ← we are here } }
  ///        lane:  recorded body { Task { … } }   … main ← we are here
  ///
  /// 5. It is the body of an operation on the lane, and is recorded.
  ///
  ///        lane:  main ← we are here
  ///
  /// 6. The same, as a guest of an undo, a redo or a move, which rides a shared run that others
  ///    began. It only runs: nothing is recorded while entries move.
  ///
  ///        lane:  undo { rider of  other queue:  run { guest on the lane:  main ← we are here } }
  func frame(forBodyOf useCaseType: any Any.Type, on lane: UseCaseQueue) -> HistoryFrame? {
    let (here, body) = (HistoryFrame.innermost, lane.operationHere(executing: useCaseType))
    guard let operation = body ?? (lane.isHeldHere ? UseCaseQueue.operationHere : nil)
    else { return nil }  // 1
    func frame(_ role: HistoryFrame.Role, _ entry: HistoryEntry.ID, by holder: HistoryEntry.ID)
      -> HistoryFrame
    {
      HistoryFrame(
        role, of: entry, by: holder, in: history, operation: operation, inside: here)
    }
    if let outer = here?.running(of: history) {
      switch outer.role {
      case .body, .part, .answered: return frame(.answered, outer.entry, by: outer.holder)  // 2
      case .group(let line) where change({ $0.groups.openPart(in: line.group) }):
        let role = HistoryFrame.Role.part(of: line.group, behind: line.queueBefore)
        return frame(role, nextID(), by: outer.holder)  // 3
      case .group: break
      }
    }
    guard body != nil, here?.operation != operation else { return nil }  // 4
    let (id, spare) = (id(of: operation), nextID())
    let (isRecorded, entry, holder) = change {
      $0.enter(in: id, leftIn: here?.holder, spare: spare)
    }
    return frame(isRecorded ? .body : .answered, entry, by: holder)  // 5, 6
  }

  /// Returns a frame for the body of the operation that holds the lane, and for the entry that it
  /// will be.
  func frame(_ role: (HistoryEntry.ID) -> HistoryFrame.Role) -> HistoryFrame {
    guard let operation = UseCaseQueue.operationHere else {
      preconditionFailure("A body on the lane runs in an operation.")
    }
    let id = id(of: operation)
    return HistoryFrame(
      role(id), of: id, by: id, in: history, operation: operation, inside: .innermost)
  }

  /// A move is executed outside of all frames.
  func frame(of entry: HistoryEntry.ID, in move: HistoryEntry.ID) -> HistoryFrame {
    HistoryFrame(
      .answered, of: entry, by: move, in: history,
      operation: operation(of: move), inside: nil)
  }
}

extension HistoryEntry.ID {
  /// The identity of the entry whose `main`, `undo`, `redo` or `settle` runs here, `nil` elsewhere.
  ///
  /// The identity doesn't change as long as the entry exists. Derive an idempotency key from it, so
  /// that a server can tell a repeated attempt from a new request. An entry can be undone and
  /// redone several times, so append the action and a *round* to the key, such as "undo 1". The
  /// round is a number that grows with each redo: let `main` return round 1 in its response, and
  /// let `redo` return a response with the next round. A repeated attempt then has the same round,
  /// and so the same key. Append a name of the journal, too, a new one for each new journal,
  /// because entries in another journal can have the same identities.
  ///
  /// A part of a group has its own identity. An execution has its own identity until it is merged
  /// into another entry.
  public static var current: HistoryEntry.ID? {
    guard let frame = HistoryFrame.current else { return nil }
    return switch frame.role {
    case .body, .part, .answered: frame.entry
    case .group: nil
    }
  }
}
