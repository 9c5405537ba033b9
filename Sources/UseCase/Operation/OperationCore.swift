import Synchronization
import UseCaseInternals

/// The part of an operation that does not depend on the types of its request and response: its place
/// in its queue, and its machine behind a lock.
///
/// It is the member that the queue knows. It is not generic, so its way through the library costs no
/// look-up of metadata.
@usableFromInline
final class OperationCore: QueueMember {
  /// Something that waits for a moment of the operation.
  @usableFromInline
  enum Waiter: Sendable {
    case task(UnsafeContinuation<Bool, Never>)
    /// Learns on which actor the last handler has run, nil if on none.
    case call(@Sendable ((any Actor)?) -> Void)

    func resume(_ isDue: Bool = true, on isolation: (any Actor)? = nil) {
      switch self {
      case .task(let continuation): continuation.resume(returning: isDue)
      case .call(let call): call(isolation)
      }
    }
  }

  @usableFromInline typealias Job = Task<Void, any Error>
  typealias Machine = OperationMachine<Waiter, Job, Callback>
  @usableFromInline typealias Step = DeliveryStep<Callback, Waiter>

  /// A machine in a struct that is not generic: a `Lock` of a generic type would be looked up.
  private struct Guarded: Sendable {
    var machine: Machine
  }

  let queue: UseCaseQueue
  private let isObserved: Bool
  let useCaseType: any Any.Type
  /// The name of the use case, if the queue has an observer.
  let name: String
  let context: CallContext?
  /// The operation in whose body this one was executed or called, if somebody wants to know.
  let parent: UseCaseOperationID?
  /// The operation of the same queue in whose handler this one was executed.
  let handled: UseCaseOperationID?
  /// Whether a newer operation can keep this one from delivering.
  private let isRival: Bool
  /// Whether the running code awaits the operation, as the call form does.
  let isCall: Bool
  /// Whether this one was executed or called in a body.
  @usableFromInline let isInBody: Bool
  /// Written once, when the operation is submitted: under the lock of the queue, if one counts it. A
  /// call may be raised before.
  private let number = Atomic<UInt64>(0)
  private let lastWait = Atomic<Int32>(0)
  private let urgencyValue = Atomic<UInt8>(0)
  private let guarded: Lock<Guarded>

  /// - Parameters:
  ///   - queue: The queue of the operation.
  ///   - useCaseType: The type of the use case.
  ///   - isCall: Whether the running code awaits the operation, as the call form does.
  ///   - name: The name of the use case.
  ///   - description: The description of the execution for the delegate of the queue.
  @usableFromInline
  init(
    queue: UseCaseQueue, useCaseType: any Any.Type, isCall: Bool, name: @autoclosure () -> String,
    description: @autoclosure () -> ExecutionDescription
  ) {
    let call = isCall ? queue.delegate?.call() ?? .inside : .inside
    var queue = queue
    if case .on(let other) = call { queue = other }
    self.queue = queue
    self.useCaseType = useCaseType
    self.isCall = isCall
    isObserved = queue.observer != nil
    isRival = queue.policy.deliversOnlyNewest || queue.boards != nil
    self.name = isObserved ? name() : ""
    let described = queue.delegate == nil ? nil : description()
    if let described { queue.delegate?.check(described) }
    isInBody = HeldSlots.hasHolder
    handled = isInBody ? nil : queue.handledHere?.id
    context = .here(queue, isCall: isCall, call, isInBody: isInBody, described)
    // On the lane of a history, interceptors of other queues ask for the parent.
    let hasParent = isObserved || queue.hasInterceptors || described != nil
    parent = hasParent && isInBody ? HeldSlots.holder()?.id : nil
    guarded = Lock(Guarded(machine: Machine(isObserved: isObserved)))
  }

  var description: ExecutionDescription? { context?.description }

  var id: UseCaseOperationID { UseCaseOperationID(number: number.load(ordering: .relaxed)) }

  func receive(_ id: UseCaseOperationID) { number.store(id.number, ordering: .relaxed) }

  @inline(__always)
  private func withMachine<Result: Sendable>(_ body: (inout Machine) -> Result) -> Result {
    guarded.withLock { body(&$0.machine) }
  }

