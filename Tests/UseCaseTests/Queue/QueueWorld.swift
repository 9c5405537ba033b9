import TestSupport

@testable import UseCase

/// A queue and its operations as one value, and everything that drives them. An act stands for one
/// hold of the lock of the queue, or of one operation, in the library.
///
/// Each operation has one handler, of `common`.
struct QueueWorld: ActedWorld {
  typealias Queue = QueueMachine<Int, Int, Int>
  typealias Operation = OperationMachine<Int, Int, Int>
  typealias Fate = OperationWorld.Fate
  typealias Decision = OperationWorld.Decision

  indirect enum Act: Hashable {
    /// `execute`, several times on one thread, perhaps in the handler of another.
    case submit([Int], in: Int? = nil, then: [Act] = [])
    case decide(Int, Decision, then: [Act])
    /// A second passes.
    case tick
    /// The alarm of the queue is heard.
    case alarm(Duration)
    case start(Int), park(Int), await(Int), conclude(Int), exit(Int)
    case deliver(Int), begin(Int), leave(Int), left(Int)
    case grant([Int], then: [Act]), end([Int], UseCaseCancellation, then: [Act])
    case concluded(Int, isNew: Bool, waiters: [Int], then: [Act])
    case requested(Int), cancelAll, suspend, resume, flush, awaitIdle, idle
  }

  private var queue: Compared<Queue>
  private var operations: [Compared<Operation>]
  /// The operations that the handlers of these execute.
  private let executions: [Int: Int]
  private var ids: [Int: UseCaseOperationID] = [:]
  private var decided: Set<Int> = []
  private var started: Set<Int> = []
  /// The operations that hold a slot: from the start until they leave.
  private var holding: Set<Int> = []
  private var handled: Set<Int> = []
  private var gone: Set<Int> = []
  private var resumed: Set<Int> = []
  private var isIdle = false
  private var now = Duration.zero
  private var alarm: Duration?
  private var starts: [Duration] = []
  private var wasFlushed = false

  /// - Parameters:
  ///   - policy: The policy of the queue.
  ///   - count: How many operations there are.
  ///   - executions: The operations that are executed in the handlers of others.
  init(_ policy: UseCaseQueue.Policy, operations count: Int, executions: [Int: Int] = [:]) {
    queue = Compared(Queue(policy: policy))
    operations = Array(repeating: Compared(Operation(isObserved: false)), count: count)
    self.executions = executions
  }

  private var policy: UseCaseQueue.Policy { queue.machine.policy }

  func isReady(_ act: Act) -> Bool {
    switch act {
    case .await(let id): resumed.contains(id)
    case .requested(let id): decided.contains(id)
    case .idle: isIdle
    default: true
    }
  }

  // MARK: - Promises

  func checkEnd() throws {
    let fates = operations.compactMap { $0.machine.verdict?.kind }
    let executed = operations.indices.filter { ids[$0] != nil }
    let activity = UseCaseActivity(
      succeeded: fates.count { $0 == .success }, failed: fates.count { $0 == .failure },
      cancelled: fates.count { $0 == .cancelled })
    try demand(
      queue.machine.activity() == activity, "\(activity) is what has become of them")
    try demand(fates.count == executed.count, "every operation has an outcome")
    try demand(gone == Set(executed) && holding.isEmpty, "everyone has left")
    try demand(queue.machine.isEmpty, "nothing is in the queue")
  }

  // MARK: - Acts

  mutating func take(_ act: Act) throws -> [Act] {
    defer {
      queue.describe()
      for index in operations.indices { operations[index].describe() }
    }
    var next = try perform(act)
    let activity = queue.machine.activity()
    try demand(activity.executed == ids.count, "\(activity) counts all")
    try demand(
      activity.running <= policy.limit || policy.whenBusy == .cancelPrevious,
      "\(activity) keeps the limit")
    if let alarm = queue.change({ $0.nextAlarm() }) {
      self.alarm = alarm.time
      next += alarm.time.map { [.alarm($0)] } ?? []
    }
    return next
  }

