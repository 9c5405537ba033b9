public import Synchronization

/// A value behind a `Mutex` that the thread sanitizer understands on every platform.
///
/// On Linux the sanitizer cannot see into `Mutex`, and reports races that do not exist. The fence
/// repeats the guarantee of the mutex, at the price of two plain moves. So an app that is tested
/// under the sanitizer gets no report from these locks.
@usableFromInline
package struct Lock<Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<Value>
  @usableFromInline let fence: Atomic<Bool>

  @inlinable
  package init(_ value: consuming Value) {
    mutex = Mutex(value)
    fence = Atomic(false)
  }

  /// Runs `body` with the lock held. It must not call, resume or release anything of a client's.
  @inlinable
  package func withLock<Result: ~Copyable & Sendable>(
    _ body: (inout Value) -> Result
  ) -> Result {
    mutex.withLock { value in
      _ = fence.load(ordering: .acquiring)
      defer { fence.store(true, ordering: .releasing) }
      return body(&value)
    }
  }
}
