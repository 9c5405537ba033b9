@testable import UseCase

extension OperationWorld {
  mutating func perform(_ act: Act) throws -> [Act] {
    switch act {
    case .execute(let decision, let body, let next):
      return execute(decision, body, then: next)
    case .spawn, .arrive, .park, .await, .start, .run, .grant, .enter, .exit:
      return try performInBody(act)
    case .end(let fate, let next): return try end(fate, then: next)
    case .supersede(let next):
      mayDeliver = false
      // The queue cancels a member that has no early outcome.
      return isEarly || hasLeft ? next : [.end(.cancelled(.superseded), then: next)]
    case .attach(let branches, let next):
      return try branches.flatMap { try attach($0) } + next
    case .attachFirst:
      let isTaken = parts.change { [handler = handler(.settlement)] in $0.attachFirst(handler) }
      try demand(isTaken == (fate == nil), "a settlement comes before the outcome, or not at all")
      if isTaken { note(.settlement) }
      return []
    case .attachStart(let next): return try attachStart() + next
    case .listen(let waiter, let moment, let mayLeave):
      return try listen(waiter, moment, mayLeave: mayLeave)
    case .wake: return []
    case .abandon(let waiter):
      guard let key = listeners[waiter]?.key, parts.change({ $0.abandon(key) }) != nil
      else { return [] }
      listeners[waiter] = nil
      return [.resume([waiter])]
    case .resume(let waiters, let next):
      for waiter in waiters {
        let isFirst = kept.contains(waiter) && resumed.insert(waiter).inserted
        try demand(isFirst, "a waiter is resumed once")
      }
      return next
    case .deliver, .receive, .begin, .leave, .handle, .tellFailure: return try deliver(act)
    case .admit(let next):
      isTelling = true
      return try tell(goesOn: true, then: next)
    case .tell(let next): return try tell(goesOn: true, then: next)
    }
  }

  private mutating func execute(_ decision: Decision, _ body: Body, then next: [Act]) -> [Act] {
    bodies = 1
    isAdmitted = true
    let tasks: [Act]
    switch decision {
    case .start:
      if isObserved { parts.change { $0.admit(as: .start) } }
      isGranted = true
      tasks = [.spawn(then: next), .start(body)]
    case .wait:
      mustWait = true
      parts.change { $0.admit(as: .wait) }
      tasks = [.spawn(then: next), .arrive(body)]
    case .refuse:
      isEarly = true
      parts.change { $0.admit(as: .refuse(.dropped)) }
      tasks = [.exit] + next
    }
    return isObserved ? [.admit(then: tasks)] : tasks
  }

  // MARK: - Body

  private mutating func performInBody(_ act: Act) throws -> [Act] {
    switch act {
    case .spawn(let next):
      hasJob = !hasLeft
      let mustCancel = parts.change { $0.keep(1) }
      let isCancelled = isJobCancelled && !hasLeft
      try demand(mustCancel == isCancelled, "a job that comes too late is cancelled")
      return next
    case .arrive(let body), .await(let body):
      return try tell(then: parts.change { $0.stopWaiting() } ? [.start(body)] : [.park(body)])
    case .park(let body):
      guard parts.change({ $0.park(0) }) == nil else { return [.arrive(body)] }
      kept.insert(0)
      return [.await(body)]
    case .start(let body): return try start(body)
    case .run(let body): return try run(body)
    case .grant:
      isGranted = true
      return parts.change { $0.grant() }.map { [.resume([$0])] } ?? []
    case .enter:
      let isIn = parts.change { $0.enter() }
      try demand(isIn == (hasRun && bodies > 0), "a slot in which a body runs can be entered")
      bodies += isIn ? 1 : 0
      return isIn ? [.exit] : []
    default:
      bodies -= 1
      return try take(parts.change { [mayDeliver] in $0.exit(mayDeliver: mayDeliver) })
    }
  }

  private mutating func start(_ body: Body) throws -> [Act] {
    guard let delivers = parts.change({ $0.start() }) else { return [.exit] }
    try demand(!hasRun, "the body runs once")
    try demand(fate == nil, "the body does not run after the outcome")
    try demand(isGranted, "the body runs in a slot")
    try demand(!isObserved || events.last == .running, "running is heard before the body begins")
    hasRun = true
    return try deliver(delivers) + [.run(body)] + (body.hasTimer ? [.end(.timeout)] : [])
      + (body.hasGuest ? [.enter] : [])
  }

