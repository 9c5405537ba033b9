import Synchronization
import UseCase

/// The place of the running code, as a task-local value: in a recorded body, an undo or a redo, or
/// in the body of a group. Tasks made there inherit the frame and may outlive it.
final class HistoryFrame: Sendable {
  typealias ID = HistoryEntry.ID

  enum Role {
    /// A recorded body, which becomes an entry or a part.
    case body
    /// An undo or a redo, or a body called in one of them or in another body, which answers for it.
    case answered
    /// The body of a group.
    case group(GroupLine)
  }

  private static var innermost: HistoryFrame? { HeldSlots.frame.get() as? HistoryFrame }

  let role: Role
  /// The entry that the body becomes, or that is undone or redone.
  let entry: ID
  /// Only named, not kept: a task that was made in here may live longer than the history.
  private let history: ID
  /// A body may call the recorded use cases of another history.
  private let outer: HistoryFrame?
  private let isOver = Atomic(false)

  init(_ role: Role, of entry: ID, in history: ID) {
    self.role = role
    self.entry = entry
    self.history = history
    outer = Self.innermost
  }

  /// The innermost frame in which code runs.
  static var current: HistoryFrame? { innermost?.running { _ in true } }

  /// The innermost frame of the history in which code runs.
  static func current(in history: ID) -> HistoryFrame? {
    innermost?.running { $0.history == history }
  }

  /// The innermost frame of the history around the code, whether that frame has ended or not.
  static func innermost(in history: ID) -> HistoryFrame? {
    innermost?.first { $0.history == history }
  }

  private func running(where isMeant: (HistoryFrame) -> Bool) -> HistoryFrame? {
    first { !$0.isOver.load(ordering: .relaxed) && isMeant($0) }
  }

  private func first(where isMeant: (HistoryFrame) -> Bool) -> HistoryFrame? {
    var next: HistoryFrame? = self
    while let frame = next {
      if isMeant(frame) { return frame }
      next = frame.outer
    }
    return nil
  }

  /// The innermost line that is meant, of the groups of the history around the code, whether these have
  /// ended or not.
  static func line(in history: ID, where isMeant: (GroupLine) -> Bool) -> GroupLine? {
    var next = innermost
    while let frame = next {
      if frame.history == history, case .group(let line) = frame.role, isMeant(line) {
        return line
      }
      next = frame.outer
    }
    return nil
  }

  /// Runs `body` in no frame. An operation that it executes must not inherit one.
  static func outside<Value>(_ body: () -> Value) -> Value {
    innermost == nil ? body() : HeldSlots.frame.withValue(nil, operation: body)
  }

  /// Runs `body` in this frame.
  nonisolated(nonsending) func run<Value>(
    _ body: nonisolated(nonsending) () async throws -> Value
  ) async rethrows -> Value {
    try await HeldSlots.frame.withValue(self) { try await body() }
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
    case .body, .answered: frame.entry
    case .group: nil
    }
  }
}
