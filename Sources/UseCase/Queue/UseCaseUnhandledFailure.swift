import Synchronization
import UseCaseInternals

/// A failure that nobody has handled, as ``UseCaseQueue/unhandledFailure`` receives it.
public struct UseCaseUnhandledFailure: Sendable, CustomStringConvertible {
  /// The identity of the operation.
  public let id: UseCaseOperationID

  /// The type of the use case, as in ``UseCaseEvent/type``.
  public let type: any Any.Type

  /// The error that the body threw, or the ``UseCaseTimeout``.
  public let error: any Error

  /// A sentence for a log, such as "Search #7 failed, and nobody handled it: offline".
  public var description: String { "\(type) \(id) failed, and nobody handled it: \(error)" }
}

extension UseCaseQueue {
  private static let failureHook = Lock<(@Sendable (UseCaseUnhandledFailure) -> Void)?>(nil)
  private static let hasFailureHook = Atomic(false)

  /// Whether an operation that fails has to find out whether somebody handles it.
  static var tellsFailures: Bool { hasFailureHook.load(ordering: .relaxed) }

  /// Receives each failure that nothing handles.
  ///
  /// A failure is unhandled if its operation has no `catch` that matches and no `finally` with the
  /// outcome, no task awaits `value` or `ended()`, and no model or optimistic value that is still there
  /// shows it. `common`, and a `finally` without the outcome, don't count.
  ///
  /// ```swift
  /// UseCaseQueue.unhandledFailure = { failure in log.error("\(failure)") }
  /// ```
  ///
  /// The closure is called once for each failure, on no actor and with no lock held. The call comes
  /// a tenth of a second after the operation has ended, which leaves time to attach a `catch` to an
  /// operation that fails at once. `nil`, the default, costs nothing.
  public static var unhandledFailure: (@Sendable (UseCaseUnhandledFailure) -> Void)? {
    get { failureHook.withLock { $0 } }
    set {
      // The old closure is returned, so that it is released outside of the lock.
      _ = failureHook.withLock { hook in
        defer { hook = newValue }
        hasFailureHook.store(newValue != nil, ordering: .relaxed)
        return hook
      }
    }
  }
}
