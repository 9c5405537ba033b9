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
  /// The identity of the operation.
  public let id: UseCaseOperationID

  /// The name of the type of the use case. The string is created at each access.
  public var useCase: String { String(describing: type) }

  /// The operation whose body started this one, with `execute` or with the call form,
  /// `try await useCase(request)`. It is `nil` if the operation wasn't started in a body.
  public let parent: UseCaseOperationID?

  let type: any Any.Type

  /// The clock of the queue.
  let clock: any Clock<Duration>

  /// Returns the body with these interceptors around it, the first one outermost.
  func next<Request: Sendable, Response: Sendable>(
    _ interceptors: ArraySlice<any UseCaseInterceptor>, _ body: UseCaseNext<Request, Response>
  ) -> UseCaseNext<Request, Response> {
    guard let first = interceptors.first else { return body }
    let rest = next(interceptors.dropFirst(), body)
    return UseCaseNext { try await first.intercept($0, of: self, next: rest) }
  }
}
