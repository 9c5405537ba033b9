/// The life of one operation.
///
///     waiting → granted → ready → running → returned
///     waiting → returned                          cancelled before it got a slot
///     granted, ready → returned                   cancelled before its body began
///
/// Beside it stand the verdict, given once, and the delivery of the handlers, which begins when
/// the body has returned and the slot is free. The machine decides and its owner acts once the
/// lock is released. `Waiter` is a suspended task, `Job` the task of the body, `Update` an update
/// on its way and `Mark` what wants to be told of the end.
@usableFromInline
struct OperationMachine<
  Waiter: Sendable, Job: Sendable, Update: Sendable, Mark: Sendable
>: Sendable {
  enum Stage: Sendable {
    /// Has no slot. Next is `granted`, or `returned`.
    case waiting
    /// Has a slot, and the observer is being told. Next is `ready`, or `returned`.
    case granted
    /// Has a slot, its body may begin. Next is `running`, or `returned`.
    case ready
    /// The body runs, or what was called in its slot does. Next is `returned`.
    case running
    /// The slot, if there was one, is free again. Final.
    case returned
  }

  /// What an end before its time asks for.
  struct Ending: Sendable {
    /// The operation has just got its verdict.
    var isNew = false
    /// Resume these, who wait for the value.
    var waiters = WaiterLine<Waiter>()
    /// Resume this one, who waits to start.
    var parked: Waiter?
    /// Let this go, and cancel it first if `isJobCancelled`.
    var job: Job?
    var isJobCancelled = false
  }

  var stage = Stage.waiting
  var verdict: Verdict?
  /// The verdict came from outside, while the body was waiting or running.
  var isEarly = false
  /// The task of the body is cancelled.
  var isJobCancelled = false
  /// Why the handlers that have not begun yet are treated as those of a cancelled operation.
  var silence: UseCaseCancellation?
  /// How many bodies run in the slot: the operation's own and those called inside it.
  var shares: Int32 = 0
  var parked: Waiter?
  var job: Job?

  var isDelivering = false
  /// There are handlers that nobody has looked at for the verdict or the silence as it is now.
  var hasUnread = false
  /// Those that were looked at have run, and the others are to be forgotten.
  var wasRead = false
  var hasEnded = false
  var updates: [Update] = []
  /// How many handlers are for each of these verdicts, and how many have begun.
  var attached: (success: Int32, failure: Int32) = (0, 0)
  var begun: Int32 = 0

  var waiters = WaiterLine<Waiter>()
  var marks: [Mark] = []

  let isObserved: Bool
  var events: [UseCaseEvent.Kind] = []
  /// How many events have been told or are being told.
  var toldCount: Int32 = 0
  /// The event that is being told.
  var told: UseCaseEvent.Kind?
  /// Somebody tells: the one who executes to begin with, who is to hear first what was decided.
  var isTelling = true

  init(isObserved: Bool) {
    self.isObserved = isObserved
  }

  var state: UseCaseOperationState {
    guard verdict == nil else { return .finished }
    return stage == .waiting ? .waiting : .running
  }

  /// Whether code of the operation runs in a slot.
  var holdsSlot: Bool { shares > 0 }
}

// MARK: - Slot and body

extension OperationMachine {
  /// The queue lets the operation wait.
  mutating func wait() {
    // A verdict that came meanwhile is told later.
    if isObserved { events = [.waiting] + events }
  }

  /// The queue refused the operation.
  mutating func refuse() {
    stage = .returned
    verdict = .cancelled(.dropped)
    hasEnded = true
    announce(.cancelled(.dropped))
    announce(.ended)
  }

  /// The operation has a slot. Returns the task that waited for it, unless the observer is to be
  /// told first: then `tell` returns it.
  mutating func grant() -> Waiter? {
    guard verdict == nil, stage == .waiting else { return nil }
    shares = 1
    stage = .granted
    announce(.running)
    return isObserved ? nil : makeReady()
  }

  mutating func makeReady() -> Waiter? {
    stage = .ready
    return parked.take()
  }

