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
public struct SharedUseCase<Base: UseCase>: UseCase {
  private let runs: SharedRuns<Base>
  private let riders: UseCaseQueue

  fileprivate init(_ base: Base, key: @escaping @Sendable (Base.Request) -> RequestKey) {
    runs = SharedRuns(of: base, useCaseType: Self.self, key)
    riders = UseCaseQueue(.unlimited) { [weak runs] rider, urgency, isCall in
      runs?.submitted(rider, urgency: urgency, isCall: isCall)
    }
  }

  /// The queue of the base.
  public var queue: UseCaseQueue { runs.base.queue }

  /// Returns the queue of the riders, which is unlimited. The run is executed on the queue that
  /// ``UseCase/queue(for:)`` of the base returns. That method is called once for each run.
  ///
  /// - Parameter request: The input of the execution.
  /// - Returns: The queue of all riders of this use case.
  public func queue(for request: Base.Request) -> UseCaseQueue { riders }

  /// Waits for the outcome of the run.
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The response of the run.
  /// - Throws: The failure of the run; `CancellationError` if the run or the awaiting task is
  ///   cancelled; ``UseCaseDeadlock`` if the run awaits the body that awaits it here.
  /// - Complexity: That of the base.
  public func main(_ request: Base.Request) async throws -> Base.Response {
    try await ride(request) { _ in }
  }

  /// Rides the run of this request, until it is over.
  fileprivate func ride(
    _ request: Base.Request, _ listener: @escaping SharedRun.Listener
  ) async throws -> Base.Response {
    let (rider, run) = try board(request)
    defer { run.leave(rider) }
    if runs.isReporting { run.listen(rider, listener) }
    let bodies = HeldSlots.runs.compactMap { $0 as? SharedRun }
    for body in bodies { body.awaits(run) }
    defer { for body in bodies { body.awaitsNoLonger(run) } }
    if !bodies.isEmpty, run.isOrAwaits(oneOf: bodies) { throw UseCaseDeadlock() }
    // There is none if the rider was cancelled just now.
    guard let operation = await run.executedOperation() as? SharedRuns<Base>.Operation else {
      throw CancellationError()
    }
    do {
      return try await operation.value
    } catch {
      if case .cancelled(let reason)? = operation.verdict {
        HeldSlots.noteCancellation(ofCall: reason)
      }
      throw error
    }
  }

  /// Returns the run that the operation around this body rides since it was executed. The body of a
  /// client's wrapper boards here.
  private func board(
    _ request: Base.Request
  ) throws -> (rider: UseCaseOperationID, run: SharedRun) {
    if let rider = HeldSlots.innermost {
      // An operation that was cancelled just now has left, and starts no other run.
      if rider.verdict != nil { throw CancellationError() }
      if let run = rider.dependents?.ride as? SharedRun, run.table === runs.table {
        return (rider.id, run)
      }
    }
    let rider = UseCaseOperationID.next()
    return (rider, runs.board(rider, request, isCall: true))
  }
}

extension SharedUseCase: ReportingUseCase where Base: ReportingUseCase {
  /// Waits for the outcome of the run, and reports its updates, from the newest one that it has
  /// reported before this execution.
  ///
  /// - Parameters:
  ///   - request: The input of the use case.
  ///   - report: Receives the updates of the run.
  /// - Returns: The response of the run.
  /// - Throws: As ``main(_:)`` does.
  /// - Complexity: That of the base.
  @_documentation(visibility: internal)
  public func main(
    _ request: Base.Request, report: @escaping @Sendable (Base.Update) -> Void
  ) async throws -> Base.Response {
    try await ride(request) { update in
      guard let update = update as? Base.Update else {
        preconditionFailure("\(Base.self) reports \(Base.Update.self), and no \(type(of: update)).")
      }
      report(update)
    }
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
  /// A rider counts as running while its run waits for a slot. The timeout applies to the run, not
  /// to each rider. A body that awaits its own run gets ``UseCaseDeadlock``.
  ///
  /// If this is a ``ReportingUseCase``, so is the returned use case. Each rider receives the updates
  /// of the run, from the newest one that was reported before the rider came.
  ///
  /// The request must be `Hashable`, or `Void`: all executions without a request share one run. The
  /// library may hold a lock while it calls `==` and `hash(into:)` of a request, so these must not
  /// use the library.
  ///
  /// Copies of the returned use case share their runs. Use cases from two calls of `shared()` don't
  /// share runs. The idea is that of `singleflight` in Go.
  ///
  /// - Returns: The use case. Store it: another call of `shared()` returns a use case with runs of
  ///   its own.
  public func shared() -> SharedUseCase<Self> { SharedUseCase(self) { RequestKey($0) } }
}

extension UseCase where Request == Void {
  /// Returns a use case whose executions share one *run* while it lasts, an operation of this use
  /// case.
  ///
  /// In all else it is as for a use case with a `Hashable` request.
  ///
  /// - Returns: The use case. Store it: another call of `shared()` returns a use case with runs of
  ///   its own.
  @_documentation(visibility: internal)
  public func shared() -> SharedUseCase<Self> { SharedUseCase(self) { RequestKey(true) } }
}

/// Makes the runs of one shared use case.
///
/// The use cases of the riders keep this object, and their queue does not: an operation that has
/// ended keeps its queue, and nothing of the base.
private final class SharedRuns<Base: UseCase>: Sendable {
  typealias Operation = UseCaseOperation<Base.Request, Base.Response>

