import UseCaseInternals

/// The things that an execution reads or writes. A history compares footprints to decide whether an
/// entry can be undone while later entries stay, and which entries belong to a document.
///
/// ```swift
/// func footprint(of title: String) -> HistoryFootprint? {
///   .keys(title)
/// }
/// ```
///
/// Two footprints overlap if they have a key in common. Include everything that `main`, `undo` and
/// `redo` read or write: an entry can be undone out of order only if no later entry overlaps it.
///
/// A footprint keeps its keys alive. To make one calls `hash(into:)` and `==` of the keys, with no
/// lock held; to compare two doesn't. Keys that are different and have the same hash are compared
/// with each other: many of them are slow, as they are in a `Set`.
public struct HistoryFootprint: Hashable, Sendable {
  /// In the order of their addresses, each once. Nil for everything.
  let keys: [FootprintKey]?

  private init(keys: [FootprintKey]?) { self.keys = keys }

  private init<Element: Hashable & Sendable>(_ elements: some Sequence<Element>) {
    self.init(of: elements.map { FootprintKey.of($0) })
  }

  /// Creates a footprint of keys in any order.
  private init(of keys: [FootprintKey]) {
    var last: FootprintKey?
    self.keys =
      keys.count < 2
      ? keys
      : keys.sorted { $0.address < $1.address }.filter { key in
        defer { last = key }
        return key !== last
      }
  }

  /// A footprint that overlaps all footprints except an empty one. An entry with this footprint can
  /// be undone only when all later entries have been undone, except entries with an empty
  /// footprint. As a document, it is the whole history.
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

  /// Returns the union of two footprints.
  ///
  /// - Parameter other: Another footprint.
  /// - Returns: The union, which is ``everything`` if either footprint is.
  public func union(_ other: HistoryFootprint) -> HistoryFootprint { .union(of: [self, other]) }

  static func union(of footprints: [Self]) -> Self {
    let keys = footprints.compactMap(\.keys)
    return keys.count == footprints.count ? Self(of: Array(keys.joined())) : .everything
  }

  /// The footprint of one key of another.
  static func key(_ key: FootprintKey) -> Self { Self(keys: [key]) }

  /// A footprint that overlaps only what touches everything.
  static let elsewhere = Self(keys: [FootprintKey(())])

  var isEmpty: Bool { keys?.isEmpty == true }

  func overlaps(_ other: Self) -> Bool {
    guard let keys, let others = other.keys else { return !isEmpty && !other.isEmpty }
    var (index, otherIndex) = (0, 0)
    while index < keys.count, otherIndex < others.count {
      let (key, other) = (keys[index], others[otherIndex])
      if key === other { return true }
      if key.address < other.address { index += 1 } else { otherIndex += 1 }
    }
    return false
  }
}

/// A key of a footprint. Equal keys are one object as long as it lives, so that footprints are
/// compared without their clients, also under a lock.
final class FootprintKey: Hashable, Sendable {
  private let value: any Sendable

  fileprivate init(_ value: any Sendable) { self.value = value }

  var address: ObjectIdentifier { ObjectIdentifier(self) }

  static func == (lhs: FootprintKey, rhs: FootprintKey) -> Bool { lhs === rhs }

  func hash(into hasher: inout Hasher) { hasher.combine(address) }

  private static let alive = Lock(LivingKeys())

  /// Returns the key of the value, whatever its type: another one if an equal value has one.
  static func of(_ value: some Hashable & Sendable) -> FootprintKey {
    let hashable = AnyHashable(value)
    let (hash, new) = (hashable.hashValue, FootprintKey(value))
    while true {
      let (keys, newest) = alive.withLock { $0.keys(hash) }
      if let key = keys.first(where: { $0.hashable == hashable }) { return key }
      let (isAdded, swept) = alive.withLock { $0.add(new, hash, behind: newest) }
      // The last reference to a key must not be released under the lock.
      withExtendedLifetime(swept) {}
      if isAdded { return new }
    }
  }

  private var hashable: AnyHashable? { (value as? any Hashable).map { AnyHashable($0) } }
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
