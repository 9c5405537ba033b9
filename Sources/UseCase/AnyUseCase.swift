/// A type-erased use case. It calls a closure, or wraps another use case, its *base*.
///
/// ```swift
/// let double = AnyUseCase<Int, Int> { number in number * 2 }
/// let screen = Screen(search: AnyUseCase(Search()))
/// ```
public struct AnyUseCase<Request: Sendable, Response: Sendable>: UseCase {
  private let base: any UseCase<Request, Response>
  package let described: (any DescribedUseCase)?
  package let baseType: any Any.Type

  /// The queue of the operations.
  public var queue: UseCaseQueue { base.queue }

  /// How long a body may take.
  public var timeout: Duration { base.timeout }

  /// The name of the base, or the one that a closure was given.
  public var useCaseName: String { base.useCaseName }

  /// Creates a use case whose body is `main`.
  ///
  /// - Parameters:
  ///   - queue: The queue of the operations.
  ///   - timeout: How long a body may take.
  ///   - name: The ``UseCase/useCaseName``, `nil` for the name of the type.
  ///   - main: Answers one request, on no actor. An error that the closure throws becomes the
  ///     failure of the operation.
  public init(
    queue: UseCaseQueue = .default, timeout: Duration = UseCaseTimeout.never,
    name: String? = nil,
    main: @escaping @Sendable (Request) async throws -> Response
  ) {
    base = ClosureUseCase(
      queue: queue, timeout: timeout, useCaseName: name ?? String(describing: Self.self), body: main)
    described = nil
    baseType = Self.self
  }

  /// Creates a use case that does what `base` does, on the same queue.
  ///
  /// - Parameter base: The use case whose type is erased.
  public init(_ base: some UseCase<Request, Response>) {
    self.base = base
    described = base as? any DescribedUseCase
    baseType = described?.baseType ?? type(of: base)
  }

  /// Returns the queue of the base for this request, or ``queue`` if there is no base.
  ///
  /// - Parameter request: The input of the execution.
  /// - Returns: The queue of the operation.
  public func queue(for request: Request) -> UseCaseQueue { base.queue(for: request) }

  /// Calls the closure, or the `main` of the base.
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The response.
  /// - Throws: The error of the closure, or of the base.
  /// - Complexity: That of the closure, or of the base.
  public func main(_ request: Request) async throws -> Response { try await base.main(request) }
}

extension AnyUseCase: DescribedUseCase {}

private struct ClosureUseCase<Request: Sendable, Response: Sendable>: UseCase {
  let queue: UseCaseQueue
  let timeout: Duration
  let useCaseName: String
  let body: @Sendable (Request) async throws -> Response

  func main(_ request: Request) async throws -> Response { try await body(request) }
}

/// A type-erased ``ReportingUseCase``. It calls a closure, or wraps another use case, its *base*.
///
/// ```swift
/// let count = AnyReportingUseCase<Int, String, Int> { limit, report in
///   for number in 1...limit { report(number) }
///   return "done"
/// }
/// count.execute(3) { number in print(number) }  // 1 2 3
/// ```
public struct AnyReportingUseCase<
  Request: Sendable, Response: Sendable, Update: Sendable
>: ReportingUseCase {
  private let base: any ReportingUseCase<Request, Response, Update>
  package let described: (any DescribedUseCase)?
  package let baseType: any Any.Type

  /// The queue of the operations.
  public var queue: UseCaseQueue { base.queue }

  /// How long a body may take.
  public var timeout: Duration { base.timeout }

  /// The name of the base, or the one that a closure was given.
  public var useCaseName: String { base.useCaseName }

  /// Creates a use case whose body is `main`.
  ///
  /// - Parameters:
  ///   - queue: The queue of the operations.
  ///   - timeout: How long a body may take.
  ///   - name: The ``UseCase/useCaseName``, `nil` for the name of the type.
  ///   - main: Answers one request, on no actor, and calls its second parameter to report an update.
  ///     An error that the closure throws becomes the failure of the operation.
  public init(
    queue: UseCaseQueue = .default, timeout: Duration = UseCaseTimeout.never,
    name: String? = nil,
    main:
      @escaping @Sendable (
        Request, _ report: @escaping @Sendable (Update) -> Void
      ) async throws -> Response
  ) {
    base = ReportingClosureUseCase(
      queue: queue, timeout: timeout, useCaseName: name ?? String(describing: Self.self), body: main)
    described = nil
    baseType = Self.self
  }

  /// Creates a use case that does what `base` does, on the same queue, and reports the same updates.
  ///
  /// - Parameter base: The use case whose type is erased.
  public init(_ base: some ReportingUseCase<Request, Response, Update>) {
    self.base = base
    described = base as? any DescribedUseCase
    baseType = described?.baseType ?? type(of: base)
  }

  /// Returns the queue of the base for this request, or ``queue`` if there is no base.
  ///
  /// - Parameter request: The input of the execution.
  /// - Returns: The queue of the operation.
  public func queue(for request: Request) -> UseCaseQueue { base.queue(for: request) }

  /// Calls the closure, or the `main` of the base, and reports to nobody.
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The response.
  /// - Throws: The error of the closure, or of the base.
  /// - Complexity: That of the closure, or of the base.
  public func main(_ request: Request) async throws -> Response { try await base.main(request) }

  /// Calls the closure, or the `main` of the base.
  ///
  /// - Parameters:
  ///   - request: The input of the use case.
  ///   - report: Receives the updates of the closure, or of the base.
  /// - Returns: The response.
  /// - Throws: The error of the closure, or of the base.
  /// - Complexity: That of the closure, or of the base.
  public func main(
    _ request: Request, report: @escaping @Sendable (Update) -> Void
  ) async throws -> Response {
    try await base.main(request, report: report)
  }
}

extension AnyReportingUseCase: DescribedUseCase {}

private struct ReportingClosureUseCase<
  Request: Sendable, Response: Sendable, Update: Sendable
>: ReportingUseCase {
  let queue: UseCaseQueue
  let timeout: Duration
  let useCaseName: String
  let body:
    @Sendable (Request, _ report: @escaping @Sendable (Update) -> Void) async throws -> Response

  func main(
    _ request: Request, report: @escaping @Sendable (Update) -> Void
  ) async throws -> Response {
    try await body(request, report)
  }
}
