import UseCase

/// One recorded execution, or one group of them, as the history shows it.
///
/// ```swift
/// for entry in history.entries {
///   print(entry.isApplied ? "●" : "○", entry.title)  // ● Rename
/// }
/// ```
public struct HistoryEntry: Identifiable, Hashable, Sendable {
  /// The identity of an entry. It grows in the order asked for and is never used again, in no
  /// history of the process.
  public struct ID: Hashable, Comparable, Sendable {
    let number: UInt64

    init(number: UInt64) {
      self.number = number
    }

    /// The entry that an operation on the lane will become has its number.
    init(_ operation: UseCaseOperationID) {
      number = operation.number
    }

    /// Draws the id of what has no operation of its own on the lane.
    static func next() -> Self { Self(.next()) }

    /// Returns whether the first was asked for before the second.
    ///
    /// - Parameters:
    ///   - lhs: The identity of an entry.
    ///   - rhs: The identity of another.
    /// - Returns: Whether `lhs` is the older one.
    public static func < (lhs: ID, rhs: ID) -> Bool { lhs.number < rhs.number }
  }

  /// Its identity, for ``UseCaseHistory/move(to:)``.
  public let id: ID

  /// The title that the use case gives the request, or that of the group.
  public let title: String

  /// Whether its effect is there. A group of which an undo stopped half-way is still applied.
  public let isApplied: Bool

  /// The parts of a group, in order. Empty for a single execution.
  public let children: [HistoryEntry]
}
