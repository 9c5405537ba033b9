import TestSupport

@testable import UseCase

/// A queue and its operations as one value, and all that drive them. An act stands for one hold of
/// the lock of the queue, or of one operation, in the library.
struct QueueWorld: ActedWorld {
  typealias Queue = QueueMachine<Int, Int>

  indirect enum Act: Hashable {
    /// `execute`, several times on one thread.
    case submit([Int]), decide(Int, Admission, then: [Act])
    /// A second passes.
    case tick
    /// The alarm of the queue is heard.
    case alarm(Duration)
    case start(Int), park(Int), await(Int), conclude(Int), exit(Int), giveBack(Int)
    case isGivenBack(Int)
    case grant([Int], then: [Act]), end([Int], UseCaseCancellation, then: [Act])
    case cancel(Int, waiters: [Int], then: [Act]), requested(Int), cancelAll, suspend, resume, flush
    case awaitIdle, idle
  }

  private(set) var queue: Queue
  private var description: String
  private var operations: [OperationParts]
  private var ids: [Int: UseCaseOperationID] = [:]
  private var decided: Set<Int> = []
  private var bodies: Set<Int> = []
  private var started: [Int] = []
  private var resumed: Set<Int> = []
  private var returned: Set<Int> = []
  private var dropped = 0
  private var isIdle = false
  private var now = Duration.zero
  private var alarm: Duration?
  private var starts: [Duration] = []
  private var wasFlushed = false

  init(_ policy: UseCaseQueue.Policy, operations count: Int) {
    operations = Array(repeating: OperationParts(isObserved: false), count: count)
    queue = Queue(policy: policy)
    description = String(describing: queue)
  }

  func isReady(_ act: Act) -> Bool {
    switch act {
    case .await(let id): resumed.contains(id)
    case .requested(let id): decided.contains(id)
    case .idle: isIdle
    default: true
    }
  }

  static func == (lhs: Self, rhs: Self) -> Bool {
    lhs.operations == rhs.operations && lhs.ids == rhs.ids && lhs.bodies == rhs.bodies
      && lhs.decided == rhs.decided && lhs.started == rhs.started && lhs.resumed == rhs.resumed
      && lhs.returned == rhs.returned && lhs.now == rhs.now && lhs.starts == rhs.starts
      && lhs.wasFlushed == rhs.wasFlushed
      && lhs.alarm == rhs.alarm
      && lhs.isIdle == rhs.isIdle && lhs.description == rhs.description
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(operations)
    hasher.combine(description)
  }

  // MARK: - Promises

  private func demand(_ condition: Bool, _ promise: String) throws {
    guard condition else { throw OperationWorld.Broken(description: "not so: \(promise)") }
  }

  func checkEnd() throws {
    let verdicts = operations.map(\.machine.verdict)
    func count(_ isCounted: (OperationWorld.Fate) -> Bool) -> Int {
      verdicts.count { $0.map(OperationWorld.Fate.init).map(isCounted) ?? false }
    }
    let activity = UseCaseActivity(
      succeeded: count { $0 == .success }, failed: count { $0 == .failure },
      cancelled: count(\.isCancelled))
    try demand(queue.activity == activity, "\(activity) is what has become of them")
    try demand(activity.executed == operations.count, "every operation has an outcome")
    try demand(
      returned.count + dropped == operations.count
        && operations.allSatisfy { !$0.machine.isOccupied },
      "every slot is given back")
  }

  // MARK: - Acts

  mutating func take(_ act: Act) throws -> [Act] {
    let next = try takeInQueue(act)
    guard let alarm = change({ $0.nextAlarm() }) else { return next }
    self.alarm = alarm.time
    return next + (alarm.time.map { [.alarm($0)] } ?? [])
  }

  private mutating func takeInQueue(_ act: Act) throws -> [Act] {
    switch act {
    case .submit(let ids):
      let id = UseCaseOperationID(number: UInt64(self.ids.count + 1))
      let (released, arrival) = change { [now] queue in
        let released = queue.policy.pauses ? queue.change(at: now) { $0.wake() } : nil
        return (released, queue.admit(ids[0], id: id))
      }
      self.ids[ids[0]] = id
      let rest = ids.count > 1 ? [Act.submit(Array(ids.dropFirst()))] : []
      let next = try release(
        released,
        then: end(
          arrival.superseded.all, .superseded,
          then: [.decide(ids[0], arrival.admission, then: rest)]))
      if arrival.admission == .start { try noteStart() }
      return next
    case .decide(let id, let decision, let next):
      try with(id) {
        if decision != .start { $0.admit(as: decision) }
      }
      decided.insert(id)
      switch decision {
      case .start: return next + [.start(id)]
      case .wait: return next + [.start(id)]
      case .drop:
        dropped += 1
        return next
      }
    case .alarm(let time):
      // A sleep shows how late it is. An old timer is cancelled, and may come nevertheless.
      if time == alarm { now = max(now, time) }
      return try release(change { [now] in $0.change(at: now) { $0.wake() } }, then: [])
    case .flush:
      wasFlushed = true
      return try release(change { [now] in $0.change(at: now) { $0.flush() } }, then: [])
    case .tick:
      now += .seconds(1)
      return []
    case .start(let id), .await(let id):
      resumed.remove(id)
      return try start(id)
    case .park(let id):
      return try with(id) { $0.park(id) } == nil ? [.await(id)] : [.start(id)]
    case .conclude(let id):
      let verdict: Verdict = id.isMultiple(of: 2) ? .success : .failure(UseCaseDeadlock())
      bodies.remove(id)
      let isLast = try with(id) { $0.conclude(verdict) }.freed != nil
      try demand(isLast, "it gives its slot back")
      return [.giveBack(id)]
    case .exit(let id):
      let isLast = try with(id) { $0.exit() } != nil
      try demand(isLast, "it gives its slot back")
      return [.giveBack(id)]
    case .giveBack(let id):
      let verdict = operations[id].machine.verdict ?? .success
      return try release(change(id) { $0.giveBack($1, as: verdict.kind) }, then: [.isGivenBack(id)])
    case .isGivenBack(let id):
      let isNew = returned.insert(id).inserted
      try demand(isNew, "it returns once")
      let running = queue.activity.running
      try demand(running <= ids.count - returned.count, "a handler finds a free slot")
      _ = try with(id) { $0.wasGivenBack(isListed: false) }
      return []
    case .grant, .end, .cancel, .requested, .cancelAll, .suspend, .resume, .awaitIdle, .idle:
      return try takeFromOutside(act)
    }
  }

