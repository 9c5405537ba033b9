@testable import UseCase

/// A queue written with arrays and loops, which knows only the rules: the reference that
/// `QueueMachine` is compared with.
struct PlainQueue {
  enum Event: Hashable {
    /// An operation is executed, perhaps in a handler of another.
    case submit(priority: UInt8, in: UInt64?)
    /// An early outcome, or a late cancellation of one that has its outcome.
    case cancel(UInt64), timeOut(UInt64), cancelLate(UInt64)
    /// The body has returned and the handlers have run.
    case leave(UInt64)
    case cancelAll, suspend, resume, close, awaitIdle
    /// A second passes, the alarm is heard, or the pauses of those that wait are over.
    case tick, wake, flush
    /// The priority of one that waits is raised.
    case raise(UInt64)
    /// An interceptor lets the operation call `main`.
    case attempt(UInt64)

    static let submit = submit(priority: 0, in: nil)
  }

  /// All that an event brings about.
  struct Effect: Equatable {
    var admission: Admission?
    var superseded: [UInt64] = []
    var cancelled: [UInt64] = []
    var started: [UInt64] = []
    /// The one in the only slot that is raised, and its new priority.
    var urged: [UInt64] = []
    var idle: [Int] = []
    var attempts: [Int] = []
  }

  struct Place: Equatable {
    let id: UInt64
    var priority: UInt8 = 0
    /// The time at which its debounce ends.
    var debounceEnds = Duration.zero
    var isFlushed = false
    /// The early outcome, if there is one.
    var early: Verdict.Kind?
    /// Whether a handler of it has executed an operation, so that it counts as gone.
    var isHandled = false
    var isLive: Bool { early == nil && !isHandled }
  }

  let policy: UseCaseQueue.Policy
  let hasInterceptors: Bool
  var isSuspended = false
  var isClosed = false
  /// The operations that unwind, and then the live ones, each in the order of the calls.
  var holding: [Place] = []
  var waiting: [Place] = []
  /// The operations without a slot whose handlers are left to run.
  var lingering: [UInt64] = []
  /// The operations that were admitted, and not cancelled.
  private var uncancelled: [UInt64] = []
  /// Only operations from this one on may deliver.
  var floor: UInt64 = 0
  private var done = UseCaseActivity()
  var lastID: UInt64 = 0
  var idlers: [Int] = []
  var lastIdler = 0
  var now = Duration.zero
  /// The times of all starts.
  var starts: [Duration] = []
  /// The operations with a slot that have not called `main`.
  private var reserved: Set<UInt64> = []
  /// The attempts that wait for the window.
  var attempts: [Int] = []
  var lastAttempt = 0
  /// The time of the first arrival since the last start, as long as one waits.
  private var beginOfBurst: Duration?

  init(policy: UseCaseQueue.Policy, hasInterceptors: Bool = false) {
    self.policy = policy
    self.hasInterceptors = hasInterceptors
  }

  var activity: UseCaseActivity {
    var activity = done
    (activity.running, activity.waiting) = (holding.count, waiting.count)
    return activity
  }

  var open: [UInt64] { holding.filter(\.isLive).map(\.id) + waiting.map(\.id) }

  /// What becomes of an operation that leaves now.
  func verdict(of id: UInt64) -> Verdict.Kind {
    guard let place = holding.first(where: { $0.id == id }) else { return .cancelled }
    return place.early ?? (id.isMultiple(of: 2) ? .success : .failure)
  }

  mutating func apply(_ event: Event) -> Effect {
    var effect = Effect()
    // An event that says nothing of the time, or frees nothing, starts nobody.
    var fills = false
    switch event {
    case .submit(let priority, let handled):
      lastID += 1
      effect.started = policy.pauses ? fill() : []
      effect.attempts = policy.pauses ? goOn() : []
      submit(priority, in: handled, &effect)
    case .cancel(let id), .timeOut(let id):
      fills = policy.pauses || waiting.contains { $0.id == id }
      conclude(id, as: event == .timeOut(id) ? .failure : .cancelled)
    case .cancelLate(let id): uncancelled.removeAll { $0 == id }
    case .leave(let id):
      leave(id)
      fills = true
    case .raise(let id):
      if let index = waiting.firstIndex(where: { $0.id == id }) { waiting[index].priority = 9 }
      if let index = holding.firstIndex(where: { $0.id == id }) { holding[index].priority = 9 }
    case .flush:
      for index in waiting.indices { waiting[index].isFlushed = true }
      effect.attempts = attempts
      starts += attempts.map { _ in now }
      attempts = []
      fills = true
    case .wake: fills = true
    case .cancelAll:
      let line = waiting.enumerated().sorted {
        policy.isByPriority && $0.element.priority != $1.element.priority
          ? $0.element.priority > $1.element.priority : $0.offset < $1.offset
      }
      effect.cancelled = holding.map(\.id) + line.map(\.element.id)
      for id in effect.cancelled { conclude(id, as: .cancelled) }
      fills = policy.pauses
    case .suspend:
      isSuspended = true
    case .resume:
      isSuspended = false
      fills = true
    case .close: isClosed = true
    case .awaitIdle:
      lastIdler += 1
      idlers.append(lastIdler)
    case .attempt(let id): attempt(id, &effect)
    case .tick: now += .seconds(1)
    }
    if fills {
      effect.attempts += goOn()
      effect.started += fill()
    }
    if policy.isSerial, let holder = holding.first,
      let priority = waiting.map(\.priority).max(), priority > holder.priority
    {
      holding[0].priority = priority
      effect.urged = [holder.id, UInt64(priority)]
    }
    if waiting.isEmpty { beginOfBurst = nil }
    if isIdle {
      effect.idle = idlers
      idlers = []
    }
    return effect
  }

