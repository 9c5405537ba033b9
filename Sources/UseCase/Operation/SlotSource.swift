import Synchronization

/// The source of the slot of one operation: its queue, or the caller in whose slot it is a guest.
struct SlotSource: ~Copyable, Sendable {
  let queue: UseCaseQueue

  let dependents: Dependents?

  /// Written once, before any other thread sees the operation.
  private let number = Atomic<UInt64>(0)

  @inline(__always)
  init(queue: UseCaseQueue, isCall: Bool, run: (any SharedRunning)?) {
    let isInside = isCall && HeldSlots.hasHolder
    let line = isCall ? nil : HeldSlots.line(in: queue)
    let caller = isInside ? HeldSlots.holder() : nil
    // A rider is nobody's guest, so that it can leave a run that goes on.
    let isGuest = (isInside && queue.boards == nil) || line != nil
    let host = isGuest ? HeldSlots.enter(ObjectIdentifier(queue)) : nil
    let isAlone = caller == nil && host == nil && run == nil && queue.boards == nil
    dependents =
      isAlone ? nil : Dependents(caller, host: host, line: host == nil ? nil : line, run: run)
    self.queue = queue
  }

  private var isGuest: Bool { dependents?.host != nil }

  /// The queue that counts the operation. Nil for a guest, unless it waits in a line.
  private var counting: UseCaseQueue? {
    guard let dependents, dependents.host != nil else { return queue }
    return dependents.line
  }

  /// Whether the operation is a run, which its riders share.
  var isRun: Bool { dependents?.run != nil }

  var id: UseCaseOperationID {
    get { UseCaseOperationID(number: number.load(ordering: .relaxed)) }
    nonmutating set { number.store(newValue.number, ordering: .relaxed) }
  }

  /// Asks for a slot. A guest is in one already.
  @inline(__always)
  func admit(_ member: any QueueMember) -> Admission {
    if let queue = counting { return queue.admit(member) }
    id = .next()
    return .start
  }

  /// The operation moves forward, if its queue has a line by priority. A guest waits in none.
  func raise(to urgency: UInt8) {
    counting?.raise(id, to: urgency)
    dependents?.ride?.raise(id, to: urgency)
  }

  /// Whether the running code would wait for ever if it awaited the operation here.
  func isDeadlock(isWaiting: @autoclosure () -> Bool) -> Bool {
    if let line = dependents?.line { return isWaiting() && HeldSlots.isHeld(inLine: line) }
    return queue.policy.isSerial
      ? isWaiting() && queue.isHeldHere : dependents?.ride?.isDeadlock(id) ?? false
  }

  /// The operation has an early outcome. The queue counts no guests. Returns whether the queue lists
  /// the operation until its handlers have begun.
  func concludedEarly(as kind: Verdict.Kind) -> Bool {
    let isListed = counting?.concludedEarly(id, as: kind) ?? false
    dependents?.ride?.leave(id)
    return isListed
  }

  /// Gives the slot back. Returns whether the queue lists the operation until its handlers have
  /// begun.
  @inline(__always)
  func giveBack(as kind: Verdict.Kind) -> Bool {
    if let dependents, let host = dependents.host {
      dependents.line?.giveBack(id, as: kind)
      host.exit()
      return false
    }
    queue.giveBack(id, as: kind)
    return queue.policy.deliversOnlyNewest && kind != .cancelled
  }

  /// Whether an incoming operation is to find the handlers of this one that have not begun.
  var isToBeFound: Bool { queue.policy.deliversOnlyNewest || dependents?.ride != nil }

  /// Handlers of the outcome are left: an incoming operation may supersede the operation, or the run
  /// that it rides.
  func list(_ member: any QueueMember) {
    if let ride = dependents?.ride { ride.keep(member) } else { queue.list(member, id) }
  }

  /// No handler of the outcome is left, of those for which the queue lists the operation so often.
  func unlist(_ count: Int32) { queue.unlist(id, count) }
}
