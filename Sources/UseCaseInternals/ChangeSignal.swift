import Synchronization

/// Tells streams that something has changed. Each then reads the newest value itself.
///
/// So a slow reader skips to the newest value, and values never arrive in the wrong order. A change
/// costs one load if nobody reads. The streams end when the signal is deallocated.
package final class ChangeSignal: Sendable {
  private let readers = Lock((last: 0, pokes: [Int: AsyncStream<Void>.Continuation]()))
  private let count = Atomic(0)

  package init() {}

  deinit {
    for poke in readers.withLock({ $0.pokes }).values { poke.finish() }
  }

  /// Tells the streams of a change. Call this outside of any lock.
  package func poke() {
    if count.load(ordering: .sequentiallyConsistent) > 0 { pokeAll() }
  }

  private func pokeAll() {
    for poke in readers.withLock({ $0.pokes }).values { poke.yield() }
  }

  /// Streams the present value, and then one for each change. `read` returns the newest value, nil
  /// at the end.
  package func values<Value: Equatable & Sendable>(
    _ read: @escaping @Sendable () -> Value?
  ) -> AsyncStream<Value> {
    let (pokes, poke) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let id = add(poke)
    poke.onTermination = { [weak self] _ in self?.remove(id) }
    poke.yield()
    let delivered = Lock<Value?>(nil)
    return AsyncStream {
      for await _ in pokes {
        guard let value = read() else { return nil }
        let isNew = delivered.withLock { last in
          defer { last = value }
          return last != value
        }
        if isNew { return value }
      }
      return nil
    } onCancel: {
      poke.finish()
    }
  }

  private func add(_ poke: AsyncStream<Void>.Continuation) -> Int {
    let id = readers.withLock { readers in
      readers.last += 1
      readers.pokes[readers.last] = poke
      return readers.last
    }
    count.add(1, ordering: .sequentiallyConsistent)
    return id
  }

  private func remove(_ id: Int) {
    let removed = readers.withLock { $0.pokes.removeValue(forKey: id) }
    if removed != nil { count.subtract(1, ordering: .sequentiallyConsistent) }
  }
}
