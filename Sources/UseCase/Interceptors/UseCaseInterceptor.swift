/// Wraps every body of a queue: to log, to measure, to retry, to change requests or errors.
///
/// ```swift
/// struct Log: UseCaseInterceptor {
///   func intercept<Request: Sendable, Response: Sendable>(
///     _ request: Request, of execution: UseCaseExecution,
///     next: @Sendable (Request) async throws -> Response
///   ) async throws -> Response {
///     print("\(execution.useCase) \(execution.id) begins")
///     defer { print("\(execution.useCase) \(execution.id) is over") }
///     return try await next(request)
///   }
/// }
/// ```
///
/// The time-out of the use case covers its interceptors. A body called inside the slot of another
/// is intercepted too.
public protocol UseCaseInterceptor: ConcurrentUseCaseInterceptor {
  /// Runs around the body of an operation, on no actor.
  ///
  /// - Parameters:
  ///   - request: What the use case was asked.
  ///   - execution: Which operation of which use case this is.
  ///   - next: The rest: the next interceptor, or the body. It may be called not at all, once or
  ///     several times, with this request or another.
  /// - Returns: The response of the operation.
  /// - Throws: Whatever is to be the failure of the operation.
  /// - Complexity: Yours. To pass by an interceptor costs O(1).
  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution,
    next: nonisolated(nonsending) @Sendable (Request) async throws -> Response
  ) async throws -> Response
}

/// The requirement of ``UseCaseInterceptor`` as modules see it that do not build with
/// `NonisolatedNonsendingByDefault`. There the same words in a declaration mean another type.
///
/// Conform to ``UseCaseInterceptor``: its one function, written as in its example, is right in
/// every module.
public protocol ConcurrentUseCaseInterceptor: Sendable {
  /// The same as ``UseCaseInterceptor/intercept(_:of:next:)``.
  ///
  /// - Parameters:
  ///   - request: What the use case was asked.
  ///   - execution: Which operation of which use case this is.
  ///   - next: The rest.
  /// - Returns: The response of the operation.
  /// - Throws: Whatever is to be the failure of the operation.
  /// - Complexity: Yours. To pass by an interceptor costs O(1).
  func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution,
    next: @concurrent @Sendable (Request) async throws -> Response
  ) async throws -> Response
}

extension UseCaseInterceptor {
  /// Calls the function that a module without `NonisolatedNonsendingByDefault` wrote.
  ///
  /// - Parameters:
  ///   - request: What the use case was asked.
  ///   - execution: Which operation of which use case this is.
  ///   - next: The rest.
  /// - Returns: The response of the operation.
  /// - Throws: Whatever that function throws.
  /// - Complexity: O(1), beside that of the function.
  public func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution,
    next: nonisolated(nonsending) @Sendable (Request) async throws -> Response
  ) async throws -> Response {
    var execution = execution
    execution.forwarder = Self.self
    let other: any ConcurrentUseCaseInterceptor = self
    return try await other.intercept(request, of: execution) { @concurrent request in
      try await next(request)
    }
  }
}

extension ConcurrentUseCaseInterceptor where Self: UseCaseInterceptor {
  /// Calls the function that a module with `NonisolatedNonsendingByDefault` wrote.
  ///
  /// - Parameters:
  ///   - request: What the use case was asked.
  ///   - execution: Which operation of which use case this is.
  ///   - next: The rest.
  /// - Returns: The response of the operation.
  /// - Throws: Whatever that function throws.
  /// - Complexity: O(1), beside that of the function.
  public func intercept<Request: Sendable, Response: Sendable>(
    _ request: Request, of execution: UseCaseExecution,
    next: @concurrent @Sendable (Request) async throws -> Response
  ) async throws -> Response {
    guard execution.forwarder != Self.self else {
      fatalError("\(Self.self) has to implement `intercept(_:of:next:)` itself.")
    }
    let nonsending: nonisolated(nonsending) @Sendable (Request) async throws -> Response = {
      try await next($0)
    }
    return try await intercept(request, of: execution, next: nonsending)
  }
}

/// The operation that an interceptor stands around.
public struct UseCaseExecution: Sendable {
  /// The operation.
  ///
  /// - Complexity: O(1).
  public let id: UseCaseOperationID

  /// The name of the type of its use case.
  ///
  /// - Complexity: The name is made at each call.
  public var useCase: String { String(describing: type) }

  let type: any Any.Type

  /// Whose default implementation has called its other function: it must not come back.
  var forwarder: (any Any.Type)?

  /// The clock of the queue.
  let clock: any Clock<Duration>

  init(id: UseCaseOperationID, type: any Any.Type, clock: any Clock<Duration>) {
    self.id = id
    self.type = type
    self.clock = clock
  }

  func run<Request: Sendable, Response: Sendable>(
    _ request: Request, through interceptors: ArraySlice<any UseCaseInterceptor>,
    body: @Sendable (Request) async throws -> Response
  ) async throws -> Response {
    guard let first = interceptors.first else { return try await body(request) }
    return try await first.intercept(request, of: self) { request in
      try await run(request, through: interceptors.dropFirst(), body: body)
    }
  }
}
