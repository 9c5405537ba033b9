import UseCaseInternals

/// Decides which members of one queue run, wait, or give way.
///
/// The machine decides, and its owner acts once the lock is released. `Member` is an operation in
/// the library and a plain value in the tests; `Idler` is a task that awaits an idle queue, and
/// `Attempt` one that awaits a start.
///
/// A member is in one state from its admission until it leaves:
///
///     waiting → live → (left)
///     waiting → live → unwinding → (left)
///     waiting → lingering → (left)
///
/// A member that need not wait is live from the start. The second way is that of a member with an
/// early outcome, the third that of one that never gets a slot. A live or unwinding member holds its
/// slot until its body has returned and its handlers have run. A lingering one holds none: its
/// handlers are left to run. Each member leaves once. An operation and its queue have a lock each, so
/// another event may come when the member has already left: it finds nobody, and changes nothing.
///
/// Only `time` tells the machine whether a pause is over: it acts as if every alarm came in time.
struct QueueMachine<Member: Sendable, Idler: Sendable, Attempt: Sendable>: Sendable {
  typealias ID = UseCaseOperationID

  /// The consequences of an incoming member.
  struct Arrival: Sendable {
    let admission: Admission
    /// These give way, the oldest first. Some may have an outcome already.
    let superseded: Few<Member>
    /// This one is raised.
    var urged: Urged?

    var isAdmitted: Bool {
      if case .refuse = admission { false } else { true }
    }
  }

  /// The members and tasks that may go on after an event.
  struct Release: Sendable {
    /// These may call `main` once more.
    var attempts = Few<Attempt>.none
    /// These hold a slot from now on.
    var started = Few<Member>.none
    /// This one is raised.
    var urged: Urged?
    /// These have waited for the queue to be idle, and it is.
    var idle = Few<Idler>.none
  }

  /// The member in the only slot, and the higher priority of one that waits for it.
  typealias Urged = (member: Member, priority: UInt8)

  private typealias Members = MemberLine<ID, Member>

  let policy: UseCaseQueue.Policy
  /// Whether the clock matters. To compare durations costs more.
  private let hasPauses: Bool
  /// Whether the queue itself, or all lanes, are suspended or closed.
  private var (isSuspendedHere, isSuspendedAround) = (false, false)
  private var (isClosedHere, isClosedAround) = (false, false)
  /// The members of each priority that wait, the highest first. No line is empty while a member waits.
  /// There is one line, unless the priority matters.
  private var lines: [(priority: UInt8, members: Members)] = []
  private var waitingCount = 0
  private var live = Members()
  private var unwinding = Members()
  private var lingering = 0
  /// Only members from this one on may deliver, where a policy lets only the newest do so.
  private(set) var floor = ID(number: 0)
  /// The members from the floor on that were not cancelled, kept if the limit is above 1.
  private var newest = MemberLine<ID, Void>()
  /// The members that have left, or linger.
  private var done = UseCaseActivity()
  private var idlers = Few<Idler>.none
  /// The attempts of interceptors that wait for the window of the rate.
  private var attempts = MemberLine<Int, Attempt>()
  private var lastAttempt = 0
  private var pauses = QueuePauses()
  /// The priority of the member in the only slot, as far as the machine knows it.
  private var holderPriority: UInt8 = 0

  init(policy: UseCaseQueue.Policy, hasInterceptors: Bool = false) {
    self.policy = policy
    hasPauses = policy.pauses
    pauses.hasInterceptors = hasInterceptors
  }

  private var holding: Int { live.count + unwinding.count }

  var isSuspended: Bool { isSuspendedHere || isSuspendedAround }
  var isClosed: Bool { isClosedHere || isClosedAround }

  /// The counts of the queue. For a handler, the member is done to which it belongs.
  func activity(without handled: (id: ID, kind: Verdict.Kind)? = nil) -> UseCaseActivity {
    var activity = done
    (activity.running, activity.waiting) = (holding, waitingCount)
    if let handled, holdsSlot(handled.id) {
      activity.running -= 1
      activity.count(handled.kind)
    }
    return activity
  }

