/// An error that a history throws when a call has no valid target.
public enum HistoryError: Error, Hashable, CustomStringConvertible {
  /// The entry that was meant when the call was made is not the next one any more: its execution
  /// failed, or an earlier undo did.
  case outOfTurn

  /// The call was made inside of a recorded body, an undo, a redo or a group, where it could only
  /// wait for itself.
  case reentrant

  /// There is no such entry: it never was, or it has been dropped.
  case unknownEntry(HistoryEntry.ID)

  /// A sentence for a person.
  public var description: String {
    switch self {
    case .outOfTurn:
      "This step is no longer next in line. Look at the history, and try again."
    case .reentrant:
      "The history cannot undo, redo or move while it runs the action that asks for it."
    case .unknownEntry:
      "This step is no longer in the history."
    }
  }
}

/// A group failed, and undoing its parts failed too.
public struct HistoryGroupError: Error, CustomStringConvertible {
  /// The error of the body of the group.
  public let cause: any Error

  /// The error of the undo of a part.
  public let undoFailure: any Error

  /// The entry that holds the parts that are still applied: undo it later.
  public let residue: HistoryEntry.ID

  /// A sentence for a person, with both errors.
  public var description: String {
    "It failed (\(cause)), and could not be taken back completely (\(undoFailure)). "
      + "Undo the rest later."
  }
}
