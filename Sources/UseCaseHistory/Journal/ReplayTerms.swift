/// A body that had begun when the process ended.
struct JournalDoubt {
  enum Kind { case execution, undo, redo }
  let id: HistoryEntry.ID
  let kind: Kind
  let pair: HistoryPair
}

extension HistoryReplay {
  /// Makes steps and titles of their bytes.
  struct Making {
    let content: (ID, HistoryPair) -> Record.Content
    let pair: (Step) -> (id: ID, pair: HistoryPair)
    /// From now on it is in doubt, or no longer.
    let doubt: (Step, Bool) -> Void
    let title: ([UInt8]) throws -> String
  }
}
