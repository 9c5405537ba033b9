public import Synchronization

/// A value behind a `Mutex` that the thread sanitizer understands on every platform.
///
/// On Linux the sanitizer cannot see into `Mutex`, and reports races that do not exist. The fence
/// repeats the guarantee of the mutex, so an app that is tested under the sanitizer gets no report
/// from these locks. It costs an acquiring load and a releasing store, which are plain moves on
/// x86-64. On Darwin the sanitizer understands the lock of the system, and there is no fence.
@usableFromInline
package struct Lock<Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<Value>
  #if !canImport(Darwin)
    @usableFromInline let fence: Atomic<Bool>
  #endif

  @inlinable
  package init(_ value: consuming Value) {
    mutex = Mutex(value)
    #if !canImport(Darwin)
      fence = Atomic(false)
    #endif
  }

  /// Runs `body` with the lock held. It must not call, resume or release anything of a client's.
  @inlinable
  package func withLock<Result: ~Copyable & Sendable>(
    _ body: (inout Value) -> Result
  ) -> Result {
    mutex.withLock { value in
      #if !canImport(Darwin)
        _ = fence.load(ordering: .acquiring)
        defer { fence.store(true, ordering: .releasing) }
      #endif
      return body(&value)
    }
  }
}
