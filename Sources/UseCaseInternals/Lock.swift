public import Synchronization

/// A value behind a `Mutex`, in a way that the thread sanitizer understands on every platform.
///
/// On Linux the sanitizer does not see into `Mutex` and would report races that are none. The
/// fence repeats to it what the mutex guarantees already, for the price of two plain moves, so
/// that an app that tests itself under the sanitizer hears nothing of these locks.
@usableFromInline
package struct Lock<Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<Value>
  @usableFromInline let fence: Atomic<Bool>

  @inlinable
  package init(_ value: consuming Value) {
    mutex = Mutex(value)
    fence = Atomic(false)
  }

  /// Runs `body` with the lock held. It calls one method of a machine and nothing of a client's.
  @inlinable
  package func withLock<Result: ~Copyable & Sendable>(_ body: (inout Value) -> Result) -> Result {
    mutex.withLock { value in
      _ = fence.load(ordering: .acquiring)
      defer { fence.store(true, ordering: .releasing) }
      return body(&value)
    }
  }
}
