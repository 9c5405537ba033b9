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
}

extension UseCaseQueue {
  /// Runs the body of the innermost operation, or a step of it, with the interceptors of this queue
  /// around it, all of it under the timeout. The operation may be on another queue. The interceptors
  /// are told that it executes a use case of this type.
  package func run<Request: Sendable, Response: Sendable>(
    _ request: Request, of useCaseType: any Any.Type, timeout: Duration = UseCaseTimeout.never,
    body: @escaping @Sendable (Request) async throws -> Response
  ) async throws -> Response {
    guard let operation = Slot.innermost else {
      preconditionFailure("A body runs in an operation.")
    }
    let timer = operation.timer(timeout)
    defer { timer?.cancel() }
    guard let first = interceptors.first else { return try await body(request) }
    let execution = UseCaseExecution(
      id: operation.id, parent: operation.parent, type: useCaseType, clock: clock)
    let next = execution.next(interceptors.dropFirst(), UseCaseNext(body))
    return try await first.intercept(request, of: execution, next: next)
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
