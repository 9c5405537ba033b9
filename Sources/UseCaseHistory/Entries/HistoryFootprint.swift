/// The things that an execution reads or writes. A history compares footprints to decide whether an
/// entry can be undone while later entries stay, and which entries belong to a document.
///
/// ```swift
/// func footprint(of row: Row.ID) -> HistoryFootprint? {
///   .keys(row).within(.keys(note))
/// }
/// ```
///
/// Two footprints overlap if they have a key in common. Include everything that `main`, `undo` and
/// `redo` read or write: an entry can be undone out of order only if no later entry overlaps it.
/// ``within(_:)`` names the document of the keys.
///
/// A footprint keeps its keys alive. A history calls `hash(into:)` of a key when the footprint is
/// made, and `==` when it compares two keys with the same hash, also while it holds a lock. Both must
/// not call the library.
public struct HistoryFootprint: Hashable, Sendable {
  /// Nil for everything.
  private let parts: Parts?

  private final class Parts: Sendable {
    /// The things themselves. Both lists are in the order of their hashes, each key once.
    let keys: [FootprintKey]
    /// The documents that they are in.
    let documents: [FootprintKey]

    init(_ keys: [FootprintKey], in documents: [FootprintKey]) {
      (self.keys, self.documents) = (keys, documents)
    }
  }

  private init(_ parts: Parts?) { self.parts = parts }

  private init<Element: Hashable & Sendable>(_ elements: some Sequence<Element>) {
    parts = Parts(elements.map { FootprintKey($0) }.withoutRepetition, in: [])
  }

  /// A footprint that overlaps all footprints except an empty one. An entry with this footprint can
  /// be undone only when all later entries have been undone, except entries with an empty
  /// footprint. As a document, it is the whole history.
  public static let everything = Self(nil)

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
  public static func keys() -> Self { Self(Parts([], in: [])) }

  /// Returns the union of two footprints.
  ///
  /// - Parameter other: Another footprint.
  /// - Returns: The union, which is ``everything`` if either footprint is.
  public func union(_ other: HistoryFootprint) -> HistoryFootprint { .union(of: [self, other]) }

  static func union(of footprints: [Self]) -> Self {
    let parts = footprints.compactMap(\.parts)
    guard parts.count == footprints.count else { return .everything }
    if parts.count == 1 { return footprints[0] }
    return Self(
      Parts(
        parts.flatMap(\.keys).withoutRepetition, in: parts.flatMap(\.documents).withoutRepetition))
  }

  /// Returns the footprint of the same things, as a part of a document.
  ///
  /// An entry with this footprint is in the document, as seen by ``UseCaseHistory/undo(in:)``, and
  /// overlaps only what touches the same things, or the document as a whole:
  ///
  /// ```swift
  /// .keys(row).within(.keys(note))  // overlaps .keys(row) and .keys(note), and no other row
  /// ```
  ///
  /// ``everything`` within a document is everything. An empty footprint within a document is in the
  /// document, and overlaps nothing.
  ///
  /// - Parameter document: The keys of the document, or of several. The documents add up.
  /// - Returns: The footprint.
  public func within(_ document: HistoryFootprint) -> HistoryFootprint {
    guard let parts, let others = document.parts else { return self }
    return Self(Parts(parts.keys, in: (parts.documents + others.keys).withoutRepetition))
  }

  var isEmpty: Bool { parts?.keys.isEmpty == true }

  /// Whether the order of two executions matters.
  func overlaps(_ other: Self) -> Bool {
    if isEmpty || other.isEmpty { return false }
    guard let parts, let others = other.parts else { return true }
    return parts.keys.meet(others.keys) || parts.keys.meet(others.documents)
      || parts.documents.meet(others.keys)
  }

  /// Whether an execution is in the document, which is meant by its keys.
  func isIn(_ document: Self) -> Bool {
    guard let keys = document.parts?.keys else { return true }
    guard let parts else { return !keys.isEmpty }
    return parts.keys.meet(keys) || parts.documents.meet(keys)
  }

  /// Returns whether two footprints are of the same things, in the same documents.
  ///
  /// - Parameters:
  ///   - lhs: A footprint.
  ///   - rhs: Another footprint.
  /// - Returns: Whether they are of the same things.
  public static func == (lhs: HistoryFootprint, rhs: HistoryFootprint) -> Bool {
    guard let left = lhs.parts, let right = rhs.parts else {
      return lhs.parts == nil && rhs.parts == nil
    }
    return left === right
      || left.keys.isSame(as: right.keys) && left.documents.isSame(as: right.documents)
  }

  /// Hashes the things and their documents.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    guard let parts else { return }
    for key in parts.keys { hasher.combine(key.hashOfValue) }
    hasher.combine(parts.documents.count)
    for key in parts.documents { hasher.combine(key.hashOfValue) }
  }

  /// The footprints of several executions, to compare many others with all of them.
  struct Wave {
    /// Most others are compared with one.
    private let first: HistoryFootprint
    private var keys: Set<FootprintKey> = []
    private var documents: Set<FootprintKey> = []
    private var isEverything = false
    private var hasMore = false

    init(_ first: HistoryFootprint) { self.first = first }

    mutating func insert(_ footprint: HistoryFootprint) {
      guard !footprint.isEmpty else { return }
      hasMore = true
      guard let parts = footprint.parts else { return isEverything = true }
      keys.formUnion(parts.keys)
      documents.formUnion(parts.documents)
    }

    func overlaps(_ footprint: HistoryFootprint) -> Bool {
      if first.overlaps(footprint) { return true }
      if !hasMore || footprint.isEmpty { return false }
      guard let parts = footprint.parts, !isEverything else { return true }
      return parts.keys.contains { keys.contains($0) || documents.contains($0) }
        || parts.documents.contains(where: keys.contains)
    }
  }
}

/// A key of a footprint. Keys of different types are different, also if they are equal as
/// `AnyHashable`, as `1` and `1.0` are.
private struct FootprintKey: Hashable, Sendable {
  private let value: any Hashable & Sendable
  let hashOfValue: Int

  init(_ value: some Hashable & Sendable) {
    self.value = value
    hashOfValue = value.hashValue
  }

  static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.hashOfValue == rhs.hashOfValue && isEqual(lhs.value, rhs.value)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(hashOfValue) }

  private static func isEqual<Value: Hashable>(_ value: Value, _ other: any Hashable) -> Bool {
    (other as? Value) == value
  }
}

extension [FootprintKey] {
  /// The keys in the order of their hashes, each once.
  fileprivate var withoutRepetition: Self {
    if count < 2 { return self }
    var found: Self = []
    for key in sorted(by: { $0.hashOfValue < $1.hashOfValue }) {
      let same = found.reversed().prefix { $0.hashOfValue == key.hashOfValue }
      if !same.contains(key) { found.append(key) }
    }
    return found
  }

  /// Whether the two have a key in common.
  fileprivate func meet(_ other: Self) -> Bool {
    var (index, start) = (0, 0)
    while index < count, start < other.count {
      let hash = self[index].hashOfValue
      if other[start].hashOfValue < hash {
        start += 1
      } else {
        let same = other[start...].prefix { $0.hashOfValue == hash }
        if same.contains(self[index]) { return true }
        index += 1
      }
    }
    return false
  }

  fileprivate func isSame(as other: Self) -> Bool {
    count == other.count
      && allSatisfy { key in
        other[other.lowerBound(key)...].prefix { $0.hashOfValue == key.hashOfValue }.contains(key)
      }
  }

  private func lowerBound(_ key: FootprintKey) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].hashOfValue < key.hashOfValue { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
