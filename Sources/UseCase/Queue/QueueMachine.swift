import UseCaseInternals

/// Decides which members of one queue run, wait, or give way.
///
/// The machine decides, and its owner acts once the lock is released. `Member` is an operation in
/// the library and a plain value in the tests; `Idler` is a task that awaits an idle queue.
///
/// A member stands in one line from its admission until it leaves:
///
///     waiting → live → (left)
///     waiting → live → unwinding → (left)
///     waiting → (left)
///
/// A member that need not wait is live from the start. The second way is that of a member with an
/// early outcome, the third that of one that never starts. A live member holds a slot and has no
/// outcome yet. An unwinding one still holds its slot, though it has an outcome. An operation and
/// its queue have a lock each, so the machine may hear of an event when the member has already
/// left. Such an event finds nobody, and changes nothing.
///
/// Only `time` tells the machine whether a pause is over: it acts as if every alarm came in time.
struct QueueMachine<Member: Sendable, Idler: Sendable>: Sendable {
  /// The consequences of an incoming member.
  struct Arrival: Sendable {
    let admission: Admission
    /// These give way, the oldest first. Some may have an outcome already.
    let superseded: Few<Member>
    /// This one is raised.
    var urged: Urged?
  }

  /// The members and idlers that may go on after an event.
  struct Release: Sendable {
    /// These hold a slot from now on.
    var started = Few<Member>.none
    /// This one is raised.
    var urged: Urged?
    /// These have waited for the queue to be idle, and it is.
    var idle = Few<Idler>.none
  }

  /// The member in the only slot, and the higher priority of one that waits for it.
  typealias Urged = (member: Member, priority: UInt8)

  private typealias Members = MemberLine<UseCaseOperationID, Member>

  let policy: UseCaseQueue.Policy
  /// Whether the clock matters. To compare durations costs more.
  private let hasPauses: Bool
  private(set) var isSuspended = false
  /// The members of each priority that wait, the highest first. No line is empty while a member waits.
  /// There is one line, unless the priority matters.
  private var lines: [(priority: UInt8, members: Members)] = []
  private var waitingCount = 0
  private var live = Members()
  private var unwinding = Members()
  /// Members with an outcome, as long as handlers for it have not begun, and how often each was listed.
  /// The oldest first, only where a policy delivers only the newest.
  private var undelivered: [(id: UseCaseOperationID, member: Member, count: Int32)] = []
  private var (succeeded, failed, cancelled) = (0, 0, 0)
  private var idlers = Few<Idler>.none
  private var pauses = QueuePauses()
  /// The priority of the member in the only slot, as far as the machine knows it.
  private var holderPriority: UInt8 = 0

  init(policy: UseCaseQueue.Policy) {
    self.policy = policy
    hasPauses = policy.pauses
  }

  private var holding: Int { live.count + unwinding.count }

  var activity: UseCaseActivity {
    UseCaseActivity(
      running: holding, waiting: waitingCount,
      succeeded: succeeded, failed: failed, cancelled: cancelled)
  }

  /// Whether the member has not left.
  func holds(_ id: UseCaseOperationID) -> Bool {
    live.contains(id) || unwinding.contains(id) || lines.contains { $0.members.contains(id) }
  }

  /// Admits `member`. `id` is higher than that of any member admitted before. If the policy pauses,
  /// the event before is `wake`, at the time of the admission.
  @inline(__always) mutating func admit(
    _ member: Member, id: UseCaseOperationID, priority: UInt8 = 0
  ) -> Arrival {
    let decision = policy.decision(
      holding: holding, live: live.count, waiting: waitingCount, undelivered: undelivered.count,
      isSuspended: isSuspended, isPausing: hasPauses && pauses.holdNewcomer(by: policy))
    var superseded = Few<Member>.none
    for _ in 0..<decision.superseded { superseded.append(supersedeOldest()) }
    switch decision.admission {
    case .start: start(member, id, priority)
    case .wait:
      wait(member, id, priority)
      if hasPauses { pauses.noteArrival(policy) }
    case .drop: cancelled += 1
    }
    return Arrival(
      admission: decision.admission, superseded: superseded,
      urged: decision.admission == .wait ? urged() : nil)
  }

