import UseCaseInternals

/// Decides which members of one queue run, wait, or give way.
///
/// The machine decides, and its owner acts once the lock is released. `Member` is an operation in
/// the library and a plain value in the tests; `Idler` is a task that awaits an idle queue.
///
/// A member has a seat from its admission until it leaves:
///
///     waiting → live → (left)
///     waiting → live → unwinding → (left)
///     waiting → (left)
///
/// A member that need not wait is live from the start. The second way is that of a member with an
/// early outcome, the third that of one that never starts. A live member holds a slot and has no
/// outcome yet. An unwinding one still holds its slot, though it has an outcome. An operation and
/// its queue have a lock each, so the machine may hear of an event when the member has already
/// left. Such an event finds nobody at the seat of its ticket, and changes nothing.
///
/// Each event costs O(1) for each member that it moves.
struct QueueMachine<Member: Sendable, Idler: Sendable>: Sendable {
  /// The consequences of an incoming member.
  struct Arrival: Sendable {
    let ticket: QueueTicket
    let admission: Admission
    /// The time at which the member is `ready`, if it pauses first.
    let endOfPause: Duration?
    /// These give way, the oldest first. Some may have an outcome already.
    let superseded: Few<Member>
  }

  /// The members and idlers that may go on after an event.
  struct Release: Sendable {
    /// These hold a slot from now on.
    var started = Few<Member>.none
    /// These have waited for the queue to be idle, and it is.
    var idle = Few<Idler>.none
  }

  /// A member with an outcome, as long as handlers for it have not begun.
  private struct Undelivered: Sendable {
    let id: UseCaseOperationID
    let member: Member
    /// How often it was listed.
    var count: Int32
  }

  let policy: UseCaseQueue.Policy
  private(set) var isSuspended = false
  private var seats = SeatTable<Member>()
  /// The oldest first, only where a policy delivers only the newest.
  private var undelivered: [Undelivered] = []
  private var (succeeded, failed, cancelled) = (0, 0, 0)
  private var idlers = Few<Idler>.none
  /// The earliest time of the next start, where the policy keeps an interval between two.
  private var nextStart = Duration.zero

  init(policy: UseCaseQueue.Policy) {
    self.policy = policy
  }

  private var holding: Int { seats.live.count + seats.unwinding.count }

  var activity: UseCaseActivity {
    UseCaseActivity(
      running: holding, waiting: seats.waiting.count,
      succeeded: succeeded, failed: failed, cancelled: cancelled)
  }

  /// The members that wait, in their order.
  var waiting: [Member] { Array(seats.members(of: seats.waiting)) }

  /// Whether the member of the ticket has not left.
  func holds(_ ticket: QueueTicket) -> Bool { seats.find(ticket) != nil }

  /// Admits `member`. `id` is higher than that of any member admitted before, and `now` is needed
  /// if the policy has a pause.
  @inline(__always) mutating func admit(
    _ member: Member, id: UseCaseOperationID, at now: Duration? = nil
  ) -> Arrival {
    let endOfPause = now.flatMap { policy.endOfPause(at: $0, nextStart: nextStart) }
    let decision = policy.decision(
      holding: holding, live: seats.live.count, waiting: seats.waiting.count,
      undelivered: undelivered.count, isHeldBack: isSuspended || endOfPause != nil)
    var superseded = Few<Member>.none
    for _ in 0..<decision.superseded { superseded.append(supersedeOldest()) }
    var seat = 0
    switch decision.admission {
    case .start:
      seat = seats.add(member, id: id, stage: .live)
      noteStart(at: now)
    case .wait:
      seat = seats.add(member, id: id, stage: .waiting, isReady: endOfPause == nil)
    case .drop:
      cancelled += 1
    }
    return Arrival(
      ticket: QueueTicket(seat: Int32(seat), id: id), admission: decision.admission,
      endOfPause: endOfPause, superseded: superseded)
  }

  /// The oldest member gives way. Members start in the order of their admission, so live ones are
  /// older than those that wait.
  private mutating func supersedeOldest() -> Member {
    let live = policy.deliversOnlyNewest ? seats.live.first : nil
    if let first = undelivered.first, live.map({ first.id < seats.id(at: $0) }) ?? true {
      return undelivered.removeFirst().member
    }
    if let live { return unwind(live) }
    guard let waiting = seats.waiting.first else {
      preconditionFailure("\(policy) supersedes no more members than there are.")
    }
    return dismiss(waiting, as: .cancelled)
  }

  /// Runs any other event. `now` is needed if the policy has a pause.
  @inline(__always) mutating func change(
    at now: Duration?, _ event: (inout Self) -> Release?
  ) -> Release? {
    let release = event(&self)
    if let now, let release, !release.started.isEmpty { noteStart(at: now) }
    return release
  }

