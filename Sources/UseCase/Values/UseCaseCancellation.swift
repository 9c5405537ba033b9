/// The reason why an operation was cancelled.
public enum UseCaseCancellation: Hashable, Sendable {
  /// `cancel()` or `cancelAll()` was called, or the task that awaits the call form was cancelled.
  case requested

  /// A later operation took its place.
  case superseded

  /// The queue was busy and rejected it.
  case dropped

  /// The scope that it was stored in went away.
  case scopeEnded

  /// The body threw `CancellationError` though nothing had cancelled the operation.
  case thrown
}
