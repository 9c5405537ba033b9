@testable import UseCase

extension OperationWorld {
  mutating func perform(_ act: Act) throws -> [Act] {
    switch act {
    case .execute(let admission, let body, let next):
      return try execute(admission, body, then: next)
    case .spawn(let next):
      hasJob = fate == nil
      var job = Optional(1)
      let isCancelled = machine.keep(&job) == .cancel
      try demand(isCancelled == isJobCancelled, "a job that comes too late is cancelled")
      try demand((job == nil) == (fate == nil), "a job is kept as long as there is no verdict")
      return next
    case .grant:
      let parked = machine.grant()
      isGranted = true
      return parked.map { [.resume([$0])] } ?? []
    case .resume(let waiters, let next):
      try resume(waiters)
      return next
    case .attach(let branches, let next):
      return try attach(branches) + next
    case .start(let body):
      return try begin(body, machine.start())
    case .arrive(let body), .await(let body):
      guard machine.stopWaiting() else { return [.park(body)] }
      return [.start(body)]
    case .park(let body):
      guard machine.park(0) == nil else { return [.arrive(body)] }
      kept.insert(0)
      return [.await(body)]
    case .run(let body):
      return try run(body)
    case .enter:
      let isIn = machine.enter()
      try demand(isIn == (holders > 0), "a slot that is held can be entered")
      holders += isIn ? 1 : 0
      return isIn ? [.exit] : []
    case .exit:
      return try exit(machine.exit())
    case .giveBack:
      hasReturned = true
      let isListed = deliversOnlyNewest && !isCancelled
      if isListed && !isEarly { listings += 1 }
      let (tasks, next, unlisted) = machine.wasGivenBack(isListed: isListed)
      let waiters = tasks.all.map(\.waiter)
      try demand(
        next == .nothing || (next == .deliverInAnotherTask) == isJobCancelled,
        "a cancelled task does not deliver")
      try demand(waiters == holding, "the tasks that await the value are resumed in order")
      holding = []
      try resume(waiters)
      if next == .nothing, !isDelivering {
        try demand(!mustTell, "a failure that nobody handles is told")
        (hasEnded, isOver) = (true, true)
        try demand(waiting.isEmpty && listeners.isEmpty && !isObserved, "nothing is left to tell")
        try demandEnd()
      }
      try unlist(unlisted)
      return try deliver(next != .nothing)
    case .attachListed(let branch):
      machine.noteListing()
      return try attach(branch, isListed: true)
    case .end(let fate, let next):
      return try end(fate, then: next)
    case .hold(let waiter, let mayLeave):
      isHandled = true
      guard machine.awaitValue(waiter, key: Int32(keys.count)) == nil else {
        try demand(fate != nil && (isEarly || hasReturned), "the slot is free with the value")
        return []
      }
      try demand(!isEarly && !hasReturned, "nobody waits for what is there")
      keys[waiter] = Int32(keys.count)
      kept.insert(waiter)
      holding.append(waiter)
      return mayLeave ? [.wake(waiter), .abandon(waiter)] : [.wake(waiter)]
    case .wake:
      return []
    case .abandon(let waiter):
      guard let key = keys[waiter], machine.abandon(key) != nil else { return [] }
      holding.removeAll { $0 == waiter }
      try resume([waiter])
      return []
    case .listen(let listener):
      isHandled = true
      if machine.listen(listener, handles: true) == nil {
        listeners.append(listener)
      } else {
        try demandEnd()
      }
      return []
    case .attachStart(let next):
      return try attachStart() + next
    case .handle:
      machine.failureIsHandled()
      return [.deliver]
    case .tellFailure:
      guard let verdict = machine.takeUnhandled().map(Fate.init) else { return [] }
      try demand(hasFailed && verdict == fate, "a failure is told, and as what it is")
      try demand(!isTold && tellsFailures, "a failure is told once")
      try demand(hasEnded && !isDelivering, "a failure is told after the end")
      try demand(!isHandled && !isSilenced, "a failure that somebody handles is not told")
      try demand(attached[.failure] == 0, "a failure for which there is a catch is not told")
      isTold = true
      return []
    case .deliver, .receive, .begin, .forget:
      return try deliver(act)
    case .admit(let next):
      isAdmitted = true
      return try tell(goesOn: true, then: next)
    case .tell(let goesOn, let next):
      return try tell(goesOn: goesOn, then: next)
    }
  }

