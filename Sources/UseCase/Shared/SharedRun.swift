import UseCaseInternals

/// One run, and the executions that share it.
///
/// It does not depend on the types of its request and response: code that knows these only as
/// parameters looks up the metadata of all that it touches. It keeps nothing of the run but the
/// operation.
final class SharedRun: SharedRunning {
  typealias Listener = @Sendable (any Sendable) -> Void
  private typealias Machine = RunMachine<
    any QueueMember, UnsafeContinuation<Void, Never>, any Sendable, Listener
  >

  let key: RequestKey
  let table: RunTable
  /// The rider whose execution makes the run, if that is a call. Its caller is that of the run.
  private let firstCall: UseCaseOperationID?
  private let machine = Lock(Machine())
  /// The runs that the body of this one awaits, each with how often.
  private let awaited = Lock<[ObjectIdentifier: (run: SharedRun, count: Int)]>([:])

  init(_ key: RequestKey, in table: RunTable, first: UseCaseOperationID, isCall: Bool) {
    self.key = key
    self.table = table
    firstCall = isCall ? first : nil
  }

  /// The operation that the riders share, once it is made.
  var operation: (any QueueMember)? { machine.withLock { $0.run } }

  func isAboard(_ rider: UseCaseOperationID) -> Bool { machine.withLock { $0.isAboard(rider) } }

  func board(_ rider: UseCaseOperationID) -> Bool {
    if operation?.verdict != nil { return false }
    return machine.withLock { $0.board(rider) }
  }

  /// Executes the operation.
  func start(_ operation: any QueueMember, _ submit: () -> Void) {
    for _ in 0..<machine.withLock({ $0.made(operation) }) { operation.riderComes() }
    submit()
    let start = machine.withLock { $0.started() }
    for waiter in start.waiters { waiter.resume() }
    if let unwanted = start.unwanted { end(unwanted) }
  }

  /// Returns the operation, as soon as it is executed. Nil if all riders have left.
  nonisolated(nonsending) func executedOperation() async -> (any QueueMember)? {
    if let operation = machine.withLock({ $0.executed }) { return operation }
    await withUnsafeContinuation { waiter in
      machine.withLock { $0.awaitExecution(waiter) }?.resume()
    }
    return machine.withLock { $0.executed }
  }

  func leave(_ rider: UseCaseOperationID) {
    callIsOver(rider)
    if let operation = machine.withLock({ $0.leave(rider) }).run { end(operation) }
  }

  /// The last rider has left.
  private func end(_ operation: any QueueMember) {
    table.close(self)
    if operation.verdict == nil { operation.cancel(.requested) }
  }

  /// A run that the call has begun goes on without the slots of the caller, and does not keep its
  /// operation.
  func callIsOver(_ rider: UseCaseOperationID) {
    if rider == firstCall { operation?.callIsOver() }
  }

  func raise(_ rider: UseCaseOperationID, to urgency: UInt8) {
    if isAboard(rider) { operation?.raise(to: urgency) }
  }

  // MARK: - Handlers of riders

  func keep(_ rider: any QueueMember) { keep(rider, isBoarding: false) }

  /// Keeps a rider from before it boards, so that the run never seems to have no rider left.
  func keepBoarding(_ rider: any QueueMember) { keep(rider, isBoarding: true) }

  private func keep(_ rider: any QueueMember, isBoarding: Bool) {
    machine.withLock { $0.keep(rider.id, rider, isBoarding: isBoarding) }?.riderComes()
  }

  func release(_ rider: UseCaseOperationID) {
    machine.withLock { $0.release(rider) }?.run?.riderHasEnded()
  }

  func supersedeRiders() {
    for rider in machine.withLock({ $0.supersede() }) { rider.cancel(.superseded) }
  }

  // MARK: - Updates

  /// The operation reports to all riders.
  func report(_ update: any Sendable) {
    let report = machine.withLock { $0.report(update) }
    for listener in report.listeners { listener(update) }
  }

  /// From now on, the rider receives the updates by its listener.
  func listen(_ rider: UseCaseOperationID, _ listener: @escaping Listener) {
    while case let updates = machine.withLock({ $0.listen(rider, listener) }), !updates.isEmpty {
      for update in updates { listener(update) }
    }
  }

  // MARK: - Deadlocks

  func isDeadlock(_ rider: UseCaseOperationID) -> Bool {
    isAboard(rider) && (isOrAwaits(oneOf: HeldSlots.runs) || operation?.isDeadlock ?? false)
  }

  func awaits(_ other: SharedRun) {
    awaited.withLock { $0[ObjectIdentifier(other), default: (other, 0)].count += 1 }
  }

  func awaitsNoLonger(_ other: SharedRun) {
    awaited.withLock { awaited in
      let count = awaited[ObjectIdentifier(other)]?.count ?? 0
      awaited[ObjectIdentifier(other)] = count > 1 ? (other, count - 1) : nil
    }
  }

  /// Whether this run is one of the others, or awaits one by way of any number of runs.
  ///
  /// - Complexity: O(*n*) in the number of runs that this one awaits.
  func isOrAwaits(oneOf others: [any SharedRunning]) -> Bool {
    var (next, seen) = ([self], Set([ObjectIdentifier(self)]))
    while let run = next.popLast() {
      if others.contains(where: { $0 === run }) { return true }
      for (id, other) in run.awaited.withLock({ $0 }) where seen.insert(id).inserted {
        next.append(other.run)
      }
    }
    return false
  }
}

/// The runs of a shared use case that may be boarded.
final class RunTable: Sendable {
  private let runs = Lock<[RequestKey: SharedRun]>([:])

  /// Returns the run of a request.
  func run(of key: RequestKey) -> SharedRun? { runs.withLock { $0[key] } }

  /// Enters a run, unless there is one of its request.
  func enter(_ run: SharedRun) -> Bool {
    runs.withLock { runs in
      guard runs[run.key] == nil else { return false }
      runs[run.key] = run
      return true
    }
  }

  /// Takes a run out, unless another one has taken its place. Later executions of the request start
  /// another run.
  func close(_ run: SharedRun) {
    // The key is released outside of the lock.
    _ = runs.withLock { runs -> RequestKey? in
      guard let index = runs.index(forKey: run.key), runs[index].value === run else { return nil }
      return runs.remove(at: index).key
    }
  }
}

/// A request, as the key of its run.
///
/// Keys with different hashes are different: a comparison of the requests by way of their types costs
/// a thousand instructions.
struct RequestKey: Hashable, Sendable {
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
