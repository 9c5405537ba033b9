import UseCaseInternals

/// An operation as its queue sees it.
@usableFromInline
protocol QueueMember: AdmittedOperation {
  /// The identity of the member, which it receives once, at admission, under the lock of its queue.
  func receive(_ id: UseCaseOperationID)

  /// The raw value of the priority of the member, which may grow.
  var urgency: UInt8 { get }

  /// Raises the priority, if it is lower.
  func raise(to urgency: UInt8)

  /// The queue that gives out the slot.
  var queueID: ObjectIdentifier { get }

  /// The keeper of that queue.
  var keeper: (any QueueKeeper)? { get }

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

/// Follows the riders of shared runs, which have a queue of their own, outside of any lock.
protocol RidersKeeper: AnyObject, Sendable {
  /// The task of a rider is about to be made, on the thread that executes.
  ///
  /// - Parameters:
  ///   - rider: An operation that was admitted.
  ///   - urgency: The raw value of the priority of the body, 0 for that of the running code.
  ///   - isCall: Whether it is executed by the call form.
  func submitted(_ rider: any QueueMember, urgency: UInt8, isCall: Bool)

  /// A rider has an outcome before its body has returned, on the thread that gives the outcome.
  func leave(_ rider: UseCaseOperationID)

  /// The body that has called the rider awaits it no longer.
  func callIsOver(_ rider: UseCaseOperationID)

  /// The priority of a rider has grown.
  func raise(_ rider: UseCaseOperationID, to urgency: UInt8)

  /// Whether a rider awaits the running code, and so must not be awaited by it.
  func isDeadlock(_ rider: UseCaseOperationID) -> Bool
}

/// The members that wait for another one: its caller, in the call form, and its host; and the ride
/// of a rider.
///
/// A box, because few members have any: the others keep only a word for it.
@usableFromInline
final class Dependents: Sendable {
  private let directCaller: Lock<(any QueueMember)?>

  /// The member in whose slot this one is a guest.
  let host: (any QueueMember)?

  /// The line in which the guest waits until it may run.
  let line: UseCaseQueue?

  /// The run that this member is, if executions share it. Weak: the riders keep it, and it keeps this
  /// member.
  weak let run: Ride?

  private let boarded = Lock<Ride?>(nil)

  /// The ride of the member, once it has boarded.
  var ride: Ride? {
    get { boarded.withLock { $0 } }
    set { boarded.withLock { $0 = newValue } }
  }

  init(
    _ caller: (any QueueMember)?, host: (any QueueMember)?, line: UseCaseQueue?, run: Ride?
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
    if next !== first { replaceCaller(with: next) }
    return next
  }

  /// The caller awaits the member no longer.
  func forgetCaller() { replaceCaller(with: nil) }

  private func replaceCaller(with next: (any QueueMember)?) {
    // The old caller is returned, so that it is released outside of the lock.
    _ = directCaller.withLock { caller in
      defer { caller = next }
      return caller
    }
  }
}

/// A shared run, as its riders and the runs that await it see it.
///
/// A rider keeps its ride, since a handler may be attached late. The ride keeps nothing of the run but
/// its outcome.
@usableFromInline
final class Ride: Sendable {
  private struct Riders: Sendable {
    /// The run, once it is made.
    var run: (any QueueMember)?
    /// The riders that have not ended, in no order, each with how often it came.
    var kept: [UseCaseOperationID: (rider: any QueueMember, count: Int)] = [:]
  }

  private let riders = Lock(Riders())
  /// The runs that the body of this one awaits, each with how often.
  private let awaited = Lock<[ObjectIdentifier: (ride: Ride, count: Int)]>([:])

  /// The run is made, and about to be executed.
  func made(_ run: any QueueMember) {
    let early = riders.withLock { riders in
      riders.run = run
      return riders.kept.values.reduce(0) { $0 + $1.count }
    }
    for _ in 0..<early { run.riderComes() }
  }

  /// A rider boards, or has handlers again. It is kept until it has ended, as often as it came: its
  /// handlers deliver the outcome of the run.
  func keep(_ rider: any QueueMember) {
    let id = rider.id
    let run = riders.withLock { riders in
      riders.kept[id, default: (rider, 0)].count += 1
      return riders.run
    }
    run?.riderComes()
  }

  /// A rider that was kept has ended, or has not boarded.
  func release(_ rider: UseCaseOperationID) {
    // The rider is returned, so that it is released outside of the lock.
    let (run, _) = riders.withLock { riders -> ((any QueueMember)?, (any QueueMember)?) in
      guard let (member, count) = riders.kept[rider] else { return (nil, nil) }
      riders.kept[rider] = count > 1 ? (member, count - 1) : nil
      return (riders.run, member)
    }
    run?.riderHasEnded()
  }

  /// A newer operation has superseded the run. The handlers of its riders that have not begun never
  /// do, even if the run has its outcome.
  func supersedeRiders() {
    for rider in riders.withLock({ $0.kept }).sorted(by: { $0.key < $1.key }) {
      rider.value.rider.cancel(.superseded)
    }
  }

  func awaits(_ other: Ride) {
    awaited.withLock { $0[ObjectIdentifier(other), default: (other, 0)].count += 1 }
  }

  func awaitsNoLonger(_ other: Ride) {
    awaited.withLock { awaited in
      let count = awaited[ObjectIdentifier(other)]?.count ?? 0
      awaited[ObjectIdentifier(other)] = count > 1 ? (other, count - 1) : nil
    }
  }

  /// Whether this run is one of the others, or awaits one by way of any number of runs.
  ///
  /// - Complexity: O(*n*) in the number of runs that this one awaits.
  func isOrAwaits(oneOf others: [Ride]) -> Bool {
    var (next, seen) = ([self], Set([ObjectIdentifier(self)]))
    while let ride = next.popLast() {
      if others.contains(where: { $0 === ride }) { return true }
      for (id, other) in ride.awaited.withLock({ $0 }) where seen.insert(id).inserted {
        next.append(other.ride)
      }
    }
    return false
  }
}
