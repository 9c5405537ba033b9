import Synchronization

/// A value that any thread may change, and whose changes any task may wait for.
///
/// It is what the other helpers are made of, and good for counts of one's own:
///
/// ```swift
/// let arrivals = Watched(0)
/// arrivals.update { $0 += 1 }
/// await arrivals.wait { $0 == 3 }
/// ```
///
/// A condition is asked at once and after each change, so no arrival is ever missed and nothing
/// polls.
public final class Watched<Value: Sendable>: Sendable {
  private struct Waiter {
    let condition: @Sendable (Value) -> Bool
    let continuation: UnsafeContinuation<Bool, Never>
  }

  private struct State {
    var value: Value
    var waiters: [Int: Waiter] = [:]
    var nextWaiter = 0

    mutating func takeSatisfied() -> [Waiter] {
      if waiters.isEmpty { return [] }
      let satisfied = waiters.filter { $0.value.condition(value) }.sorted { $0.key < $1.key }
      for waiter in satisfied { waiters[waiter.key] = nil }
      return satisfied.map(\.value)
    }
  }

  private let mutex: Mutex<State>
  private let fence = Atomic(true)

  /// Creates a value to watch.
  public init(_ value: Value) {
    mutex = Mutex(State(value: value))
  }

  /// The value as it is now.
  public var value: Value {
    withLock { $0.value }
  }

  /// Changes the value, then resumes those whose condition has come true, in the order in which
  /// they came.
  @discardableResult
  public func update<Result>(_ change: (inout Value) -> Result) -> Result {
    let (result, satisfied) = withLock { state in
      let result = change(&state.value)
      return (result, state.takeSatisfied())
    }
    for waiter in satisfied { waiter.continuation.resume(returning: true) }
    return result
  }

  /// Returns once the condition holds, whatever happens to the waiting task.
  ///
  /// - Parameter condition: Called under a lock: it must not touch anything but its argument.
  public func wait(until condition: @escaping @Sendable (Value) -> Bool) async {
    _ = await withUnsafeContinuation { continuation in
      register(Waiter(condition: condition, continuation: continuation), id: nextID())
    }
  }

  /// Returns once the condition holds.
  ///
  /// - Parameter condition: Called under a lock: it must not touch anything but its argument.
  /// - Throws: `CancellationError` as soon as the waiting task is cancelled.
  public func waitUnlessCancelled(
    until condition: @escaping @Sendable (Value) -> Bool
  ) async throws {
    let id = nextID()
    let isSatisfied = await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        register(Waiter(condition: condition, continuation: continuation), id: id)
        // A cancellation that came before the registration found nobody to resume.
        if Task.isCancelled { abandon(id) }
      }
    } onCancel: {
      abandon(id)
    }
    if !isSatisfied { throw CancellationError() }
  }

  private func nextID() -> Int {
    withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
  }

  private func register(_ waiter: Waiter, id: Int) {
    let isSatisfied = withLock { state in
      if waiter.condition(state.value) { return true }
      state.waiters[id] = waiter
      return false
    }
    if isSatisfied { waiter.continuation.resume(returning: true) }
  }

  private func abandon(_ id: Int) {
    withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: false)
  }

  /// The thread sanitizer does not see the futex of a `Mutex` on Linux. The fence tells it the
  /// order that the lock has already made; without it each use would be a false report.
  private func withLock<Result>(_ body: (inout State) -> Result) -> Result {
    mutex.withLock { state in
      _ = fence.load(ordering: .acquiring)
      defer { fence.store(true, ordering: .releasing) }
      return body(&state)
    }
  }
}
