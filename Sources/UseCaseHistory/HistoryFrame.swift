import Synchronization
import UseCase

/// Where the running code is, as a task-local value: in a recorded body, an undo or a redo, or in
/// the body of a group. Tasks made there inherit it and may outlive it.
///
/// A jump, a group and what is executed by a wrapper have a frame when they are asked of the lane,
/// too: the observer of the lane, which is called on the thread that asks, learns from it what is
/// asked. Undo and redo, which it knows by their types, do without: a task is made with a copy of
/// every task-local value.
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

  private enum Stage: UInt8, AtomicRepresentable {
    case asked, running, over
  }

  static let local = TaskLocal(wrappedValue: Place.nowhere)

  /// Only named, not kept: a task that was made in here may live longer than the history.
  private let history: HistoryEntry.ID
  let role: Role
  /// A body may call the recorded use cases of another history.
  private let outer: HistoryFrame?
  private let question: HistoryQuestion
  private let isHeard: Atomic<Bool>
  private let stage: Atomic<Stage>

  private init(
    _ role: Role, of ledger: HistoryLedger, in outer: HistoryFrame?, _ question: HistoryQuestion,
    hasBegun: Bool
  ) {
    self.role = role
    history = ledger.beginning
    self.outer = outer
    self.question = question
    isHeard = Atomic(hasBegun)
    stage = Atomic(hasBegun ? .running : .asked)
  }

  /// A frame in which code begins to run.
  convenience init(_ role: Role, of ledger: HistoryLedger, in outer: HistoryFrame?) {
    self.init(role, of: ledger, in: outer, HistoryQuestion(.execution), hasBegun: true)
  }

  /// The frame of what is being asked of the lane. What is executed has none around it, since it
  /// holds no lane but its own; what is called is inside of who calls it.
  convenience init(
    _ question: HistoryQuestion, of ledger: HistoryLedger, in outer: HistoryFrame? = nil
  ) {
    self.init(.body, of: ledger, in: outer, question, hasBegun: false)
  }

  /// The innermost frame, whether code runs in it or not.
  static var innermost: HistoryFrame? {
    switch local.get() {
    case .nowhere: nil
    case .inside(let frame): frame
    }
  }

  /// The innermost frame in which code runs.
  static var current: HistoryFrame? { innermost?.running }

  /// This frame, or the next around it in which code runs.
  var running: HistoryFrame? {
    var frame = self
    while !frame.isRunning {
      guard let outer = frame.outer else { return nil }
      frame = outer
    }
    return frame
  }

  private var isRunning: Bool { stage.load(ordering: .relaxed) == .running }

  /// Returns the innermost role in the history of `ledger` that code has which runs in this frame.
  func role(in ledger: HistoryLedger) -> Role? {
    var next: HistoryFrame? = self
    while let frame = next {
      if frame.isOf(ledger), frame.isRunning { return frame.role }
      next = frame.outer
    }
    return nil
  }

  func isOf(_ ledger: HistoryLedger) -> Bool { history == ledger.beginning }

  /// The body that was executed first, and for which this frame was made, begins. Returns false if
  /// it has begun before, or the frame is that of another question, in which no code runs.
  func beginBody() -> Bool {
    guard case .execution = question.ask else { return false }
    return stage.compareExchange(expected: .asked, desired: .running, ordering: .relaxed).exchanged
  }

  func end() { stage.store(.over, ordering: .relaxed) }

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
