/// The place of the running code, as a queue sees it.
package struct QueuePlace: Sendable {
  /// The innermost operation around the code.
  package let operation: UseCaseOperationID?

  /// The type of the use case that it executes.
  fileprivate let useCaseType: (any Any.Type)?

  /// Whether it holds a slot of the queue.
  fileprivate let isOwn: Bool

  /// Whether the code holds a slot of the queue: its own, or that of a caller.
  package let isHeld: Bool

  /// Whether the innermost operation holds a slot of the queue, and executes a use case of this
  /// type, itself or erased.
  package func isBody(of type: any Any.Type) -> Bool {
    isOwn && (useCaseType == type || Slot.innermost?.baseType == type)
  }

  /// The innermost operation around the running code, of any queue.
  package static var operation: UseCaseOperationID? { Slot.innermost?.ticket.id }
}

extension UseCaseQueue {
  /// The place of the running code.
  package var placeHere: QueuePlace {
    guard let innermost = Slot.innermost else {
      return QueuePlace(operation: nil, useCaseType: nil, isOwn: false, isHeld: false)
    }
    let isOwn = innermost.queueID == ObjectIdentifier(self) && innermost.isOccupied
    return QueuePlace(
      operation: innermost.ticket.id, useCaseType: innermost.useCaseType, isOwn: isOwn,
      isHeld: isOwn || isHeldHere)
  }
}
