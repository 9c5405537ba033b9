/// Why a history did nothing.
public enum HistoryError: Error, Hashable {
  /// The entry that was meant when the call was made is not the next one any more: its execution
  /// failed, or an earlier undo did.
  case outOfTurn

  /// The call was made inside of a recorded body, an undo, a redo or a group, where it could only
  /// wait for itself.
  case reentrant

  /// There is no such entry: it never was, or it has been dropped.
  case unknownEntry(HistoryEntry.ID)
}

/// A group failed, and undoing its parts failed too.
public struct HistoryGroupError: Error {
  /// What the body of the group threw.
  ///
  /// - Complexity: O(1).
  public let cause: any Error

  /// What the undo of a part threw.
  ///
  /// - Complexity: O(1).
  public let undoFailure: any Error

  /// The entry that holds the parts that are still applied: undo it later.
  ///
  /// - Complexity: O(1).
  public let residue: HistoryEntry.ID
}

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
}