  private mutating func wait(_ member: Member, _ id: UseCaseOperationID, _ priority: UInt8) {
    if waitingCount == 0, !lines.isEmpty { lines[0].priority = priority }
    waitingCount += 1
    let index = lines.firstIndex { $0.priority <= priority } ?? lines.count
    if index == lines.count || lines[index].priority < priority {
      lines.insert((priority, Members()), at: index)
    }
    lines[index].members.insert(member, id)
  }

  private mutating func start(_ member: Member, _ id: UseCaseOperationID, _ priority: UInt8) {
    live.insert(member, id)
    holderPriority = priority
    if hasPauses { pauses.noteStart(policy) }
  }

  /// The oldest member gives way. Where one does, members start in the order of their admission, so
  /// live ones are older than those that wait.
  private mutating func supersedeOldest() -> Member {
    if policy.deliversOnlyNewest {
      if let first = undelivered.first, live.firstID.map({ first.id < $0 }) ?? true {
        return undelivered.removeFirst().member
      }
      if let (id, member) = live.removeFirst() {
        unwinding.insert(member, id)
        return member
      }
    }
    guard let next = removeNext(isPausing: false) else {
      preconditionFailure("\(policy) supersedes no more members than there are.")
    }
    cancelled += 1
    return next.member
  }

  /// Runs any other event. `now` is needed if the policy pauses.
  @inline(__always) mutating func change(
    at now: Duration?, _ event: (inout Self) -> Release?
  ) -> Release? {
    // No time is earlier, even if its thread has read the clock long before it got the lock.
    if let now { pauses.time = max(pauses.time, now) }
    return event(&self)
  }

  /// Time has passed: a pause may have ended.
  mutating func wake() -> Release? { release() }

  /// The members that wait now wait for no pause any more.
  mutating func flush() -> Release? {
    pauses.flushed = lines.compactMap(\.members.lastID).max() ?? pauses.flushed
    return release()
  }

  /// Returns the alarm to set, if it is another one than before. `keepsWindow` says whether there is
  /// one until the last interval is over, though nobody waits.
  mutating func nextAlarm(keepsWindow: Bool = false) -> QueueAlarm? {
    let pausing = lines.contains { $0.members.lastID.map { !pauses.maySkip($0) } ?? false }
    return pauses.nextAlarm(isNeeded: pausing, keepsWindow: keepsWindow, policy)
  }

  /// The member has an early outcome. If it waits it leaves, else it unwinds.
  mutating func concludedEarly(_ id: UseCaseOperationID, as kind: Verdict.Kind) -> Release? {
    if let member = live.remove(id) {
      unwinding.insert(member, id)
      if policy.deliversOnlyNewest, kind != .cancelled { list(member, id) }
      return wakeIfPausing()
    }
    guard removeWaiting(id) != nil else { return wakeIfPausing() }
    count(kind)
    return release()
  }

  /// A pause may be over at the time of an event that releases nobody. The alarm for its end is then
  /// taken back, so those who paused are released here.
  private mutating func wakeIfPausing() -> Release? { hasPauses ? release() : nil }

  private mutating func removeWaiting(_ id: UseCaseOperationID) -> Member? {
    for index in lines.indices {
      guard let member = lines[index].members.remove(id) else { continue }
      noteDeparture(from: index)
      if waitingCount == 0 { pauses.nobodyWaits() }
      return member
    }
    return nil
  }

  private mutating func noteDeparture(from index: Int) {
    waitingCount -= 1
    if lines.count > 1, lines[index].members.isEmpty { lines.remove(at: index) }
  }

