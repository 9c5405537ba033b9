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
    runs = SharedRuns(of: base, key)
    riders = UseCaseQueue(.unlimited) { [weak runs] rider in runs?.board(rider) }
  }

  /// The queue of the base.
  public var queue: UseCaseQueue { runs.base.queue }

  /// The name of the base.
  public var useCaseName: String { runs.base.useCaseName }

  /// Returns the queue of the riders, which is unlimited. The run is executed on the queue that
  /// ``UseCase/queue(for:)`` of the base returns. That method is called once for each run, and in a body
  /// also for each execution.
  ///
  /// - Parameter request: The input of the execution.
  /// - Returns: The queue of all riders of this use case.
  public func queue(for request: Base.Request) -> UseCaseQueue { riders }

  /// Waits for the outcome of the run.
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The response of the run.
  /// - Throws: The failure of the run; `CancellationError` if the run or the awaiting task is
  ///   cancelled.
  /// - Complexity: That of the base.
  public func main(_ request: Base.Request) async throws -> Base.Response {
    if let (run, rider) = runs.runHere {
      // Updates of the base go nowhere. Without a listener, each would wait for one.
      if run.isReporting { run.riders.listen(rider) { _ in } }
      return try await runs.ride(run, rider)
    }
    // A client's wrapper calls `main` in a body of its own, which is no rider.
    return try await self(request)
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
    guard let (run, rider) = runs.runHere else { return try await self(request, report: report) }
    run.riders.listen(rider) { update in
      guard let update = update as? Base.Update else {
        preconditionFailure("\(Base.self) reports \(Base.Update.self), not \(type(of: update)).")
      }
      report(update)
    }
    return try await runs.ride(run, rider)
  }
}

extension SharedUseCase: DescribedUseCase {
  package var baseType: any Any.Type { UseCase::baseType(of: runs.base) }

  package func isHeldInside(for request: Any) -> Bool {
    (request as? Base.Request).map { runs.isHeldHere(for: $0) } ?? false
  }
}

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
  /// of its first rider. So all riders get what the request, the credentials and the context of the
  /// first one have brought: check rights outside of the shared use case. Cancelling a rider doesn't
  /// affect the other riders. When all riders are cancelled, the run is cancelled.
  ///
  /// A rider counts as running while its run waits for a slot. The timeout applies to the run, not
  /// to each rider. Runs that await each other wait until their timeouts.
  ///
  /// In code that holds a slot of the queue of this use case, an execution or a call isn't shared: it
  /// is one of this use case.
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
  public func shared() -> SharedUseCase<Self> { SharedUseCase(self) { _ in RequestKey(true) } }
}

/// The runs of one shared use case.
///
/// The use cases of the riders keep this object, and their queue does not: an operation that has
/// ended keeps its queue, and nothing of the base.
private final class SharedRuns<Base: UseCase>: Sendable {
  typealias Operation = UseCaseOperation<Base.Request, Base.Response>

  /// One run, and the executions that share it.
  struct Run: Sendable {
    let key: RequestKey
    let operation: Operation
    let isReporting: Bool
    let riders: Riders

    func board(_ rider: UseCaseOperationID) -> Bool {
      operation.core.verdict == nil && riders.board(rider)
    }
  }

  let base: Base
  private let described: (any DescribedUseCase)?
  private let key: @Sendable (Base.Request) -> RequestKey
  private let runs = Lock<[RequestKey: Run]>([:])
  /// The runs of the riders that have not ended.
  private let ridden = Lock<[UseCaseOperationID: Run]>([:])

  init(of base: Base, _ key: @escaping @Sendable (Base.Request) -> RequestKey) {
    self.base = base
    described = base as? any DescribedUseCase
    self.key = key
  }

  /// The run of the operation whose body runs here.
  var runHere: (run: Run, rider: UseCaseOperationID)? {
    HeldSlots.innermost.flatMap { rider in
      ridden.withLock { $0[rider.id] }.map { ($0, rider.id) }
    }
  }

  /// An operation on the queue of the riders gets its run. A new one is executed if none can be shared.
  func board(_ rider: any AnyObject & Sendable) {
    // A client's wrapper has a body of its own, and is no rider.
    guard let rider = rider as? Operation, let useCase = rider.useCase,
      baseType(of: useCase) == baseType(of: base)
    else { return }
    let id = rider.id
    let run = isHeldHere(for: rider.request) ? ownRun(of: rider) : sharedRun(of: rider)
    ridden.withLock { $0[id] = run }
    rider.core.context?.ride = run.operation.core
    rider.core.listen(for: .value) { [weak self] _ in Self.leave(run, id, of: self) }
    rider.core.listen(for: .end) { [weak self] _ in
      _ = self?.ridden.withLock { $0.removeValue(forKey: id) }
    }
  }

  /// Whether the running code holds a slot that the run would wait for.
  func isHeldHere(for request: Base.Request) -> Bool {
    guard HeldSlots.hasHolder else { return false }
    return base.queue(for: request).isHeldHere || described?.isHeldInside(for: request) ?? false
  }

  /// Returns a run that the rider shares with nobody: an execution of the base, or a call of it.
  private func ownRun(of rider: Operation) -> Run {
    let isCall = rider.core.isCall
    let run = makeRun(key(rider.request), rider.request, isCall: isCall)
    _ = run.board(rider.id)
    if run.operation.core.refusal == nil {
      run.operation.submit(urgency: rider.core.urgency, isCall: isCall)
    }
    return run
  }

