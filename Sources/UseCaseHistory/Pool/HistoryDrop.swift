/// Records that leave the history for good, for one reason.
struct HistoryDrop<Step: Sendable>: Sendable {
  private var records: HistoryStack<HistoryRecord<Step>>
  private let reason: HistoryDiscardReason
  /// Whether the newest come first in `records`.
  private let isReversed: Bool
  /// How many of the last are in the hands of a move, which drops them itself.
  private let spared: Int
  /// Goes with the records, and may be as large.
  private let index: HistoryIndex?

  init(
    _ records: HistoryStack<HistoryRecord<Step>>, _ reason: HistoryDiscardReason,
    isReversed: Bool = false, sparing spared: Int = 0, with index: HistoryIndex? = nil
  ) {
    (self.records, self.reason) = (records, reason)
    (self.isReversed, self.spared) = (isReversed, spared)
    self.index = index
  }

  init(_ record: HistoryRecord<Step>, _ reason: HistoryDiscardReason) {
    self.init(HistoryStack([record]), reason)
  }

  var count: Int { records.count - spared }

  /// Calls `body` with each step and the reason, the oldest first, and lets go of each record at
  /// once, while it is at hand: a million of them are not walked through twice.
  mutating func removeAll(_ body: (Step, HistoryDiscardReason) -> Void) {
    let reason = reason
    records.removeAll(sparing: spared, isReversed: isReversed) { record in
      if let step = record.content.step { return body(step, reason) }
      for leaf in record.leaves { leaf.content.step.map { body($0, reason) } }
    }
  }
}
