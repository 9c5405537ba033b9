import UseCaseInternals

/// An operation as its queue sees it.
protocol QueueMember: AdmittedOperation {
  /// The identity of the member, which it receives once, at admission, under the lock of its queue.
  func receive(_ id: UseCaseOperationID)

  /// The raw value of the priority of the member, which may grow.
  var urgency: UInt8 { get }

  /// Raises the priority, if it is lower.
  func raise(to urgency: UInt8)

  /// The queue that gives out the slot.
  var queueID: ObjectIdentifier { get }

  /// The delegate of that queue.
  var delegate: (any QueueDelegate)? { get }

  /// The members that wait for this one, if there are any.
  var dependents: Dependents? { get }

  /// Whether the member waits for the slot of a serial queue that the running code holds.
  var isDeadlock: Bool { get }

  var verdict: Verdict? { get }

  /// The operation in whose body the member was executed or called, if somebody may want to know.
  var parent: UseCaseOperationID? { get }

  /// Returns a task that gives the member the outcome of a timeout when the time has passed, nil if
  /// there is no limit.
  func timer(_ duration: Duration) -> Task<Void, Never>?

  /// Whether code runs in the slot of this member.
  var isOccupied: Bool { get }

  /// The member has a slot, and its body may begin.
  func grant()

  /// Gives the member the outcome `.cancelled`, unless it has one, and tells its queue.
  func cancel(_ reason: UseCaseCancellation)

  /// Gives the member the outcome `.cancelled`, unless it has one. Its queue knows already.
  func cancelFromQueue(_ reason: UseCaseCancellation)

  /// A rider shares the outcome of the member, from now on or again.
  func riderComes()

  /// A rider that shares the outcome of the member has ended.
  func riderHasEnded()

  /// A guest enters the slot: a body that the running one calls.
  ///
  /// - Returns: False if no code runs in the slot any more.
  func enter() -> Bool

  /// A guest exits the slot: it has returned.
  func exit()

  /// The body that has called this member awaits it no longer, though it goes on.
  func callIsOver()

  /// An operation that the body has called was cancelled for a reason of its own.
  func noteCancellation(ofCall reason: UseCaseCancellation)
}

/// A shared run, as its operation, its riders and their queues see it. They call it outside of any
/// lock.
protocol SharedRunning: AnyObject, Sendable {
  /// A rider boards, or has handlers again. It is kept until it has ended, as often as it came: its
  /// handlers deliver the outcome of the run.
  func keep(_ rider: any QueueMember)

  /// A rider that was kept has ended, or has not boarded.
  func release(_ rider: UseCaseOperationID)

  /// A rider has an outcome before its body has returned, on the thread that gives the outcome.
  func leave(_ rider: UseCaseOperationID)

  /// The body that has called the rider awaits it no longer.
  func callIsOver(_ rider: UseCaseOperationID)

  /// The priority of a rider has grown.
  func raise(_ rider: UseCaseOperationID, to urgency: UInt8)

  /// Whether a rider awaits the running code, and so must not be awaited by it.
  func isDeadlock(_ rider: UseCaseOperationID) -> Bool

  /// A newer operation has superseded the run. The handlers of its riders that have not begun never
  /// do, even if the run has its outcome.
  func supersedeRiders()
}

/// The members that wait for another one: its caller, in the call form, and its host; and the run of
/// a rider.
///
/// A box, because few members have any: the others keep only a word for it.
final class Dependents: Sendable {
  private let directCaller: Lock<(any QueueMember)?>

  /// The member in whose slot this one is a guest.
  let host: (any QueueMember)?

  /// The line in which the guest waits until it may run.
  let line: UseCaseQueue?

  /// The run that this member is, if executions share it. Weak: the riders keep it, and it keeps this
  /// member.
  weak let run: (any SharedRunning)?

  private let boarded = Lock<(any SharedRunning)?>(nil)

  /// The run that the member rides, once it has boarded. A rider keeps it, since a handler may be
  /// attached late.
  var ride: (any SharedRunning)? {
    get { boarded.withLock { $0 } }
    set { boarded.withLock { $0 = newValue } }
  }

  init(
    _ caller: (any QueueMember)?, host: (any QueueMember)?, line: UseCaseQueue?,
    run: (any SharedRunning)?
  ) {
    directCaller = Lock(caller)
    self.host = host
    self.line = line
    self.run = run
  }

  /// The nearest caller that code runs in.
  ///
  /// No code will ever run again in the callers before it, so the box lets go of them. Otherwise a
  /// chain of abandoned calls would only grow.
  var caller: (any QueueMember)? {
    let first = directCaller.withLock { $0 }
    var next = first
    while let member = next, !member.isOccupied {
      next = member.dependents?.directCaller.withLock { $0 }
    }
    // Another thread may have forgotten it.
    if next !== first { directCaller.withLock { if $0 === first { $0 = next } } }
    return next
  }

  /// The caller awaits the member no longer.
  func forgetCaller() {
    // Returned, so that it is released outside of the lock.
    _ = directCaller.withLock { $0.take() }
  }
}