  // MARK: - The caller

  private mutating func execute(
    _ admission: Admission, _ body: Body, then next: [Act]
  ) throws -> [Act] {
    holders = 1
    switch admission {
    case .start:
      if isObserved { machine.admit(as: .start) }
      isGranted = true
    case .wait:
      mustWait = true
      machine.admit(as: .wait)
    case .drop:
      (hasReturned, hasEnded, isOver) = (true, true, true)
      machine.admit(as: .drop)
      return isObserved ? [.admit(then: next)] : next
    }
    let first: Act = admission == .start ? .start(body) : .arrive(body)
    let tasks: [Act] = [.spawn(then: next), first]
    return isObserved ? [.admit(then: tasks)] : tasks
  }

  private mutating func attach(_ branches: [HandlerBranch]) throws -> [Act] {
    var acts: [Act] = []
    for branch in branches {
      acts += try attach(branch, isListed: !deliversOnlyNewest)
    }
    return acts
  }

  private mutating func attach(_ branch: HandlerBranch, isListed: Bool) throws -> [Act] {
    let id = attached.total
    var handler: Handler<Int>? = Handler(branch: branch, isIsolated: !isFree, callback: id)
    let next = machine.attach(&handler, isListed: isListed)
    try demand((handler == nil) == (next != .list), "the machine takes the handler, or asks first")
    guard next != .list else {
      listings += 1
      return [.attachListed(branch)]
    }
    waiting[id] = branch
    attached[branch] += 1
    isOver = false
    if isListed { try unlist(machine.takeListings()) }
    try demand(!deliversOnlyNewest || isFound, "an incoming operation finds what is left")
    return try deliver(next == .deliver)
  }

  /// The queue takes back its listings. In the library it does so a moment later, which matters to
  /// nobody: listings are only counted.
  private mutating func unlist(_ count: Int32) throws {
    listings -= count
    try demand(listings >= 0, "the queue lists it before that is taken back")
  }

  private mutating func attachStart() throws -> [Act] {
    // After the body it comes in its turn, as one of `common`.
    if hasReturned { return try attach([.common]) }
    var handler: Handler<Int>? = Handler(
      branch: .common, isIsolated: !isFree, callback: reported + 1)
    let next = machine.attachStart(&handler, isListed: true)
    reported += fate == nil || hasRun ? 1 : 0
    return try deliver(next == .deliver)
  }

  private mutating func end(_ fate: Fate, then next: [Act]) throws -> [Act] {
    let isFirst = self.fate == nil
    if case .cancelled(let reason) = fate, !isFirst { silence(reason) }
    let end = machine.concludeEarly(
      fate.verdict, tellsFailure: tellsFailures && !fate.isCancelled)
    try demand(end.isNew == isFirst, "the first end decides")
    guard isFirst else {
      try unlist(machine.takeListings())
      return next
    }
    isEarly = true
    dropped += end.startHandlers.count
    try demand(
      hasRun ? end.startHandlers.isEmpty : reported == dropped,
      "the handlers of a start that never comes are let go")
    isJobCancelled = hasRun
    let waiters = end.waiters.all.map(\.waiter) + [end.parked].compactMap(\.self)
    try demand(end.waiters.all.map(\.waiter) == holding, "the waiters are resumed in order")
    try demand(
      end.parked == nil || end.parked == 0 && kept.contains(0) && !resumed.contains(0),
      "the task that waits to start is resumed once")
    holding = []
    try demand((end.job != nil) == hasJob, "the job is handed back")
    try demand(
      end.isJobCancelled == isJobCancelled, "a job is cancelled that runs the body")
    // A job that runs the body is kept until that has returned: it may be escalated.
    hasJob = hasJob && isJobCancelled
    if deliversOnlyNewest, !fate.isCancelled {
      listings += 1
      machine.noteListing()
      try unlist(machine.takeListings())
    }
    try demand(!deliversOnlyNewest || isFound, "an incoming operation finds what is left")
    let rest = try next + deliver(end.delivers)
    return try tell(then: waiters.isEmpty ? rest : [.resume(waiters, then: rest)])
  }

