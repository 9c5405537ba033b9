public import Synchronization

/// One execution of a use case, once: its request, its handlers and its outcome.
///
/// ```swift
/// let operation = search.execute("swift")
///   .then { results in print(results) }
///   .catch { error in print(error) }
///   .finally { print("done") }
/// ```
///
/// Handlers run one at a time, in the order in which they were attached, each on the isolation
/// that it was written in: on the main actor when attached from there, on an actor when attached
/// in one and using it, else on no actor. When they run, the slot of the operation is free.
///
/// Letting go of an operation does not cancel it.
public final class UseCaseOperation<Request: Sendable, Response: Sendable>: Sendable, Identifiable {
  @usableFromInline let core: OperationCore

  /// What the use case was asked.
  ///
  /// - Complexity: O(1).
  public let request: Request

  // What the types of the operation are needed for. It is touched only in closures that the core
  // runs under its lock, which makes it as safe as a `Mutex` would; the difference is that a
  // `Mutex` of a generic type costs three metadata look-ups at the end of every operation. Two
  // things need no lock: the use case is set before anybody else sees the operation, and taken by
  // the task of the body; the response is set by that task before the verdict of success, and read
  // by those alone who have seen this verdict.
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var useCase: (any UseCase<Request, Response>)?
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var handlers = Handlers<Response>()
  @exclusivity(unchecked) @usableFromInline
  nonisolated(unsafe) var response: (any AnyResponse<Response>)?

  @inlinable
  init(_ request: Request, queue: UseCaseQueue, useCase: any Any.Type, isCall: Bool) {
    core = OperationCore(queue: queue, useCase: useCase, isCall: isCall)
    self.request = request
  }

  /// The identity of the operation. It grows in order of `execute`.
  ///
  /// - Complexity: O(1).
  public var id: UseCaseOperationID { core.id }

  /// How far the operation has come.
  ///
  /// - Complexity: O(1).
  public var state: UseCaseOperationState { core.state }

  /// What became of the operation, nil until it is finished.
  ///
  /// - Complexity: O(1).
  @inlinable public var outcome: UseCaseOutcome<Response>? {
    core.verdict.flatMap(outcome(of:))
  }

  /// The response, as soon as the operation has succeeded and its slot is free.
  ///
  /// A task that is cancelled while it awaits the value stops waiting; the operation goes on.
  /// For an operation that is cancelled, or whose time passes, this throws at once and does not
  /// wait for the body to return: that is what ``ended()`` does.
  ///
  /// - Throws: The failure of the operation; `CancellationError` if the operation or the awaiting
  ///   task was cancelled; ``UseCaseDeadlock`` if the operation waits for a slot that only the
  ///   awaiting body holds.
  /// - Complexity: O(1), the wait aside.
  @inlinable public var value: Response {
    get async throws { try await value(isCall: false) }
  }

  @inlinable
  func value(isCall: Bool) async throws -> Response {
    if core.isDeadlock { throw UseCaseDeadlock() }
    let place = Atomic<Int32>(0)
    let isSettled = await withTaskCancellationHandler {
      await withUnsafeContinuation { core.hold($0, at: place) }
    } onCancel: {
      core.abandon(place, isCall: isCall)
    }
    // A call may be cancelled when the operation has just settled, or just before it is awaited.
    guard isSettled, !(isCall && Task.isCancelled), let outcome else { throw CancellationError() }
    return try outcome.get()
  }

  /// Waits for the real end: the body has returned, the slot is free and all handlers attached
  /// so far have run. The cancellation of the awaiting task changes nothing.
  ///
  /// A body that awaits the end of an operation that waits for its slot waits for ever.
  ///
  /// - Returns: The outcome.
  /// - Complexity: O(1), the wait aside.
  @inlinable @discardableResult
  public func ended() async -> UseCaseOutcome<Response> {
    await core.ended()
    return outcome ?? .cancelled(.requested)
  }

  /// Cancels the operation, as ``UseCaseCancellation/requested``.
  ///
  /// One that waits never starts. One that runs has its task cancelled, and what its body still
  /// returns or throws is ignored. When this has returned, no `then`, `catch` or `common` begins
  /// on the isolation that called it, even if the outcome was there already: the handlers left
  /// out are treated as those of a cancelled operation, the outcome does not change.
  ///
  /// Cancelling again, or when everything has run, changes nothing.
  ///
  /// - Complexity: O(1).
  public func cancel() { core.end(.cancelled(.requested)) }

  /// Cancels the operation when `scope` goes away, as ``UseCaseCancellation/scopeEnded``.
  ///
  /// - Parameter scope: What is to hold the operation until it has ended.
  /// - Returns: The operation itself.
  /// - Complexity: O(1).
  @discardableResult
  public func store(in scope: UseCaseScope) -> Self {
    scope.members.insert(self)
    core.mark(.scope(scope.members))
    return self
  }

  @inlinable
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
