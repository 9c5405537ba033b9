import UseCaseInternals

/// An operation as its queue sees it.
@usableFromInline
protocol QueueMember: AdmittedOperation {
  /// The place in the queue, which the queue sets once, at admission, under its lock.
  var ticket: QueueTicket { get set }

  /// The queue that gives out the slot.
  var queueID: ObjectIdentifier { get }

  /// The way to the member that calls this one in the call form.
  var caller: CallerLink? { get }

  /// Whether code runs in the slot of this member.
  var isOccupied: Bool { get }

  /// The member has a slot, and its body may begin.
  func grant()

  /// Gives the member the outcome `.cancelled`, unless it has one, and tells its queue.
  func cancel(_ reason: UseCaseCancellation)

  /// Gives the member the outcome `.cancelled`, unless it has one. Its queue knows already.
  func cancelFromQueue(_ reason: UseCaseCancellation)

  /// A guest enters the slot: a body that the running one calls.
  ///
  /// - Returns: False if no code runs in the slot any more.
  func enter() -> Bool

  /// A guest exits the slot: it has returned.
  func exit()

  /// An operation that the body has called was cancelled for a reason of its own.
  func noteCancellation(ofCall reason: UseCaseCancellation)
}

/// The place of a member in its queue.
///
/// Seats are used again, so the identity tells a member from an earlier one in the same seat.
@usableFromInline
struct QueueTicket: Hashable, Sendable {
  let seat: Int32
  let id: UseCaseOperationID
}

/// The way from a member to the one that calls it.
///
/// A box, because few members are called by another one: the others keep only a word for it.
@usableFromInline
final class CallerLink: Sendable {
  private let caller: Lock<(any QueueMember)?>

  /// Returns the members that wait for this one because they share it.
  let riders: (@Sendable () -> [any QueueMember])?

  init(_ caller: (any QueueMember)?, riders: (@Sendable () -> [any QueueMember])? = nil) {
    self.caller = Lock(caller)
    self.riders = riders
  }

  /// The nearest caller that code runs in.
  ///
  /// No code will ever run again in the callers before it, so the link lets go of them: a chain in
  /// which each call is left behind by the next would only grow.
  var holder: (any QueueMember)? {
    let first = caller.withLock { $0 }
    var next = first
    while let member = next, !member.isOccupied {
      next = member.caller?.caller.withLock { $0 }
    }
    guard next !== first else { return first }
    // The old caller is returned, so that it is released outside of the lock.
    _ = caller.withLock { caller in
      defer { caller = next }
      return caller
    }
    return next
  }
}