  // MARK: - The task of the body

  private mutating func begin(_ body: Body, _ start: DeliveryCall?) throws -> [Act] {
    guard let start else { return [.exit] }
    try demand(
      (start == .deliverInAnotherTask) == (reported > 0),
      "the handlers of the start are delivered at once")
    try demand(!hasRun, "the body runs once")
    try demand(fate == nil, "the body does not run after the end")
    try demand(machine.isOccupied, "the body runs in a slot")
    try demand(machine.state == .running, "it is running")
    try demand(!isTelling, "nobody tells of the operation when its body is about to begin")
    hasRun = true
    let delivery = try deliver(start == .deliverInAnotherTask)
    let next = try tell(
      then: [.run(body)] + delivery + (body.hasTimer ? [.end(.timeout)] : [])
        + (body.hasGuest ? [.enter] : []))
    try demand(!isObserved || events.last == .running, "running is heard before the body begins")
    return next
  }

  private mutating func run(_ body: Body) throws -> [Act] {
    let isFirst = fate == nil
    guard body.reports == 0 else {
      var rest = body
      rest.reports -= 1
      reported += isFirst ? 1 : 0
      let delivers = machine.report(reported)
      try demand(isFirst || !delivers, "nobody hears of an update after the end")
      return try [.run(rest)] + deliver(delivers)
    }
    let (isNew, job, freed) = machine.conclude(
      body.fate.verdict, tellsFailure: tellsFailures && body.fate == .failure)
    try demand(isNew == isFirst, "the body decides unless it is over")
    try demand((job != nil) == hasJob, "the job is handed back")
    hasJob = false
    return try tell(then: exit(freed))
  }

  private mutating func exit(_ freed: Verdict.Kind?) throws -> [Act] {
    holders -= 1
    try demand((freed != nil) == (holders == 0), "the last one frees the slot")
    try demand(freed == nil || !machine.isOccupied, "a slot that is given back is not occupied")
    try demand(freed == nil || freed == machine.verdict?.kind, "it is counted as what it is")
    return freed == nil ? [] : [.giveBack]
  }

  // MARK: - Delivery

  private mutating func deliver(_ act: Act) throws -> [Act] {
    switch act {
    case .receive(let updates):
      let isReceived = try receive(updates)
      return isReceived && updates.count > 1 ? [.receive(Array(updates.dropFirst()))] : [.deliver]
    case .begin(let id, let branch):
      let handler = Handler(branch: branch, isIsolated: true, callback: id)
      let verdict = machine.begin(handler)
      try unlist(machine.takeListings())
      guard let verdict else {
        try demand(branch == .always || isSilenced, "only a cancel keeps a handler back")
        try demand(branch != .cancellation, "nothing keeps an onCancel back")
        if branch == .always {
          try demand(isBefore(id), "a finally goes back if another handler goes first")
        } else {
          waiting[id] = nil
        }
        return [.deliver]
      }
      return try begin(id, branch, with: verdict)
    case .forget:
      return [.deliver]
    default: break
    }
    isReceiving = false
    let step = machine.next()
    try unlist(machine.takeListings())
    return try tell(then: follow(step))
  }

