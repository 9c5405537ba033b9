/// The error of a body that awaits an operation which can't start until that body returns.
///
/// The body holds the only slot of a queue, and the operation waits for that slot, so neither would
/// ever end. Use the call form, `try await useCase(request)`, which runs inside the slot of the
/// body. On a queue with more slots, such a wait isn't detected.
///
/// A body also gets this error if it awaits the shared run to which it belongs: see
/// ``UseCase/UseCase/shared()``.
///
/// A `Task { }` that the body starts counts as a part of the body, even if the body doesn't wait
/// for it. To await the operation outside of the body, use `Task.detached`.
public struct UseCaseDeadlock: Error, Hashable, CustomStringConvertible {
  /// Creates the error, for a fake in a test.
  public init() {}

  /// A sentence for a log.
  public var description: String {
    "A body awaits an operation that cannot end before the body returns. Use the call form, "
      + "`try await useCase(request)`, which runs inside the slot of the body. For a shared use "
      + "case, use another request."
  }
}
