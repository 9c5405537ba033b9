import Testing

@testable import UseCase

/// A queue written with arrays and loops: the reference that `QueueMachine` is compared with.
struct PlainQueue {
  enum Event: Hashable {
    case submit(priority: UInt8), cancel(UInt64), finish(UInt64), cancelAll, suspend, resume, wait
    /// The time of a body passes, handlers are attached after an outcome, and all have begun.
    case timeOut(UInt64), attach(UInt64), deliver(UInt64)
    /// A second passes, the alarm is heard, or the pauses of those that wait are over.
    case tick, wake, flush
    /// The priority of one that waits is raised.
    case raise(UInt64)

    static let submit = submit(priority: 0)
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
  }

  struct Failed: Error {}

  struct Place: Equatable {
    let id: UInt64
    var priority: UInt8 = 0
    /// The time at which its debounce ends.
    var debounceEnds = Duration.zero
    var isFlushed = false
    var isLive = true
  }

  let policy: UseCaseQueue.Policy
  var isSuspended = false
  /// The operations that unwind, in the order of their outcomes, then the live ones.
  var holding: [Place] = []
  var waiting: [Place] = []
  /// How often each is listed that has an outcome, and handlers for it that have not begun.
  var undelivered: [UInt64: Int32] = [:]
  var activity = UseCaseActivity()
  var lastID: UInt64 = 0
  var waiters: [Int] = []
  var lastWaiter = 0
  var now = Duration.zero
  /// The times of all starts.
  var starts: [Duration] = []
  /// The time of the first arrival since the last start, as long as one waits.
  var beginOfBurst: Duration?

  init(policy: UseCaseQueue.Policy) {
    self.policy = policy
  }

  var open: [UInt64] { holding.filter(\.isLive).map(\.id) + waiting.map(\.id) }

  func verdict(of id: UInt64) -> Verdict {
    let isLive = holding.contains { $0.id == id && $0.isLive }
    return isLive ? (id.isMultiple(of: 2) ? .success : .failure(Failed())) : .cancelled(.requested)
  }

  /// Where only the newest deliver, one that has succeeded or failed is listed.
  private mutating func list(_ id: UInt64) {
    switch policy.whenBusy {
    case .cancelPrevious, .cancelPreviousAndWait: undelivered[id, default: 0] += 1
    case .wait, .drop, .keepLatest: break
    }
  }

  mutating func apply(_ event: Event) -> Effect {
    var effect = Effect()
    // An event that says nothing of the time, or frees nothing, starts nobody.
    var fills = false
    switch event {
    case .submit(let priority):
      fills = true
      lastID += 1
      let older = policy.pauses ? fill() : []
      effect = submit(lastID, priority)
      effect.started = older
    case .cancel(let id):
      fills = waiting.contains { $0.id == id }
      end(id)
    case .finish(let id):
      fills = (holding + waiting).contains { $0.id == id }
      if let index = holding.firstIndex(where: { $0.id == id }) {
        switch verdict(of: id) {
        case .success:
          activity.succeeded += 1
          list(id)
        case .failure:
          activity.failed += 1
          list(id)
        case .cancelled: activity.cancelled += 1
        }
        holding.remove(at: index)
      } else {
        end(id)
      }
    case .raise(let id):
      if let index = waiting.firstIndex(where: { $0.id == id }) { waiting[index].priority = 9 }
      if let index = holding.firstIndex(where: { $0.id == id }) { holding[index].priority = 9 }
    case .flush:
      for index in waiting.indices { waiting[index].isFlushed = true }
      fills = true
    case .wake: fills = true
    case .cancelAll:
      let line = waiting.enumerated().sorted {
        policy.isByPriority && $0.element.priority != $1.element.priority
          ? $0.element.priority > $1.element.priority : $0.offset < $1.offset
      }
      effect.cancelled = holding.map(\.id) + line.map(\.element.id)
      for id in open { end(id) }
    case .suspend: isSuspended = true
    case .resume:
      isSuspended = false
      fills = true
    case .wait:
      lastWaiter += 1
      waiters.append(lastWaiter)
    case .tick: now += .seconds(1)
    case .timeOut(let id):
      end(id)
      list(id)
    case .attach(let id): list(id)
    case .deliver(let id): undelivered[id] = nil
    }
    if fills { effect.started += fill() }
    if effect.admission == .wait, effect.started.last == lastID {
      effect.admission = .start
      effect.started.removeLast()
    }
    if policy.isSerial, let holder = holding.first,
      let priority = waiting.map(\.priority).max(), priority > holder.priority
    {
      holding[0].priority = priority
      effect.urged = [holder.id, UInt64(priority)]
    }
    if waiting.isEmpty { beginOfBurst = nil }
    activity.running = holding.count
    activity.waiting = waiting.count
    if activity.isIdle {
      effect.idle = waiters
      waiters = []
    }
    return effect
  }

