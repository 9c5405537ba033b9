import Synchronization
import UseCaseInternals

/// The streams of states that are being read. Each is told that there is something new, and then
/// reads the newest state.
final class HistoryReaders: Sendable {
  private typealias Pokes = [HistoryEntry.ID: AsyncStream<Void>.Continuation]

  private let pokes = Lock(Pokes())
  /// Read before the lock is taken: few histories have a reader.
  private let count = Atomic(0)

  /// Returns a stream of pokes, of which at most one waits to be heard. The first is there already.
  func add() -> AsyncStream<Void> {
    let id = HistoryEntry.ID.next()
    let (stream, poke) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    poke.onTermination = { [weak self] _ in self?.change { $0.removeValue(forKey: id) } }
    change { $0.updateValue(poke, forKey: id) }
    poke.yield()
    return stream
  }

  /// Returns what the change has taken out, which is not to go under the lock.
  @discardableResult
  private func change(
    _ body: (inout Pokes) -> AsyncStream<Void>.Continuation?
  ) -> AsyncStream<Void>.Continuation? {
    pokes.withLock { pokes in
      defer { count.store(pokes.count, ordering: .sequentiallyConsistent) }
      return body(&pokes)
    }
  }

  func poke() {
    guard count.load(ordering: .sequentiallyConsistent) > 0 else { return }
    for poke in pokes.withLock({ Array($0.values) }) { poke.yield() }
  }

  func finish() {
    for poke in pokes.withLock({ Array($0.values) }) { poke.finish() }
  }
}

/// The version that a reader has read last.
final class HistoryReader: Sendable {
  private let next = Atomic<UInt64>(0)

  /// Returns whether the version is newer than the last one.
  func isNew(_ version: UInt64) -> Bool {
    guard version >= next.load(ordering: .relaxed) else { return false }
    next.store(version + 1, ordering: .relaxed)
    return true
  }
}