  var state: UseCaseOperationState { withMachine { $0.state } }
  @usableFromInline var verdict: Verdict? { withMachine { $0.verdict } }
  var isOccupied: Bool { withMachine { $0.isOccupied } }

  /// The verdict that a task is told which awaits the operation; `isCall` says whether it is told
  /// that a newer operation has superseded the call.
  @usableFromInline
  func verdict(isCall: Bool) -> Verdict? {
    isCall && !mayDeliver && verdict?.kind != .cancelled ? .cancelled(.superseded) : verdict
  }

  /// Whether the operation, a call in its body, or the run that it shares was cancelled or timed out
  /// while its body ran.
  var wasInterrupted: Bool {
    withMachine { $0.isJobCancelled || $0.hasInterruptedCall }
      || context?.ride?.wasInterrupted ?? false
  }

  /// Whether the operation may have an effect, although the one who calls it gets no response.
  @usableFromInline var mayHaveEffect: Bool {
    wasInterrupted || withMachine { $0.isOccupied || $0.verdict?.kind == .success }
  }

  /// Whether the task of the body was cancelled, by an early outcome.
  private var wasCancelled: Bool { withMachine { $0.isJobCancelled } }

  /// Whether the handlers of the outcome may begin: no newer operation has been admitted that alone
  /// may deliver.
  var mayDeliver: Bool {
    !isRival || queue.mayDeliver(id) && context?.ride?.mayDeliver ?? true
  }

  /// Whether the body runs by way of interceptors.
  @usableFromInline var hasInterceptors: Bool { queue.hasInterceptors }

  /// Whether reactions or a shared use case wait for the operation to be executed.
  @usableFromInline var hasAttendants: Bool { queue.reactions != nil || queue.boards != nil }
}

// MARK: - Slot and body

extension OperationCore {
  /// The queue that counts the operation. Nil for a guest.
  private var counting: UseCaseQueue? { context?.host == nil ? queue : nil }

  /// Asks for a slot, with the priority of the running task if the urgency is 0. The observer hears
  /// of the decision before this returns.
  @usableFromInline
  func submit(urgency: UInt8) -> Admission {
    // A call may be raised already.
    urgencyValue.max(
      urgency == 0 ? Task.currentPriority.rawValue : urgency, ordering: .sequentiallyConsistent)
    var admission = Admission.start
    if let queue = counting { admission = queue.admit(self) } else { receive(.next()) }
    // The machine assumes a start, so an unobserved one changes nothing.
    if isObserved || admission != .start {
      change(isTelling: true) { $0.admit(as: admission) }
    }
    return admission
  }

  func grant() { withMachine { $0.grant() }?.resume() }

  /// Keeps the task of the body, to be cancelled by an early outcome, and escalated from the priority
  /// of this urgency.
  @usableFromInline
  func keep(_ job: Job, urgency: UInt8) {
    if withMachine({ $0.keep(job) }) { job.cancel() }
    if self.urgency > urgency { escalateJobs() }
  }

  /// The body begins. Returns false if there is an outcome already.
  @usableFromInline func start() -> Bool {
    guard let delivers = withMachine({ $0.start() }) else { return false }
    if delivers { deliverInAnotherTask() }
    return true
  }

  /// Starts a waiting operation when it has a slot. Returns false if it gets an outcome instead.
  @usableFromInline
  nonisolated(nonsending) func startInTurn() async -> Bool {
    while !change({ $0.stopWaiting() }) {
      _ = await withUnsafeContinuation { waiter in
        withMachine { $0.park(.task(waiter)) }?.resume()
      }
    }
    return start()
  }

  @usableFromInline func neverBegins() { queue.delegate?.neverBegins(id) }

  func enter() -> Bool { withMachine { $0.enter() } }

  @usableFromInline func exit() { proceed(from: exitBody()) }

  /// A body exits the slot, or the own one will never begin. Returns the first step that needs a
  /// task.
  @usableFromInline
  func exitBody() -> Step {
    let mayDeliver = mayDeliver
    return goOn(from: withMachine { $0.exit(mayDeliver: mayDeliver) })
  }

