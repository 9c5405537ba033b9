/// The things that an execution reads or writes. A history compares footprints to decide whether an
/// entry can be undone while later entries stay.
///
/// ```swift
/// func footprint(of title: String, _: Void) -> HistoryFootprint {
///   .keys(title)
/// }
/// ```
///
/// Two footprints overlap if they have a key in common. Include everything that `main`, `undo` and
/// `redo` read or write: an entry can be undone out of order only if no later entry overlaps it.
public struct HistoryFootprint: Hashable, Sendable {
  /// A key, whatever its type.
  private struct Key: Hashable, Sendable {
    let value: any Hashable & Sendable

    static func == (lhs: Self, rhs: Self) -> Bool {
      AnyHashable(lhs.value) == AnyHashable(rhs.value)
    }

    func hash(into hasher: inout Hasher) { AnyHashable(value).hash(into: &hasher) }
  }

  /// Nil for everything.
  private let keys: Set<Key>?

  /// A footprint that overlaps all footprints except an empty one. An entry with this footprint can
  /// be undone only when all later entries have been undone, except entries with an empty
  /// footprint.
  public static let everything = Self(keys: nil)

  /// Returns the footprint of an execution that touches these things, such as the ids of notes.
  ///
  /// - Parameter keys: The things. Different calls can use keys of different types.
  /// - Returns: The footprint.
  public static func keys<Key: Hashable & Sendable>(_ keys: Key...) -> Self { Self(keys) }

  /// Returns the footprint of an execution that touches each of these things, such as the ids of
  /// the rows that it imports.
  ///
  /// An array is never one key. To use an array as a key, wrap it in a type of your own.
  ///
  /// - Parameter keys: The things. Each element is a key.
  /// - Returns: The footprint.
  public static func keys<Key: Hashable & Sendable>(_ keys: [Key]) -> Self { Self(keys) }

  /// Returns the footprint of an execution that touches each element of these arrays.
  ///
  /// - Parameter keys: The things. Each element of each array is a key.
  /// - Returns: The footprint.
  public static func keys<Key: Hashable & Sendable>(_ keys: [Key]...) -> Self {
    Self(keys.joined())
  }

  /// Returns the footprint of an execution that touches each of these things.
  ///
  /// - Parameter keys: The things. Each element is a key.
  /// - Returns: The footprint.
  public static func keys<Key: Hashable & Sendable>(_ keys: Set<Key>) -> Self { Self(keys) }

  /// Returns the footprint of an execution that touches nothing. It overlaps no other footprint.
  ///
  /// - Returns: The footprint.
  public static func keys() -> Self { Self(keys: []) }

  private init(keys: Set<Key>?) {
    self.keys = keys
  }

  private init<Element: Hashable & Sendable>(_ elements: some Sequence<Element>) {
    keys = Set(elements.map { Key(value: $0) })
  }

  /// Returns the union of two footprints.
  ///
  /// - Parameter other: Another footprint.
  /// - Returns: The union, which is ``everything`` if either footprint is.
  public func union(_ other: HistoryFootprint) -> HistoryFootprint {
    guard let keys, let others = other.keys else { return .everything }
    return Self(keys: keys.union(others))
  }

  func overlaps(_ other: Self) -> Bool {
    switch (keys, other.keys) {
    case (let keys?, let others?): !keys.isDisjoint(with: others)
    case (nil, let keys?), (let keys?, nil): !keys.isEmpty
    case (nil, nil): true
    }
  }

  /// The hashes of the keys, nil for everything. Equal keys have the same hash, and different keys
  /// rarely do.
  var hashes: [Int]? { keys.map { Array(Set($0.map(\.hashValue))) } }
}