  /// The time from which the rate allows another start.
  private var windowEnds: Duration {
    starts.count < policy.starts ? .zero : starts[starts.count - policy.starts] + policy.interval
  }

  private func endOfPause(_ place: Place) -> Duration {
    place.isFlushed ? .zero : max(place.debounceEnds, windowEnds)
  }

  /// The time at which something may start that pauses now.
  var alarm: Duration? { waiting.map(endOfPause).filter { $0 > now }.min() }

  private mutating func submit(_ id: UInt64, _ priority: UInt8) -> Effect {
    var effect = Effect(admission: .wait)
    var place = Place(id: id, priority: priority)
    switch policy.whenBusy {
    case .wait, .drop:
      let isClosed = windowEnds > now && !isSuspended
      if (isClosed ? 0 : holding.count - policy.limit) + waiting.count >= policy.waitingLimit {
        activity.cancelled += 1
        return Effect(admission: .drop)
      }
    case .cancelPrevious, .cancelPreviousAndWait:
      while open.count + undelivered.count >= policy.limit {
        let oldest = (open + undelivered.keys).min() ?? 0
        effect.superseded.append(oldest)
        if undelivered.removeValue(forKey: oldest) == nil { end(oldest) }
      }
    case .keepLatest:
      effect.superseded = waiting.map(\.id)
      for id in effect.superseded { end(id) }
    }
    if policy.debounce > .zero {
      let begin = beginOfBurst ?? now
      beginOfBurst = begin
      place.debounceEnds = min(now + policy.debounce, begin + policy.longestDebounce)
    }
    waiting.append(place)
    return effect
  }

  private mutating func end(_ id: UInt64) {
    if let index = waiting.firstIndex(where: { $0.id == id }) {
      waiting.remove(at: index)
      activity.cancelled += 1
    }
    if let index = holding.firstIndex(where: { $0.id == id && $0.isLive }) {
      let priority = holding.remove(at: index).priority
      // Unwinding members come first, each in the order of the calls.
      holding.insert(
        Place(id: id, priority: priority, isLive: false),
        at: holding.count { !$0.isLive && $0.id < id })
    }
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
      starts.append(now)
      beginOfBurst = nil
    }
    return started
  }
}

/// A machine and the reference, side by side.
struct QueuePair {
  typealias Event = PlainQueue.Event
  typealias Effect = PlainQueue.Effect
  typealias Machine = QueueMachine<UInt64, Int>

  var machine: Machine
  var plain: PlainQueue
  /// The time for which the timer of the queue is set.
  var alarm: Duration?
  var trace: [Event] = []

  init(_ policy: UseCaseQueue.Policy) {
    machine = QueueMachine(policy: policy)
    plain = PlainQueue(policy: policy)
  }

  /// The events that can happen now and change something.
  var events: [Event] {
    var events: [Event] = [.submit, plain.isSuspended ? .resume : .suspend, .cancelAll]
    if plain.waiters.count < 2 { events.append(.wait) }
    if plain.policy.pauses {
      events.append(.tick)
      if !plain.waiting.isEmpty { events.append(.wake) }
      if plain.waiting.contains(where: { !$0.isFlushed }) { events.append(.flush) }
    }
    if plain.policy.usesPriority {
      events.append(.submit(priority: 7))
      events += plain.waiting.filter { $0.priority < 9 }.map { .raise($0.id) }
    }
    for place in plain.holding {
      events.append(.finish(place.id))
      if place.isLive { events.append(.cancel(place.id)) }
      if place.isLive, plain.policy.deliversOnlyNewest { events.append(.timeOut(place.id)) }
    }
    for id in plain.undelivered.keys.sorted() { events.append(.deliver(id)) }
    if plain.policy.deliversOnlyNewest, plain.lastID > 0, !plain.open.contains(1),
      plain.undelivered[1, default: 0] < 2
    {
      events.append(.attach(1))
    }
    for place in plain.waiting { events += [.cancel(place.id), .finish(place.id)] }
    return events
  }