  let base: Base
  let isReporting: Bool
  let table = RunTable()

  private let useCaseType: any Any.Type
  private let key: @Sendable (Base.Request) -> RequestKey

  init(
    of base: Base, useCaseType: any Any.Type,
    _ key: @escaping @Sendable (Base.Request) -> RequestKey
  ) {
    self.base = base
    isReporting = base is any ReportingUseCase
    self.useCaseType = useCaseType
    self.key = key
  }

  /// The task of a rider is about to be made.
  func submitted(_ rider: any QueueMember, urgency: UInt8, isCall: Bool) {
    // A client's wrapper has a body of its own, which boards when it comes to it.
    guard rider.useCaseType == useCaseType || rider.baseType == useCaseType,
      let rider = rider as? Operation
    else { return }
    let run = board(
      rider.id, rider.request, keeping: rider, urgency: urgency, isCall: isCall)
    // The run delivers through its riders, so it counts in its queue until they have ended.
    rider.dependents?.ride = run
    rider.core.release(from: run)
    // A run that is about to be made is raised when the body of the rider awaits it.
    run.operation?.raise(to: rider.urgency)
    // The queue of the base has dropped the run.
    if case .cancelled(let reason)? = run.operation?.verdict { rider.cancel(reason) }
    // Another thread may have found the queue, and cancelled the operations in it.
    if rider.verdict != nil { run.leave(rider.id) }
  }

  /// Lets the execution ride the run of the request. If there is none, it executes one.
  func board(
    _ rider: UseCaseOperationID, _ request: Base.Request, keeping member: Operation? = nil,
    urgency: UInt8 = 0, isCall: Bool
  ) -> SharedRun {
    let key = key(request)
    while true {
      let known = table.run(of: key)
      let run = known ?? SharedRun(key, in: table, first: rider, isCall: isCall)
      if let member { run.keepBoarding(member) }
      if run.board(rider) {
        if known != nil { return run }
        if table.enter(run) {
          start(run, request, urgency: urgency, isCall: isCall)
          return run
        }
      }
      if member != nil { run.release(rider) }
      table.close(run)
    }
  }

  private func start(
    _ run: SharedRun, _ request: Base.Request, urgency: UInt8, isCall: Bool
  ) {
    let operation = Operation(
      of: RunBody(of: self, reportingTo: run), request, queue: base.queue(for: request),
      useCaseType: Base.self, isCall: isCall, run: run)
    run.start(operation) { operation.submit(urgency: urgency, isCall: isCall) }
  }
}

/// The use case of a run, which has its queue already.
private struct RunBody<Base: UseCase>: UseCase, DescribedUseCase {
  private let runs: SharedRuns<Base>
  private let run: SharedRun

  init(of runs: SharedRuns<Base>, reportingTo run: SharedRun) {
    self.runs = runs
    self.run = run
  }

  var described: (any DescribedUseCase)? { runs.base as? any DescribedUseCase }
  var timeout: Duration { runs.base.timeout }
  var baseType: any Any.Type { described?.baseType ?? Base.self }

  func main(_ request: Base.Request) async throws -> Base.Response {
    guard runs.isReporting,
      let base = runs.base as? any ReportingUseCase & UseCase<Base.Request, Base.Response>
    else { return try await runs.base.main(request) }
    return try await base.main(request) { [run] in run.report($0) }
  }
}