  private mutating func run(_ body: Body) throws -> [Act] {
    guard body.reports == 0 else {
      var rest = body
      rest.reports -= 1
      if fate == nil { updates.reported += 1 }
      let delivers = parts.change { [number = updates.reported] in $0.report(number) }
      try demand(fate == nil || !delivers, "nobody hears of an update after the outcome")
      return try [.run(rest)] + deliver(delivers)
    }
    bodies -= 1
    let tells = tellsFailures && body.fate == .failure
    let (isNew, step) = parts.change { [mayDeliver] in
      $0.conclude(body.fate.verdict, mayDeliver: mayDeliver, tellsFailure: tells)
    }
    try demand(isNew == (fate == nil), "the body decides unless there is an outcome")
    fate = fate ?? body.fate
    let next = try take(step)
    return try tell(then: next)
  }

  private mutating func end(_ fate: Fate, then next: [Act]) throws -> [Act] {
    let outcome = parts.change {
      [tellsFailures] in
      $0.concludeEarly(fate.verdict, tellsFailure: tellsFailures && fate.kind == .failure)
    }
    guard self.fate == nil else {
      let wasSilenced = isSilenced
      if case .cancelled(let reason) = fate { silence(reason) }
      let isSilent = isSilenced && !wasSilenced
      try demand((outcome.effect == .silenced) == isSilent, "a cancellation silences what is left")
      try demand(isSilent || outcome.effect == .nothing, "a second outcome changes nothing else")
      return next
    }
    self.fate = fate
    (isEarly, isJobCancelled) = (true, hasRun)
    try demand(outcome.effect == .concluded, "the first outcome counts")
    try demand((outcome.job != nil) == (hasRun && hasJob), "a job that runs the body is cancelled")
    try demand(outcome.startHandlers.isEmpty || !hasRun, "what never starts has no start handlers")
    updates.dropped += outcome.startHandlers.count
    let waiters = try hear(outcome.waiters) + [outcome.parked].compactMap(\.self)
    let rest = try next + deliver(outcome.delivers)
    return try tell(then: waiters.isEmpty ? rest : [.resume(waiters, then: rest)])
  }

  // MARK: - Handlers

  private func handler(_ branch: HandlerBranch) -> Handler<Int> {
    Handler(branch: branch, isIsolated: !isFree, callback: attached)
  }

  private mutating func note(_ branch: HandlerBranch) {
    waiting[attached] = branch
    attached += 1
  }

  private mutating func attach(_ branch: HandlerBranch) throws -> [Act] {
    let delivers = parts.change { [handler = handler(branch)] in $0.attach(handler) }
    note(branch)
    return try deliver(delivers)
  }

  private mutating func attachStart() throws -> [Act] {
    if isOver {
      let delivers = parts.change { [handler = handler(.common)] in $0.attachStart(handler) }
      // An operation whose body has never begun runs none.
      try demand(hasRun || !delivers, "a start that never was is not told")
      if hasRun { note(.common) }
      return try deliver(delivers)
    }
    let isTaken = fate == nil || hasRun
    if isTaken { updates.reported += 1 }
    let handler = Handler(branch: .common, isIsolated: !isFree, callback: updates.reported)
    let delivers = parts.change { $0.attachStart(handler) }
    try demand(hasRun || !delivers, "a handler of the start waits for the body")
    return try deliver(delivers)
  }

  private mutating func listen(
    _ waiter: Int, _ moment: Machine.Moment, mayLeave: Bool
  ) throws -> [Act] {
    let handles = moment != .delivered
    if handles { isHandled = true }
    let listener = Listener(moment: moment, key: Int32(waiter), attached: attached)
    let key = listener.key
    guard parts.change({ $0.listen(waiter, for: moment, key: key, handles: handles) }) == nil
    else {
      try demandMoment(listener)
      return []
    }
    listeners[waiter] = listener
    kept.insert(waiter)
    return mayLeave ? [.wake(waiter), .abandon(waiter)] : [.wake(waiter)]
  }

  /// These are about to be resumed.
  private mutating func hear(_ waiters: [Int]) throws -> [Int] {
    for waiter in waiters {
      guard let listener = listeners.removeValue(forKey: waiter) else {
        throw BrokenPromise(description: "\(waiter) is resumed, and does not wait")
      }
      try demandMoment(listener)
    }
    return waiters
  }

