/// The life of one operation.
///
///     admitted → running → returned
///     admitted → granted → ready → running → returned            observed
///     admitted → waiting → granted → ready → running → returned
///
/// From each stage it may go to `returned`: refused, or cancelled before its body began.
///
/// Beside it stand the verdict, given once, and the delivery of the handlers, which begins when
/// the body has returned and the slot is free. The machine decides and its owner acts once the
/// lock is released. `Waiter` is a suspended task, `Job` the task of the body, `Update` an update
/// on its way and `Mark` what wants to be told of the end.
struct OperationMachine<
  Waiter: Sendable, Job: Sendable, Update: Sendable, Mark: Sendable
>: Sendable {
  enum Stage: Sendable {
    /// Has a slot, unless the queue lets it wait or refuses it. Next is `running` or `granted`,
    /// `waiting`, or `returned`.
    case admitted
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

  // The largest first: an operation takes some forty bytes less.

  var verdict: Verdict?
  var parked: Waiter?
  var job: Job?
  /// One at the most: what many operations do without takes no more than a word of them.
  var extras: [Extras] = []
  var waiters = WaiterLine<Waiter>()

  /// How many bodies run in the slot: the operation's own and those called inside it.
  var shares: Int32 = 0
  /// How many handlers have been neither taken nor forgotten.
  var left: Int32 = 0
  /// How many handlers are for each of these verdicts, and how many have begun.
  var attached: (success: Int32, failure: Int32) = (0, 0)
  var begun: Int32 = 0

  var stage = Stage.admitted
  /// The verdict came from outside, while the body was waiting or running.
  var isEarly = false
  /// The task of the body is cancelled.
  var isJobCancelled = false
  /// Why the handlers that have not begun yet are treated as those of a cancelled operation.
  var silence: UseCaseCancellation?

  var isDelivering = false
  var hasEnded = false
  var isEndAnnounced = false

  let isObserved: Bool
  /// What the observer is yet to hear.
  var announced: OperationEvents = []
  /// What it hears now, from one who then goes on: to begin with, from the one who executes, who
  /// is to tell first what was decided.
  var told = OperationEvents.admission

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
    // A slot may have become free meanwhile.
    if stage == .admitted { stage = .waiting }
    // A verdict that came meanwhile is told later.
    announce(.waiting)
  }

  /// The queue refused the operation.
  mutating func refuse() {
    stage = .returned
    verdict = .cancelled(.dropped)
    hasEnded = true
    isEndAnnounced = true
    announce(.outcome)
    announce(.ended)
  }

  /// The operation has a slot. Returns the task that waited for it, unless the observer is to be
  /// told first: then `tell` returns it.
  mutating func grant() -> Waiter? {
    guard verdict == nil, stage == .admitted || stage == .waiting else { return nil }
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

  /// The task is there to run the body. Returns whether it does.
  mutating func start() -> Bool {
    guard verdict == nil else { return false }
    guard stage == .admitted || stage == .ready else {
      fatalError("The body of an operation runs once, when it has a slot.")
    }
    stage = .running
    shares = 1
    return true
  }

  /// Whether the body may not begin yet.
  var mustPark: Bool { verdict == nil && (stage == .waiting || stage == .granted) }

  /// The task waits for a slot. Returns it if it need not wait any longer.
  mutating func park(_ waiter: Waiter) -> Waiter? {
    guard mustPark else { return waiter }
    parked = waiter
    return nil
  }

  /// Another body is called inside the slot. Returns false if the slot is free already.
  mutating func join() -> Bool {
    guard shares > 0 else { return false }
    shares += 1
    return true
  }

  /// A body in the slot has returned, or the own one does not begin. Returns the verdict if it
  /// was the last: the slot is free.
  mutating func leave() -> Verdict.Kind? {
    shares = max(0, shares - 1)
    return shares == 0 ? verdict?.kind : nil
  }

  /// The queue has the slot back. Returns those who wait for the value, and what the caller does.
  @inline(__always)
  mutating func giveBack() -> (waiters: WaiterLine<Waiter>, next: OperationReturn) {
    stage = .returned
    // Mostly somebody waits for the value, and there is nothing to deliver.
    hasEnded = !(left > 0 || isObserved || isDelivering) && extras.isEmpty
    let delivery = isJobCancelled ? OperationReturn.deliverApart : .deliver
    return (waiters.removeAll(), !hasEnded && beginDelivery() ? delivery : .leave)
  }
}

// MARK: - Verdict

extension OperationMachine {
  /// The body has returned or thrown: what `leave` does, with a verdict unless there was one
  /// before. Returns the job to let go.
  @inline(__always)
  mutating func settle(_ verdict: Verdict) -> (isNew: Bool, job: Job?, freed: Verdict.Kind?) {
    let isNew = self.verdict == nil
    if isNew {
      self.verdict = verdict
      announce(.outcome)
    }
    return (isNew, job.take(), leave())
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
    announce(.outcome)
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
  /// Nothing is to be delivered, somebody delivers already, or the slot is still held.
  case leave
}
