import UseCaseInternals

/// One run, and the executions that share it.
///
/// It does not depend on the types of its request and response: code that knows these only as
/// parameters looks up the metadata of all that it touches.
final class SharedRun: Sendable {
  typealias Listener = @Sendable (any Sendable) -> Void
  private typealias Machine = RunMachine<
    any QueueMember, UnsafeContinuation<Void, Never>, any Sendable, Listener
  >

  let key: RequestKey
  let ride = Ride()
  /// The rider whose execution makes the run, if that is a call. Its caller is that of the run.
  private let firstCall: UseCaseOperationID?
  private let machine: Lock<Machine>

  init(_ key: RequestKey, first: UseCaseOperationID, isCall: Bool) {
    self.key = key
    firstCall = isCall ? first : nil
    machine = Lock(Machine(first: first))
  }

  /// The operation that the riders share, once it is made.
  var operation: (any QueueMember)? { machine.withLock { $0.run } }

  func board(_ rider: UseCaseOperationID) -> Bool {
    if operation?.verdict != nil { return false }
    return machine.withLock { $0.board(rider) }
  }

  /// Executes the operation. Returns it if it is to be cancelled, because all riders have left.
  func start(_ operation: any QueueMember, _ submit: () -> Void) -> (any QueueMember)? {
    machine.withLock { $0.made(operation) }
    ride.made(operation)
    submit()
    let start = machine.withLock { $0.started() }
    for waiter in start.waiters { waiter.resume() }
    return start.unwanted
  }

  /// Returns the operation, as soon as it is executed. Nil if all riders have left.
  nonisolated(nonsending) func executedOperation() async -> (any QueueMember)? {
    if let operation = machine.withLock({ $0.executed }) { return operation }
    await withUnsafeContinuation { waiter in
      machine.withLock { $0.awaitExecution(waiter) }?.resume()
    }
    return machine.withLock { $0.executed }
  }

  /// A rider leaves. Returns the operation if this was the last one.
  func leave(_ rider: UseCaseOperationID) -> (any QueueMember)? {
    callIsOver(rider)
    return machine.withLock { $0.leave(rider) }.run
  }

  /// The body that has called this rider awaits it no longer. A run that it has begun goes on
  /// without the slots of this body, and does not keep its operation.
  func callIsOver(_ rider: UseCaseOperationID) {
    if rider == firstCall { operation?.callIsOver() }
  }

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
}

/// A request, as the key of its run.
struct RequestKey: Hashable, Sendable {
  private let request: any Hashable & Sendable

  init(_ request: some Hashable & Sendable) {
    self.request = request
  }

  static func == (left: Self, right: Self) -> Bool {
    func isEqual<Request: Hashable>(_ request: Request) -> Bool {
      request == right.request as? Request
    }
    return isEqual(left.request)
  }

  func hash(into hasher: inout Hasher) { request.hash(into: &hasher) }
}
