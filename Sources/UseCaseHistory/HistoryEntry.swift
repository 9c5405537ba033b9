import Synchronization

/// One recorded execution, or one group of them, as the history shows it.
///
/// ```swift
/// for entry in history.entries {
///   print(entry.isApplied ? "●" : "○", entry.title)  // ● Rename
/// }
/// ```
public struct HistoryEntry: Identifiable, Hashable, Sendable {
  /// The identity of an entry: higher for each later recording, and never used again, in whatever
  /// history.
  public struct ID: Hashable, Comparable, Sendable {
    private static let last = Atomic<UInt64>(0)

    let number: UInt64

    static func next() -> Self { Self(number: last.add(1, ordering: .relaxed).newValue) }

    /// Returns whether the first was recorded before the second.
    ///
    /// - Parameters:
    ///   - lhs: The identity of an entry.
    ///   - rhs: The identity of another.
    /// - Returns: Whether `lhs` is the older one.
    /// - Complexity: O(1).
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.number < rhs.number }
  }

  /// Its identity, for ``UseCaseHistory/move(to:)``.
  ///
  /// - Complexity: O(1).
  public let id: ID

  /// What the use case calls the request, or the title of the group.
  ///
  /// - Complexity: O(1).
  public let title: String

  /// Whether its effect is there. A group of which an undo stopped half-way is still applied.
  ///
  /// - Complexity: O(1).
  public let isApplied: Bool

  /// The parts of a group, in order. Empty for a single execution.
  ///
  /// - Complexity: O(1).
  public let children: [HistoryEntry]
}

/// What was asked of a history.
public enum HistoryMove: Hashable, Sendable {
  /// To undo the newest applied entry.
  case undo

  /// To redo the next undone entry.
  case redo

  /// To undo or redo until this entry is the newest applied one; nil for before the first.
  case move(HistoryEntry.ID?)
}
