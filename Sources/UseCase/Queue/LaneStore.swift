import UseCaseInternals

/// The lanes of all keys, behind a lock. Not generic: look-ups are specialized here.
@usableFromInline
final class LaneStore: Sendable {
  @usableFromInline typealias Lane = any AnyObject & Sendable

  private let table = Lock(LaneTable<Lane, ObjectIdentifier>())

  init() {}

  var count: Int { table.withLock { $0.count } }

  /// The number of buckets.
  var size: Int { table.withLock { $0.size } }

  /// The number of the newest lane.
  var last: Int { table.withLock { $0.last } }

  /// All lanes, in the order in which they were made.
  var lanes: [Lane] { table.withLock { $0.lanes } }

  @usableFromInline
  func newest(of hash: Int) -> Lane? { table.withLock { $0.newest(of: hash) } }

  func lanes(of hash: Int) -> (lanes: [Lane], last: Int) {
    table.withLock { $0.lanes(of: hash) }
  }

  func enter(_ lane: Lane, end: LaneEnd, since last: Int) -> Bool {
    table.withLock {
      $0.enter(lane, id: ObjectIdentifier(end), hash: end.hash, since: last)
    }
  }

  fileprivate func remove(_ end: LaneEnd) {
    // The lane is returned, so that it is released outside of the lock.
    _ = table.withLock { $0.remove(ObjectIdentifier(end), hash: end.hash) }
  }
}

/// Removes a lane from its store when it goes away. The queue of the lane holds it.
final class LaneEnd: Sendable {
  private let store: LaneStore
  fileprivate let hash: Int

  init(_ store: LaneStore, hash: Int) {
    self.store = store
    self.hash = hash
  }

  deinit { remove() }

  /// Removes the lane, so that a later look-up makes another one.
  func remove() { store.remove(self) }
}
