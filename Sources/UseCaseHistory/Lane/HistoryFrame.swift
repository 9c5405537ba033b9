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
