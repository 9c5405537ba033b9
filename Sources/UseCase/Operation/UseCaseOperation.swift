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
/// success or a failure when the body has returned, after a cancellation or a timeout at once. Each
/// `finally` runs last, when the body has returned. At each of these moments, handlers run one at a
/// time, in the order in which they were attached.
///
/// An operation is in its queue until it has *ended*: its body has returned, and its handlers have
/// run. Until then it holds its slot.
///
/// Releasing an operation doesn't cancel it.
public final class UseCaseOperation<Request: Sendable, Response: Sendable>: Sendable, Identifiable {
  @usableFromInline let core: OperationCore

  /// The input of the use case.
  public let request: Request

  // The types of these parts are generic. A `Mutex` of such a type would cost three look-ups of
  // metadata at the end of every operation. So each part has a rule of access instead.

  /// Used by the thread that executes, then only by the task of the body, which takes it.
  ///
  /// Written `Optional<…>`, it isn't set to nil first, as `…?` is: the initializer releases nothing.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var useCase: Optional<any UseCase<Request, Response>>

  /// Written only by the task of the body, before the verdict of success. Others read it only after
  /// that verdict, so the task may take back a response that comes after a different verdict.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var response: (any AnyResponse<Response>)?

  @inlinable
  init(_ core: OperationCore, of useCase: any UseCase<Request, Response>, _ request: Request) {
    self.core = core
    self.request = request
    self.useCase = useCase
  }

  /// The identity of the operation. Each later execution has a higher identity.
  public var id: UseCaseOperationID { core.id }

  /// The stage of the operation: waiting, running, or finished.
  public var state: UseCaseOperationState { core.state }

  /// The priority that `execute` was given, or that was current there.
  ///
  /// It grows by ``raise(to:)``, and to the priority of the code that waits: of a task when it begins
  /// to await ``value``, and of an operation that waits for the only slot of the queue while this one
  /// holds it. If the system raises a task that awaits a call, or that awaits in a body, it grows, too.
  public var priority: TaskPriority { TaskPriority(rawValue: core.urgency) }

  /// Raises the priority, if it is lower.
  ///
  /// A waiting operation moves forward if its queue has a line ``UseCaseQueue/Policy/byPriority``.
  /// The task of the body is escalated where the system can do so: on Linux, and from macOS 26 and
  /// iOS 26 on, and so are the handlers.
  ///
  /// - Parameter priority: A lower one than the present one changes nothing.
  public func raise(to priority: TaskPriority) { core.raise(to: priority.rawValue) }

  /// The outcome of the operation, `nil` until it is finished.
  @inlinable public var outcome: UseCaseOutcome<Response>? {
    guard let verdict = core.verdict else { return nil }
    return outcome(of: verdict)
  }

  /// The response, as soon as the operation has succeeded and left its queue.
  ///
  /// A later `execute` then finds room on the queue. If the operation is cancelled or times out,
  /// `value` throws at once, and doesn't wait for the body to return. To wait for the body, use
  /// ``ended()``. A task that is cancelled while it awaits the value stops waiting, and the operation
  /// goes on: to cancel the operation with the task, use ``valueOrCancel()``.
  ///
  /// - Throws: The failure of the operation; `CancellationError` if the operation or the awaiting
  ///   task was cancelled; ``UseCaseDeadlock`` if a body awaits its own operation, or one that waits
  ///   for the only slot of a queue, which this body holds.
  @inlinable nonisolated(nonsending) public var value: Response {
    @inline(__always) get async throws { try await value(cancels: false) }
  }

  /// Waits for the response as the call form does: cancelling the awaiting task cancels the
  /// operation, for every task that awaits it.
  ///
  /// Use it for an operation that has no call form, such as an undo or a group of a history.
  ///
  /// - Returns: The response.
  /// - Throws: The errors of ``value``.
  @inlinable
  nonisolated(nonsending) public func valueOrCancel() async throws -> Response {
    try await value(cancels: true)
  }

  /// Submits the operation, and awaits its value. The operation is cancelled, and raised, with the task
  /// that awaits it.
  @inlinable @inline(__always)
  nonisolated(nonsending) func call() async throws -> Response {
    if let refusal = core.refusal { throw refusal }
    core.callIsAwaited()
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      submit(isCall: true)
      return try await value(cancels: true)
    }
    // The handler is there before the priority of the task is read, so it misses nothing.
    return try await withTaskPriorityEscalationHandler {
      submit(isCall: true)
      return try await value(cancels: true)
    } onPriorityEscalated: { _, priority in
      raise(to: priority)
    }
  }

  /// The value; `cancels` cancels the operation with the task that awaits it.
  @inlinable @inline(__always)
  nonisolated(nonsending) func value(cancels: Bool) async throws -> Response {
    let isInBody = HeldSlots.hasHolder
    if isInBody, core.isDeadlock {
      if cancels {
        core.callIsAwaited()
        core.concludeEarly(.failure(UseCaseDeadlock()))
      }
      throw UseCaseDeadlock()
    }
    core.raiseToCurrent()
    let isSettled = isInBody ? await settleInBody(cancels: cancels) : await settle(cancels: cancels)
    // A generic outcome would cost a look-up of metadata.
    let verdict = core.verdict(isCall: cancels)
    if isSettled, case .success? = verdict, let response { return response.value }
    if cancels, isInBody, core.mayHaveEffect { HeldSlots.noteInterruption() }
    guard isSettled else { throw CancellationError() }
    switch verdict {
    case .failure(let error)?: throw error
    case .cancelled(let reason)?: if cancels { HeldSlots.noteCancellation(ofCall: reason) }
    case .success?, nil: break
    }
    throw CancellationError()
  }

  /// Waits for an early outcome or the end. Returns false if the awaiting task is cancelled first, and
  /// in a call also if it is cancelled when the operation has just ended.
  @inlinable @inline(__always)
  nonisolated(nonsending) func settle(cancels: Bool) async -> Bool {
    let wait = core.nextWait()
    let isSettled = await withTaskCancellationHandler {
      await withUnsafeContinuation { core.awaitValue($0, wait, cancels: cancels) }
    } onCancel: {
      if cancels { core.abandonCall(wait) } else { core.abandon(wait) }
    }
    return isSettled && !(cancels && wait.isAbandoned)
  }

  /// Waits in the body of another operation. If that is raised, so is this one, which holds it up.
  @usableFromInline
  nonisolated(nonsending) func settleInBody(cancels: Bool) async -> Bool {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
      return await settle(cancels: cancels)
    }
    return await withTaskPriorityEscalationHandler {
      core.raiseToCurrent()
      return await settle(cancels: cancels)
    } onPriorityEscalated: { _, priority in
      raise(to: priority)
    }
  }

  /// Waits until the operation has ended: the body has returned, and all handlers attached so far
  /// have run.
  ///
  /// The cancellation of the awaiting task changes nothing.
  ///
  /// Don't await `ended()` in the body of the operation, or in one that holds the slot for which the
  /// operation waits: neither would ever end. Called by the body itself, it traps in a debug build.
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
  /// After `cancel()` has returned, no `then`, `catch` or `common` that runs on the caller's actor
  /// begins, even if the operation already had an outcome. In that case, `onCancel` and
  /// `finally` run instead and receive a cancellation. The ``outcome`` property keeps its value.
  ///
  /// Cancelling an operation again has no effect. `cancel()` also has no effect once the operation
  /// has run all its handlers, or has begun the last `then`, `catch` or `common` for its outcome,
  /// or has none of these and has begun a `finally`.
  public func cancel() { core.concludeEarly(.cancelled(.requested)) }

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
