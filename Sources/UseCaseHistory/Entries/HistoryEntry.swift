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
  /// history of the process, nor in a later launch that opens the history from a journal.
  public struct ID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
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

    /// Reads what `encode(to:)` has written.
    ///
    /// - Parameter decoder: Has a number.
    /// - Throws: A `DecodingError`.
    public init(from decoder: any Decoder) throws {
      number = try decoder.singleValueContainer().decode(UInt64.self)
    }

    /// Writes a number, which is the same in a later launch that opens the history from a journal.
    ///
    /// - Parameter encoder: Takes the number.
    /// - Throws: An `EncodingError`.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(number)
    }

    /// The number of the entry, such as `#7`.
    public var description: String { "#\(number)" }

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

  /// Whether it can be undone and redone: always, in a history without a journal. A group has the
  /// worst of its parts.
  public let standing: Standing

  /// The worth of an entry that a journal has kept.
  public enum Standing: Hashable, Sendable {
    /// It can be undone and redone.
    case normal

    /// The process ended while it was being executed, undone or redone, and nobody knows whether it was.
    /// An execution can only be forgotten; an undo or a redo can be tried again.
    case inDoubt

    /// No use case that was given to `open` can read it. It can only be forgotten.
    case unreadable

    static func worst(of standings: [Self]) -> Self {
      standings.contains(.unreadable)
        ? .unreadable : standings.contains(.inDoubt) ? .inDoubt : .normal
    }
  }
}
