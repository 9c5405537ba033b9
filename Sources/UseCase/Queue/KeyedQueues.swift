/// Queues by key. A queue stays for as long as somebody keeps it: its operations do.
@usableFromInline
struct KeyedQueues<Key: Hashable & Sendable>: Sendable {
  @usableFromInline let store = LaneStore()

  /// Returns the queue of the key, nil if there is none, or if another key has the same hash.
  @inlinable @inline(__always)
  subscript(key: Key) -> UseCaseQueue? {
    // To compare keys is cheaper than to hash one.
    if let queue = store.repeated, isQueue(queue, of: key) { return queue }
    guard let queue = store.newest(of: key.hashValue), isQueue(queue, of: key) else { return nil }
    return queue
  }

  /// Returns the queue of the key, and makes one if there is none.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - make: Makes a queue that keeps the lane key. The queue is not needed if another thread has
  ///     entered one meanwhile.
  /// - Returns: The queue.
  func queue(for key: Key, make: (LaneKey<Key>) -> UseCaseQueue) -> UseCaseQueue {
    let hash = key.hashValue
    while true {
      let (queues, last) = store.queues(of: hash)
      if let queue = queues.first(where: { isQueue($0, of: key) }) { return queue }
      let lane = LaneKey(store, key: key, hash: hash)
      let queue = make(lane)
      if store.enter(queue, id: lane.id, hash: hash, since: last) { return queue }
    }
  }

  /// All queues, in the order in which they were made.
  var all: [UseCaseQueue] { store.queues }

  @inlinable @inline(__always)
  func isQueue(_ queue: UseCaseQueue, of key: Key) -> Bool {
    guard let lane = queue.lane else { return false }
    // Every queue of this store was made above, with a lane key of this type.
    return unsafeDowncast(lane, to: LaneKey<Key>.self).key == key
  }
}

/// The key of a queue, which keeps it. The end of the queue takes both out of the store.
@usableFromInline
final class LaneKey<Key: Hashable & Sendable>: Sendable {
  private let store: LaneStore
  @usableFromInline let key: Key
  private let hash: Int

  fileprivate init(_ store: LaneStore, key: Key, hash: Int) {
    self.store = store
    self.key = key
    self.hash = hash
  }

  deinit { remove() }

  fileprivate var id: ObjectIdentifier { ObjectIdentifier(self) }

  /// Takes the queue out of the store, so that a later look-up makes another one.
  func remove() { store.remove(id, hash: hash) }
}