  private mutating func follow(_ step: DeliveryStep<Int, Int>) throws -> [Act] {
    switch step {
    case .updates(let updates):
      isReceiving = true
      return [.receive(updates)]
    case .ask(let handler):
      try demand(reported == received + dropped, "updates come before the handlers")
      return [.begin(handler.callback, handler.branch)]
    case .call(let handler, let verdict):
      try demand(reported == received + dropped, "updates come before the handlers")
      try demand(isFree, "a handler on an actor begins there")
      return try begin(handler.callback, handler.branch, with: verdict)
    case .forget(let passed):
      try demand(
        Set(passed.map(\.callback)) == Set(waiting.keys), "those that are passed over are let go")
      waiting = [:]
      (hasEnded, isOver) = (true, true)
      return [.forget]
    case .unhandledFailure:
      try demand(tellsFailures && hasFailed, "a failure is told, if somebody wants to know")
      return try follow(.done) + [.tellFailure]
    case .listeners(let told):
      (hasEnded, isOver) = (true, true)
      try demandEnd()
      try demand(told == listeners, "each listener is told once")
      listeners = []
      return [.deliver]
    case .done:
      isDelivering = false
      guard hasReturned else { return [] }
      (hasEnded, isOver) = (true, true)
      try demandEnd()
      try demand(listeners.isEmpty, "every listener is told")
      return []
    }
  }

  private mutating func receive(_ updates: [Int]) throws -> Bool {
    try demand(updates[0] == received + dropped + 1, "updates come in order")
    guard machine.mayReceive else {
      try demand(isCancelled || isSilenced, "only a cancel keeps an update back")
      dropped += updates.count
      return false
    }
    try demand(!isCancelled && !isSilenced, "no update is received after a cancel")
    // A handler of the start may be attached late, while a body unwinds.
    try demand(begun.isEmpty || isEarly, "updates come before the handlers")
    try demand(hasRun, "a handler of the start runs when the body has begun")
    received += 1
    return true
  }

  /// Whether a handler that has not begun goes before this one.
  private func isBefore(_ id: Int) -> Bool {
    guard let branch = waiting[id], let kind = isSilenced ? .cancelled : machine.verdict?.kind
    else { return false }
    return waiting.contains { other in
      switch (branch, other.value) {
      case (.always, .always): other.key < id
      case (.always, let branch): kind.takes(branch)
      case (_, let branch): other.key < id && kind.takes(branch)
      }
    }
  }

  private mutating func begin(
    _ id: Int, _ branch: HandlerBranch, with verdict: Verdict
  ) throws -> [Act] {
    try demand(
      Fate(verdict) == silence.map(Fate.cancelled) ?? fate,
      "silenced handlers are treated as cancelled, for its reason")
    try demand(
      hasReturned || isEarly && branch != .always,
      "a handler runs after the body, or at once after an early outcome")
    if hasReturned { try demand(!machine.isOccupied, "the slot is free when the body is over") }
    try demand(!isBefore(id), "a handler attached earlier has run, and each finally is last")
    try demand(waiting.removeValue(forKey: id) == branch, "a handler runs once")
    var one = Tally()
    one[branch] += 1
    switch branch {
    case .success, .failure, .common:
      try demand(!isSilenced, "no handler of the verdict begins after a cancel")
      try demand(one[fate] == 1, "a handler begins that is for the verdict")
    case .cancellation:
      try demand(isCancelled || isSilenced, "onCancel runs after a cancel only")
    case .always: break
    }
    begun[branch] += 1
    let next: [Act] = branch == .failure ? [.handle] : [.deliver]
    if branch == .failure { isHandled = true }
    switch reactions.removeValue(forKey: branch) {
    case .cancel: return [.end(.cancelled(.requested), then: next)]
    case .supersede: return [.end(.cancelled(.superseded), then: next)]
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
    if goesOn { isTelling = false }
    let told = goesOn ? machine.goOnTelling() : machine.beginTelling()
    guard let event = told?.kind(for: machine.verdict) else { return next }
    try demand(isAdmitted, "the one who executes tells first")
    try demand(!isTelling, "one event is told at a time")
    try demand(events.allSatisfy { $0.rank < event.rank }, "events come in order, none twice")
    if event.rank == 2 {
      let fate = machine.verdict.map(Fate.init)
      try demand(event.fate == fate?.inEvents, "the outcome is told")
    }
    isTelling = true
    events.append(event)
    return [.tell(goesOn: true, then: next)]
  }
}

extension OperationWorld.Fate {
  fileprivate var inEvents: Self { self == .timeout ? .failure : self }
}
