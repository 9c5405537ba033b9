import Synchronization
import UseCase

/// Where the running code is, as a task-local value: in a recorded body, an undo or a redo, or in
/// the body of a group. Tasks made there inherit it and may outlive it.
final class HistoryFrame: Sendable {
  enum Role {
    case body
    case group(Int)
  }

  @TaskLocal static var current: HistoryFrame?

  private let ledger: HistoryLedger
  private let role: Role
  /// A body may call the recorded use cases of another history.
  private let outer: HistoryFrame?
  private let isOver = Atomic(false)

  private init(_ role: Role, of ledger: HistoryLedger) {
    self.role = role
    self.ledger = ledger
    var outer = Self.current
    while let frame = outer, frame.isOver.load(ordering: .relaxed) { outer = frame.outer }
    self.outer = outer
  }

  /// Returns the innermost role that the running code has in the history of `ledger`.
  static func role(in ledger: HistoryLedger) -> Role? {
    var next = current
    while let frame = next {
      if frame.ledger === ledger, !frame.isOver.load(ordering: .relaxed) { return frame.role }
      next = frame.outer
    }
    return nil
  }

  /// Runs `body` in a frame of its own, which is over when it returns.
  static func enter<Value>(
    _ role: Role, of ledger: HistoryLedger, _ body: () async throws -> Value
  ) async rethrows -> Value {
    let frame = HistoryFrame(role, of: ledger)
    defer { frame.isOver.store(true, ordering: .relaxed) }
    return try await $current.withValue(frame, operation: body)
  }
}

/// What is being asked of the lane, for the observer of the lane, which is called on the thread
/// that asks. The body of what was asked inherits it, so it counts only once.
final class HistoryQuestion: Sendable {
  @TaskLocal static var current: HistoryQuestion?

  private let ask: HistoryAsk
  private let isHeard = Atomic(false)

  init(_ ask: HistoryAsk) {
    self.ask = ask
  }

  static func hear() -> HistoryAsk {
    guard let question = current, !question.isHeard.exchange(true, ordering: .relaxed) else {
      return .execution(title: nil)
    }
    return question.ask
  }
}
