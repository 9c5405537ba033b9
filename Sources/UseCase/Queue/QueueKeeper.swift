/// Follows a serial queue from inside its lock, so that it sees one order of all that happens.
///
/// All but `unlocked` are called with the lock of the queue held: they change the state of the
/// keeper and call nothing else. Guests, which run in the slot of a caller, are not told.
package protocol QueueKeeper: AnyObject, Sendable {
  /// The operation is in the queue. Ids grow in this order.
  ///
  /// `question` is what its use case says of itself, nil if it says nothing.
  func admitted(_ id: UseCaseOperationID, _ question: (any Sendable)?)

  /// The operation has its slot.
  func started(_ id: UseCaseOperationID)

  /// The operation has given its slot back, or left while it waited.
  func left(_ id: UseCaseOperationID)

  /// The lock is released again after one of these events.
  func unlocked()
}

/// A use case that tells the keeper of its queue what it is about to do.
@usableFromInline
package protocol AskingUseCase: Sendable {
  func question(about request: Any) -> (any Sendable)?
}

/// Where the running code is, seen from a queue.
package struct QueuePlace: Sendable {
  /// The innermost operation around the code.
  package let operation: UseCaseOperationID?
  /// Whether that operation holds a slot of the queue.
  package let isOwn: Bool
  /// Whether the code holds a slot of the queue, its own or that of a caller.
  package let isHeld: Bool
}

extension UseCaseQueue {
  /// Creates a serial queue that is followed by `keeper`.
  package convenience init(keeper: any QueueKeeper, clock: any Clock<Duration>) {
    self.init(.serial, clock: clock, interceptors: [], observer: nil, keeper: keeper)
  }

  /// Where the running code is.
  package var placeHere: QueuePlace {
    guard let innermost = Slot.held else {
      return QueuePlace(operation: nil, isOwn: false, isHeld: false)
    }
    let (id, isOwn) = innermost.withCore { ($0.id, $0.queue === self && $0.holdsSlot) }
    return QueuePlace(operation: id, isOwn: isOwn, isHeld: isOwn || isHeldHere)
  }
}

extension UseCase {
  /// Executes the request in the slot that the running code holds, as the call form does, and
  /// does not wait for it.
  package func executeInside(_ request: Request) -> UseCaseOperation<Request, Response> {
    let operation = UseCaseOperation<Request, Response>(
      request, queue: queue, useCase: Self.self, isCall: true)
    operation.submit(self, isCall: true)
    return operation
  }
}
