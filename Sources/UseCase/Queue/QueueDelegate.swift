/// Follows what is asked of a queue and who has its slots, from inside of its lock.
///
/// So it hears of everything in the one order in which the queue decides. Its methods may take a
/// lock of their own, and must not call the queue, or anything of a client's, while they hold it.
package protocol QueueDelegate: AnyObject, Sendable {
  /// An operation was admitted. The queue keeps it until it has left.
  func admitted(_ operation: any AdmittedOperation)

  /// An operation has its slot.
  func started(_ id: UseCaseOperationID)

  /// An operation has given its slot back, or has left while it waited.
  func left(_ id: UseCaseOperationID, hasSucceeded: Bool)

  /// The lock of the queue is released after one of the above: the time to wake readers.
  func unlocked()

  /// The running code, in a slot of the queue, is about to execute an operation on it. Returns the
  /// line in which the operation waits, to run as a guest in that slot. Nil if it is like any other.
  func lineHere() -> UseCaseQueue?

  /// Why the running code, the body of an operation on the queue, must not execute a use case of this
  /// type on another queue. Nil if it may.
  func objection(to useCaseType: any Any.Type) -> String?
}

extension QueueDelegate {
  package func lineHere() -> UseCaseQueue? { nil }
  package func objection(to useCaseType: any Any.Type) -> String? { nil }
}

/// An operation as the delegate of its queue sees it.
package protocol AdmittedOperation: AnyObject, Sendable {
  var id: UseCaseOperationID { get }
  var useCaseType: any Any.Type { get }

  /// The type of its use case: of an erased one, that of its base. Known as long as the title is.
  var baseType: any Any.Type { get }

  /// The title of its request, until its body has returned: nil if the use case has none, or is a
  /// wrapper of a client's. It runs code of a client, so ask for it outside of locks.
  var title: String? { get }

  /// The things that an execution of its request is going to touch, in the words of its delegate.
  /// Known as long as the title is. It runs code of a client, too.
  var footprint: (any Sendable)? { get }

  /// Tells the delegate ahead what it notes before the body begins, if it notes anything. Does nothing
  /// as soon as the title is unknown. It runs code of a client, too.
  func announce()
}

/// A use case that describes itself to its queue and to the delegate.
package protocol DescribedUseCase: Sendable {
  /// The base, if that knows the title and the footprint.
  var described: (any DescribedUseCase)? { get }

  /// The type to which reactions react: of an erased use case, that of its base.
  var baseType: any Any.Type { get }

  /// Returns what a user calls the request, nil if nobody knows that.
  func title(for request: Any) -> String?

  /// Returns what an execution of the request is going to touch, in the words of the delegate, nil if
  /// nobody knows that.
  func footprint(of request: Any) -> (any Sendable)?

  /// Tells the delegate ahead what it notes before this execution of the request begins, if it notes
  /// anything.
  func announce(_ request: Any, of operation: UseCaseOperationID)
}

extension DescribedUseCase {
  package var described: (any DescribedUseCase)? { nil }

  package var baseType: any Any.Type { Self.self }

  package func title(for request: Any) -> String? { described?.title(for: request) }

  package func footprint(of request: Any) -> (any Sendable)? {
    described?.footprint(of: request)
  }

  package func announce(_ request: Any, of operation: UseCaseOperationID) {
    described?.announce(request, of: operation)
  }
}