  /// Runs an attempt of an interceptor, which holds the slot until it has returned.
  func attempt<Request, Response: Sendable>(
    _ request: Request, isStart: Bool, _ body: (Request) async throws -> Response
  ) async throws -> Response {
    guard enter() else { throw CancellationError() }
    defer { exit() }
    if isStart { try await queue.awaitStart(of: id) }
    if HeldSlots.innermost === self { return try await body(request) }
    // The interceptor has made a task that has not inherited the slot.
    return try await HeldSlots.local.withValue(HeldSlots.Holder(bodyOf: self)) {
      try await body(request)
    }
  }
}

// MARK: - Priority

extension OperationCore {
  /// The raw value of the priority.
  @usableFromInline var urgency: UInt8 { urgencyValue.load(ordering: .sequentiallyConsistent) }

  /// Raises the priority, if it is lower: that of the tasks, and that in the line of the queue.
  ///
  /// A task runs its escalation handlers under a lock of the runtime, so nobody is told of a raise.
  @usableFromInline
  func raise(to urgency: UInt8) {
    let (old, _) = urgencyValue.max(urgency, ordering: .sequentiallyConsistent)
    guard old < urgency else { return }
    escalateJobs()
    counting?.raise(id, to: urgency)
  }

  /// The running task awaits the operation, which is as urgent from now on.
  @usableFromInline
  func raiseToCurrent() {
    let current = Task.currentPriority.rawValue
    if current > urgency { raise(to: current) }
  }

  private func escalateJobs() {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let (job, deliverer) = withMachine { $0.jobs }
    job?.escalatePriority(to: TaskPriority(rawValue: urgency))
    deliverer?.escalatePriority(to: TaskPriority(rawValue: urgency))
  }
}

// MARK: - Verdict

extension OperationCore {
  /// The body has returned. Returns whether there was no verdict before, and then the first step that
  /// needs an actor. If there was one, no step is taken yet: the remains of the body are released first.
  @usableFromInline
  func succeed() -> (isNew: Bool, step: Step) {
    let mayDeliver = mayDeliver
    let (isNew, step) = change { $0.conclude(.success, mayDeliver: mayDeliver) }
    return (isNew, isNew ? deliverAtOnce(from: consume step) : step)
  }

  /// The body has thrown. Returns the step that `succeed` would.
  @usableFromInline
  func fail(_ error: any Error) -> Step {
    let mayDeliver = mayDeliver
    let isCancellation = error is CancellationError
    let tellsFailure = !isCancellation && UseCaseQueue.tellsFailures
    let (isNew, step) = change { machine in
      machine.conclude(
        isCancellation ? machine.thrownCancellation : .failure(error), mayDeliver: mayDeliver,
        tellsFailure: tellsFailure)
    }
    return isNew ? deliverAtOnce(from: consume step) : step
  }

  /// Gives the operation an early outcome, before its body has returned.
  ///
  /// - Parameters:
  ///   - verdict: The verdict of this outcome.
  ///   - isFromQueue: Whether the queue cancels the operation, and so knows of the outcome already.
  @usableFromInline
  func concludeEarly(_ verdict: Verdict, isFromQueue: Bool = false) {
    let tellsFailure = verdict.kind == .failure && UseCaseQueue.tellsFailures
    let (outcome, event) = withMachine { machine in
      let outcome = machine.concludeEarly(verdict, tellsFailure: tellsFailure)
      return (outcome, machine.beginTelling())
    }
    // The queue hears of it first, so an observer that is told here finds it waiting no longer.
    if !isFromQueue, outcome.effect != .nothing {
      counting?.concludedEarly(id, as: verdict.kind, isNew: outcome.effect == .concluded)
    }
    if let event { tell(event) }
    outcome.job?.cancel()
    for waiter in outcome.waiters { waiter.resume() }
    outcome.parked?.resume()
    if outcome.delivers { deliverInAnotherTask() }
  }

  func noteCancellation(ofCall reason: UseCaseCancellation) {
    withMachine { $0.noteCancellation(ofCall: reason) }
  }

