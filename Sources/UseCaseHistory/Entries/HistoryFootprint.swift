import UseCaseInternals

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
/// A footprint keeps its keys alive. To make one calls `hash(into:)` and `==` of the keys, with no
/// lock held; to compare two doesn't. Keys that are different and have the same hash are compared
/// with each other: many of them are slow, as they are in a `Set`.
public struct HistoryFootprint: Hashable, Sendable {
  /// Nil for everything.
  private let parts: Parts?

  private final class Parts: Sendable {
    /// The things themselves. Both lists are in the order of their addresses, each key once.
    let keys: [FootprintKey]
    /// The documents that they are in.
    let documents: [FootprintKey]

    init(_ keys: [FootprintKey], in documents: [FootprintKey]) {
      (self.keys, self.documents) = (keys, documents)
    }
  }

  private init(_ parts: Parts?) { self.parts = parts }

  private init<Element: Hashable & Sendable>(_ elements: some Sequence<Element>) {
    parts = Parts(elements.map { FootprintKey.of($0) }.withoutRepetition, in: [])
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
    return left === right || left.keys == right.keys && left.documents == right.documents
  }

  /// Hashes the things and their documents.
  ///
  /// - Parameter hasher: The hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(parts?.keys)
    hasher.combine(parts?.documents)
  }

  /// The footprints of several executions, to compare many others with all of them.
  struct Wave {
    /// Most others are compared with this one only. It is later than all that come by `insert`.
    private let first: HistoryFootprint
    // The latest stamp of those that were inserted, by what they touch.
    private var keys: [FootprintKey: UInt64] = [:]
    private var documents: [FootprintKey: UInt64] = [:]
    private var everything: UInt64 = 0
    private var anything: UInt64 = 0

    init(_ first: HistoryFootprint = .keys()) { self.first = first }

    mutating func insert(_ footprint: HistoryFootprint, at stamp: UInt64 = .max) {
      guard !footprint.isEmpty else { return }
      anything = max(anything, stamp)
      guard let parts = footprint.parts else { return everything = max(everything, stamp) }
      for key in parts.keys { keys[key] = max(keys[key] ?? 0, stamp) }
      for key in parts.documents { documents[key] = max(documents[key] ?? 0, stamp) }
    }

    /// Returns the stamp of the latest one that overlaps the footprint, 0 if none does.
    func latest(overlapping footprint: HistoryFootprint) -> UInt64 {
      if first.overlaps(footprint) { return .max }
      if anything == 0 || footprint.isEmpty { return 0 }
      guard let parts = footprint.parts else { return anything }
      return parts.documents.reduce(
        parts.keys.reduce(everything) { max($0, keys[$1] ?? 0, documents[$1] ?? 0) }
      ) { max($0, keys[$1] ?? 0) }
    }

    func overlaps(_ footprint: HistoryFootprint) -> Bool { latest(overlapping: footprint) > 0 }
  }
}

/// A key of a footprint. Equal keys are one object as long as it lives, so that a comparison of
/// footprints calls no code of a client, also under a lock.
final class FootprintKey: Hashable, Sendable {
  private let value: any Sendable

  fileprivate init(_ value: any Sendable) { self.value = value }

  var address: ObjectIdentifier { ObjectIdentifier(self) }

  static func == (lhs: FootprintKey, rhs: FootprintKey) -> Bool { lhs === rhs }

  func hash(into hasher: inout Hasher) { hasher.combine(address) }

  private static let alive = Lock(LivingKeys())

  /// Returns the key of the value, of any type: that of an equal value, or a new one.
  static func of(_ value: some Hashable & Sendable) -> FootprintKey {
    let (hash, new) = (value.hashValue, FootprintKey(value))
    while true {
      let (keys, newest) = alive.withLock { $0.keys(hash) }
      if let key = keys.first(where: { $0.isEqual(to: value) }) { return key }
      let (isAdded, swept) = alive.withLock { $0.add(new, hash, behind: newest) }
      // The last reference to a key must not be released under the lock.
      withExtendedLifetime(swept) {}
      if isAdded { return new }
    }
  }

  /// Values of different types are different, also if they are equal as `AnyHashable`, as `1` and
  /// `1.0` are.
  private func isEqual<Value: Equatable>(to other: Value) -> Bool { (value as? Value) == other }
}

/// The keys that are alive, to be found by the hashes of their values.
private struct LivingKeys: Sendable {
  private struct Bucket: Sendable {
    var keys: [Place] = []
    /// The number of the newest of them.
    var newest = 0
  }

  private struct Place: Sendable {
    weak var key: FootprintKey?
  }

  private var buckets: [Int: Bucket] = [:]
  /// How many have been added.
  private var added = 0
  /// How many there are, also of those that have died since the last sweep.
  private var count = 0
  private var limit = 64

  func keys(_ hash: Int) -> (keys: [FootprintKey], newest: Int) {
    guard let bucket = buckets[hash] else { return ([], 0) }
    return (bucket.keys.compactMap(\.key), bucket.newest)
  }

  /// Adds a key if none has come since the `newest`. Returns those that a sweep has found alive.
  mutating func add(
    _ key: FootprintKey, _ hash: Int, behind newest: Int
  ) -> (isAdded: Bool, swept: [FootprintKey]) {
    guard buckets[hash]?.newest ?? 0 == newest else { return (false, []) }
    added += 1
    count += 1
    buckets[hash, default: Bucket()].keys.append(Place(key: key))
    buckets[hash]?.newest = added
    return (true, count > limit ? sweep() : [])
  }

  private mutating func sweep() -> [FootprintKey] {
    var alive: [FootprintKey] = []
    buckets = buckets.compactMapValues { bucket in
      let keys = bucket.keys.compactMap(\.key)
      alive += keys
      return keys.isEmpty ? nil : Bucket(keys: keys.map { Place(key: $0) }, newest: bucket.newest)
    }
    count = alive.count
    limit = max(64, 2 * count)
    return alive
  }
}

// MARK: - Keys in the order of their addresses

extension [FootprintKey] {
  /// The keys in order, each once.
  fileprivate var withoutRepetition: Self {
    if count < 2 { return self }
    var found: Self = []
    for key in sorted(by: { $0.address < $1.address }) where key !== found.last {
      found.append(key)
    }
    return found
  }

  /// Whether the two have a key in common.
  fileprivate func meet(_ other: Self) -> Bool {
    var (index, otherIndex) = (0, 0)
    while index < count, otherIndex < other.count {
      let (key, otherKey) = (self[index], other[otherIndex])
      if key === otherKey { return true }
      if key.address < otherKey.address { index += 1 } else { otherIndex += 1 }
    }
    return false
  }
}
