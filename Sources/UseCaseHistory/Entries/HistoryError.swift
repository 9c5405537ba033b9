/// The error of an undo, a redo, a move or a group that the history refuses.
public enum HistoryError: Error, Hashable, CustomStringConvertible {
  /// The entry to undo or redo is no longer next in line, for example because its execution or an
  /// earlier undo has failed.
  case outOfTurn

  /// The call was made inside a recorded body, an undo, a redo or a group, where it would wait for
  /// itself. A group inside a group is allowed.
  case reentrant

  /// The entry never existed, or has left the history.
  case unknownEntry(HistoryEntry.ID)

  /// These other entries overlap the entry, and have to be undone first, or redone for a redo. The
  /// array lists them from the oldest to the newest, or in the order of the redos. If a group is partly
  /// undone, the array contains only this group.
  case blocked(by: [HistoryEntry.ID])

  /// The group would be in more than a thousand others.
  case tooDeep

  /// A sentence for a user.
  public var description: String {
    switch self {
    case .outOfTurn:
      "This step is no longer next in line. Look at the history, and try again."
    case .reentrant:
      "This cannot be done in the middle of an action."
    case .unknownEntry:
      "This step is not in the history, or cannot be undone."
    case .blocked(let entries) where entries.count == 1:
      "Another change is in the way. Undo or redo it first."
    case .blocked(let entries):
      "\(entries.count) other changes are in the way. Undo or redo them first."
    case .tooDeep:
      "This action has too many actions inside of each other."
    }
  }
}

/// An error that you throw from `undo` or `redo` to say that the entry can never be undone or
/// redone.
///
/// For example, another user has deleted the document, or the server refuses for good.
///
/// ```swift
/// func undo(_ title: String, _: Void) async throws {
///   guard await favorites.contains(title) else { throw HistoryObsolete() }
///   await favorites.remove(title)
/// }
/// ```
///
/// The operation fails with this error, and the entry leaves the history, so that it doesn't block
/// older entries. In a group, only the part that threw leaves, and the operation goes on with the
/// next part. The operation fails if no part is left.
public struct HistoryObsolete: Error, CustomStringConvertible {
  /// The underlying error, if there is one.
  public let cause: (any Error)?

  /// Creates the error.
  ///
  /// - Parameter cause: The underlying error, if there is one.
  public init(_ cause: (any Error)? = nil) {
    self.cause = cause
  }

  /// A sentence for a user.
  public var description: String {
    let reason = cause.map { " (\($0))" } ?? ""
    return "There is nothing left that this step could change\(reason). It was taken off the list."
  }
}

/// The error of a group whose body threw, and whose parts couldn't all be undone.
public struct HistoryGroupError: Error, CustomStringConvertible {
  /// The error of the body of the group.
  public let cause: any Error

  /// The error of the undo that failed.
  public let undoFailure: any Error

  /// The entry with the parts that are still applied. It can be undone later.
  public let residue: HistoryEntry.ID

  /// A sentence for a user, with both errors.
  public var description: String {
    "The action failed (\(cause)), and not all of its changes could be undone (\(undoFailure)). "
      + "Undo the rest later."
  }
}

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
