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

  private struct Content: Hashable, Sendable {
    let id: ID
    let title: String
    let isApplied: Bool
    let children: [HistoryEntry]
    let standing: Standing
  }

  private final class Box: Sendable {
    let content: Content

    init(_ content: Content) {
      self.content = content
    }
  }

  /// One word: the frame of an operation has several copies of its response.
  private let box: Box

  init(id: ID, title: String, isApplied: Bool, children: [HistoryEntry], standing: Standing) {
    box = Box(
      Content(id: id, title: title, isApplied: isApplied, children: children, standing: standing))
  }

  /// Its identity, for ``UseCaseHistory/move(to:)``.
  public var id: ID { box.content.id }

  /// The title that the use case gives the request, or that of the group.
  public var title: String { box.content.title }

  /// Whether its effect is there. A group of which an undo stopped half-way is still applied.
  public var isApplied: Bool { box.content.isApplied }

  /// The parts of a group, in order. Empty for a single execution.
  public var children: [HistoryEntry] { box.content.children }

  /// Whether it can be undone and redone: always, in a history without a journal. A group has the
  /// worst of its parts.
  public var standing: Standing { box.content.standing }

  /// Returns whether two entries look the same: with the same id, title, parts and standing.
  ///
  /// - Parameters:
  ///   - lhs: An entry.
  ///   - rhs: Another entry.
  /// - Returns: Whether they look the same.
  public static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.box === rhs.box || lhs.box.content == rhs.box.content
  }

  /// Hashes what `==` compares.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(box.content) }

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
