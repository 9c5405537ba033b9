import Synchronization
import UseCase

/// Where the running code is, as a task-local value: in a recorded body, an undo or a redo, or in
/// the body of a group. Tasks made there inherit it and may outlive it.
///
/// What is asked of the lane has its frame from then on: the observer of the lane, which is called
/// on the thread that asks, learns from it what is asked, and the body finds itself in it.
final class HistoryFrame: Sendable {
  enum Role {
    case body
    /// A body as well, which becomes a part of this group.
    case part(of: Int)
    case group(Int)
  }

  /// An enum of its own, because an `Optional` is copied by way of its metadata.
  enum Place: Sendable {
    case nowhere
    case inside(HistoryFrame)
  }

  static let local = TaskLocal(wrappedValue: Place.nowhere)

  /// Only named, not kept: a task that was made in here may live longer than the history.
  private let ledger: ObjectIdentifier
  let role: Role
  /// A body may call the recorded use cases of another history.
  private let outer: HistoryFrame?
  private let question: HistoryQuestion
  private let isHeard: Atomic<Bool>
  private let isOver: Atomic<Bool>

  private init(
    _ role: Role, of ledger: HistoryLedger, in outer: HistoryFrame?, _ question: HistoryQuestion,
    hasBegun: Bool
  ) {
    self.role = role
    self.ledger = ObjectIdentifier(ledger)
    self.outer = outer
    self.question = question
    isHeard = Atomic(hasBegun)
    isOver = Atomic(!hasBegun)
  }

  /// A frame in which code begins to run.
  convenience init(_ role: Role, of ledger: HistoryLedger, in outer: HistoryFrame?) {
    self.init(role, of: ledger, in: outer, HistoryQuestion(.execution), hasBegun: true)
  }

  /// The frame of what is being asked of the lane. It has none around it: what is executed holds
  /// no lane but its own.
  convenience init(_ question: HistoryQuestion, of ledger: HistoryLedger) {
    self.init(.body, of: ledger, in: nil, question, hasBegun: false)
  }

  /// The innermost frame that is not over.
  static var current: HistoryFrame? {
    guard case .inside(var frame) = local.get() else { return nil }
    while frame.isOver.load(ordering: .relaxed) {
      guard let outer = frame.outer else { return nil }
      frame = outer
    }
    return frame
  }

  /// Returns the innermost role in the history of `ledger` that code has which runs in this frame.
  func role(in ledger: HistoryLedger) -> Role? {
    var next: HistoryFrame? = self
    while let frame = next {
      if frame.ledger == ObjectIdentifier(ledger), !frame.isOver.load(ordering: .relaxed) {
        return frame.role
      }
      next = frame.outer
    }
    return nil
  }

  /// What was asked with this frame begins, or has ended.
  func begin() { isOver.store(false, ordering: .relaxed) }
  func end() { isOver.store(true, ordering: .relaxed) }

  /// Runs `body` in a frame of its own, which is over when it returns.
  static func enter<Value>(
    _ role: Role, of ledger: HistoryLedger, _ body: () async throws -> Value
  ) async rethrows -> Value {
    let frame = HistoryFrame(role, of: ledger, in: current)
    defer { frame.end() }
    return try await local.withValue(.inside(frame), operation: body)
  }

  /// What is being asked of the lane. The body of what was asked inherits the frame, so it counts
  /// only once.
  static func hear() -> HistoryQuestion {
    guard case .inside(let frame) = local.get(),
      !frame.isHeard.exchange(true, ordering: .relaxed)
    else { return HistoryQuestion(.execution) }
    return frame.question
  }
}