  /// The task of the body exists. Returns it if it is to be cancelled.
  mutating func spawn(_ job: Job) -> Job? {
    guard verdict == nil else { return isJobCancelled ? job : nil }
    self.job = job
    return nil
  }

  /// The task is there to run the body.
  mutating func start() -> OperationStart {
    guard verdict == nil else { return .skip }
    switch stage {
    case .waiting, .granted: return .park
    case .ready:
      stage = .running
      return .run
    case .running, .returned: fatalError("The body of an operation runs once.")
    }
  }

  /// The task waits for a slot. Returns it if it need not wait any longer.
  mutating func park(_ waiter: Waiter) -> Waiter? {
    guard verdict == nil, stage == .waiting || stage == .granted else { return waiter }
    parked = waiter
    return nil
  }

  /// Another body is called inside the slot. Returns false if the slot is free already.
  mutating func join() -> Bool {
    guard shares > 0 else { return false }
    shares += 1
    return true
  }

  /// A body in the slot has returned. Returns the verdict if it was the last: the slot is free.
  mutating func leave() -> Verdict? {
    shares = max(0, shares - 1)
    return shares == 0 ? verdict : nil
  }

  /// The queue has the slot back. Returns those who wait for the value, and what the caller does.
  mutating func giveBack() -> (waiters: WaiterLine<Waiter>, next: OperationReturn) {
    stage = .returned
    hasUnread = true
    let delivery = isJobCancelled ? OperationReturn.deliverApart : .deliver
    return (waiters.removeAll(), beginDelivery() ? delivery : .leave)
  }
}

// MARK: - Verdict

extension OperationMachine {
  /// The body has returned or thrown. Returns its job, and false if there was a verdict before.
  mutating func settle(_ verdict: Verdict) -> (isNew: Bool, job: Job?) {
    let job = job.take()
    guard self.verdict == nil else { return (false, job) }
    self.verdict = verdict
    announce(outcome: verdict)
    return (true, job)
  }

  /// The operation ends before its time: it is cancelled, or its time has passed.
  ///
  /// A task whose body will never begin is not cancelled: it ends by itself, and may deliver. Only
  /// one that `sleeps` before the body is woken by its cancellation.
  mutating func end(_ verdict: Verdict, sleeps: Bool) -> Ending {
    guard self.verdict == nil else {
      // Who is superseded with a verdict was done in time: its handlers run.
      if case .cancelled(let reason) = verdict, reason != .superseded { silence(reason) }
      return Ending()
    }
    self.verdict = verdict
    isEarly = true
    isJobCancelled = stage == .running || sleeps
    announce(outcome: verdict)
    return Ending(
      isNew: true, waiters: waiters.removeAll(), parked: parked.take(), job: job.take(),
      isJobCancelled: isJobCancelled)
  }

  /// Leaves out the handlers that have not begun, unless all of them have.
  private mutating func silence(_ reason: UseCaseCancellation) {
    let expected: Int32
    switch verdict {
    case .success: expected = attached.success
    case .failure: expected = attached.failure
    case .cancelled, nil: return
    }
    guard silence == nil, begun < expected || expected == 0 && !hasEnded else { return }
    silence = reason
    hasUnread = true
  }

  /// A task awaits the value. Returns the key to abandon it with, or nil if it need not wait.
  mutating func hold(_ waiter: Waiter) -> Int32? {
    if isEarly || stage == .returned { return nil }
    return waiters.append(waiter)
  }

  /// A task does not want to wait for the value any longer.
  mutating func abandon(_ key: Int32) -> Waiter? {
    waiters.remove(key)
  }
}

/// What the task of the body does last.
@usableFromInline
enum OperationReturn: Sendable {
  /// Deliver.
  case deliver
  /// Let another task deliver: this one is cancelled.
  case deliverApart
  /// Somebody delivers already, or the slot is still held.
  case leave
}

/// What the task of the body does first.
@usableFromInline
enum OperationStart: Sendable {
  /// Run the body.
  case run
  /// There is no slot yet: `park`, and start again.
  case park
  /// It is over before it began.
  case skip
}
