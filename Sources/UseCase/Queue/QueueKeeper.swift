/// Follows what is asked of a queue and who has its slots, from inside of its lock.
///
/// So it hears of everything in the one order in which the queue decides. Its methods may take a
/// lock of their own, and must not call the queue, or anything of a client's, while they hold it.
package protocol QueueKeeper: AnyObject, Sendable {
  /// An operation was admitted.
  ///
  /// - Parameters:
  ///   - id: The operation.
  ///   - question: The words of its use case, if that is an ``AskingUseCase``.
  func admitted(_ id: UseCaseOperationID, _ question: (any Sendable)?)

  /// An operation has its slot.
  func started(_ id: UseCaseOperationID)

  /// An operation has given its slot back, or has left while it waited.
  func left(_ id: UseCaseOperationID)

  /// The lock of the queue is released after one of the above: the time to wake readers.
  func unlocked()
}

/// A use case that says more of itself to its queue.
@usableFromInline
package protocol AskingUseCase: Sendable {
  /// The type to which reactions react: of an erased use case, that of its base.
  var baseType: any Any.Type { get }

  /// Returns the question behind the request, in words that the keeper of the queue understands.
  func question(about request: Any) -> (any Sendable)?
}

extension AskingUseCase {
  @usableFromInline
  package var baseType: any Any.Type { Self.self }
}