  private mutating func noteStart(at now: Duration?) {
    guard let now, case .sinceLastStart(let interval) = policy.pause else { return }
    // No start is earlier, even if its thread has read the clock long before it got the lock.
    nextStart = max(now, nextStart) + interval
  }

  /// The member has an early outcome. If it waits it leaves, else it unwinds.
  mutating func concludedEarly(_ ticket: QueueTicket, as kind: Verdict.Kind) -> Release? {
    guard let (seat, stage) = seats.find(ticket) else { return nil }
    switch stage {
    case .live:
      let member = unwind(seat)
      if policy.deliversOnlyNewest, kind != .cancelled { list(member, ticket.id) }
    case .waiting:
      _ = dismiss(seat, as: kind)
      return release()
    case .unwinding: break
    }
    return nil
  }

  /// The pause of the member is over.
  mutating func ready(_ ticket: QueueTicket) -> Release? {
    guard let (seat, stage) = seats.find(ticket), case .waiting = stage else { return nil }
    seats.setReady(seat)
    return release()
  }

  /// The member gives its slot back, and leaves.
  ///
  /// A member that still waits may have an early outcome, and its task may be over, before
  /// `concludedEarly` is heard.
  @inline(__always) mutating func giveBack(
    _ ticket: QueueTicket, as kind: Verdict.Kind
  ) -> Release? {
    guard let (seat, stage) = seats.find(ticket) else { return nil }
    if case .waiting = stage { return concludedEarly(ticket, as: kind) }
    // One that unwinds is listed since its early outcome, if it is to be.
    if policy.deliversOnlyNewest, kind != .cancelled, case .live = stage {
      list(seats.member(at: seat), ticket.id)
    }
    seats.vacate(seat, from: stage)
    count(kind)
    return release()
  }

  /// Lists a member with an outcome, because a handler for it is left.
  mutating func list(_ member: Member, _ id: UseCaseOperationID) {
    let index = undelivered.lastIndex { $0.id <= id }
    if let index, undelivered[index].id == id {
      undelivered[index].count += 1
    } else {
      undelivered.insert(
        Undelivered(id: id, member: member, count: 1), at: index.map { $0 + 1 } ?? 0)
    }
  }

  /// Takes back so many listings. Returns the member, to be let go, if no other is left.
  mutating func unlist(_ id: UseCaseOperationID, _ count: Int32) -> Member? {
    guard let index = undelivered.firstIndex(where: { $0.id == id }) else { return nil }
    undelivered[index].count -= count
    return undelivered[index].count > 0 ? nil : undelivered.remove(at: index).member
  }

  /// Returns all members, those that run before those that wait. The latter leave.
  mutating func cancelAll() -> (members: [Member], release: Release?) {
    while let seat = seats.live.first { _ = unwind(seat) }
    var members = Array(seats.members(of: seats.unwinding))
    while let seat = seats.waiting.first { members.append(dismiss(seat, as: .cancelled)) }
    return (members, release())
  }

  mutating func suspend() { isSuspended = true }

  mutating func resume() -> Release? {
    isSuspended = false
    return release()
  }

  /// Returns the idler if the queue is idle, and keeps it otherwise.
  mutating func awaitIdle(_ idler: Idler) -> Idler? {
    guard holding > 0 || seats.waiting.count > 0 else { return idler }
    idlers.append(idler)
    return nil
  }

  /// Returns what may go on now, nil if nobody waits for a slot or for an idle queue.
  @inline(__always) private mutating func release() -> Release? {
    if seats.waiting.count == 0, case .none = idlers { return nil }
    var release = Release()
    while !isSuspended, policy.mayStart(holding: holding), let seat = seats.waiting.first,
      seats.isReady(seat)
    {
      seats.move(seat, from: .waiting, to: .live)
      release.started.append(seats.member(at: seat))
    }
    if holding == 0, seats.waiting.count == 0 { swap(&release.idle, &idlers) }
    return release
  }

  /// A waiting member leaves.
  private mutating func dismiss(_ seat: Int, as kind: Verdict.Kind) -> Member {
    defer { seats.vacate(seat, from: .waiting) }
    count(kind)
    return seats.member(at: seat)
  }

  @inline(__always)
  private mutating func count(_ kind: Verdict.Kind) {
    switch kind {
    case .success: succeeded += 1
    case .failure: failed += 1
    case .cancelled: cancelled += 1
    }
  }

  /// A live member has an outcome, and keeps its slot until its body has returned.
  private mutating func unwind(_ seat: Int) -> Member {
    seats.move(seat, from: .live, to: .unwinding)
    return seats.member(at: seat)
  }
}
