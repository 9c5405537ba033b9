import Synchronization
import UseCase

/// The place of the running code, as a task-local value: in a recorded body, an undo or a redo, or
/// in the body of a group. Tasks made there inherit the frame and may outlive it.
final class HistoryFrame: Sendable {
  typealias ID = HistoryEntry.ID

  enum Role {
    /// A recorded body that becomes an entry, an undo or a redo, or a body called in one of them.
    case body
    /// A body that becomes a part of this group.
    case part(of: ID)
    case group(ID)
  }

  /// An enum of its own, because an `Optional` is copied by way of its metadata.
  enum Place: Sendable {
    case nowhere
    case inside(HistoryFrame)
  }

  static let local = TaskLocal(wrappedValue: Place.nowhere)

  let role: Role
  /// The entry, and the operation that makes it.
  let entrance: HistoryLane.Entrance
  /// The innermost operation around the code that made the frame.
  let operation: UseCaseOperationID?
  /// Only named, not kept: a task that was made in here may live longer than the history.
  private let history: ID
  /// A body may call the recorded use cases of another history.
  private let outer: HistoryFrame?
  private let isOver = Atomic(false)

  init(
    _ role: Role, _ entrance: HistoryLane.Entrance, of history: ID,
    in operation: UseCaseOperationID?, inside here: HistoryFrame?
  ) {
    self.role = role
    self.entrance = entrance
    self.operation = operation
    self.history = history
    outer = here?.running { _ in true }
  }

  /// Creates the frame of a move, for an entry that it undoes or redoes. A move is executed outside
  /// of all frames.
  convenience init(
    of move: ID, _ operation: UseCaseOperationID, for entry: ID, of history: ID
  ) {
    self.init(
      .body, HistoryLane.Entrance(holder: move, entry: entry), of: history, in: operation,
      inside: nil)
  }

  /// The group of which the body becomes a part.
  var group: ID? {
    if case .part(let group) = role { group } else { nil }
  }

  /// Returns a frame in this one for the undo or redo of another entry.
  func frame(of entry: ID) -> HistoryFrame {
    HistoryFrame(
      .body, HistoryLane.Entrance(holder: entrance.holder, entry: entry), of: history,
      in: operation,
      inside: self)
  }

  /// The innermost frame, whether code runs in it or not.
  static var innermost: HistoryFrame? {
    switch local.get() {
    case .nowhere: nil
    case .inside(let frame): frame
    }
  }

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
  static func leave<Value>(_ here: HistoryFrame?, _ body: () -> Value) -> Value {
    here == nil ? body() : local.withValue(.nowhere, operation: body)
  }

  func end() { isOver.store(true, ordering: .relaxed) }
}
