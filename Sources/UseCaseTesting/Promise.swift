import UseCaseInternals

/// A value that arrives once, and that any number of tasks may await, before and after.
///
/// The first value stays. Awaiting it ignores cancellation: a wait that ends early is built by
/// fulfilling the promise with a value that says so, as `Lock.wait(enter:leave:)` does.
package final class Promise<Value: Sendable>: Sendable {
  private enum State {
    /// Nothing has arrived. Next is `fulfilled`.
    case pending(waiters: [UnsafeContinuation<Value, Never>])

    /// The value has arrived. Final.
    case fulfilled(Value)

    /// Returns the value that has arrived, or keeps the waiter.
    mutating func add(_ waiter: UnsafeContinuation<Value, Never>) -> Value? {
      switch self {
      case .pending(let waiters):
        self = .pending(waiters: waiters + [waiter])
        return nil
      case .fulfilled(let value):
        return value
      }
    }

    /// Returns the waiters to resume, in the order in which they came.
    mutating func fulfill(_ value: Value) -> [UnsafeContinuation<Value, Never>] {
      switch self {
      case .pending(let waiters):
        self = .fulfilled(value)
        return waiters
      case .fulfilled:
        return []
      }
    }
  }

  private let state = Lock(State.pending(waiters: []))

  package init() {}

  package var isFulfilled: Bool {
    state.withLock { if case .fulfilled = $0 { true } else { false } }
  }

  package var value: Value {
    get async {
      await withUnsafeContinuation { waiter in
        let arrived = state.withLock { $0.add(waiter) }
        if let arrived { waiter.resume(returning: arrived) }
      }
    }
  }

  package func fulfill(_ value: Value) {
    for waiter in state.withLock({ $0.fulfill(value) }) { waiter.resume(returning: value) }
  }
}

extension Lock {
  /// Lets a promise enter the value that the lock guards, and waits until it is fulfilled.
  ///
  /// - Parameters:
  ///   - enter: Returns a result that is there already, or keeps the promise.
  ///   - leave: Removes the promise. Returns whether it was still there.
  /// - Returns: The result that was there, or that the promise was fulfilled with.
  /// - Throws: `CancellationError`, promptly, when the calling task is cancelled before the promise
  ///   is taken out to be fulfilled. A task that is already cancelled never enters.
  func wait<Result: Sendable>(
    enter: (inout Value, Promise<Result?>) -> Result?,
    leave: @Sendable (inout Value, Promise<Result?>) -> Bool
  ) async throws -> Result {
    let promise = Promise<Result?>()
    let result = await withTaskCancellationHandler {
      // A task that is cancelled later has entered, so the handler finds its promise.
      let arrived: Result?? = withLock { value in
        if Task.isCancelled { .some(nil) } else { enter(&value, promise).map(Optional.some) }
      }
      return if let arrived { arrived } else { await promise.value }
    } onCancel: {
      if withLock({ leave(&$0, promise) }) { promise.fulfill(nil) }
    }
    guard let result else { throw CancellationError() }
    return result
  }
}