  /// The events that can happen now and change nothing.
  var echoes: [Event] {
    var events: [Event] = plain.isSuspended ? [.suspend] : [.resume]
    for id in (plain.lastID > 6 ? plain.lastID - 5 : 1)..<(plain.lastID + 1)
    where !plain.waiting.contains(where: { $0.id == id }) {
      events += [.raise(id)]
      guard !plain.holding.contains(where: { $0.id == id && $0.isLive }) else { continue }
      events.append(.cancel(id))
      if !plain.holding.contains(where: { $0.id == id }) { events.append(.finish(id)) }
    }
    return events
  }

  /// Applies the event to both, and then everything that changes nothing.
  mutating func apply(_ event: Event) -> Bool {
    trace.append(event)
    guard isAlike(event) else { return false }
    for echo in echoes where !isAlike(echo) { return false }
    return true
  }

  private mutating func isAlike(_ event: Event) -> Bool {
    let verdict: Verdict? = if case .finish(let id) = event { plain.verdict(of: id) } else { nil }
    let listings = plain.undelivered
    let expected = plain.apply(event)
    let effect = machine(event, as: verdict, listings: listings)
    guard effect == expected, machine.activity == plain.activity,
      machine.isSuspended == plain.isSuspended, isAlarmSet()
    else {
      Issue.record(
        """
        \(event) after \(trace) gives \(effect) and \(machine.activity), \
        not \(expected) and \(plain.activity); the alarm is \(String(describing: alarm)), \
        not \(String(describing: plain.alarm))
        """)
      return false
    }
    return true
  }

  private mutating func isAlarmSet() -> Bool {
    if let next = machine.nextAlarm() { alarm = next.time }
    // An alarm whose time has come is about to be heard.
    return alarm.flatMap { $0 > plain.now ? $0 : nil } == plain.alarm
  }

  private mutating func machine(
    _ event: Event, as verdict: Verdict?, listings: [UInt64: Int32]
  ) -> Effect {
    func name(_ id: UInt64) -> UseCaseOperationID { UseCaseOperationID(number: id) }
    func urged(_ urged: Machine.Urged?) -> [UInt64] {
      urged.map { [$0.member, UInt64($0.priority)] } ?? []
    }
    let now = plain.policy.pauses ? plain.now : nil
    func change(_ event: (inout Machine) -> Machine.Release?) -> Effect {
      let release = machine.change(at: now, event)
      return Effect(
        started: release?.started.all ?? [], urged: urged(release?.urged),
        idle: release?.idle.all ?? [])
    }
    switch event {
    case .submit(let priority):
      let id = plain.lastID
      let release = now.flatMap { machine.change(at: $0) { $0.wake() } }
      let arrival = machine.admit(id, id: name(id), priority: priority)
      let last = arrival.urged ?? release?.urged
      return Effect(
        admission: arrival.admission, superseded: arrival.superseded.all,
        started: release?.started.all ?? [], urged: urged(last))
    case .cancel(let id): return change { $0.concludedEarly(name(id), as: .cancelled) }
    case .finish(let id):
      return change { $0.giveBack(name(id), as: verdict?.kind ?? .cancelled) }
    case .wake: return change { $0.wake() }
    case .flush: return change { $0.flush() }
    case .raise(let id):
      return Effect(urged: urged(machine.raise(name(id), to: 9)))
    case .cancelAll:
      let (members, release) = machine.cancelAll()
      return Effect(
        cancelled: members, started: release?.started.all ?? [], urged: urged(release?.urged),
        idle: release?.idle.all ?? [])
    case .suspend:
      machine.suspend()
      return Effect()
    case .resume: return change { $0.resume() }
    case .tick: return Effect()
    case .timeOut(let id): return change { $0.concludedEarly(name(id), as: .failure) }
    case .attach(let id):
      machine.list(id, name(id))
      return Effect()
    case .deliver(let id):
      _ = machine.unlist(name(id), listings[id, default: 0])
      return Effect()
    case .wait:
      return Effect(idle: machine.awaitIdle(plain.lastWaiter).map { [$0] } ?? [])
    }
  }
}
