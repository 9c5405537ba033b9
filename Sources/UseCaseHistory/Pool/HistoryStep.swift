import UseCaseInternals

/// One execution that can be undone, whatever the types of its request and response.
///
/// A step never changes: a redo makes another one, with the new response.
protocol HistoryStep: AnyObject, Sendable {
  var title: String { get }
  /// Whether it can be undone and redone as it is.
  var standing: HistoryEntry.Standing { get }
  var footprint: HistoryFootprint { get }
  func undo() async throws
  func redo() async throws -> any HistoryStep
  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep>
  /// Tells the use case. Returns false if that is left to a version of the app that can read it.
  @discardableResult
  func discard(_ reason: HistoryDiscardReason) -> Bool
  /// Its undo or redo has thrown `HistoryObsolete`. Returns the id of the place that the rest of its
  /// group is.
  func wasObsolete() -> HistoryEntry.ID
}

extension HistoryRecord<any HistoryStep> {
  /// Returns the record as clients see it, with so many steps applied.
  func entry(applied: Int) -> HistoryEntry {
    entry(applied: applied, title: { $0.title }, standing: { $0.standing })
  }
}

extension HistoryStep {
  var standing: HistoryEntry.Standing { .normal }
  func wasObsolete() -> HistoryEntry.ID { .next() }
}

extension HistoryRecord.Content where Step == any HistoryStep {
  /// Asks the use case for the footprint of the step. Call it outside of locks.
  init(_ step: any HistoryStep) { self.init(step, marks: step.footprint.marks) }
}

extension HistoryRecord where Step == any HistoryStep {
  /// Returns the later records that overlap this one.
  func blockers(among rivals: [Self]) -> [HistoryEntry.ID] {
    let footprint = footprint
    return rivals.filter { footprint.overlaps($0.footprint) }.map(\.id)
  }

  private var footprint: HistoryFootprint {
    leaves.reduce(.keys()) { $0.union($1.content.step?.footprint ?? .everything) }
  }
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
