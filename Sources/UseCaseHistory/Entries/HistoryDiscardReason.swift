/// Why a pair of request and response leaves a history for good.
public enum HistoryDiscardReason: Hashable, Sendable {
  /// The pair was undone, and a new entry took its place. Or it was a part of a group that failed
  /// and has been rolled back.
  case truncated

  /// The entry was the oldest one when the history exceeded its limit.
  case evicted

  /// The history was cleared.
  case cleared

  /// The execution was merged into the entry before it.
  case merged

  /// The pair and its neighbor cancelled each other out.
  case annulled

  /// The `undo` or `redo` of the pair threw ``HistoryObsolete``.
  case obsolete

  /// The entry was removed by ``UseCaseHistory/forget(_:)``.
  case forgotten
}
