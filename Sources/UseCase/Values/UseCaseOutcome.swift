/// The result of an operation. Each operation has exactly one outcome, which never changes.
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

  /// The body threw this error, or took longer than its timeout allows.
  case failure(any Error)

  /// The operation was cancelled, or its body threw `CancellationError`.
  ///
  /// If you call ``UseCaseOperation/cancel()`` after the outcome is decided, or a later operation
  /// supersedes this one, the handlers that haven't begun receive this case instead.
  case cancelled(UseCaseCancellation)

  /// Returns the response.
  ///
  /// - Returns: The response of an operation that has succeeded.
  /// - Throws: The failure itself, or `CancellationError` for a cancelled operation.
  public func get() throws -> Response {
    switch self {
    case .success(let response): return response
    case .failure(let error): throw error
    case .cancelled: throw CancellationError()
    }
  }
}

/// The reason why an operation was cancelled.
public enum UseCaseCancellation: Hashable, Sendable {
  /// `cancel()` or `cancelAll()` was called, or the task that awaits `try await useCase(request)`
  /// was cancelled.
  case requested

  /// A later operation took the place of this operation, or of the delivery of its result.
  case superseded

  /// The queue was at its limit, and had no place for the operation to wait in.
  case dropped

  /// The scope that the operation was stored in was deallocated.
  case scopeEnded

  /// The body threw `CancellationError` though nothing had cancelled the operation.
  case thrown

  /// The queue was closed, and refused the operation.
  case closed
}

/// The stage of an operation: waiting, running, or finished.
public enum UseCaseOperationState: Hashable, Sendable {
  /// The operation waits for a slot of its queue.
  case waiting

  /// The operation holds a slot and has no outcome yet.
  case running

  /// The operation has an outcome. Its body may not have returned yet.
  case finished
}

/// An outcome without its response: all that the machines need to know of it.
@usableFromInline
enum Verdict: Sendable {
  case success
  case failure(any Error)
  case cancelled(UseCaseCancellation)

  /// A verdict without its error or reason, to count or to choose by.
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
