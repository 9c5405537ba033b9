import UseCaseInternals

/// An operation as its queue and the running code see it.
protocol QueueMember: AdmittedOperation {
  /// The identity of the member, which it receives once, at admission, under the lock of its queue.
  func receive(_ id: UseCaseOperationID)

  /// The operation of the same queue in whose handler the member was executed.
  var handled: UseCaseOperationID? { get }

  /// The raw value of the priority of the member, which may grow.
  var urgency: UInt8 { get }

  /// Raises the priority, if it is lower.
  func raise(to urgency: UInt8)

  /// The member has a slot, and its body may begin.
  func grant()

  // The member as the code sees it that runs in its slot.

  /// The queue that gives out the slot.
  var queue: UseCaseQueue { get }

  /// The members around this one, and its description, if it has any.
  var context: CallContext? { get }

  /// The operation in whose body the member was executed or called, if somebody may want to know.
  var parent: UseCaseOperationID? { get }

  var verdict: Verdict? { get }

  /// Whether the member, a call in its body, or the run that it shares was cancelled or timed out while
  /// its body ran.
  var wasInterrupted: Bool { get }

  /// Whether the running code would wait for ever if it awaited the member.
  var isDeadlock: Bool { get }

  /// Whether code runs in the slot of this member.
  var isOccupied: Bool { get }

  /// Another body enters the slot: one that the running one calls.
  ///
  /// - Returns: False if no code runs in the slot any more.
  func enter() -> Bool

  /// A body that has entered the slot has returned.
  func exit()

  /// Runs an attempt of an interceptor, which holds the slot until it has returned. `isStart` says
  /// whether the rate of the queue counts it.
  func attempt<Request, Response: Sendable>(
    _ request: Request, isStart: Bool, _ body: (Request) async throws -> Response
  ) async throws -> Response

  /// Gives the member this outcome before its body has returned, unless it has one.
  func concludeEarly(_ verdict: Verdict, isFromQueue: Bool)

  /// An operation that the body has called was cancelled for a reason of its own.
  func noteCancellation(ofCall reason: UseCaseCancellation)

  /// An operation that the body has called was cancelled or timed out while its body ran.
  func noteInterruption()

  /// Whether the handlers of the outcome may begin.
  var mayDeliver: Bool { get }
}

/// The part of an operation that few have: the members around it, and its description for the
/// delegate of its queue.
final class CallContext: Sendable {
  private let directCaller: Lock<(any QueueMember)?>

  /// The member in whose slot this one is a guest.
  let host: (any QueueMember)?

  let description: ExecutionDescription?

  /// Why the call is not executed.
  let refusal: (any Error)?

  private let boarded = Lock<(any QueueMember)?>(nil)

  /// The shared run whose outcome the operation delivers.
  var ride: (any QueueMember)? {
    get { boarded.withLock { $0 } }
    set { boarded.withLock { $0 = newValue } }
  }

  private init(
    _ caller: (any QueueMember)?, host: (any QueueMember)?, _ description: ExecutionDescription?,
    refusal: (any Error)?
  ) {
    directCaller = Lock(caller)
    self.host = host
    self.description = description
    self.refusal = refusal
  }

  /// Returns the context of an operation that the running code executes, nil if it has none.
  static func here(
    _ queue: UseCaseQueue, isCall: Bool, _ call: QueueCall, isInBody: Bool,
    _ description: ExecutionDescription?
  ) -> CallContext? {
    var (caller, host) = ((any QueueMember)?.none, (any QueueMember)?.none)
    if isInBody, isCall {
      caller = HeldSlots.holder()
      if case .inside = call { host = HeldSlots.enter(queue) }
    }
    if caller == nil, host == nil, description == nil, queue.boards == nil { return nil }
    var refusal: (any Error)?
    if case .refuse(let error) = call { refusal = error }
    return CallContext(caller, host: host, description, refusal: refusal)
  }

  /// The nearest caller that code runs in.
  ///
  /// No code will ever run again in the callers passed over, so the context lets go of them. Otherwise
  /// a chain of abandoned calls would only grow.
  var caller: (any QueueMember)? {
    let first = directCaller.withLock { $0 }
    var next = first
    while let member = next, !member.isOccupied {
      next = member.context?.directCaller.withLock { $0 }
    }
    // Another thread may have forgotten it.
    if next !== first { directCaller.withLock { if $0 === first { $0 = next } } }
    return next
  }
}