  func noteInterruption() { withMachine { $0.noteInterruption() } }
}

// MARK: - Value and end

extension OperationCore {
  /// Why the call is not executed.
  @usableFromInline var refusal: (any Error)? { context?.refusal }

  /// Whether the running code would wait for ever if it awaited the operation here: it runs in the
  /// body of the operation, or holds the only slot that the operation waits for.
  @usableFromInline var isDeadlock: Bool {
    guard HeldSlots.hasHolder else { return false }
    if HeldSlots.isAwaitedHere(self) { return true }
    if queue.boards != nil, context?.ride?.isDeadlock ?? false { return true }
    return queue.policy.isSerial && state == .waiting && queue.isHeldHere
      && queue.delegate?.isBodyHere() ?? true
  }

  @usableFromInline
  func nextWait() -> ValueWait { ValueWait(key: lastWait.add(1, ordering: .relaxed).newValue) }

  /// Resumes the waiter with true at an early outcome or at the end, with false if the awaiting task
  /// is cancelled first. `cancels` cancels the operation with that task.
  @usableFromInline
  func awaitValue(
    _ waiter: UnsafeContinuation<Bool, Never>, _ wait: borrowing ValueWait, cancels: Bool
  ) {
    if let waiter = withMachine({
      $0.listen(.task(waiter), for: .value, key: wait.key, handles: true)
    }) {
      waiter.resume()
    } else if wait.isAbandoned {
      if cancels { concludeEarly(.cancelled(.requested)) }
      abandon(wait.key)
    }
  }

  /// The task that awaits the value is cancelled.
  @usableFromInline
  func abandon(_ wait: borrowing ValueWait) {
    wait.abandon()
    abandon(wait.key)
  }

  /// The task that awaits the call is cancelled, and with it the operation.
  ///
  /// A task runs its cancellation handlers under a lock of the runtime, so an observer must not be
  /// told there: another task concludes.
  @usableFromInline
  func abandonCall(_ wait: borrowing ValueWait) {
    wait.abandon()
    let key = wait.key
    Task.detached { [self] in
      concludeEarly(.cancelled(.requested))
      abandon(key)
    }
  }

  private func abandon(_ key: Int32) { withMachine { $0.abandon(key) }?.resume(false) }

  @usableFromInline
  nonisolated(nonsending) func ended() async {
    assert(
      !HeldSlots.isBodyHere || !isDeadlock,
      """
      A body awaits `ended()` of its own operation, or of one that waits for the slot of the body: it \
      ends when the body has returned. Await it in other code, or in a `Task.detached`.
      """)
    _ = await withUnsafeContinuation { waiter in
      withMachine { $0.listen(.task(waiter), for: .end, handles: true) }?.resume()
    }
  }

  /// Calls the listener at this moment, on any thread, with the actor that the last handler has run
  /// on.
  func listen(
    for moment: Machine.Moment, _ listener: @escaping @Sendable ((any Actor)?) -> Void
  ) {
    withMachine { $0.listen(.call(listener), for: moment, handles: false) }?.resume()
  }

  /// A task awaits this call, or has been told that it would deadlock.
  @usableFromInline
  func callIsAwaited() { if UseCaseQueue.tellsFailures { failureIsHandled() } }
}

// MARK: - Events

extension OperationCore {
  /// Changes the machine, and tells the observer of it. At its admission, the operation `isTelling`
  /// already: the observer hears of the decision first of all.
  @inline(__always)
  private func change<Result: Sendable>(
    isTelling: Bool = false, _ body: (inout Machine) -> Result
  ) -> Result {
    guard isObserved else { return withMachine(body) }
    let (result, event) = withMachine { machine in
      let result = body(&machine)
      return (result, isTelling ? machine.goOnTelling() : machine.beginTelling())
    }
    if let event { tell(event) }
    return result
  }

  /// Tells the observer, and goes on until there is nothing left to tell.
  private func tell(_ first: EventLine.Event) {
    var next = Optional(first)
    while let event = next {
      let verdict = verdict
      let error: (any Error)? =
        if event == .outcome, case .failure(let error)? = verdict { error } else { nil }
      queue.observer?(
        UseCaseEvent(
          id: id, type: useCaseType, useCase: queue.delegate?.name(of: id) ?? name,
          kind: event.kind(for: verdict),
          parent: parent, error: error))
      next = withMachine { $0.goOnTelling() }
    }
  }
}

