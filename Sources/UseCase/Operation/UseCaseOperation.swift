/// A single execution of a use case, with its request, its handlers and its outcome.
///
/// ```swift
/// let operation = search.execute("swift")
///   .then { results in print(results) }
///   .catch { error in print(error) }
///   .finally { print("done") }
/// ```
///
/// A handler runs in the isolation of the code that attaches it: on the main actor, or on another
/// actor if the closure uses that actor's state. Otherwise it runs on no actor. ``onStart(_:)`` and
/// updates come first. `then`, `catch`, `common` and `onCancel` run when there is an outcome: after a
/// success or a failure of the body as soon as its slot is free, after a cancellation or a timeout at
/// once. Each `finally` runs last, when the body has returned and the slot is free. At each of these
/// moments, handlers run one at a time, in the order in which they were attached.
///
/// Releasing an operation doesn't cancel it.
public final class UseCaseOperation<Request: Sendable, Response: Sendable>: Sendable, Identifiable {
  @usableFromInline let core: OperationCore

  /// The input of the use case.
  public let request: Request

  // The types of these parts are those of the operation. A `Mutex` of a generic type would cost
  // three look-ups of metadata at the end of every operation. So each part has a rule instead.

  /// Used by the thread that executes, then only by the task of the body, which takes it.
  ///
  /// On a queue with a delegate, the task leaves it in place until the body has returned, and removes
  /// it under the lock of the core. The delegate may read it under that lock, to ask for a title.
  ///
  /// The long form of the type has no value at first, so the initializer need not release one.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var useCase: Optional<any UseCase<Request, Response>>

  /// Written only by the task of the body, before the verdict of success. Others read it only after
  /// this verdict, so the task may take back a response that came after another one.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var response: (any AnyResponse<Response>)?

  @inlinable
  init(
    of useCase: (any UseCase<Request, Response>)?, _ request: Request, queue: UseCaseQueue,
    useCaseType: any Any.Type, isCall: Bool
  ) {
    core = OperationCore(queue: queue, useCaseType: useCaseType, isCall: isCall)
    self.request = request
    self.useCase = useCase
  }

  /// Creates an operation that is a shared run.
  init(
    of useCase: any UseCase<Request, Response>, _ request: Request, queue: UseCaseQueue,
    useCaseType: any Any.Type, isCall: Bool, run: any SharedRunning
  ) {
    core = OperationCore(queue: queue, useCaseType: useCaseType, isCall: isCall, run: run)
    self.request = request
    self.useCase = useCase
  }

  /// The identity of the operation. Each later execution has a higher identity.
  public var id: UseCaseOperationID { core.source.id }

  /// The stage of the operation: waiting, running, or finished.
  public var state: UseCaseOperationState { core.state }

  /// The priority that `execute` was given, or that was current there.
  ///
  /// It grows by ``raise(to:)``, and with the priority of the code that waits: of a task that awaits
  /// ``value``, of an operation that waits for the only slot of the queue while this one holds it, and
  /// of the executions that ride a shared run.
  public var priority: TaskPriority { TaskPriority(rawValue: core.urgency) }

  /// Raises the priority, if it is lower.
  ///
  /// A waiting operation moves forward if its queue has a line ``UseCaseQueue/Policy/byPriority``.
  /// The task of the body is escalated where the system can do so: on Linux, and from macOS 26 and
  /// iOS 26 on. Raising an operation that has its outcome has no effect on it.
  ///
  /// - Parameter priority: A lower one than the present one changes nothing.
  public func raise(to priority: TaskPriority) { core.raise(to: priority.rawValue) }

  /// The outcome of the operation, `nil` until it is finished.
  @inlinable public var outcome: UseCaseOutcome<Response>? {
    guard let verdict = core.verdict else { return nil }
    return outcome(of: verdict)
  }

  /// The response, as soon as the operation has succeeded and its slot is free.
  ///
  /// If the operation is cancelled or times out, `value` throws at once, and doesn't wait for the
  /// body to return. To wait for the body, use ``ended()``. A task that is cancelled while it
  /// awaits the value stops waiting, and the operation goes on.
  ///
  /// - Throws: The failure of the operation; `CancellationError` if the operation or the awaiting
  ///   task was cancelled; ``UseCaseDeadlock`` if a body awaits the value of an operation that
  ///   waits for this body: the body holds the only slot of the operation's queue, or the operation
  ///   shares a run that can't end before the body returns.
  @inlinable nonisolated(nonsending) public var value: Response {
    @inline(__always) get async throws { try await value(isCall: false) }
  }