  private func holdsSlot(_ id: ID) -> Bool { live.contains(id) || unwinding.contains(id) }

  /// Returns the member, if it holds a slot.
  func holder(_ id: ID) -> Member? { live.member(id) ?? unwinding.member(id) }

  /// Whether the member has neither left nor lingers.
  func holds(_ id: ID) -> Bool {
    holdsSlot(id) || lines.contains { $0.members.contains(id) }
  }
}

// MARK: - Admission

extension QueueMachine {
  /// Admits `member`. `id` is higher than that of any member admitted before. If the policy pauses,
  /// a `wake` came before, at the time of the admission.
  ///
  /// If a handler of the member `handled` executes, its request is judged as if that member had left,
  /// and the next ones had its slot already.
  @inline(__always) mutating func admit(
    _ member: Member, id: ID, priority: UInt8 = 0, in handled: ID? = nil
  ) -> Arrival {
    if isClosed { return refuse(.closed) }
    let isPausing = hasPauses && pauses.holdNewcomer(by: policy)
    var counts = (holding: holding, live: live.count, waiting: waitingCount)
    if let handled { depart(handled, &counts) }
    let decision = policy.decision(
      holding: counts.holding, live: counts.live, waiting: counts.waiting,
      isSuspended: isSuspended, isPausing: isPausing)
    var superseded = Few<Member>.none
    for member in supersede(decision.superseded) { superseded.append(member) }
    switch decision.admission {
    // A member that waits goes before what a handler executes.
    case .start where handled == nil || waitingCount == 0 && policy.mayStart(holding: holding):
      start(member, id, priority)
    case .start, .wait:
      wait(member, id, priority)
      if hasPauses { pauses.noteArrival(policy) }
      noteNewest(id)
      return Arrival(admission: .wait, superseded: superseded, urged: urged())
    case .refuse(let reason): return refuse(reason)
    }
    noteNewest(id)
    return Arrival(admission: .start, superseded: superseded)
  }

  private mutating func refuse(_ reason: UseCaseCancellation) -> Arrival {
    done.cancelled += 1
    lingering += 1
    return Arrival(admission: .refuse(reason), superseded: .none)
  }

  /// Counts as if the member had left, and its slot were that of the next one.
  private mutating func depart(
    _ id: ID, _ counts: inout (holding: Int, live: Int, waiting: Int)
  ) {
    if let member = live.remove(id) {
      unwinding.insert(member, id)
      counts.live -= 1
    }
    guard unwinding.contains(id) else { return }
    counts.holding -= 1
    if isSuspended { return }
    var ready = counts.waiting
    if hasPauses, pauses.isPausing(policy) {
      ready = lines.flatMap(\.members.ids).count { pauses.maySkip($0) }
    }
    let next = max(0, min(ready, policy.limit - counts.holding))
    // The pause of the next one is over: that of what the handler executes does not hold it back.
    if next > 0, policy.debounce > .zero { endPauses() }
    counts = (counts.holding + next, counts.live + next, counts.waiting - next)
  }

  /// Settles which members may deliver: the newest ones that were admitted and not cancelled, as many
  /// as the limit.
  private mutating func noteNewest(_ id: ID) {
    guard policy.deliversOnlyNewest else { return }
    guard policy.limit > 1 else { return floor = id }
    newest.insert((), id)
    while newest.count > policy.limit { _ = newest.removeFirst() }
    if newest.count == policy.limit, let first = newest.firstID { floor = max(floor, first) }
  }

  private mutating func wait(_ member: Member, _ id: ID, _ priority: UInt8) {
    if waitingCount == 0, !lines.isEmpty { lines[0].priority = priority }
    waitingCount += 1
    let index = lines.firstIndex { $0.priority <= priority } ?? lines.count
    if index == lines.count || lines[index].priority < priority {
      lines.insert((priority, Members()), at: index)
    }
    lines[index].members.insert(member, id)
  }

  private mutating func start(_ member: Member, _ id: ID, _ priority: UInt8) {
    live.insert(member, id)
    holderPriority = priority
    if hasPauses { pauses.noteStart(of: id, policy) }
  }

