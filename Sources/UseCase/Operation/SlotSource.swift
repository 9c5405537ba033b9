import Synchronization

/// The source of the slot of one operation: its queue, or the caller in whose slot it is a guest.
@usableFromInline
struct SlotSource: ~Copyable, Sendable {
  @usableFromInline let queue: UseCaseQueue

  @usableFromInline let dependents: Dependents?

  // The ticket is written once, before any other thread sees the operation.
  private let number = Atomic<UInt64>(0)
  private let seat = Atomic<Int32>(0)

  @inline(__always)
  init(queue: UseCaseQueue, isCall: Bool, riders: (@Sendable () -> [any QueueMember])?) {
    let isInside = isCall && Slot.hasHolder
    // A run is awaited by its riders alone: the operation that made it may leave before the others.
    let caller = isInside && riders == nil ? Slot.holder() : nil
    let host = isInside ? Slot.enter(ObjectIdentifier(queue)) : nil
    dependents =
      caller == nil && host == nil && riders == nil
      ? nil : Dependents(caller, host: host, riders: riders)
    self.queue = queue
  }

  private var isGuest: Bool { dependents?.host != nil }

  /// Whether the operation is a run, which its riders share.
  @usableFromInline var isRun: Bool { dependents?.riders != nil }

  var ticket: QueueTicket {
    get {
      let id = UseCaseOperationID(number: number.load(ordering: .relaxed))
      return QueueTicket(seat: seat.load(ordering: .relaxed), id: id)
    }
    nonmutating set {
      seat.store(newValue.seat, ordering: .relaxed)
      number.store(newValue.id.number, ordering: .relaxed)
    }
  }

  /// Asks for a slot. A guest is in one already.
  @inline(__always)
  func admit(_ member: any QueueMember) -> (Admission, sleep: UseCaseQueue.Sleep?) {
    guard isGuest else { return queue.admit(member) }
    ticket = QueueTicket(seat: 0, id: .next())
    return (.start, nil)
  }

  /// Whether the running code would wait for ever if it awaited the operation here.
  func isDeadlock(isWaiting: @autoclosure () -> Bool) -> Bool {
    queue.policy.isSerial
      ? isWaiting() && queue.isHeldHere : queue.ridersKeeper?.waitsForCodeHere(ticket.id) ?? false
  }

  /// The operation has an early outcome. The queue counts no guests, but a run has guests among its
  /// riders. Returns whether the queue lists the operation until its handlers have begun.
  func concludedEarly(as kind: Verdict.Kind) -> Bool {
    guard isGuest else { return queue.concludedEarly(ticket, as: kind) }
    queue.ridersKeeper?.concludedEarly(ticket.id)
    return false
  }

  /// Gives the slot back. Returns whether the queue lists the operation until its handlers have
  /// begun.
  @inline(__always)
  func giveBack(_ slot: FreeSlot) -> Bool {
    if let host = dependents?.host {
      host.exit()
      return false
    }
    queue.giveBack(ticket, as: slot.kind)
    return queue.policy.deliversOnlyNewest && slot.kind != .cancelled
  }

  /// Handlers of the outcome are left: an incoming operation may supersede the operation.
  func list(_ member: any QueueMember) { queue.list(member, ticket.id) }

  /// No handler of the outcome is left, of those for which the queue lists the operation so often.
  func unlist(_ count: Int32) { queue.unlist(ticket.id, count) }
}