  /// Returns the run that the rider shares.
  private func sharedRun(of rider: Operation) -> Run {
    let key = key(rider.request)
    var made: Run?
    while true {
      let (run, old) = runs.withLock { runs -> (Run?, Run?) in
        if let run = runs[key], run.board(rider.id) { return (run, nil) }
        guard let made, made.board(rider.id) else { return (nil, nil) }
        return (made, runs.updateValue(made, forKey: key))
      }
      withExtendedLifetime(old) {}
      if let run {
        if run.riders === made?.riders {
          run.operation.submit(urgency: rider.core.urgency, isCall: false)
        }
        return run
      }
      made = makeRun(key, rider.request, isCall: false)
    }
  }

  private func makeRun(
    _ key: RequestKey, _ request: Base.Request, isCall: Bool
  ) -> Run {
    let riders = Riders()
    func reporting<Reporting: ReportingUseCase & UseCase<Base.Request, Base.Response>>(
      _ base: Reporting
    ) -> Operation {
      base.operation(for: request, isCall: isCall) { _ in { riders.report($0) } }
    }
    let reportingBase = base as? any ReportingUseCase & UseCase<Base.Request, Base.Response>
    let operation =
      reportingBase.map { reporting($0) } ?? base.operation(for: request, isCall: isCall)
    return Run(
      key: key, operation: operation, isReporting: reportingBase != nil, riders: riders)
  }

  /// Waits for the outcome of the run.
  nonisolated(nonsending) func ride(
    _ run: Run, _ rider: UseCaseOperationID
  ) async throws -> Base.Response {
    defer { Self.leave(run, rider, of: self) }
    if let refusal = run.operation.core.refusal { throw refusal }
    do {
      return try await run.operation.value
    } catch {
      if case .cancelled(let reason)? = run.operation.core.verdict {
        HeldSlots.noteCancellation(ofCall: reason)
      }
      throw error
    }
  }

  /// A rider leaves, if it has not yet. The last one cancels the run, even if the `SharedRuns` have been
  /// released.
  private static func leave(_ run: Run, _ rider: UseCaseOperationID, of runs: SharedRuns?) {
    guard run.riders.leave(rider) else { return }
    _ = runs?.runs.withLock { runs -> (RequestKey, Run)? in
      guard let index = runs.index(forKey: run.key), runs[index].value.riders === run.riders
      else { return nil }
      return runs.remove(at: index)
    }
    if run.operation.core.verdict == nil { run.operation.cancel() }
  }
}

/// The executions that share one run.
private final class Riders: Sendable {
  typealias Listener = @Sendable (any Sendable) -> Void

  private struct Rider: Sendable {
    /// The updates that have come before the rider listens.
    var updates: [any Sendable]
    var listener: Listener?
  }

  private struct State: Sendable {
    var riders: [UseCaseOperationID: Rider] = [:]
    /// Whether the last rider has left.
    var isOver = false
    var newest: (any Sendable)?
  }

  private let state = Lock(State())

  /// A rider boards, unless the last one has left.
  func board(_ rider: UseCaseOperationID) -> Bool {
    state.withLock { state in
      if state.isOver { return false }
      state.riders[rider] = Rider(updates: state.newest.map { [$0] } ?? [])
      return true
    }
  }

  /// A rider leaves. Returns whether it was the last one.
  func leave(_ rider: UseCaseOperationID) -> Bool {
    let (isLast, _) = state.withLock { state -> (Bool, Rider?) in
      let rider = state.riders.removeValue(forKey: rider)
      state.isOver = state.riders.isEmpty
      return (state.isOver && rider != nil, rider)
    }
    return isLast
  }

  /// The run reports.
  func report(_ update: any Sendable) {
    let (listeners, _) = state.withLock { state -> ([Listener], (any Sendable)?) in
      let old = state.newest
      state.newest = update
      for id in state.riders.keys where state.riders[id]?.listener == nil {
        state.riders[id]?.updates.append(update)
      }
      return (state.riders.values.compactMap(\.listener), old)
    }
    for listener in listeners { listener(update) }
  }

  /// From now on, the rider receives the updates by its listener: first those that have come.
  func listen(_ rider: UseCaseOperationID, _ listener: @escaping Listener) {
    while true {
      let updates = state.withLock { state in
        guard let updates = state.riders[rider]?.updates else { return [any Sendable]() }
        state.riders[rider]?.updates = []
        if updates.isEmpty { state.riders[rider]?.listener = listener }
        return updates
      }
      if updates.isEmpty { return }
      for update in updates { listener(update) }
    }
  }
}

/// A request, as the key of its run.
///
/// Keys with different hashes are different: a comparison of the requests by way of their types costs
/// a thousand instructions.
private struct RequestKey: Hashable, Sendable {
  private let request: any Hashable & Sendable
  private let hash: Int

  init(_ request: some Hashable & Sendable) {
    self.request = request
    hash = request.hashValue
  }

  static func == (left: Self, right: Self) -> Bool {
    func isEqual<Request: Hashable>(_ request: Request) -> Bool {
      guard let other = right.request as? Request else { return false }
      return request == other
    }
    return left.hash == right.hash && isEqual(left.request)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}