  private mutating func perform(_ act: Act) throws -> [Act] {
    switch act {
    case .submit(let ids, let handled, let next): return try submit(ids, in: handled, then: next)
    case .decide(let id, let decision, let next):
      operations[id].change {
        switch decision {
        case .start: break
        case .wait: $0.admit(as: .wait)
        case .refuse: $0.admit(as: .refuse(.dropped))
        }
        _ = $0.attach(Handler(branch: .common, isIsolated: true, callback: id))
      }
      decided.insert(id)
      return next + [decision == .refuse ? .exit(id) : .start(id)]
    case .alarm(let time):
      // A sleep shows how late it is. An old timer is cancelled, and may come nevertheless.
      if time == alarm { now = max(now, time) }
      return try release(change { $0.wake() })
    case .flush:
      wasFlushed = true
      return try release(change { $0.flush() })
    case .tick:
      now += .seconds(1)
      return []
    case .suspend: return try [.resume] + release(change { $0.suspend() })
    case .resume: return try release(change { $0.resume() })
    case .awaitIdle:
      isIdle = queue.change { $0.awaitIdle(0) } != nil
      if isIdle { try demandIdle() }
      return [.idle]
    case .idle: return []
    case .cancelAll:
      let (members, released) = queue.change { $0.cancelAll() }
      return end(members, .requested, then: try release(released))
    case .grant(let ids, let next):
      if let parked = operations[ids[0]].change({ $0.grant() }) { resumed.insert(parked) }
      return ids.count > 1 ? [.grant(Array(ids.dropFirst()), then: next)] : next
    case .requested(let id): return [.end([id], .requested, then: [])]
    case .end(let ids, let reason, let next):
      let rest = end(Array(ids.dropFirst()), reason, then: next)
      let outcome = operations[ids[0]].change { $0.concludeEarly(.cancelled(reason)) }
      if case .nothing = outcome.effect { return rest }
      let isNew = if case .concluded = outcome.effect { true } else { false }
      return [
        .concluded(
          ids[0], isNew: isNew, waiters: outcome.waiters + [outcome.parked].compactMap(\.self),
          then: rest + (outcome.delivers ? [.deliver(ids[0])] : []))
      ]
    case .concluded(let id, let isNew, let waiters, let next):
      resumed.formUnion(waiters)
      return try release(change(id) { $0.concludedEarly($1, as: .cancelled, isNew: isNew) }) + next
    case .start, .park, .await, .conclude, .exit, .deliver, .begin, .leave, .left:
      return try performInTask(act)
    }
  }

  private mutating func submit(_ ids: [Int], in handled: Int?, then last: [Act]) throws -> [Act] {
    let id = UseCaseOperationID(number: UInt64(self.ids.count + 1))
    let released = policy.pauses ? change { $0.wake() } : nil
    let arrival = queue.change { [handler = handled.flatMap { self.ids[$0] }] in
      $0.admit(ids[0], id: id, in: handler)
    }
    self.ids[ids[0]] = id
    let next = ids.count > 1 ? [Act.submit(Array(ids.dropFirst()), in: handled, then: last)] : last
    let decision: Decision =
      switch arrival.admission {
      case .start: .start
      case .wait: .wait
      case .refuse: .refuse
      }
    if decision == .start { try noteStart([ids[0]]) }
    return try release(released)
      + end(arrival.superseded.all, .superseded, then: [.decide(ids[0], decision, then: next)])
  }

  // MARK: - Tasks

