/// A change in the life of an operation, as the observer of its queue receives it.
///
/// ```swift
/// let queue = UseCaseQueue(.serial) { event in
///   print("\(event.useCase) \(event.id) \(event.kind)")  // Search #7 running
/// }
/// ```
public struct UseCaseEvent: Sendable {
  /// The identity of the operation.
  public let id: UseCaseOperationID

  /// The type of the use case, to tell use cases apart without their names. ``AnyUseCase`` is a
  /// type of its own, whatever it erases. An `any UseCase<…>` keeps the type of its value.
  public let type: any Any.Type

  /// The ``UseCase/useCaseName``.
  public let useCase: String

  /// The change of the operation's state.
  public let kind: Kind

  /// The operation whose body started this one, with `execute` or with the call form,
  /// `try await useCase(request)`. It is `nil` if the operation wasn't started in a body.
  public let parent: UseCaseOperationID?

  /// The error if ``kind`` is ``Kind/failed``, otherwise `nil`.
  public let error: (any Error)?

  /// The changes, in their order: an operation may wait, may run, has one outcome, and ends.
  public enum Kind: Hashable, Sendable {
    /// The operation waits for a slot.
    case waiting
    /// The operation holds a slot, and its body is about to begin.
    case running
    /// The body returned a response.
    case succeeded
    /// The body threw an error, or its timeout passed.
    case failed
    /// The operation was cancelled.
    case cancelled(UseCaseCancellation)
    /// The body has returned, the handlers have run, and the slot is free.
    case ended
  }
}