// MARK: - Delivery

extension OperationCore {
  /// Attaches a handler.
  @usableFromInline
  func attach(_ handler: consuming Handler<Callback>) {
    let handler = handler
    if withMachine({ $0.attach(handler) }) { deliverInAnotherTask() }
  }

  func attachStart(_ handler: Handler<Callback>) {
    if withMachine({ $0.attachStart(handler) }) { deliverInAnotherTask() }
  }

  /// Attaches a handler on the main actor that hears of the outcome before all others. Returns false
  /// if there is an outcome already.
  func attachFirst(_ handler: Handler<Callback>) -> Bool {
    withMachine { $0.attachFirst(handler) }
  }

  /// The body reports an update.
  func report(_ update: Callback) {
    if withMachine({ $0.report(update) }) { deliverInAnotherTask() }
  }

  func failureIsHandled() { withMachine { $0.failureIsHandled() } }

  private func next() -> Step {
    let mayDeliver = mayDeliver
    return withMachine { $0.next(mayDeliver: mayDeliver) }
  }

  /// Takes the steps that need no task, on this thread. Returns the first that does, or `done`.
  ///
  /// Each step is released before the next one, so that its closures are freed before the end can be
  /// seen.
  private func goOn(from first: consuming Step, on isolation: (any Actor)? = nil) -> Step {
    var step = first
    while true {
      var leaving: Verdict.Kind?
      switch consume step {
      case .tell(let waiters): for waiter in waiters { waiter.resume(on: isolation) }
      case .forget: break
      case .leave(_, let kind): leaving = kind
      case .unhandledFailure:
        reportFailure()
        return .done
      case let step: return step
      }
      if let leaving, leave(as: leaving, on: isolation) { return .done }
      step = next()
    }
  }

  /// The operation leaves its queue: it gives its slot back, and everything that waits for its end is
  /// resumed. Returns whether nothing is left to deliver.
  private func leave(as kind: Verdict.Kind, on isolation: (any Actor)?) -> Bool {
    counting?.leave(id, as: kind)
    context?.host?.exit()
    let (waiters, _, isDone) = change { $0.left() }
    waiters.forEach { $0.waiter.resume(on: isolation) }
    return isDone
  }

  /// Takes the steps that need no actor, on this thread, which runs on none, in the task of the body.
  private func deliverAtOnce(from first: consuming Step) -> Step {
    var step = goOn(from: first)
    guard case .call = step else { return step }
    HeldSlots.inHandler(of: id) {
      while true {
        switch consume step {
        case .call(let handler, let verdict): call(handler, verdict)
        case let other:
          step = other
          return
        }
        step = goOn(from: next())
      }
    }
    return step
  }

  /// Delivers in the task of the body, or in another one if that is cancelled.
  @usableFromInline
  nonisolated(nonsending) func deliverInBody(from first: consuming Step) async {
    switch goOn(from: first) {
    case .done: return
    case .handOver: deliverInAnotherTask()
    // A handler was attached while a cancelled operation left.
    case let step where wasCancelled: proceed(from: step)
    case let step: await deliver(from: step)
    }
  }

  /// Takes this step, and those that follow it, in another task if there is one to take.
  private func proceed(from step: consuming Step) {
    switch consume step {
    case .done: return
    case .handOver: deliverInAnotherTask()
    // A task keeps its closure until it is over. The box lets the step be freed before the end is seen.
    case let step: deliverInAnotherTask(from: StepBox(step))
    }
  }

  /// Delivers in a new task, which nobody cancels.
  private func deliverInAnotherTask(from box: StepBox? = nil) {
    let urgency = urgency
    let job = Job(priority: TaskPriority(rawValue: urgency)) { [self] in
      await deliver(from: box?.take() ?? next())
    }
    _ = withMachine { $0.keepDeliverer(job) }
    if self.urgency > urgency { escalateJobs() }
  }