  /// So many members give way: the oldest if running ones may, the newest if only waiting ones may.
  /// Returns them, the oldest first.
  private mutating func supersede(_ count: Int) -> [Member] {
    if count == 0 { return [] }
    var members: [Member] = []
    while members.count < count {
      if policy.deliversOnlyNewest, let (id, member) = live.removeFirst() {
        unwinding.insert(member, id)
        newest.remove(id)
        members.append(member)
        continue
      }
      let isNewest = !policy.deliversOnlyNewest
      // Lines of several priorities have members each.
      let id =
        isNewest
        ? lines.lazy.compactMap(\.members.lastID).max()
        : lines.lazy.compactMap(\.members.firstID).min()
      guard let id, let member = removeWaiting(id)
      else { preconditionFailure("\(policy) supersedes no more members than there are.") }
      newest.remove(id)
      done.cancelled += 1
      lingering += 1
      if isNewest { members.insert(member, at: 0) } else { members.append(member) }
    }
    return members
  }
}

// MARK: - Events

extension QueueMachine {
  /// Runs any other event, which releases those whose pause is over by `now`: no alarm comes for them
  /// any more. `now` is needed if the policy pauses.
  @inline(__always) mutating func change(
    at now: Duration?, _ event: (inout Self) -> Release?
  ) -> Release? {
    // The time never goes back, even if a thread has read the clock long before it got the lock.
    if let now { pauses.time = max(pauses.time, now) }
    return event(&self)
  }

  /// Time has passed: a pause may have ended.
  mutating func wake() -> Release? { release() }

  /// The members and attempts that wait now wait for no pause any more.
  mutating func flush() -> Release? {
    endPauses()
    var release = Release()
    while let (_, attempt) = attempts.removeFirst() {
      pauses.noteAttempt(policy)
      release.attempts.append(attempt)
    }
    return self.release(release)
  }

  /// The members that wait now pause no more.
  private mutating func endPauses() {
    pauses.flushed = lines.compactMap(\.members.lastID).max() ?? pauses.flushed
  }

  /// Returns the alarm to set, if it is another one than before. `keepsWindow` says whether there is
  /// one until the last interval is over, though nobody waits.
  mutating func nextAlarm(keepsWindow: Bool = false) -> QueueAlarm? {
    let isPausing = lines.contains { $0.members.lastID.map { !pauses.maySkip($0) } ?? false }
    return pauses.nextAlarm(
      forMember: isPausing, forAttempt: !attempts.isEmpty, keepsWindow: keepsWindow, policy)
  }

  /// The member has an early outcome, or, if it is not `isNew`, a cancellation after its outcome. If it
  /// waits it lingers from now on, else it unwinds.
  mutating func concludedEarly(_ id: ID, as kind: Verdict.Kind, isNew: Bool) -> Release? {
    if kind == .cancelled { newest.remove(id) }
    guard isNew else { return wakeIfPausing() }
    if let member = live.remove(id) {
      unwinding.insert(member, id)
      return wakeIfPausing()
    }
    guard removeWaiting(id) != nil else { return wakeIfPausing() }
    endBurstIfNobodyWaits()
    done.count(kind)
    lingering += 1
    return release()
  }

  /// An event that releases nobody else releases those whose pause is over.
  private mutating func wakeIfPausing() -> Release? { hasPauses ? release() : nil }

  private mutating func removeWaiting(_ id: ID) -> Member? {
    for index in lines.indices {
      guard let member = lines[index].members.remove(id) else { continue }
      noteDeparture(from: index)
      return member
    }
    return nil
  }

  /// A burst goes on if the last member that waits is superseded: an incoming one takes its place.
  private mutating func endBurstIfNobodyWaits() {
    if waitingCount == 0 { pauses.nobodyWaits() }
  }

  private mutating func noteDeparture(from index: Int) {
    waitingCount -= 1
    if lines.count > 1, lines[index].members.isEmpty { lines.remove(at: index) }
  }

