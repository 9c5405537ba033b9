import UseCaseInternals

/// An operation as its queue sees it.
@usableFromInline
protocol QueueMember: AdmittedOperation {
  /// The identity of the member, which it receives once, at admission, under the lock of its queue.
  func receive(_ id: UseCaseOperationID)

  /// The priority of the member, which may grow.
  var priority: TaskPriority { get }

  /// The queue that gives out the slot.
  var queueID: ObjectIdentifier { get }

  /// The members that wait for this one, if there are any.
  var dependents: Dependents? { get }

  /// The members that wait for a slot of the same queue, if that is serial.
  var nextInLine: [any QueueMember] { get }

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

/// The members that wait for another one: its caller, in the call form, and the riders of a shared
/// run.
///
/// A box, because few members have any: the others keep only a word for it.
@usableFromInline
final class Dependents: Sendable {
  private let directCaller: Lock<(any QueueMember)?>

  /// The member in whose slot this one is a guest.
  let host: (any QueueMember)?

  /// Returns the members that share this one.
  let riders: (@Sendable () -> [any QueueMember])?

  init(
    _ caller: (any QueueMember)?, host: (any QueueMember)?,
    riders: (@Sendable () -> [any QueueMember])?
  ) {
    directCaller = Lock(caller)
    self.host = host
    self.riders = riders
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
    guard next !== first else { return first }
    // The old caller is returned, so that it is released outside of the lock.
    _ = directCaller.withLock { caller in
      defer { caller = next }
      return caller
    }
    return next
  }
}
