/// What became of an operation. There is exactly one, and the first one stays.
///
/// ```swift
/// switch await search.execute("swift").ended() {
/// case .success(let titles): print(titles)
/// case .failure(let error): print("failed: \(error)")
/// case .cancelled(let reason): print("cancelled: \(reason)")
/// }
/// ```
public enum UseCaseOutcome<Response: Sendable>: Sendable {
  /// The body returned this response.
  case success(Response)

  /// The body threw this error, or took longer than its time-out allows.
  case failure(any Error)

  /// The operation was cancelled before its body was done.
  case cancelled(UseCaseCancellation)

  /// Returns the response.
  ///
  /// - Returns: The response of an operation that has succeeded.
  /// - Throws: The failure itself, or `CancellationError` for a cancelled operation.
  /// - Complexity: O(1).
  public func get() throws -> Response {
    switch self {
    case .success(let response): return response
    case .failure(let error): throw error
    case .cancelled: throw CancellationError()
    }
  }
}

/// Why an operation was cancelled.
public enum UseCaseCancellation: Hashable, Sendable {
  /// Somebody called `cancel()` or `cancelAll()`, or the task that awaits a call was cancelled.
  case requested

  /// A later operation took its place.
  case superseded

  /// The queue was busy and refused it.
  case dropped

  /// The scope that it was stored in went away.
  case scopeEnded

  /// The body threw `CancellationError` though nobody had cancelled.
  case thrown
}

/// The failure of an operation whose body took longer than its use case's time-out.
public struct UseCaseTimeout: Error, Hashable, CustomStringConvertible {
  /// The time-out that passed, on the queue's clock.
  ///
  /// - Complexity: O(1).
  public let duration: Duration

  /// Creates the error, for a fake in a test.
  ///
  /// - Parameter duration: The time-out that passed.
  /// - Complexity: O(1).
  public init(duration: Duration) {
    self.duration = duration
  }

  /// A sentence for a log.
  ///
  /// - Complexity: O(1).
  public var description: String { "The use case took longer than its time-out of \(duration)." }
}

/// What awaiting an operation throws when it waits for a slot that only the awaiting body holds.
///
/// Awaiting would never end: the operation waits for the slot, and the slot for the body. Use the
/// call form, `try await useCase(request)`, which runs inside the slot that the body holds.
///
/// A `Task { }` made in the body counts as a part of it, also if the body does not wait for it: make
/// a detached task to await such an operation from there.
public struct UseCaseDeadlock: Error, Hashable, CustomStringConvertible {
  /// Creates the error, for a fake in a test.
  ///
  /// - Complexity: O(1).
  public init() {}

  /// A sentence for a log.
  ///
  /// - Complexity: O(1).
  public var description: String {
    "The awaited operation waits for the slot that the awaiting body holds. Use the call form, "
      + "`try await useCase(request)`, which runs inside that slot."
  }
}

/// An outcome without its response: what the machines need to know of it.
@usableFromInline
enum Verdict: Sendable {
  case success
  case failure(any Error)
  case cancelled(UseCaseCancellation)

  /// A verdict without what it carries, for those who only count or choose.
  @usableFromInline
  enum Kind: Sendable {
    case success, failure, cancelled
  }

  var kind: Kind {
    switch self {
    case .success: .success
    case .failure: .failure
    case .cancelled: .cancelled
    }
  }
}
