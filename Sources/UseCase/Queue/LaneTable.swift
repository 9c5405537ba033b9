import UseCaseInternals

/// Finds lanes by the hash of their key.
///
/// A key is a client's, so the table compares none: it returns the lanes of a hash, and its owner
/// compares their keys once the lock is released. A lane made meanwhile is entered only if no
/// other one was entered since the owner looked.
///
/// `Lane` is an object in the library and a plain value in the tests. There are at least as many
/// buckets as lanes, and at most eight times as many: each event costs O(1) on average.
struct LaneTable<Lane: Sendable, ID: Hashable & Sendable>: Sendable {
  private struct Entry: Sendable {
    let hash: Int
    let number: Int
    let id: ID
    let lane: Lane
  }

  private var buckets = [Few<Entry>](repeating: .none, count: 1)
  private(set) var count = 0
  /// The number of the newest entry.
  private(set) var last = 0

  private var lastHash = 0
  /// The lane that the last two look-ups by hash have found, nil if they found two.
  private(set) var repeated: Lane?

  /// The number of buckets.
  var size: Int { buckets.count }

  /// All lanes, in the order in which they were entered.
  var lanes: [Lane] { buckets.joined().sorted { $0.number < $1.number }.map(\.lane) }

  private func bucket(of hash: Int) -> Int { hash & (buckets.count - 1) }

  /// Returns the newest lane of the hash.
  @inline(__always) mutating func newest(of hash: Int) -> Lane? {
    let lane = lane(of: hash)
    if hash == lastHash {
      repeated = lane
    } else {
      lastHash = hash
      repeated = nil
    }
    return lane
  }

  @inline(__always) private func lane(of hash: Int) -> Lane? {
    switch buckets[bucket(of: hash)] {
    case .none: nil
    case .one(let entry): entry.hash == hash ? entry.lane : nil
    case .several(let entries): entries.last { $0.hash == hash }?.lane
    }
  }

  /// Returns all lanes of the hash, and the number of the newest entry of the table.
  func lanes(of hash: Int) -> (lanes: [Lane], last: Int) {
    (buckets[bucket(of: hash)].compactMap { $0.hash == hash ? $0.lane : nil }, last)
  }

  /// Enters a lane, unless another one was entered since `last`. Returns whether it did.
  mutating func enter(_ lane: Lane, id: ID, hash: Int, since last: Int) -> Bool {
    guard last == self.last else { return false }
    self.last += 1
    count += 1
    if count > buckets.count { resize(to: 2 * buckets.count) }
    buckets[bucket(of: hash)].append(Entry(hash: hash, number: self.last, id: id, lane: lane))
    return true
  }

  /// Removes the lane, if it is there, and returns it to be let go outside of the lock.
  mutating func remove(_ id: ID, hash: Int) -> Lane? {
    let bucket = bucket(of: hash)
    guard let index = buckets[bucket].firstIndex(where: { $0.id == id }) else { return nil }
    let lane = buckets[bucket].remove(at: index).lane
    if hash == lastHash { repeated = nil }
    count -= 1
    if count < buckets.count / 8 { resize(to: buckets.count / 4) }
    return lane
  }

  private mutating func resize(to size: Int) {
    let old = buckets
    buckets = [Few<Entry>](repeating: .none, count: size)
    for entry in old.joined() { buckets[bucket(of: entry.hash)].append(entry) }
  }
}
