/// Follows the riders of one run, which have a queue of their own, outside of any lock.
protocol RidersKeeper: AnyObject, Sendable {
  /// The task of a rider is about to be made, on the thread that executes.
  ///
  /// - Parameters:
  ///   - rider: An operation that was admitted, or that is a guest.
  ///   - priority: The priority of the body, nil for that of the running code.
  ///   - isCall: Whether it is executed by the call form.
  /// - Returns: Whether the queue is to be resumed.
  func submitted(_ rider: any QueueMember, priority: TaskPriority?, isCall: Bool) -> Bool

  /// A rider has an outcome before its body has returned. It is called on the thread that gives the
  /// outcome.
  func concludedEarly(_ rider: UseCaseOperationID)

  /// Whether a rider waits for the running code, and so must not be awaited by it.
  func waitsForCodeHere(_ rider: UseCaseOperationID) -> Bool
}
