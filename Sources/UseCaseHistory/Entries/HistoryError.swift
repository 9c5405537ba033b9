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

  /// The entry cannot be undone before these, which touch what it has touched. The oldest comes
  /// first.
  case blocked(by: [HistoryEntry.ID])

  /// A sentence for a person.
  public var description: String {
    switch self {
    case .outOfTurn:
      "This step is no longer next in line. Look at the history, and try again."
    case .reentrant:
      "The history cannot undo, redo or move while it runs the action that asks for it."
    case .unknownEntry:
      "This step is no longer in the history."
    case .blocked(let entries):
      "Later changes build upon this step (\(entries.count)). Undo those first."
    }
  }
}

/// Throw it from `undo` or `redo` when there is nothing any more to undo or redo, and never will be:
/// somebody else has deleted the thing, or the server refuses for good.
///
/// ```swift
/// func undo(_ title: String, _: Void) async throws {
///   guard await shelf.contains(title) else { throw HistoryObsolete() }
///   await shelf.disfavor(title)
/// }
/// ```
///
/// The operation fails with it, and the entry leaves the history, so that it blocks none of those
/// below it. In a group only the part leaves, and the operation goes on with the next one; it fails
/// if nothing of the group is left.
public struct HistoryObsolete: Error, CustomStringConvertible {
  /// The error that said so, if there was one.
  public let cause: (any Error)?

  /// Creates the error.
  ///
  /// - Parameter cause: The error that said so, if there was one.
  public init(_ cause: (any Error)? = nil) {
    self.cause = cause
  }

  /// A sentence for a person.
  public var description: String {
    let reason = cause.map { " (\($0))" } ?? ""
    return "There is nothing left that this step could change\(reason). It was taken off the list."
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
