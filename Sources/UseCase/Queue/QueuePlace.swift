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
  package static var operation: UseCaseOperationID? { Slot.innermost?.id }

  /// Whether that operation has failed already, by a timeout, although its body runs.
  package static var hasFailed: Bool { Slot.innermost?.verdict?.kind == .failure }

  /// Returns a task that lets that operation fail when the time has passed, counted on the clock of
  /// its queue. Nil if there is no limit.
  package static func timer(_ duration: Duration) -> Task<Void, Never>? {
    UseCaseTimeout.limits(duration) ? Slot.innermost?.timer(duration) : nil
  }
}

extension UseCaseQueue {
  /// Runs a step of the innermost operation, which is on another queue, with the interceptors of this
  /// one around it. They are told that it is a use case of this type.
  package func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of useCaseType: any Any.Type,
    step: @escaping @Sendable (Request) async throws -> Response
  ) async throws -> Response {
    guard let operation = Slot.innermost else {
      preconditionFailure("A step of an operation runs in one.")
    }
    let execution = UseCaseExecution(
      id: operation.id, parent: operation.parent, type: useCaseType, clock: clock)
    return try await execution.run(
      request, through: interceptors[...], body: UseCaseNext(step))
  }

  /// The place of the running code.
  package var placeHere: QueuePlace {
    guard let innermost = Slot.innermost else {
      return QueuePlace(
        operation: nil, useCaseType: nil, isOwn: false, isHeld: false)
    }
    let isOwn = innermost.queueID == ObjectIdentifier(self) && innermost.isOccupied
    return QueuePlace(
      operation: innermost.id, useCaseType: innermost.useCaseType, isOwn: isOwn,
      isHeld: isOwn || isHeldHere)
  }

  /// Whether the running code has had its turn in this line.
  package var isLineHeldHere: Bool { Slot.isHeld(inLine: self) }
}
