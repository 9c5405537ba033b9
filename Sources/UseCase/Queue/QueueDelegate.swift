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

  /// An operation was cancelled before its body began, and never begins. This is called outside
  /// of the lock, before any `finally` of it runs.
  func neverBegins(_ id: UseCaseOperationID)

  /// The lock of the queue is released after an event: the time to wake readers.
  func unlocked()

  /// An execution is going to be asked of the queue, or called in a slot of it. This is called outside
  /// of the lock, and may trap.
  func check(_ description: ExecutionDescription)

  /// The running code calls a use case on the queue, in the call form. This is asked outside of the
  /// lock, before the admission.
  func call() -> QueueCall

  /// Whether the running code is the body that holds a slot of the queue, and not only a task that this
  /// body has left behind.
  func isBodyHere() -> Bool

  /// Returns the name by which the observer of the queue is to hear of an operation, nil for that of
  /// the use case. This is asked outside of the lock.
  func name(of id: UseCaseOperationID) -> String?

  /// Why the running code, the body of an operation on the queue, must not execute a use case of this
  /// type on another queue. Nil if it may.
  func objection(to useCaseType: any Any.Type) -> String?
}

extension QueueDelegate {
  package func neverBegins(_ id: UseCaseOperationID) {}
  package func check(_ description: ExecutionDescription) {}
  package func call() -> QueueCall { .inside }
  package func isBodyHere() -> Bool { true }
  package func name(of id: UseCaseOperationID) -> String? { nil }
  package func objection(to useCaseType: any Any.Type) -> String? { nil }
}

/// The way of a call on a queue with a delegate.
package enum QueueCall: Sendable {
  /// It is an operation like any other.
  case admit
  /// It runs as a guest in the slot of the queue that the running code holds, if it holds one.
  case inside
  /// It is an operation of this queue instead.
  case on(UseCaseQueue)
  /// It throws this error, and nothing is admitted.
  case refuse(any Error)
}

/// An operation as the delegate of its queue sees it.
package protocol AdmittedOperation: AnyObject, Sendable {
  var id: UseCaseOperationID { get }
  var useCaseType: any Any.Type { get }

  /// The description of the execution, on a queue with a delegate.
  var description: ExecutionDescription? { get }
}

/// An execution as its use case describes it. The use case is asked once: when it is executed or
/// called, on that thread, before the admission.
@usableFromInline
package struct ExecutionDescription: Sendable {
  /// The type of the use case: of an erased one, that of its base.
  package let baseType: any Any.Type
  /// An object for the delegate, nil if the use case has none: it is foreign there.
  package let words: (any AnyObject & Sendable)?

  init(baseType: any Any.Type, words: (any AnyObject & Sendable)?) {
    self.baseType = baseType
    self.words = words
  }
}

/// A use case that describes itself to its queue and to the delegate.
package protocol DescribedUseCase: Sendable {
  /// The base, if it describes itself.
  var described: (any DescribedUseCase)? { get }

  /// The type to which reactions react: of an erased use case, that of its base.
  var baseType: any Any.Type { get }

  /// Returns an object that describes the execution to the delegate, nil if there is none.
  func describe(_ request: Any) -> (any AnyObject & Sendable)?

  /// Whether the running code holds a slot that an execution would wait for on the queue of a base.
  func isHeldInside(for request: Any) -> Bool
}

extension DescribedUseCase {
  package var described: (any DescribedUseCase)? { nil }

  package var baseType: any Any.Type { Self.self }

  package func describe(_ request: Any) -> (any AnyObject & Sendable)? {
    described?.describe(request)
  }

  package func isHeldInside(for request: Any) -> Bool {
    described?.isHeldInside(for: request) ?? false
  }
}
