import UseCaseInternals

/// Decides which members of one queue run, wait, or give way.
///
/// The machine decides, and its owner acts once the lock is released. `Member` is an operation in
/// the library and a plain value in the tests; `Waiter` is a task that awaits an idle queue.
///
/// A member has a seat from its admission until it is gone:
///
///     waiting → live → (gone)
///     waiting → live → unwinding → (gone)
///     waiting → (gone)
///
/// The second way is that of a member with an early outcome, the third that of one that never
/// starts. A live member holds a slot and has no outcome yet. An unwinding one still holds its
/// slot, though it has an outcome. The machine may hear of an event when the member has already
/// left, because an operation and its queue have a lock each. A ticket names seat and identity, so
/// such an event finds nobody and changes nothing.
///
/// The lists are linked through the seats, the oldest first: each event costs O(1) for each member
/// that it moves.
struct QueueMachine<Member: Sendable, Waiter: Sendable>: Sendable {
  /// The fate of an incoming member.
  struct Admission: Sendable {
    let ticket: QueueTicket
    let entry: UseCaseQueue.Policy.Decision.Entry
    /// These give way, the oldest first.
    let superseded: Few<Member>
  }

  /// The members and waiters that may go on after an event.
  struct Release: Sendable {
    /// These hold a slot from now on.
    var started = Few<Member>.none
    /// These have waited for the queue to be idle, and it is.
    var idle = Few<Waiter>.none
  }

  private enum Stage {
    case free, waiting(isReady: Bool), live, unwinding
  }

  private struct Seat {
    var member: Member?
    /// The lower half of the identity of the member.
    let id: UInt32
    var previous: SeatLink
    var next: SeatLink
    var stage: Stage

    init(
      _ member: Member?, id: UseCaseOperationID?, stage: Stage, next: SeatLink = .none
    ) {
      self.member = member
      self.id = UInt32(truncatingIfNeeded: id?.number ?? 0)
      self.stage = stage
      previous = .none
      self.next = next
    }
  }

  private struct Line {
    var first = SeatLink.none
    var last = SeatLink.none
    var count = 0

    @inline(__always) mutating func append(_ seat: Int, in seats: inout [Seat]) {
      seats[seat].previous = last
      seats[seat].next = .none
      if let last = last.index { seats[last].next = SeatLink(seat) } else { first = SeatLink(seat) }
      last = SeatLink(seat)
      count += 1
    }

    @inline(__always) mutating func remove(_ seat: Int, in seats: inout [Seat]) {
      let (previous, next) = (seats[seat].previous, seats[seat].next)
      if let index = previous.index { seats[index].next = next } else { first = next }
      if let index = next.index { seats[index].previous = previous } else { last = previous }
      count -= 1
    }
  }

  let policy: UseCaseQueue.Policy
  private(set) var isSuspended = false
  private var seats: [Seat] = []
  /// The seat that became free last. It links to the one before.
  private var free = SeatLink.none
  private var waiting = Line()
  private var live = Line()
  private var unwinding = Line()
  private var (succeeded, failed, cancelled) = (0, 0, 0)
  private var waiters = Few<Waiter>.none
  /// The earliest time of the next start, where the policy keeps an interval between two.
  private var nextStart = Duration.zero

  init(policy: UseCaseQueue.Policy) {
    self.policy = policy
  }

  private var holding: Int { live.count + unwinding.count }

  var activity: UseCaseActivity {
    UseCaseActivity(
      running: holding, waiting: waiting.count,
      succeeded: succeeded, failed: failed, cancelled: cancelled)
  }

  /// Admits `member`. `id` is higher than that of any member admitted before. If there is a pause,
  /// the member waits until `ready`.
  @inline(__always) mutating func admit(
    _ member: Member, id: UseCaseOperationID, hasPause: Bool = false
  ) -> Admission {
    let decision = policy.decision(
      holding: holding, live: live.count, waiting: waiting.count,
      isHeldBack: isSuspended || hasPause)
    var superseded = Few<Member>.none
    for _ in 0..<decision.supersededLive {
      if let seat = live.first.index { superseded.append(unwind(seat)) }
    }
    for _ in 0..<decision.supersededWaiting {
      if let seat = waiting.first.index { superseded.append(dismiss(seat)) }
    }
    var seat = 0
    switch decision.entry {
    case .start:
      seat = take(Seat(member, id: id, stage: .live))
      live.append(seat, in: &seats)
    case .wait:
      seat = take(Seat(member, id: id, stage: .waiting(isReady: !hasPause)))
      waiting.append(seat, in: &seats)
    case .drop:
      cancelled += 1
    }
    return Admission(
      ticket: QueueTicket(seat: Int32(seat), id: id), entry: decision.entry, superseded: superseded)
  }

  /// Admits `member` where the policy has a pause, and returns when that ends.
  mutating func admit(
    _ member: Member, id: UseCaseOperationID, at now: Duration
  ) -> (admission: Admission, endOfPause: Duration?) {
    let endOfPause = policy.endOfPause(at: now, nextStart: nextStart)
    let admission = admit(member, id: id, hasPause: endOfPause != nil)
    if admission.entry == .start { noteStart(at: now) }
    return (admission, endOfPause)
  }

