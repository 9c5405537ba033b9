import UseCaseInternals

/// A use case whose executions of equal requests share one *run*. Create it with
/// ``UseCase/UseCase/shared()``.
///
/// ```swift
/// let avatar = LoadAvatar().shared()
/// avatar.execute(user).then { image in header.show(image) }
/// avatar.execute(user).then { image in list.show(image) }  // the same download
/// ```
///
/// A run is one operation of the wrapped use case, the *base*. The executions that share a run are
/// its *riders*.
public struct SharedUseCase<Base: UseCase>: UseCase where Base.Request: Hashable {
  fileprivate let base: Base
  private let runs = KeyedQueues<Base.Request>()

  fileprivate init(_ base: Base) {
    self.base = base
  }

  /// The queue of the base.
  public var queue: UseCaseQueue { base.queue }

  /// Returns the queue of the riders of this request. The run is executed on the queue that
  /// ``UseCase/queue(for:)`` of the base returns. That method is called once for each run.
  ///
  /// - Parameter request: The input of the execution.
  /// - Returns: A queue for the riders of one run. They wait there until the body of the run
  ///   begins, or the run is over.
  public func queue(for request: Base.Request) -> UseCaseQueue {
    while true {
      let riders =
        runs[request]
        ?? runs.queue(for: request) { key in
          let riders = UseCaseQueue(.unlimited, lane: key, ridersKeeper: SharedRiders<Base>(key))
          riders.suspend()
          return riders
        }
      guard let run = riders.ridersKeeper as? SharedRiders<Base>, run.isOver else { return riders }
      run.closeDoors()
    }
  }

  /// Waits for the outcome of the run.
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The response of the run.
  /// - Throws: The failure of the run, or `CancellationError` if the run or the awaiting task is
  ///   cancelled.
  /// - Complexity: That of the base.
  public func main(_ request: Base.Request) async throws -> Base.Response {
    guard let rider = Slot.innermost as? UseCaseOperation<Base.Request, Base.Response>,
      let shared = rider.core.queue.ridersKeeper as? SharedRiders<Base>
    else { return try await ride(request) }
    guard let run = shared.run(of: rider.id) as? SharedRiders<Base>.Operation else {
      // A rider that was cancelled just now has left, and starts no other run.
      if rider.verdict != nil { throw CancellationError() }
      // The run of this one is not made yet, or this is the body of a client's wrapper.
      defer { shared.leave(rider.id) }
      return try await ride(request)
    }
    defer { shared.leave(rider.id) }
    do {
      return try await run.value
    } catch {
      if case .cancelled(let reason)? = run.verdict { Slot.noteCancellation(ofCall: reason) }
      throw error
    }
  }

  /// Executes the request on the queue of the riders, from a body that is not a rider's.
  ///
  /// Not inlined, because the call form would take room in the frame of every rider.
  @inline(never)
  private func ride(_ request: Base.Request) async throws -> Base.Response {
    try await self(request)
  }
}

extension SharedUseCase: DescribedUseCase {}

extension UseCase where Request: Hashable {
  /// Returns a use case whose executions of equal requests share one *run*, an operation of this
  /// use case.
  ///
  /// Ten rows that show the same avatar download it once.
  ///
  /// ```swift
  /// let loadAvatar = LoadAvatar(server: server).shared()
  /// for row in rows {
  ///   loadAvatar.execute(row.user)
  ///     .then { [weak row] avatar in row?.show(avatar) }
  ///     .store(in: row.scope)
  /// }
  /// ```
  ///
  /// An execution joins the run of an equal request, as a *rider*, if that run has no outcome yet.
  /// Otherwise it starts a new run. Each rider has its own operation, handlers and `cancel()`. All
  /// riders get the outcome of the run: the response, the failure, or the cancellation with its
  /// reason.
  ///
  /// The run takes place on the queue of this use case, with the priority and the task-local values
  /// of its first rider. Cancelling a rider doesn't affect the other riders. When all riders are
  /// cancelled, the run is cancelled.
  ///
  /// The timeout applies to the run, not to each rider. The updates of a ``ReportingUseCase``
  /// aren't delivered. A body that awaits its own run gets ``UseCaseDeadlock``.
  ///
  /// The request must be `Hashable`. `Void` isn't: for no input, take an empty `Hashable` struct.
  ///
  /// Copies of the returned use case share their runs. Use cases from two calls of `shared()` don't
  /// share runs. The idea is that of `singleflight` in Go.
  ///
  /// - Returns: The use case. Store it: another call of `shared()` returns a use case with runs of
  ///   its own.
  public func shared() -> SharedUseCase<Self> { SharedUseCase(self) }
}

/// Keeps the riders of one run. Their queue is suspended until the run begins, so they wait as long
/// as the run waits.
private final class SharedRiders<Base: UseCase>: RidersKeeper where Base.Request: Hashable {
  typealias Operation = UseCaseOperation<Base.Request, Base.Response>

  private let machine = Lock(RunMachine<any Untyped, any Untyped>())
  private let key: LaneKey<Base.Request>

  init(_ key: LaneKey<Base.Request>) {
    self.key = key
  }

  /// Whether an execution that comes now starts another run.
  var isOver: Bool {
    let (run, hasLeft) = machine.withLock { ($0.run, $0.hasLeft) }
    return hasLeft || run?.verdict != nil
  }