  private func demandMoment(_ listener: Listener) throws {
    let earlier = waiting.filter { $0.key < listener.attached }
    switch listener.moment {
    case .value: try demand(isEarly || hasLeft, "a value comes at an early outcome or at the end")
    case .delivered:
      try demand(
        hasLeft || (isEarly || isSilenced || !isOver) && !earlier.values.contains(where: isDue),
        "the handlers of the outcome have run")
    case .end:
      try demand(hasLeft, "it has left its queue")
      try demand(earlier.isEmpty, "the handlers attached before have run")
    }
  }

  // MARK: - Delivery

  /// Returns the act of the task that delivers.
  private mutating func deliver(_ delivers: Bool) throws -> [Act] {
    guard delivers else { return [] }
    try demand(!isDelivering, "one delivers at a time")
    isDelivering = true
    return [.deliver]
  }

  /// A body has exited, and the task that it ran in takes this step if it is the one to deliver.
  private mutating func take(_ step: Machine.Step) throws -> [Act] {
    switch step {
    case .updates, .handOver: break
    // If no other task delivers, the machine has looked at the handlers.
    case .call, .ask, .tell, .leave, .forget, .unhandledFailure, .done:
      if !mayDeliver, !isDelivering { silence(.superseded) }
    }
    if case .done = step { return [] }
    try demand(!isDelivering, "one delivers at a time")
    isDelivering = true
    return try follow(step)
  }

  private mutating func deliver(_ act: Act) throws -> [Act] {
    switch act {
    case .receive(let updates):
      let isReceived = try receive(updates)
      return isReceived && updates.count > 1 ? [.receive(Array(updates.dropFirst()))] : [.deliver]
    case .begin(let id, let branch):
      if !mayDeliver { silence(.superseded) }
      let handler = Handler(branch: branch, isIsolated: true, callback: id)
      let verdict = parts.change { [mayDeliver] in $0.begin(handler, mayDeliver: mayDeliver) }
      if let verdict { return try begin(id, branch, with: verdict) }
      if branch == .always {
        try demand(
          waiting.values.contains(where: isDue), "a finally goes back if another goes first")
      } else {
        try demand(
          isSilenced && branch != .cancellation && branch != .settlement,
          "only a cancellation keeps a handler of the outcome back")
        waiting[id] = nil
      }
      return [.deliver]
    case .leave:
      let (waiters, jobs, isDone) = parts.change { $0.left() }
      hasLeft = true
      try demand((jobs.0 != nil) == hasJob, "the job is handed back")
      hasJob = false
      if isDone {
        isDelivering = false
        try demand(waiting.isEmpty && !mustTell, "nothing is left to deliver")
      }
      let resumed = try hear(waiters.all.map(\.waiter))
      let next: [Act] = isDone ? [] : [.deliver]
      return try tell(then: resumed.isEmpty ? next : [.resume(resumed, then: next)])
    case .handle:
      parts.change { $0.failureIsHandled() }
      return [.deliver]
    case .tellFailure:
      guard let verdict = parts.change({ $0.takeUnhandled() }) else { return [] }
      try demand(Fate(verdict) == fate && mustTell, "a failure that nobody handles is told")
      try demand(!isTold && hasLeft && !isDelivering, "a failure is told once, after the end")
      isTold = true
      return []
    default:
      if !mayDeliver, updates.reported == updates.received + updates.dropped {
        silence(.superseded)
      }
      return try follow(parts.change { [mayDeliver] in $0.next(mayDeliver: mayDeliver) })
    }
  }

  private func demandTurn(of handler: Handler<Int>, _ undelivered: Int) throws {
    try demand(undelivered == 0, "updates come before the handlers")
    guard handler.branch == .always, isEarly || isSilenced else { return }
    try demand(
      !listeners.values.contains { $0.moment == .delivered },
      "whoever waits for an early outcome alone waits for no finally")
  }