  /// Runs any other event where the policy has a pause.
  mutating func change(at now: Duration, _ event: (inout Self) -> Release?) -> Release? {
    let release = event(&self)
    if let release, !release.started.isEmpty { noteStart(at: now) }
    return release
  }

  private mutating func noteStart(at now: Duration) {
    guard case .sinceLastStart(let interval) = policy.pause else { return }
    // No start is earlier, even if its thread has read the clock long before it got the lock.
    nextStart = max(now, nextStart) + interval
  }

  /// The member has an outcome before its body has returned. If it waits it leaves, else it
  /// unwinds.
  mutating func cancel(_ ticket: QueueTicket) -> Release? {
    guard let seat = seat(of: ticket) else { return nil }
    switch seats[seat].stage {
    case .live: _ = unwind(seat)
    case .waiting:
      _ = dismiss(seat)
      return release()
    case .unwinding, .free: break
    }
    return nil
  }

  /// The pause of the member is over.
  mutating func ready(_ ticket: QueueTicket) -> Release? {
    guard let seat = seat(of: ticket), case .waiting = seats[seat].stage else { return nil }
    seats[seat].stage = .waiting(isReady: true)
    return release()
  }

  /// The member gives its slot back.
  ///
  /// A member that still waits may have been cancelled, and its task may be over, before `cancel`
  /// is heard.
  @inline(__always) mutating func giveBack(
    _ ticket: QueueTicket, as kind: Verdict.Kind
  ) -> Release? {
    guard let seat = seat(of: ticket) else { return nil }
    if case .waiting = seats[seat].stage { return cancel(ticket) }
    if case .live = seats[seat].stage {
      live.remove(seat, in: &seats)
    } else {
      unwinding.remove(seat, in: &seats)
    }
    vacate(seat)
    switch kind {
    case .success: succeeded += 1
    case .failure: failed += 1
    case .cancelled: cancelled += 1
    }
    return release()
  }

  /// Returns all members, those that run before those that wait. The latter leave.
  mutating func cancelAll() -> (members: [Member], release: Release?) {
    var members: [Member] = []
    members.reserveCapacity(holding + waiting.count)
    while let seat = live.first.index { _ = unwind(seat) }
    var next = unwinding.first
    while let seat = next.index {
      if let member = seats[seat].member { members.append(member) }
      next = seats[seat].next
    }
    while let seat = waiting.first.index { members.append(dismiss(seat)) }
    return (members, release())
  }

  mutating func suspend() { isSuspended = true }

  mutating func resume() -> Release? {
    isSuspended = false
    return release()
  }

  /// Returns the waiter if the queue is idle, and keeps it otherwise.
  mutating func wait(_ waiter: Waiter) -> Waiter? {
    guard holding > 0 || waiting.count > 0 else { return waiter }
    waiters.append(waiter)
    return nil
  }

  /// Returns what may go on now, nil if nobody waits for a slot or for an idle queue.
  @inline(__always) private mutating func release() -> Release? {
    if waiting.count == 0, case .none = waiters { return nil }
    var release = Release()
    while !isSuspended, policy.mayStart(holding: holding), let seat = waiting.first.index,
      case .waiting(isReady: true) = seats[seat].stage
    {
      waiting.remove(seat, in: &seats)
      seats[seat].stage = .live
      live.append(seat, in: &seats)
      if let member = seats[seat].member { release.started.append(member) }
    }
    if holding == 0, waiting.count == 0 { swap(&release.idle, &waiters) }
    return release
  }

  // MARK: - Seats

  /// Whether the member of the ticket is still there.
  func holds(_ ticket: QueueTicket) -> Bool { seat(of: ticket) != nil }

  @inline(__always) private func seat(of ticket: QueueTicket) -> Int? {
    let seat = Int(ticket.seat)
    guard seat < seats.count, seats[seat].id == UInt32(truncatingIfNeeded: ticket.id.number)
    else { return nil }
    if case .free = seats[seat].stage { return nil }
    return seat
  }

  @inline(__always) private mutating func take(_ seat: consuming Seat) -> Int {
    guard let index = free.index else {
      seats.append(seat)
      return seats.count - 1
    }
    free = seats[index].next
    seats[index] = seat
    return index
  }

  @inline(__always) private mutating func vacate(_ seat: Int) {
    seats[seat] = Seat(nil, id: nil, stage: .free, next: free)
    free = SeatLink(seat)
  }

  /// A waiting member leaves.
  private mutating func dismiss(_ seat: Int) -> Member {
    guard let member = seats[seat].member else { preconditionFailure("A waiting seat is empty.") }
    waiting.remove(seat, in: &seats)
    vacate(seat)
    cancelled += 1
    return member
  }

  /// A live member has an outcome, and keeps its slot until its body has returned.
  private mutating func unwind(_ seat: Int) -> Member {
    guard let member = seats[seat].member else { preconditionFailure("A live seat is empty.") }
    live.remove(seat, in: &seats)
    seats[seat].stage = .unwinding
    unwinding.append(seat, in: &seats)
    return member
  }
}

/// The index of a seat or none, in half the bytes of an optional.
private struct SeatLink {
  static let none = Self(code: -1)

  private let code: Int32

  private init(code: Int32) {
    self.code = code
  }

  init(_ index: Int) {
    self.init(code: Int32(index))
  }

  @inline(__always) var index: Int? { code < 0 ? nil : Int(code) }
}
