import Testing

@testable import UseCase

/// A queue written with arrays and loops: the reference that `QueueMachine` is compared with.
struct PlainQueue {
  enum Event: Hashable {
    case submit, cancel(UInt64), finish(UInt64), ready(UInt64), cancelAll, suspend, resume, wait
    /// The time of a body passes, handlers are attached after an outcome, and all have begun.
    case timeOut(UInt64), attach(UInt64), deliver(UInt64)
    /// A second passes.
    case tick
  }

  /// All that an event brings about.
  struct Effect: Equatable {
    var admission: Admission?
    var superseded: [UInt64] = []
    var cancelled: [UInt64] = []
    var started: [UInt64] = []
    var idle: [Int] = []
  }

  struct Failed: Error {}

  struct Place: Equatable {
    let id: UInt64
    /// The time at which its pause ends.
    var pauseEnds: Duration?
    var isReady = true
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
  var lastStart: Duration?

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
    switch event {
    case .submit:
      lastID += 1
      effect = submit(lastID)
    case .cancel(let id):
      end(id)
    case .finish(let id):
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
    case .ready(let id):
      if let index = waiting.firstIndex(where: { $0.id == id }) { waiting[index].isReady = true }
    case .cancelAll:
      effect.cancelled = (holding + waiting).map(\.id)
      for id in open { end(id) }
    case .suspend: isSuspended = true
    case .resume: isSuspended = false
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
    effect.started += fill()
    if effect.admission == .wait, effect.started == [lastID] {
      effect.admission = .start
      effect.started = []
    }
    activity.running = holding.count
    activity.waiting = waiting.count
    if activity.isIdle {
      effect.idle = waiters
      waiters = []
    }
    return effect
  }

  private mutating func submit(_ id: UInt64) -> Effect {
    var effect = Effect(admission: .wait)
    switch policy.whenBusy {
    case .wait: break
    case .cancelPrevious, .cancelPreviousAndWait:
      while open.count + undelivered.count >= policy.limit {
        let oldest = (open + undelivered.keys).min() ?? 0
        effect.superseded.append(oldest)
        if undelivered.removeValue(forKey: oldest) == nil { end(oldest) }
      }
    case .drop:
      if holding.count + waiting.count - policy.limit >= policy.waitingLimit {
        activity.cancelled += 1
        return Effect(admission: .drop)
      }
    case .keepLatest:
      effect.superseded = waiting.map(\.id)
      for id in effect.superseded { end(id) }
    }
    let end: Duration? =
      switch policy.pause {
      case .sinceExecute: now
      case .sinceLastStart(let interval): lastStart.map { $0 + interval }
      case nil: nil
      }
    let mustPause = end.map { policy.whenBusy == .cancelPrevious || now < $0 } ?? false
    waiting.append(Place(id: id, pauseEnds: end, isReady: !mustPause))
    return effect
  }

  private mutating func end(_ id: UInt64) {
    if let index = waiting.firstIndex(where: { $0.id == id }) {
      waiting.remove(at: index)
      activity.cancelled += 1
    }
    if let index = holding.firstIndex(where: { $0.id == id && $0.isLive }) {
      holding.remove(at: index)
      holding.insert(Place(id: id, isLive: false), at: holding.count { !$0.isLive })
    }
  }

  private mutating func fill() -> [UInt64] {
    var started: [UInt64] = []
    while !isSuspended, let place = waiting.first, place.isReady,
      policy.whenBusy == .cancelPrevious || holding.count < policy.limit
    {
      waiting.removeFirst()
      holding.append(place)
      started.append(place.id)
      lastStart = now
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
  var tickets: [QueueTicket] = []
  var trace: [Event] = []

  init(_ policy: UseCaseQueue.Policy) {
    machine = QueueMachine(policy: policy)
    plain = PlainQueue(policy: policy)
  }

  /// The events that can happen now and change something.
  var events: [Event] {
    var events: [Event] = [.submit, plain.isSuspended ? .resume : .suspend, .cancelAll]
    if plain.waiters.count < 2 { events.append(.wait) }
    if case .sinceLastStart = plain.policy.pause { events.append(.tick) }
    for place in plain.holding {
      events.append(.finish(place.id))
      if place.isLive { events.append(.cancel(place.id)) }
      if place.isLive, plain.policy.deliversOnlyNewest { events.append(.timeOut(place.id)) }
    }
    for id in plain.undelivered.keys.sorted() { events.append(.deliver(id)) }
    if plain.policy.deliversOnlyNewest, let id = tickets.first?.id.number,
      !plain.open.contains(id), plain.undelivered[id, default: 0] < 2
    {
      events.append(.attach(id))
    }
    for place in plain.waiting {
      events += [.cancel(place.id), .finish(place.id)]
      if !place.isReady, place.pauseEnds.map({ $0 <= plain.now }) ?? true {
        events.append(.ready(place.id))
      }
    }
    return events
  }

  /// The events that can happen now and change nothing.
  var echoes: [Event] {
    var events: [Event] = plain.isSuspended ? [.suspend] : [.resume]
    for id in tickets.suffix(6).map(\.id.number)
    where !plain.waiting.contains(where: { $0.id == id }) {
      events += [.ready(id)]
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
      machine.isSuspended == plain.isSuspended
    else {
      Issue.record(
        """
        \(event) after \(trace) gives \(effect) and \(machine.activity), \
        not \(expected) and \(plain.activity)
        """)
      return false
    }
    return true
  }

  private mutating func machine(
    _ event: Event, as verdict: Verdict?, listings: [UInt64: Int32]
  ) -> Effect {
    func ticket(_ id: UInt64) -> QueueTicket { tickets[Int(id) - 1] }
    let now = plain.policy.pause.map { _ in plain.now }
    func change(_ event: (inout Machine) -> Machine.Release?) -> Effect {
      let release = now.map { machine.change(at: $0, event) } ?? event(&machine)
      return Effect(started: release?.started.all ?? [], idle: release?.idle.all ?? [])
    }
    switch event {
    case .submit:
      let id = UInt64(tickets.count + 1)
      let arrival = machine.admit(id, id: .init(number: id), at: now)
      tickets.append(arrival.ticket)
      return Effect(admission: arrival.admission, superseded: arrival.superseded.all)
    case .cancel(let id): return change { $0.concludedEarly(ticket(id), as: .cancelled) }
    case .finish(let id):
      return change { $0.giveBack(ticket(id), as: verdict?.kind ?? .cancelled) }
    case .ready(let id): return change { $0.ready(ticket(id)) }
    case .cancelAll:
      let (members, release) = machine.cancelAll()
      return Effect(
        cancelled: members, started: release?.started.all ?? [], idle: release?.idle.all ?? [])
    case .suspend:
      machine.suspend()
      return Effect()
    case .resume: return change { $0.resume() }
    case .tick: return Effect()
    case .timeOut(let id): return change { $0.concludedEarly(ticket(id), as: .failure) }
    case .attach(let id):
      machine.list(id, ticket(id).id)
      return Effect()
    case .deliver(let id):
      _ = machine.unlist(ticket(id).id, listings[id, default: 0])
      return Effect()
    case .wait:
      return Effect(idle: machine.awaitIdle(plain.lastWaiter).map { [$0] } ?? [])
    }
  }
}