  var isIdle: Bool {
    holding.isEmpty && lingering.isEmpty && (waiting.isEmpty || isSuspended)
  }

  // MARK: - Admission

  private mutating func submit(_ priority: UInt8, in handled: UInt64?, _ effect: inout Effect) {
    if isClosed { return refuse(.closed, &effect) }
    // An operation is over for its handler: its request is judged as if it had left.
    var judge = self
    if let handled {
      judge.leave(handled)
      _ = judge.fill()
      if let index = holding.firstIndex(where: { $0.id == handled }) {
        let place = holding.remove(at: index)
        holding.insert(place, at: holding.count { !$0.isLive && $0.id < handled })
        holding[holding.firstIndex { $0.id == handled } ?? 0].isHandled = true
      }
    }
    switch policy.whenBusy {
    case .wait, .drop:
      let isClosed = judge.endOfWindow > now && !isSuspended
      let line = (isClosed ? 0 : judge.holding.count - policy.limit) + judge.waiting.count
      if line >= policy.waitingLimit { return refuse(.dropped, &effect) }
    case .cancelPrevious, .cancelPreviousAndWait:
      let open = judge.open.filter { $0 != handled }.sorted()
      effect.superseded = Array(open.prefix(max(0, open.count - policy.limit + 1)))
    case .keepLatest: effect.superseded = judge.waiting.map(\.id)
    }
    for id in effect.superseded { conclude(id, as: .cancelled) }
    var place = Place(id: lastID, priority: priority)
    if policy.debounce > .zero {
      let begin = beginOfBurst ?? now
      beginOfBurst = begin
      place.debounceEnds = min(now + policy.debounce, begin + policy.longestDebounce)
    }
    waiting.append(place)
    noteNewest()
    effect.admission = fill() == [lastID] ? .start : .wait
  }

  private mutating func refuse(_ reason: UseCaseCancellation, _ effect: inout Effect) {
    done.cancelled += 1
    lingering.append(lastID)
    effect.admission = .refuse(reason)
  }

  /// Only the newest deliver that were admitted and not cancelled, as many as the limit.
  private mutating func noteNewest() {
    guard policy.deliversOnlyNewest else { return }
    uncancelled.append(lastID)
    if uncancelled.count >= policy.limit {
      floor = max(floor, uncancelled[uncancelled.count - policy.limit])
    }
  }

  private mutating func conclude(_ id: UInt64, as kind: Verdict.Kind) {
    if kind == .cancelled { uncancelled.removeAll { $0 == id } }
    if let index = waiting.firstIndex(where: { $0.id == id }) {
      waiting.remove(at: index)
      done.count(kind)
      lingering.append(id)
    }
    if let index = holding.firstIndex(where: { $0.id == id && $0.isLive }) {
      var place = holding.remove(at: index)
      place.early = kind
      holding.insert(place, at: holding.count { !$0.isLive && $0.id < id })
    }
  }

  private mutating func leave(_ id: UInt64) {
    if verdict(of: id) == .cancelled { uncancelled.removeAll { $0 == id } }
    if let index = holding.firstIndex(where: { $0.id == id }) {
      done.count(verdict(of: id))
      holding.remove(at: index)
      reserved.remove(id)
    } else if let index = waiting.firstIndex(where: { $0.id == id }) {
      done.count(.cancelled)
      waiting.remove(at: index)
    } else {
      lingering.removeAll { $0 == id }
    }
  }

  // MARK: - Starts

  /// The time from which the rate allows another start.
  private var endOfWindow: Duration {
    let free = policy.starts - reserved.count
    if policy.interval == .zero || starts.count < free { return .zero }
    return free > 0 ? starts[starts.count - free] + policy.interval : UseCaseTimeout.never
  }

  private func endOfPause(_ place: Place) -> Duration {
    place.isFlushed ? .zero : max(place.debounceEnds, endOfWindow)
  }

  /// The time at which something may go on that pauses now.
  var alarm: Duration? {
    (waiting.map(endOfPause) + attempts.map { _ in endOfWindow })
      .filter { $0 > now && $0 < UseCaseTimeout.never }.min()
  }

  private mutating func attempt(_ id: UInt64, _ effect: inout Effect) {
    lastAttempt += 1
    let isFirst = reserved.remove(id) != nil
    guard isFirst || attempts.isEmpty && endOfWindow <= now else {
      return attempts.append(lastAttempt)
    }
    starts.append(now)
    effect.attempts = [lastAttempt]
  }

  private mutating func goOn() -> [Int] {
    var resumed: [Int] = []
    while !attempts.isEmpty, endOfWindow <= now {
      resumed.append(attempts.removeFirst())
      starts.append(now)
    }
    return resumed
  }

  private mutating func fill() -> [UInt64] {
    var started: [UInt64] = []
    while !isSuspended, policy.whenBusy == .cancelPrevious || holding.count < policy.limit {
      let ready = waiting.filter { endOfPause($0) <= now }
      let urgent = policy.isByPriority ? ready.map(\.priority).max() : nil
      guard let place = ready.first(where: { urgent == nil || $0.priority == urgent }) else {
        break
      }
      waiting.removeAll { $0.id == place.id }
      let live = Place(id: place.id, priority: place.priority)
      holding.insert(live, at: holding.firstIndex { $0.isLive && $0.id > live.id } ?? holding.count)
      started.append(place.id)
      if hasInterceptors, policy.interval > .zero {
        reserved.insert(place.id)
      } else {
        starts.append(now)
      }
      beginOfBurst = nil
    }
    return started
  }
}