  /// Delivers from this step on, until nothing is left.
  private nonisolated(nonsending) func deliver(from first: consuming Step) async {
    var step = Optional(goOn(from: first))
    switch step {
    case nil, .done: return
    case .handOver, .call, .ask, .updates, .tell, .leave, .forget, .unhandledFailure:
      await HeldSlots.inHandler(of: id) { await run(&step) }
    }
  }

  /// Takes each step that needs a task. Nothing keeps a step longer than it takes.
  private nonisolated(nonsending) func run(_ next: inout Step?) async {
    while let step = next.take() {
      switch consume step {
      case .call(let handler, let verdict): call(handler, verdict)
      case .ask(let handler):
        guard let isolation = handler.callback.isolation else {
          preconditionFailure("A handler that is asked has an isolation.")
        }
        next = await run(consume handler, on: isolation)
        continue
      case .updates(let updates): await receive(updates)
      case .handOver, .tell, .leave, .forget, .unhandledFailure, .done: return
      }
      next = goOn(from: self.next())
    }
  }

  /// Runs the handler on its isolation, and all that follows there. No other code of this isolation
  /// comes in between: neither between the question whether a handler may begin and its call, nor
  /// between the last handler and the release of the slot.
  private func run(
    _ handler: consuming Handler<Callback>, on isolation: isolated any Actor
  ) async -> Step {
    var next = Optional(handler)
    while true {
      // Released before the next step, so that its closure is freed before the end.
      if let handler = next.take() { begin(handler) }
      let step = goOn(from: self.next(), on: isolation)
      guard case .ask(let following) = step, following.callback.isolation === isolation else {
        return step
      }
      next = following
    }
  }

  private func begin(_ handler: Handler<Callback>) {
    let mayDeliver = mayDeliver
    if let verdict = withMachine({ $0.begin(handler, mayDeliver: mayDeliver) }) {
      call(handler, verdict)
    }
  }

  private func call(_ handler: Handler<Callback>, _ verdict: Verdict) {
    if handler.callback.call(verdict) { failureIsHandled() }
  }

  /// Receives the updates, each on its isolation, until a cancellation keeps one back.
  private nonisolated(nonsending) func receive(_ updates: [Callback]) async {
    for update in updates {
      guard await receive(update, on: update.isolation) else { return }
    }
  }

  private func receive(_ update: Callback, on isolation: isolated (any Actor)?) async -> Bool {
    let mayDeliver = mayDeliver
    guard withMachine({ $0.mayReceive(mayDeliver: mayDeliver) }) else { return false }
    _ = update.call(nil)
    return true
  }

  /// Tells of a failure that nobody has handled, after a while. A body that fails at once may
  /// return before `execute` does, and its handlers are attached after that.
  private func reportFailure() {
    Task {
      try? await ContinuousClock().sleep(for: .milliseconds(100))
      guard case .failure(let error)? = withMachine({ $0.takeUnhandled() }) else { return }
      let failure = UseCaseUnhandledFailure(id: id, type: useCaseType, error: error)
      UseCaseQueue.unhandledFailure?(failure)
    }
  }
}

/// The first step of another task, which is taken out.
private final class StepBox: Sendable {
  private let step: Lock<OperationCore.Step?>

  init(_ step: consuming OperationCore.Step) { self.step = Lock(consume step) }

  func take() -> OperationCore.Step? { step.withLock { $0.take() } }
}

extension HeldSlots.Holder {
  @usableFromInline
  init(bodyOf core: OperationCore) { self.init(bodyOfMember: core) }
}

/// The wait of one task for the value of an operation.
@usableFromInline
struct ValueWait: ~Copyable, Sendable {
  let key: Int32
  private let abandoned = Atomic(false)

  init(key: Int32) {
    self.key = key
  }

  /// Whether the awaiting task was cancelled, perhaps when there was no waiter to abandon. To ask
  /// the task costs more than this flag.
  @usableFromInline var isAbandoned: Bool { abandoned.load(ordering: .sequentiallyConsistent) }

  /// The awaiting task is cancelled.
  func abandon() { abandoned.store(true, ordering: .sequentiallyConsistent) }
}
