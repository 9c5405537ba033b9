import UseCase

/// One execution that can be undone, whatever the types of its request and response.
///
/// A step never changes: a redo makes another one, with the new response.
protocol HistoryStep: AnyObject, Sendable {
  var title: String { get }
  /// Whether it can be undone and redone as it is.
  var standing: HistoryEntry.Standing { get }
  var footprint: HistoryFootprint { get }
  /// Throws if it is not undone. Returns the error of an interceptor that came after that.
  ///
  /// The scope is nil, except for a step of a journal that has transactions.
  func undo(in scope: StepScope?) async throws -> (any Error)?
  /// Throws if it is not redone. Returns the new step, and the error that came after that.
  func redo(in scope: StepScope?) async throws -> (any HistoryStep, failure: (any Error)?)
  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep>
  /// Tells the use case. Returns false if that is left to a version of the app that can read it.
  @discardableResult
  func discard(_ reason: HistoryDiscardReason) -> Bool
  /// Its undo or redo has thrown `HistoryObsolete`. Returns the id of the place that the rest of its
  /// group is.
  func noteObsolete() -> HistoryEntry.ID
  /// The use case and values that a journal encodes. A step that is in a journal has bytes instead.
  var values: (useCase: any Any.Type, request: Any, response: Any) { get }
}

/// Runs a body in a transaction, inside of all interceptors, and returns the step that the body has
/// made or undone.
typealias StepScope =
  @Sendable (_ body: @Sendable () async throws -> any HistoryStep) async throws
  -> any HistoryStep

extension HistoryRecord<any HistoryStep> {
  var title: String {
    switch content {
    case .single(let step): step.title
    case .keyed(let keyed): keyed.step.title
    case .group(let group): group.title
    }
  }

  /// Returns the record as clients see it, with so many steps applied.
  func entry(applied: Int) -> HistoryEntry {
    entry(applied: applied, title: { $0.title }, standing: { $0.standing })
  }
}

extension HistoryStep {
  var standing: HistoryEntry.Standing { .normal }
  func noteObsolete() -> HistoryEntry.ID { .next() }
}

extension HistoryRecord.Content where Step == any HistoryStep {
  /// Asks the use case for the footprint of the step. Call it outside of locks.
  init(_ step: any HistoryStep) { self.init(step, touching: step.footprint) }
}

extension HistoryPlan<any HistoryStep> {
  /// The entries that have been undone or redone, in this order.
  var entries: [HistoryEntry] {
    (0..<moved).compactMap { isObsolete($0) ? nil : entry(at: $0) }
  }

  var entry: HistoryEntry? { hasResult ? entry(at: 0) : nil }

  private func entry(at index: Int) -> HistoryEntry {
    let record = records[index]
    return record.entry(applied: isRedo ? record.size : 0)
  }
}

/// The fate of a step that is recorded right behind another.
enum HistoryMerging<Step: Sendable>: Sendable {
  case separate
  case merged(Step)
  case annul

  func map<Other>(_ transform: (Step) -> Other) -> HistoryMerging<Other> {
    switch self {
    case .separate: .separate
    case .merged(let step): .merged(transform(step))
    case .annul: .annul
    }
  }
}