  /// The priority of the member has grown. If it waits in a line by priority, it moves forward.
  mutating func raise(_ id: ID, to priority: UInt8) -> Urged? {
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

  /// The member leaves: its body has returned, or never begins, and its handlers have run.
  ///
  /// A member that still waits may have an early outcome, and its task may be over, before
  /// `concludedEarly` is heard.
  @inline(__always)
  mutating func leave(_ id: ID, as kind: Verdict.Kind) -> Release? {
    if kind == .cancelled { newest.remove(id) }
    if live.remove(id) != nil || unwinding.remove(id) != nil {
      done.count(kind)
      if hasPauses { pauses.giveBack(id) }
    } else if removeWaiting(id) != nil {
      endBurstIfNobodyWaits()
      done.count(kind)
    } else {
      lingering -= 1
    }
    return release()
  }

  /// Returns all members, those that run before those that wait. The latter linger.
  mutating func cancelAll() -> (members: [Member], release: Release?) {
    var members = unwinding.members
    for id in unwinding.ids { newest.remove(id) }
    while let (id, member) = live.removeFirst() {
      unwinding.insert(member, id)
      members.append(member)
      newest.remove(id)
    }
    while let next = removeNext(isPausing: false) {
      members.append(next.member)
      newest.remove(next.id)
      done.cancelled += 1
      lingering += 1
    }
    pauses.nobodyWaits()
    return (members, release())
  }

  mutating func suspend() -> Release? {
    isSuspendedHere = true
    return release()
  }

  mutating func resume() -> Release? {
    isSuspendedHere = false
    return release()
  }

  mutating func close() { isClosedHere = true }

  /// Notes whether all lanes are suspended or closed, of which this queue is one.
  mutating func follow(isSuspended: Bool, isClosed: Bool) {
    (isSuspendedAround, isClosedAround) = (isSuspended, isClosed)
  }

  /// Whether nothing is in the queue any more.
  var isEmpty: Bool { holding == 0 && lingering == 0 && waitingCount == 0 }

  /// Whether nothing is in the queue any more, but what waits for it to be resumed.
  var isIdle: Bool {
    holding == 0 && lingering == 0 && (waitingCount == 0 || isSuspended)
  }

  /// Returns the idler if the queue is idle, and keeps it otherwise.
  mutating func awaitIdle(_ idler: Idler) -> Idler? {
    if isIdle { return idler }
    idlers.append(idler)
    return nil
  }

  /// Returns what may go on now, nil if nobody waits.
  @inline(__always) private mutating func release(_ release: Release? = nil) -> Release? {
    if waitingCount == 0, case .none = idlers, attempts.isEmpty { return release }
    var release = release ?? Release()
    while !attempts.isEmpty, pauses.mayStart(policy), let (_, attempt) = attempts.removeFirst() {
      pauses.noteAttempt(policy)
      release.attempts.append(attempt)
    }
    while !isSuspended, policy.mayStart(holding: holding),
      let next = removeNext(isPausing: hasPauses && pauses.isPausing(policy))
    {
      start(next.member, next.id, next.priority)
      release.started.append(next.member)
    }
    release.urged = urged()
    if isIdle { swap(&release.idle, &idlers) }
    return release
  }

  /// The member that starts next leaves its line, unless all that wait pause: the first of the
  /// highest priority if the line is by priority, the oldest otherwise.
  private mutating func removeNext(
    isPausing: Bool
  ) -> (id: ID, member: Member, priority: UInt8)? {
    var next: (index: Int, id: ID)?
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
}

// MARK: - Attempts

extension QueueMachine {
  /// An interceptor lets the member call `main`, which is a start in the window of a rate. The first
  /// call takes the start that its slot has brought. Returns the attempt if it may go on,
  /// or else its place in the line.
  mutating func awaitStart(of id: ID, _ attempt: Attempt) -> (attempt: Attempt?, place: Int) {
    if pauses.useStart(of: id, policy) { return (attempt, 0) }
    guard !attempts.isEmpty || !pauses.mayStart(policy) else {
      pauses.noteAttempt(policy)
      return (attempt, 0)
    }
    lastAttempt += 1
    attempts.insert(attempt, lastAttempt)
    return (nil, lastAttempt)
  }

  /// The task of an attempt is cancelled. Returns it, if it waits still.
  mutating func abandon(_ place: Int) -> Attempt? { attempts.remove(place) }
}