  /// Submits the operation, and awaits its value. The operation is cancelled, and raised, with the task
  /// that awaits it.
  @inlinable @inline(__always)
  nonisolated(nonsending) func call() async throws -> Response {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      submit(isCall: true)
      return try await value(isCall: true)
    }
    // The handler is there before the priority of the task is read, so it misses nothing.
    return try await withTaskPriorityEscalationHandler {
      submit(isCall: true)
      return try await value(isCall: true)
    } onPriorityEscalated: { _, priority in
      raise(to: priority)
    }
  }

  /// The value; `isCall` cancels the operation with the task that awaits it.
  @inlinable @inline(__always)
  nonisolated(nonsending) func value(isCall: Bool) async throws -> Response {
    if core.isDeadlock {
      if isCall { concludeEarly(.failure(UseCaseDeadlock())) }
      throw UseCaseDeadlock()
    }
    if !isCall { core.raiseToCurrent() }
    let isSettled =
      !isCall && HeldSlots.hasHolder ? await settleInBody() : await settle(isCall: isCall)
    guard isSettled else { throw CancellationError() }
    // In generic code, an outcome would be looked up by its type.
    switch core.verdict {
    case .success?: if let response { return response.value }
    case .failure(let error)?: throw error
    case .cancelled(let reason)?: if isCall { HeldSlots.noteCancellation(ofCall: reason) }
    case nil: break
    }
    throw CancellationError()
  }

  /// Waits for the outcome. Returns false if the awaiting task is cancelled first, and in a call also
  /// if it is cancelled when the operation has just concluded.
  @inlinable @inline(__always)
  nonisolated(nonsending) func settle(isCall: Bool) async -> Bool {
    let wait = core.nextWait()
    let isSettled = await withTaskCancellationHandler {
      await withUnsafeContinuation { core.awaitValue($0, wait) }
    } onCancel: {
      if isCall { concludeEarly(.cancelled(.requested)) }
      core.abandon(wait)
    }
    return isSettled && !(isCall && wait.isAbandoned)
  }

  /// Waits in the body of another operation. If that is raised, so is this one, which holds it up.
  @usableFromInline
  nonisolated(nonsending) func settleInBody() async -> Bool {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      return await settle(isCall: false)
    }
    return await withTaskPriorityEscalationHandler {
      core.raiseToCurrent()
      return await settle(isCall: false)
    } onPriorityEscalated: { _, priority in
      raise(to: priority)
    }
  }

  /// Waits until the body has returned, the slot is free, and all handlers attached so far have
  /// run.
  ///
  /// The cancellation of the awaiting task changes nothing.
  ///
  /// Don't await `ended()` in a body that holds the slot for which the operation waits: neither the
  /// body nor the operation would ever end.
  ///
  /// - Returns: The outcome.
  @inlinable @discardableResult
  nonisolated(nonsending) public func ended() async -> UseCaseOutcome<Response> {
    await core.ended()
    guard let outcome else { preconditionFailure("An operation that has ended has an outcome.") }
    return outcome
  }

  /// Cancels the operation, for the reason ``UseCaseCancellation/requested``.
  ///
  /// A waiting operation never starts. The task of a running operation is cancelled, and its late
  /// response or error is ignored.
  ///
  /// After `cancel()` has returned, no `then`, `catch` or `common` that runs in the caller's
  /// isolation begins, even if the operation already had an outcome. In that case, `onCancel` and
  /// `finally` run instead and receive a cancellation. The ``outcome`` property keeps its value.
  ///
  /// Cancelling an operation again has no effect. `cancel()` also has no effect once the operation
  /// has run all its handlers, or has begun the last `then`, `catch` or `common` for its outcome,
  /// or has none of these and has begun a `finally`.
  public func cancel() { concludeEarly(.cancelled(.requested)) }

  @inlinable @inline(__always)
  func outcome(of verdict: Verdict) -> UseCaseOutcome<Response>? {
    switch verdict {
    case .success: response.map { .success($0.value) }
    case .failure(let error): .failure(error)
    case .cancelled(let reason): .cancelled(reason)
    }
  }
}

/// A response in a box of a fixed size.
///
/// An `Optional` of a generic type would cost a look-up of metadata at the end of every operation.
@usableFromInline
protocol AnyResponse<Value>: Sendable {
  associatedtype Value
  var value: Value { get }
}

@usableFromInline
struct SomeResponse<Value: Sendable>: AnyResponse {
  @usableFromInline let value: Value

  @inlinable
  init(_ value: Value) {
    self.value = value
  }
}