  private mutating func performInTask(_ act: Act) throws -> [Act] {
    switch act {
    case .start(let id), .await(let id):
      resumed.remove(id)
      guard operations[id].change({ $0.stopWaiting() }) else { return [.park(id)] }
      guard operations[id].change({ $0.start() }) != nil else { return [.exit(id)] }
      let isFirst = started.insert(id).inserted
      try demand(isFirst && holding.contains(id), "a body runs once, in a slot")
      return [.conclude(id)]
    case .park(let id):
      return operations[id].change { $0.park(id) } == nil ? [.await(id)] : [.start(id)]
    case .conclude(let id):
      let verdict: Verdict = id.isMultiple(of: 2) ? .success : .failure(UseCaseDeadlock())
      return try follow(change(id) { $0.conclude(verdict, mayDeliver: $1).step }, id)
    case .exit(let id): return try follow(change(id) { $0.exit(mayDeliver: $1) }, id)
    case .deliver(let id): return try follow(change(id) { $0.next(mayDeliver: $1) }, id)
    case .begin(let id):
      let handler = Handler(branch: .common, isIsolated: true, callback: id)
      guard change(id, { $0.begin(handler, mayDeliver: $1) }) != nil else { return [.deliver(id)] }
      let isFirst = handled.insert(id).inserted
      try demand(isFirst && !gone.contains(id), "a handler runs once, before the operation leaves")
      guard let next = executions[id] else { return [.deliver(id)] }
      return [.submit([next], in: id, then: [.deliver(id)])]
    case .leave(let id):
      let isFirst = gone.insert(id).inserted
      try demand(isFirst, "everyone leaves once")
      holding.remove(id)
      let kind = operations[id].machine.verdict?.kind ?? .success
      return try release(change(id) { $0.leave($1, as: kind) }) + [.left(id)]
    case .left(let id):
      return operations[id].change { $0.left().isDone } ? [] : [.deliver(id)]
    default: return []
    }
  }

  private func follow(_ step: Operation.Step, _ id: Int) throws -> [Act] {
    switch step {
    case .ask: [.begin(id)]
    case .leave: [.leave(id)]
    case .handOver, .tell, .forget: [.deliver(id)]
    case .done: []
    case .updates, .call, .unhandledFailure:
      throw BrokenPromise(description: "\(step) is not to be delivered")
    }
  }

  private func end(_ ids: [Int], _ reason: UseCaseCancellation, then next: [Act]) -> [Act] {
    ids.isEmpty ? next : [.end(ids, reason, then: next)]
  }

  private mutating func release(_ release: Queue.Release?) throws -> [Act] {
    guard let release else { return [] }
    if !release.idle.all.isEmpty {
      isIdle = true
      try demandIdle()
    }
    let started = release.started.all
    if started.isEmpty { return [] }
    try noteStart(started)
    return [.grant(started, then: [])]
  }

  private func demandIdle() throws {
    let inside = Set(ids.keys).subtracting(gone)
    try demand(
      inside.allSatisfy { id in
        queue.machine.isSuspended && !holding.contains(id)
          && ids[id].map { queue.machine.holds($0) } ?? false
      }, "an idle queue has nothing in it but what waits for it to be resumed")
  }

  private mutating func noteStart(_ ids: [Int]) throws {
    for id in ids {
      let isFirst = holding.insert(id).inserted && !gone.contains(id)
      try demand(isFirst, "an operation gets one slot")
      if starts.count >= policy.starts, !wasFlushed {
        try demand(
          now >= starts[starts.count - policy.starts] + policy.interval,
          "no more than \(policy.starts) start in \(policy.interval)")
      }
      starts.append(now)
    }
  }

  private mutating func change(_ body: (inout Queue) -> Queue.Release?) -> Queue.Release? {
    queue.change { [now] in $0.change(at: now, body) }
  }

  private mutating func change(
    _ id: Int, _ body: (inout Queue, UseCaseOperationID) -> Queue.Release?
  ) -> Queue.Release? {
    ids[id].flatMap { id in change { body(&$0, id) } }
  }

  /// Changes an operation, which is told whether it may deliver.
  private mutating func change<Result>(
    _ id: Int, _ body: (inout Operation, Bool) -> Result
  ) -> Result {
    let mayDeliver = ids[id].map { queue.machine.floor <= $0 } ?? true
    return operations[id].change { body(&$0, mayDeliver) }
  }
}
