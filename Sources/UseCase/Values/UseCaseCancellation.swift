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
}
