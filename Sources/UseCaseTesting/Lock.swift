import Synchronization

/// A value behind a `Mutex`, in a way that the thread sanitizer understands on every platform.
///
/// On Linux the sanitizer doesn't see into `Mutex` and reports races that are none. The fence
/// repeats to it what the mutex guarantees already.
struct Lock<Value: Sendable>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>
  private let fence = Atomic(false)

  init(_ value: consuming Value) {
    mutex = Mutex(value)
  }

  /// Runs `body` with the lock held. It calls one method of a machine and nothing of a client's.
  func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
    mutex.withLock { value in
      _ = fence.load(ordering: .acquiring)
      defer { fence.store(true, ordering: .releasing) }
      return body(&value)
    }
  }
}
