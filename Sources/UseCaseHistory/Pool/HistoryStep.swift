import UseCaseInternals

/// One execution that can be undone, whatever the types of its request and response.
///
/// It never changes: a redo makes another one, with the new response.
protocol HistoryStep: AnyObject, Sendable {
  var title: String { get }
  func undo() async throws
  func redo() async throws -> any HistoryStep
  func merging(_ later: any HistoryStep) -> HistoryMerging<any HistoryStep>
  func discard(_ reason: HistoryDiscardReason)
}

extension HistoryPlan<any HistoryStep> {
  /// Undoes or redoes one step after the other, until all is done or one throws.
  ///
  /// Inlined, because each function that waits costs a frame on the stack of the task.
  @inline(__always)
  mutating func carryOut() async throws {
    while let step = next() {
      if isRedo {
        redid(try await step.redo())
      } else {
        try await step.undo()
        undid()
      }
    }
  }

  /// The entries that have been undone or redone, in this order.
  var entries: [HistoryEntry] { (0..<moved).map { entry(at: $0) } }

  var entry: HistoryEntry? { moved > 0 ? entry(at: 0) : nil }

  private func entry(at index: Int) -> HistoryEntry {
    let record = records[index]
    return record.entry(applied: isRedo ? record.size : 0) { $0.title }
  }
}
