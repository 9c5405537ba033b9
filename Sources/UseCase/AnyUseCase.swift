/// A use case made of a closure, and the eraser of any other.
///
/// ```swift
/// let double = AnyUseCase<Int, Int> { number in number * 2 }
/// let screen = Screen(search: AnyUseCase(Search()))
/// ```
public struct AnyUseCase<Request: Sendable, Response: Sendable>: UseCase, AskingUseCase {
  /// Where its operations run.
  ///
  /// - Complexity: O(1).
  public let queue: UseCaseQueue

  /// How long a body may take, nil for as long as it likes.
  ///
  /// - Complexity: O(1).
  public let timeout: Duration?

  private let body: @Sendable (Request) async throws -> Response
  private let base: (any AskingUseCase)?

  /// Creates a use case whose body is `main`.
  ///
  /// - Parameters:
  ///   - queue: Where its operations run.
  ///   - timeout: How long a body may take, nil for as long as it likes.
  ///   - main: Answers one request, on no actor. What it throws is the failure of the operation.
  /// - Complexity: O(1).
  public init(
    queue: UseCaseQueue = .default, timeout: Duration? = nil,
    main: @escaping @Sendable (Request) async throws -> Response
  ) {
    self.queue = queue
    self.timeout = timeout
    body = main
    base = nil
  }

  /// Creates a use case that does what `base` does, on the same queue.
  ///
  /// - Parameter base: The use case whose type is not to be seen.
  /// - Complexity: O(1).
  public init(_ base: some UseCase<Request, Response>) {
    queue = base.queue
    timeout = base.timeout
    body = { try await base.main($0) }
    self.base = base as? any AskingUseCase
  }

  @usableFromInline
  package func question(about request: Any) -> (any Sendable)? { base?.question(about: request) }

  /// Calls the closure.
  ///
  /// - Parameter request: What it is asked.
  /// - Returns: The response.
  /// - Throws: Whatever the closure throws.
  /// - Complexity: That of the closure.
  public func main(_ request: Request) async throws -> Response { try await body(request) }
}
