import Testing

@testable import UseCase

/// A machine and the reference, side by side.
struct QueuePair {
  typealias Event = PlainQueue.Event
  typealias Effect = PlainQueue.Effect
  typealias Machine = QueueMachine<UInt64, Int, Int>

  private var machine: Machine
  private(set) var plain: PlainQueue
  /// The time for which the timer of the queue is set.
  private var alarm: Duration?
  private var trace: [Event] = []

  init(_ policy: UseCaseQueue.Policy, hasInterceptors: Bool = false) {
    machine = Machine(policy: policy, hasInterceptors: hasInterceptors)
    plain = PlainQueue(policy: policy, hasInterceptors: hasInterceptors)
  }

  /// The events that can happen now and change something.
  var events: [Event] {
    var events: [Event] = [.submit, plain.isSuspended ? .resume : .suspend, .cancelAll]
    if plain.idlers.count < 2 { events.append(.awaitIdle) }
    if plain.policy.pauses {
      events.append(.tick)
      if !plain.waiting.isEmpty || !plain.attempts.isEmpty { events += [.wake, .flush] }
    }
    if plain.policy.usesPriority {
      events.append(.submit(priority: 7, in: nil))
      events += plain.waiting.filter { $0.priority < 9 }.map { .raise($0.id) }
    }
    for place in plain.holding {
      events += [.leave(place.id), .submit(priority: 0, in: place.id)]
      if place.isLive {
        events.append(.cancel(place.id))
        if plain.policy.deliversOnlyNewest {
          events += [.timeOut(place.id), .cancelLate(place.id)]
        }
      }
      if plain.hasInterceptors { events.append(.attempt(place.id)) }
    }
    events += plain.waiting.flatMap { [.cancel($0.id), .leave($0.id)] }
    return events + plain.lingering.map { .leave($0) }
  }

  /// The events that can happen now and change nothing.
  private var echoes: [Event] {
    var events: [Event] = plain.isSuspended ? [.suspend] : [.resume]
    for id in (plain.lastID > 6 ? plain.lastID - 5 : 1)..<(plain.lastID + 1)
    where !plain.waiting.contains(where: { $0.id == id }) {
      events += [.raise(id)]
      if !plain.holding.contains(where: { $0.id == id && $0.early == nil }) {
        events.append(.cancel(id))
      }
    }
    return events
  }

  /// Applies the event to both, and then everything that changes nothing. Returns whether both have
  /// done the same.
  mutating func apply(_ event: Event) -> Bool {
    trace.append(event)
    guard isAlike(event) else { return false }
    for echo in echoes where !isAlike(echo) { return false }
    return true
  }

  private mutating func isAlike(_ event: Event) -> Bool {
    let kind: Verdict.Kind? = if case .leave(let id) = event { plain.verdict(of: id) } else { nil }
    let expected = plain.apply(event)
    let effect = machine(event, as: kind)
    guard effect == expected, machine.activity() == plain.activity,
      machine.isSuspended == plain.isSuspended, machine.isIdle == plain.isIdle,
      machine.floor.number == plain.floor, isAlarmSet()
    else {
      Issue.record(
        """
        \(plain.policy): \(event) after \(trace) gives \(effect) and \(machine.activity()), \
        floor \(machine.floor), not \(expected) and \(plain.activity), floor \(plain.floor); \
        the alarm is \(String(describing: alarm)), not \(String(describing: plain.alarm))
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

  private mutating func machine(_ event: Event, as kind: Verdict.Kind?) -> Effect {
    func name(_ id: UInt64) -> UseCaseOperationID { UseCaseOperationID(number: id) }
    let now = plain.policy.pauses ? plain.now : nil
    func effect(_ release: Machine.Release?) -> Effect {
      Effect(
        started: release?.started.all ?? [], urged: urged(release?.urged),
        idle: release?.idle.all ?? [], attempts: release?.attempts.all ?? [])
    }
    func change(_ event: (inout Machine) -> Machine.Release?) -> Effect {
      effect(machine.change(at: now, event))
    }
    switch event {
    case .submit(let priority, let handled):
      let id = plain.lastID
      let release = now.flatMap { machine.change(at: $0) { $0.wake() } }
      let arrival = machine.admit(
        id, id: name(id), priority: priority, in: handled.map(name))
      var effect = effect(release)
      effect.admission = arrival.admission
      effect.superseded = arrival.superseded.all
      if let urged = arrival.urged { effect.urged = self.urged(urged) }
      return effect
    case .cancel(let id):
      return change { $0.concludedEarly(name(id), as: .cancelled, isNew: true) }
    case .timeOut(let id):
      return change { $0.concludedEarly(name(id), as: .failure, isNew: true) }
    case .cancelLate(let id):
      return change { $0.concludedEarly(name(id), as: .cancelled, isNew: false) }
    case .leave(let id): return change { $0.leave(name(id), as: kind ?? .cancelled) }
    case .wake: return change { $0.wake() }
    case .flush: return change { $0.flush() }
    case .raise(let id):
      return Effect(urged: urged(machine.raise(name(id), to: 9)))
    case .cancelAll:
      _ = machine.change(at: now) { _ in nil }
      let (members, release) = machine.cancelAll()
      var effect = effect(release)
      effect.cancelled = members
      return effect
    case .suspend: return change { $0.suspend() }
    case .resume: return change { $0.resume() }
    case .close:
      machine.close()
      return Effect()
    case .attempt(let id):
      _ = machine.change(at: now) { _ in nil }
      let attempt = machine.awaitStart(of: name(id), plain.lastAttempt).attempt
      return Effect(attempts: attempt.map { [$0] } ?? [])
    case .tick: return Effect()
    case .awaitIdle:
      return Effect(idle: machine.awaitIdle(plain.lastIdler).map { [$0] } ?? [])
    }
  }

  private func urged(_ urged: Machine.Urged?) -> [UInt64] {
    urged.map { [$0.member, UInt64($0.priority)] } ?? []
  }
}
