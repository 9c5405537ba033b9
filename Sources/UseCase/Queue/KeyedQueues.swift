/// Queues by key, each for as long as somebody holds it.
///
/// A queue holds the operations in it, and they hold their queue: so it stays while something is in it.
@usableFromInline
struct KeyedQueues<Key: Hashable & Sendable>: Sendable {
  @usableFromInline let store = LaneStore()

  init() {}

  /// Returns the queue of the key, nil if there is none, or if another key has the same hash.
  @inlinable @inline(__always)
  subscript(key: Key) -> UseCaseQueue? {
    guard let lane = store.newest(of: key.hashValue) else { return nil }
    // Every lane of this store is entered below, with this type.
    let keyed = unsafeDowncast(lane, to: KeyedQueue<Key>.self)
    return keyed.key == key ? keyed.queue : nil
  }

  /// Returns the queue of the key, and makes one if there is none.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - make: Makes a queue that holds the end. It may be made in vain, if another thread does
  ///     the same.
  /// - Returns: The queue.
  func queue(for key: Key, make: (LaneEnd) -> UseCaseQueue) -> UseCaseQueue {
    let hash = key.hashValue
    while true {
      let (lanes, last) = store.lanes(of: hash)
      for lane in lanes {
        if let lane = lane as? KeyedQueue<Key>, lane.key == key, let queue = lane.queue {
          return queue
        }
      }
      let end = LaneEnd(store, hash: hash)
      let queue = make(end)
      if store.enter(KeyedQueue(key: key, queue: queue), end: end, since: last) { return queue }
    }
  }

  /// All queues, in the order in which they were made.
  var all: [UseCaseQueue] { store.lanes.compactMap { ($0 as? KeyedQueue<Key>)?.queue } }
}

/// A key, and the way to its queue.
@usableFromInline
final class KeyedQueue<Key: Hashable & Sendable>: Sendable {
  @usableFromInline let key: Key
  @usableFromInline weak let queue: UseCaseQueue?

  init(key: Key, queue: UseCaseQueue) {
    self.key = key
    self.queue = queue
  }
}