  private mutating func takeFromOutside(_ act: Act) throws -> [Act] {
    switch act {
    case .grant(let ids, let next):
      if let parked = try with(ids[0], { $0.grant() }) { resumed.insert(parked) }
      return ids.count > 1 ? [.grant(Array(ids.dropFirst()), then: next)] : next
    case .end(let ids, let reason, let next):
      let rest = end(Array(ids.dropFirst()), reason, then: next)
      let ending = try with(ids[0]) { $0.concludeEarly(.cancelled(reason)) }
      guard ending.isNew else { return rest }
      let waiters = ending.waiters.all.map(\.waiter) + [ending.parked].compactMap(\.self)
      return [.cancel(ids[0], waiters: waiters, then: rest)]
    case .cancel(let id, let waiters, let next):
      resumed.formUnion(waiters)
      return try release(change(id) { $0.concludedEarly($1, as: .cancelled) }, then: next)
    case .requested(let id):
      return [.end([id], .requested, then: [])]
    case .cancelAll:
      let (ids, released) = change { $0.cancelAll() }
      return end(ids, .requested, then: try release(released, then: []))
    case .suspend:
      change { $0.suspend() }
      return [.resume]
    case .resume:
      return try release(change { [now] in $0.change(at: now) { $0.resume() } }, then: [])
    case .awaitIdle:
      isIdle = change { $0.awaitIdle(0) } != nil
      return [.idle]
    default:
      return []
    }
  }

  private mutating func start(_ id: Int) throws -> [Act] {
    guard try with(id, { $0.stopWaiting() }) else { return [.park(id)] }
    guard try with(id, { $0.start() }) != nil else { return [.exit(id)] }
    let isNew = bodies.insert(id).inserted && !started.contains(id)
    try demand(isNew, "a body runs once")
    started.append(id)
    let policy = queue.policy
    try demand(
      bodies.count <= policy.limit || policy.whenBusy == .cancelPrevious,
      "\(bodies) are no more than \(policy.limit)")
    return [.conclude(id)]
  }

  private func end(_ ids: [Int], _ reason: UseCaseCancellation, then next: [Act]) -> [Act] {
    ids.isEmpty ? next : [.end(ids, reason, then: next)]
  }

  private mutating func release(_ release: Queue.Release?, then next: [Act]) throws -> [Act] {
    guard let release else { return next }
    if !release.idle.all.isEmpty { isIdle = true }
    let started = release.started.all
    if !started.isEmpty { try noteStart() }
    return started.isEmpty ? next : [.grant(started, then: next)]
  }

  private mutating func noteStart() throws {
    let policy = queue.policy
    if starts.count >= policy.starts, !wasFlushed {
      try demand(
        now >= starts[starts.count - policy.starts] + policy.interval,
        "no more than \(policy.starts) start in \(policy.interval)")
    }
    starts.append(now)
  }

  private mutating func change<Result>(_ body: (inout Queue) -> Result) -> Result {
    defer { description = String(describing: queue) }
    return body(&queue)
  }

  private mutating func change(
    _ id: Int, _ body: (inout Queue, UseCaseOperationID) -> Queue.Release?
  ) -> Queue.Release? {
    ids[id].flatMap { id in
      change { [now] queue in queue.change(at: now) { body(&$0, id) } }
    }
  }

  /// Calls the machine of an operation, and looks at what must always be so.
  private mutating func with<Result>(
    _ id: Int, _ body: (inout OperationMachine<Int, Int, Int, Int>) -> Result
  ) throws -> Result {
    let verdict = operations[id].machine.verdict.map(OperationWorld.Fate.init)
    let result = body(&operations[id].machine)
    operations[id].refresh()
    let fate = operations[id].machine.verdict.map(OperationWorld.Fate.init)
    try demand(verdict == nil || verdict == fate, "the first verdict stays")
    let activity = queue.activity
    try demand(activity.running >= 0 && activity.waiting >= 0, "\(activity) is a count")
    try demand(activity.executed == ids.count, "\(activity) counts all")
    return result
  }
}
