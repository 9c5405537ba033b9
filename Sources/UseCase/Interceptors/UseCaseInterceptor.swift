/// Wraps every body of a queue: to log, to measure, to retry, to change requests or errors.
///
/// ```swift
/// struct Log: UseCaseInterceptor {
///   func intercept<Request: Sendable, Response: Sendable>(
///     _ request: Request, of execution: UseCaseExecution,
///     next: UseCaseNext<Request, Response>
///   ) async throws -> Response {
///     print("\(execution.useCase) \(execution.id) begins")
///     defer { print("\(execution.useCase) \(execution.id) is over") }
///     return try await next(request)
///   }
/// }
/// ```
///
/// The timeout of a use case includes the time spent in the interceptors of its queue. If a body
/// calls a use case on a queue whose slot it holds, the interceptors wrap the called body, too.
///
/// The outcome comes when the outermost interceptor has returned. An attempt that it has begun and
/// not awaited, as in stale-while-revalidate, holds the slot until it has returned, too. One that
/// begins later throws `CancellationError`.
public protocol UseCaseInterceptor: Sendable {
  /// Runs around the body of an operation.
  ///
  /// - Parameters:
  ///   - request: The request of the operation.
  ///   - execution: The operation, and the name of its use case.
  ///   - next: The next interceptor, or the body. Call `next` once, several times or never, with
  ///     this request or a different request.
  /// - Returns: The response of the operation.
  /// - Throws: The failure of the operation.
  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
  ) async throws -> Response
}

/// The rest of an execution, as an interceptor sees it: the next interceptor, or the body.
///
/// Call it like a function: `try await next(request)`.
public struct UseCaseNext<Request: Sendable, Response: Sendable>: Sendable {
  private let function: @concurrent @Sendable (Request) async throws -> Response

  init(_ function: @escaping @concurrent @Sendable (Request) async throws -> Response) {
    self.function = function
  }

  /// Runs the next interceptor, or the body. The body runs in the isolation of the use case's type.
  ///
  /// - Parameter request: The request of the operation, or a different request.
  /// - Returns: The response.
  /// - Throws: The error of the next interceptor, or of the body.
  public func callAsFunction(_ request: Request) async throws -> Response {
    try await function(request)
  }
}

/// The operation whose body an interceptor wraps.
public struct UseCaseExecution: Sendable {
  /// The work that `next` does.
  public enum Purpose: Hashable, Sendable {
    /// The `main` of the use case.
    case main
    /// The `undo` of an undoable use case, in a history.
    case undo
    /// The `redo` of an undoable use case, in a history.
    case redo
    /// An `undo` that takes back a group which the end of the process has interrupted. It runs while a
    /// history is opened.
    case recovery
  }

  /// The identity of the operation.
  public let id: UseCaseOperationID

  /// The ``UseCase/useCaseName``.
  public var useCase: String { name() }

  /// The operation whose body started this one, with `execute` or with the call form,
  /// `try await useCase(request)`. It is `nil` if the operation wasn't started in a body.
  public let parent: UseCaseOperationID?

  /// The work that `next` does: ``Purpose/main``, unless a history undoes or redoes.
  public let purpose: Purpose

  private let name: @Sendable () -> String

  /// Pauses before another attempt, on the clock of the queue if there is no other. The pause ends
  /// early at a `flush(retries: true)` of the queue. Throws `CancellationError` if the task is
  /// cancelled, or the error of the clock.
  let pause: @Sendable (Duration, (any Clock<Duration>)?) async throws -> Void

  init(
    id: UseCaseOperationID, parent: UseCaseOperationID?, purpose: Purpose,
    name: @escaping @Sendable () -> String,
    pause: @escaping @Sendable (Duration, (any Clock<Duration>)?) async throws -> Void
  ) {
    (self.id, self.parent, self.purpose, self.name, self.pause) = (id, parent, purpose, name, pause)
  }
}
