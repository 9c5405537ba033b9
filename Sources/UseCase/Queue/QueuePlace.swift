/// The place of the running code, as a queue sees it.
package struct QueuePlace: Sendable {
  /// The innermost operation around the code.
  package let operation: UseCaseOperationID?

  /// Whether that operation holds a slot of the queue.
  package let isOwn: Bool

  /// Whether the code holds a slot of the queue: its own, or that of a caller.
  package let isHeld: Bool

  /// The innermost operation around the running code, of any queue.
  package static var operation: UseCaseOperationID? { Slot.innermost?.ticket.id }
}

extension UseCaseQueue {
  /// The place of the running code.
  package var placeHere: QueuePlace {
    guard let innermost = Slot.innermost else {
      return QueuePlace(operation: nil, isOwn: false, isHeld: false)
    }
    let isOwn = innermost.queueID == ObjectIdentifier(self) && innermost.isOccupied
    return QueuePlace(operation: innermost.ticket.id, isOwn: isOwn, isHeld: isOwn || isHeldHere)
  }
}