  /// The priority of the member has grown. If it waits in a line by priority, it moves forward.
  mutating func raise(_ id: UseCaseOperationID, to priority: UInt8) -> Urged? {
    if live.firstID == id || unwinding.firstID == id {
      holderPriority = max(holderPriority, priority)
      return nil
    }
    for index in lines.indices where lines[index].priority < priority {
      guard let member = lines[index].members.remove(id) else { continue }
      noteDeparture(from: index)
      wait(member, id, priority)
      return urged()
    }
    return nil
  }

  /// Returns the member in the only slot, if one of a higher priority waits for it.
  private mutating func urged() -> Urged? {
    guard waitingCount > 0, policy.isSerial, lines[0].priority > holderPriority,
      let holder = live.first ?? unwinding.first
    else { return nil }
    holderPriority = lines[0].priority
    return (holder, holderPriority)
  }

  /// The member gives its slot back, and leaves.
  ///
  /// A member that still waits may have an early outcome, and its task may be over, before
  /// `concludedEarly` is heard.
  @inline(__always)
  mutating func giveBack(_ id: UseCaseOperationID, as kind: Verdict.Kind) -> Release? {
    if let member = live.remove(id) {
      // One that unwinds is listed since its early outcome, if it is to be.
      if policy.deliversOnlyNewest, kind != .cancelled { list(member, id) }
    } else if unwinding.remove(id) == nil {
      return concludedEarly(id, as: kind)
    }
    count(kind)
    return release()
  }

  /// Lists a member with an outcome, because a handler for it is left.
  mutating func list(_ member: Member, _ id: UseCaseOperationID) {
    let index = undelivered.lastIndex { $0.id <= id }
    if let index, undelivered[index].id == id {
      undelivered[index].count += 1
    } else {
      undelivered.insert((id, member, 1), at: index.map { $0 + 1 } ?? 0)
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
    var members = unwinding.members
    while let (id, member) = live.removeFirst() {
      unwinding.insert(member, id)
      members.append(member)
    }
    while let next = removeNext(isPausing: false) {
      members.append(next.member)
      cancelled += 1
    }
    pauses.nobodyWaits()
    return (members, release())
  }

  mutating func suspend() { isSuspended = true }

  mutating func resume() -> Release? {
    isSuspended = false
    return release()
  }

  /// Returns the idler if the queue is idle, and keeps it otherwise.
  mutating func awaitIdle(_ idler: Idler) -> Idler? {
    guard holding > 0 || waitingCount > 0 else { return idler }
    idlers.append(idler)
    return nil
  }

  /// Returns what may go on now, nil if nobody waits for a slot or for an idle queue.
  @inline(__always) private mutating func release() -> Release? {
    if waitingCount == 0, case .none = idlers { return nil }
    var release = Release()
    while !isSuspended, policy.mayStart(holding: holding),
      let next = removeNext(isPausing: hasPauses && pauses.isPausing(policy))
    {
      start(next.member, next.id, next.priority)
      release.started.append(next.member)
    }
    release.urged = urged()
    if holding == 0, waitingCount == 0 { swap(&release.idle, &idlers) }
    return release
  }

  /// The member that starts next leaves its line, unless all that wait pause: the first of the
  /// highest priority if the line is by priority, the oldest otherwise.
  private mutating func removeNext(
    isPausing: Bool
  ) -> (id: UseCaseOperationID, member: Member, priority: UInt8)? {
    var next: (index: Int, id: UseCaseOperationID)?
    for index in lines.indices {
      guard let id = lines[index].members.firstID, !isPausing || pauses.maySkip(id),
        next.map({ id < $0.id }) ?? true
      else { continue }
      next = (index, id)
      if policy.isByPriority { break }
    }
    guard let next, let member = lines[next.index].members.remove(next.id) else { return nil }
    let priority = lines[next.index].priority
    noteDeparture(from: next.index)
    return (next.id, member, priority)
  }

  @inline(__always)
  private mutating func count(_ kind: Verdict.Kind) {
    switch kind {
    case .success: succeeded += 1
    case .failure: failed += 1
    case .cancelled: cancelled += 1
    }
  }
}
