import UseCaseInternals

/// A value that arrives once, and that any number of tasks may await, before and after.
///
/// The first value stays. Awaiting it ignores cancellation: a wait that ends early is built by
/// fulfilling the promise with a value that says so.
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