  private mutating func follow(_ step: Machine.Step) throws -> [Act] {
    let undelivered = updates.reported - updates.received - updates.dropped
    switch step {
    case .updates(let updates):
      try demand(updates.count == undelivered, "all updates are delivered")
      return [.receive(updates)]
    case .ask(let handler):
      try demandTurn(of: handler, undelivered)
      return [.begin(handler.callback, handler.branch)]
    case .call(let handler, let verdict):
      try demandTurn(of: handler, undelivered)
      try demand(isFree, "a handler on an actor begins there")
      return try begin(handler.callback, handler.branch, with: verdict)
    case .handOver:
      try demand(isJobCancelled, "a task that nobody has cancelled delivers itself")
      return [.deliver]
    case .tell(let waiters):
      return [.resume(try hear(waiters), then: [.deliver])]
    case .leave(let passed, let kind):
      try demand(isOver && !hasLeft, "it leaves once, when no body runs")
      try demand(undelivered == 0, "it leaves when all updates are delivered")
      try demand(kind == fate?.kind, "it leaves as what it is")
      try forget(passed)
      return [.leave]
    case .forget(let passed):
      try forget(passed)
      return [.deliver]
    case .unhandledFailure:
      isDelivering = false
      return [.tellFailure]
    case .done:
      isDelivering = false
      return []
    }
  }

  /// These are let go without having run.
  private mutating func forget(_ passed: [Handler<Int>]) throws {
    try demand(Set(passed.map(\.callback)) == Set(waiting.keys), "all that is left is let go")
    try demand(
      !waiting.values.contains { isDue($0) || $0 == .always },
      "every handler of the outcome has run, and every finally")
    waiting = [:]
  }

  private mutating func receive(_ numbers: [Int]) throws -> Bool {
    try demand(numbers[0] == updates.received + updates.dropped + 1, "updates come in order")
    let isReceived = parts.machine.mayReceive(mayDeliver: mayDeliver)
    let isKeptBack = fate?.kind == .cancelled || isSilenced || !mayDeliver
    try demand(
      isReceived != isKeptBack,
      "a cancellation and an operation that alone may deliver keep updates back, and nothing else")
    guard isReceived else {
      updates.dropped += numbers.count
      return false
    }
    try demand(hasRun, "updates are received when the body has begun")
    updates.received += 1
    return true
  }

  /// A handler runs.
  private mutating func begin(
    _ id: Int, _ branch: HandlerBranch, with verdict: Verdict
  ) throws -> [Act] {
    let wasWaiting = waiting.removeValue(forKey: id) == branch
    try demand(wasWaiting, "a handler runs once")
    try demand(Fate(verdict) == told, "a handler is told the outcome, or why it is left out")
    try demand(isEarly || isOver || hasRun, "a handler runs when there is an outcome")
    let before = waiting.filter { other in
      switch branch {
      case .settlement: other.value == .settlement && other.key < id
      case .always: isDue(other.value) || other.value == .always && other.key < id
      case .success, .failure, .common, .cancellation:
        other.value == .settlement || isDue(other.value) && other.key < id
      }
    }
    try demand(before.isEmpty, "settlements run first, each finally last, all in order")
    switch branch {
    case .settlement: break
    case .always: try demand(isOver, "a finally runs when no body runs")
    case .success, .failure, .common:
      try demand(verdict.kind.takes(branch), "a handler runs for the outcome of its branch")
      try demand(!isSilenced && mayDeliver, "no handler of the outcome begins after a cancellation")
    case .cancellation:
      try demand(verdict.kind == .cancelled, "onCancel runs after a cancellation only")
    }
    if branch != .cancellation, !isSilenced || branch == .settlement { hasBegun = true }
    if branch == .failure { isHandled = true }
    let next: [Act] = branch == .failure ? [.handle] : [.deliver]
    switch reactions.removeValue(forKey: branch) {
    case .cancel: return [.end(.cancelled(.requested), then: next)]
    case .supersede: return [.supersede(then: next)]
    case .attach(let branches): return [.attach(branches, then: next)]
    case nil: return next
    }
  }

  // MARK: - The observer

  /// Tells the observer what has changed just now, under the same lock, and goes on.
  private mutating func tell(then next: [Act]) throws -> [Act] {
    isObserved ? try tell(goesOn: false, then: next) : next
  }

  private mutating func tell(goesOn: Bool, then next: [Act]) throws -> [Act] {
    if goesOn {
      try demand(isTelling, "a thread that tells goes on")
      isTelling = false
    }
    let told = parts.change { goesOn ? $0.goOnTelling() : $0.beginTelling() }
    guard let event = told?.kind(for: parts.machine.verdict) else { return next }
    try demand(!isTelling, "one event is told at a time")
    try demand(events.allSatisfy { $0.rank < event.rank }, "events come in order, none twice")
    try demand(
      event.rank != 2 || event.tells(of: parts.machine.verdict.map(Fate.init)),
      "the outcome is told")
    isTelling = true
    events.append(event)
    return [.tell(then: next)]
  }
}
