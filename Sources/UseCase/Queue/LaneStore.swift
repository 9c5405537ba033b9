import UseCaseInternals

/// The queues of all keys, behind a lock. Not generic: look-ups are specialized here.
@usableFromInline
final class LaneStore: Sendable {
  private let table = Lock(LaneTable<WeakQueue, ObjectIdentifier>())

  var count: Int { table.withLock { $0.count } }

  /// The number of buckets.
  var size: Int { table.withLock { $0.size } }

  /// The number of the newest queue.
  var last: Int { table.withLock { $0.last } }

  /// All queues, in the order in which they were made.
  var queues: [UseCaseQueue] { table.withLock { $0.lanes.compactMap(\.queue) } }

  /// The queue that was looked up twice in a row.
  @usableFromInline
  var repeated: UseCaseQueue? { table.withLock { $0.repeated?.queue } }

  @usableFromInline
  func newest(of hash: Int) -> UseCaseQueue? { table.withLock { $0.newest(of: hash)?.queue } }

  func queues(of hash: Int) -> (queues: [UseCaseQueue], last: Int) {
    table.withLock { table in
      let (lanes, last) = table.lanes(of: hash)
      return (lanes.compactMap(\.queue), last)
    }
  }

  func enter(_ queue: UseCaseQueue, id: ObjectIdentifier, hash: Int, since last: Int) -> Bool {
    let queue = WeakQueue(queue)
    return table.withLock { $0.enter(queue, id: id, hash: hash, since: last) }
  }

  func remove(_ id: ObjectIdentifier, hash: Int) {
    _ = table.withLock { $0.remove(id, hash: hash) }
  }
}

/// A queue, as long as somebody keeps it.
private final class WeakQueue: Sendable {
  weak let queue: UseCaseQueue?

  init(_ queue: UseCaseQueue) {
    self.queue = queue
  }
}
