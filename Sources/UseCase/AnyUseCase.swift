/// A use case made of a closure, and the eraser of any other.
///
/// ```swift
/// let double = AnyUseCase<Int, Int> { number in number * 2 }
/// let screen = Screen(search: AnyUseCase(Search()))
/// ```
public struct AnyUseCase<Request: Sendable, Response: Sendable>: UseCase {
  /// Where its operations run.
  public let queue: UseCaseQueue

  /// How long a body may take.
  public let timeout: Duration

  private let body: @Sendable (Request) async throws -> Response
  private let asking: (any AskingUseCase)?
  @usableFromInline package let baseType: any Any.Type

  /// Creates a use case whose body is `main`.
  ///
  /// - Parameters:
  ///   - queue: Where its operations run.
  ///   - timeout: How long a body may take.
  ///   - main: Answers one request, on no actor. An error that it throws is the failure of the operation.
  public init(
    queue: UseCaseQueue = .default, timeout: Duration = UseCaseTimeout.never,
    main: @escaping @Sendable (Request) async throws -> Response
  ) {
    self.queue = queue
    self.timeout = timeout
    body = main
    asking = nil
    baseType = Self.self
  }

  /// Creates a use case that does what `base` does, on the same queue.
  ///
  /// - Parameter base: The use case whose type is erased.
  public init(_ base: some UseCase<Request, Response>) {
    queue = base.queue
    timeout = base.timeout
    body = { try await base.main($0) }
    asking = base as? any AskingUseCase
    baseType = asking?.baseType ?? type(of: base)
  }

  /// Calls the closure.
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The response.
  /// - Throws: The error of the closure.
  /// - Complexity: That of the closure.
  public func main(_ request: Request) async throws -> Response { try await body(request) }
}

extension AnyUseCase: AskingUseCase {
  @usableFromInline
  package func title(for request: Any) -> String? { asking?.title(for: request) }
}
