import UseCase

/// One recorded execution, or one group of them, as the history shows it.
///
/// A list of the entries shows which are applied:
///
/// ```swift
/// for entry in history.entries {
///   print(entry.isApplied ? "●" : "○", entry.title)  // ● Rename
/// }
/// ```
public struct HistoryEntry: Identifiable, Hashable, Sendable, CustomStringConvertible {
  /// The identity of an entry. An entry whose execution or group was called later has a greater
  /// identity.
  ///
  /// An identity is unique among all histories without a journal that one process creates. In a
  /// history with a journal, it is unique in this history, at all launches. Entries of histories
  /// from different journals can have the same identities.
  public struct ID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible {
    let number: UInt64

    init(number: UInt64) {
      self.number = number
    }

    /// The entry that an operation becomes, in a history that no earlier launch has left.
    init(_ operation: UseCaseOperationID) { number = operation.number }

    /// No entry has this id.
    static let nobody = Self(number: 0)

    /// Reads what `encode(to:)` has written.
    ///
    /// - Parameter decoder: The decoder to read the number from.
    /// - Throws: A `DecodingError`.
    public init(from decoder: any Decoder) throws {
      number = try decoder.singleValueContainer().decode(UInt64.self)
    }

    /// Writes a number, which is the same in a later launch that opens the history from a journal.
    ///
    /// - Parameter encoder: The encoder to write the number to.
    /// - Throws: An `EncodingError`.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(number)
    }

    /// The number of the entry, such as `#7`.
    public var description: String { "#\(number)" }

    /// Returns whether the first entry is older than the second: its execution or group was called
    /// earlier.
    ///
    /// - Parameters:
    ///   - lhs: The identity of an entry.
    ///   - rhs: The identity of another entry.
    /// - Returns: Whether `lhs` is the older one.
    public static func < (lhs: ID, rhs: ID) -> Bool { lhs.number < rhs.number }
  }

  private final class Fields: Sendable {
    let id: ID
    let title: String
    let isApplied: Bool
    let children: [HistoryEntry]
    let standing: Standing
    let isPartial: Bool

    init(id: ID, title: String, isApplied: Bool, children: [HistoryEntry], standing: Standing) {
      (self.id, self.title, self.isApplied) = (id, title, isApplied)
      (self.children, self.standing) = (children, standing)
      isPartial = children.contains { $0.isPartial || $0.isApplied != isApplied }
    }
  }

  /// One word, because the frame of an operation has several copies of its response.
  private let fields: Fields

  init(id: ID, title: String, isApplied: Bool, children: [HistoryEntry], standing: Standing) {
    fields = Fields(
      id: id, title: title, isApplied: isApplied, children: children, standing: standing)
  }

  /// The identity of the entry, to name it in a call such as ``UseCaseHistory/move(to:)``.
  public var id: ID { fields.id }

  /// The title that the use case gives the request, or that of the group.
  public var title: String { fields.title }

  /// Whether the entry is applied, that is, not undone. A group whose undo stopped halfway is still
  /// applied.
  public var isApplied: Bool { fields.isApplied }

  /// Whether the entry is a group that is half undone or half redone. It is applied then, and the
  /// next undo or redo goes on from there.
  public var isPartial: Bool { fields.isPartial }

  /// The parts of a group, in order. Empty for a single execution.
  public var children: [HistoryEntry] { fields.children }

  /// Whether the entry can be undone and redone. Without a journal it is always
  /// ``Standing/normal``. A group has the worst standing of its parts.
  public var standing: Standing { fields.standing }

  /// The number and the title of the entry, such as `#7 Rename`.
  public var description: String { "\(id) \(title)" }

  /// Returns whether all properties of two entries are equal.
  ///
  /// - Parameters:
  ///   - lhs: An entry.
  ///   - rhs: Another entry.
  /// - Returns: Whether all of their properties are equal.
  public static func == (lhs: HistoryEntry, rhs: HistoryEntry) -> Bool {
    // Without recursion: groups may be in many others, and threads have small stacks.
    var rest = [(lhs, rhs)]
    while let (lhs, rhs) = rest.popLast() {
      guard lhs.id == rhs.id, lhs.title == rhs.title, lhs.isApplied == rhs.isApplied,
        lhs.standing == rhs.standing, lhs.children.count == rhs.children.count
      else { return false }
      rest += zip(lhs.children, rhs.children)
    }
    return true
  }

  /// Hashes the properties of the entry, and not those of its parts.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
    hasher.combine(title)
    hasher.combine(isApplied)
    hasher.combine(standing)
  }

  /// The condition of an entry, after its history was opened from a journal.
  public enum Standing: Hashable, Sendable {
    /// The entry can be undone and redone.
    case normal

    /// The process ended during the execution, undo or redo of the entry, and it is unknown whether
    /// the execution, undo or redo took effect.
    ///
    /// If an execution was interrupted, the entry can only be forgotten: see
    /// ``UseCaseHistory/forget(_:)``. If an undo or a redo was interrupted, you can try it again.
    case inDoubt

    /// No use case that was given to `open` can read the entry. It can only be forgotten.
    case unreadable

    /// The end of a process, or a step of the recovery that failed, has left the group half done.
    /// ``UseCaseHistory/undo(_:)`` or ``UseCaseHistory/redo(_:)`` of it goes on.
    case interrupted

    /// The first of unreadable, in doubt and interrupted.
    static func worst(of standings: [Self]) -> Self {
      for standing in [Self.unreadable, .inDoubt, .interrupted] where standings.contains(standing) {
        return standing
      }
      return .normal
    }
  }
}