  /// Lets later executions look for another run.
  func closeDoors() { key.remove() }

  func run(of rider: UseCaseOperationID) -> (any Untyped)? {
    machine.withLock { $0.run(of: rider) }
  }

  func submitted(_ member: any QueueMember, priority: TaskPriority?, isCall: Bool) -> Bool {
    // The body of a client's wrapper asks again, and rides then.
    guard let rider = member as? Operation,
      rider.useCaseType == SharedUseCase<Base>.self || base(of: rider) != nil
    else { return true }
    switch machine.withLock({ $0.board(rider, id: rider.id, isCall: isCall) }) {
    case .start: start(for: rider, priority: priority, isCall: isCall)
    case .ride: break
    case .tooLate: return true
    }
    // Another thread may have found the queue, and cancelled the operations in it.
    if rider.verdict != nil { leave(rider.id) }
    return false
  }

  /// The base of the use case that the rider executes, itself or erased.
  private func base(of rider: Operation) -> Base? {
    (rider.described?.innermost as? SharedUseCase<Base>)?.base
  }

  /// Executes the run, on the thread of its first rider.
  private func start(for rider: Operation, priority: TaskPriority?, isCall: Bool) {
    guard let base = base(of: rider) else {
      preconditionFailure("A rider executes a shared use case.")
    }
    let run = Operation(
      of: RunBody(base: base, riders: rider.core.queue), rider.request,
      queue: base.queue(for: rider.request), useCaseType: Base.self, isCall: isCall
    ) { [weak self] in self?.machine.withLock { $0.riders } ?? [] }
    machine.withLock { $0.made(run) }
    run.submit(priority: priority, isCall: isCall)
    if let run = machine.withLock({ $0.started() }) {
      closeDoors()
      run.cancel(.requested)
    }
    let riders = rider.core.queue
    switch run.state {
    case .running: riders.resume()
    case .finished: runIsOver(run, riders)
    case .waiting:
      failDeadlocks(with: run)
      // Outside of the slot of a caller, whose operation the task would keep.
      Slot.local.withValue(Slot.Holder.nobody) {
        _ = Task {
          await run.core.awaitValue()
          self.runIsOver(run, riders)
        }
      }
    }
  }

  /// Fails the calls that boarded before it was known that the run waits for the slot of a caller.
  /// A rider that is a run itself, of a use case that is shared twice, fails with all of its
  /// riders.
  private func failDeadlocks(with run: any Untyped) {
    guard run.isSerial else { return }
    for rider in machine.withLock({ $0.riders })
    where Slot.holder(in: run.queueID, from: rider) != nil {
      rider.failAsDeadlock()
    }
  }

  /// The run may be over before its body begins: it was cancelled, which cancels the riders, or an
  /// interceptor answered in place of the body. The riders that are left ask for the outcome.
  private func runIsOver(_ run: any Untyped, _ riders: UseCaseQueue) {
    if case .cancelled(let reason)? = run.verdict {
      let riders = machine.withLock { $0.riders }.sorted { $0.ticket.id < $1.ticket.id }
      for rider in riders { rider.cancel(reason) }
    }
    riders.resume()
  }

  func concludedEarly(_ rider: UseCaseOperationID) { leave(rider) }

  /// A rider leaves: it has an early outcome, or its body returns.
  func leave(_ rider: UseCaseOperationID) {
    let left = machine.withLock { $0.leave(rider) }
    guard let run = left.run else { return }
    closeDoors()
    if run.verdict == nil { run.cancel(.requested) }
  }

  func waitsForCodeHere(_ rider: UseCaseOperationID) -> Bool {
    let (run, firstCall) = machine.withLock { ($0.run(of: rider), $0.firstCall) }
    guard let run else { return false }
    let id = run.ticket.id
    // The call that starts the run has boarded before the run has called anything.
    return Slot.isAwaited(by: id) || run.isDeadlock || rider != firstCall && Slot.isNeeded(by: id)
  }
}

/// A run, or a rider, without the types of its request and response: code that knows them only as
/// parameters looks up the metadata of all that it touches.
private protocol Untyped: QueueMember {
  var verdict: Verdict? { get }
  var isDeadlock: Bool { get }
  var isSerial: Bool { get }
  func failAsDeadlock()
}

extension UseCaseOperation: Untyped {
  fileprivate var verdict: Verdict? { core.verdict }
  fileprivate var isDeadlock: Bool { core.isDeadlock }
  fileprivate var isSerial: Bool { core.queue.policy.isSerial }
  fileprivate func failAsDeadlock() { concludeEarly(.failure(UseCaseDeadlock())) }
}

/// The use case of a run, which has its queue already. It resumes the queue of the riders, and runs
/// the base.
private struct RunBody<Base: UseCase>: UseCase, DescribedUseCase {
  let base: Base
  let riders: UseCaseQueue

  var timeout: Duration { base.timeout }
  var baseType: any Any.Type { (base as? any DescribedUseCase)?.baseType ?? Base.self }
  var innermost: any DescribedUseCase { (base as? any DescribedUseCase)?.innermost ?? self }

  func title(for request: Any) -> String? {
    (base as? any DescribedUseCase)?.title(for: request)
  }

  func main(_ request: Base.Request) async throws -> Base.Response {
    riders.resume()
    return try await base.main(request)
  }
}
