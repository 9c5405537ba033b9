/// Why a pair of request and response leaves a history for good.
public enum HistoryDiscardReason: Hashable, Sendable {
  /// It was undone, and a new entry took its place. Or it was a part of a group that failed, and
  /// has been rolled back.
  case truncated

  /// It was the oldest, and there were more than the limit.
  case evicted

  /// The history was cleared.
  case cleared

  /// It went into the entry before it.
  case merged

  /// It and its neighbour cancelled each other out.
  case annulled

  /// Its `undo` or `redo` threw ``HistoryObsolete``.
  case obsolete

  /// It was taken out by ``UseCaseHistory/forget(_:)``.
  case forgotten
}
