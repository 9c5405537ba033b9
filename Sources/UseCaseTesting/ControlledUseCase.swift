public import UseCase
import UseCaseInternals

/// A use case whose calls are answered by a test.
///
/// Each body waits for the answer of the test. Take the calls with ``next()``, in the order in
/// which their bodies have begun, and answer them in any order.
///
/// ```swift
/// let search = ControlledUseCase<String, [String]>()
/// let operation = search.execute("swift")
///
/// let call = try await search.next()
/// print(call.request)  // swift
///
/// call.succeed(["Swift by Tutorials"])
/// print(try await operation.value)  // ["Swift by Tutorials"]
/// ```
///
/// A call that is cancelled before you answer it throws `CancellationError`, as a body that
/// supports cancellation does. All members can be called from any isolation.
public final class ControlledUseCase<Request: Sendable, Response: Sendable>: UseCase {
  /// One call: a body that has begun, and waits for an answer.
  public struct Call: Sendable {
    /// The request that the body was given.
    public let request: Request
    private let answer = Promise<Result<Response, any Error>>()
    private let cancellation = Gate()

    fileprivate init(_ request: Request) {
      self.request = request
    }

    /// Whether the task of the body was cancelled before the body returned.
    public var isCancelled: Bool { cancellation.isOpen }

    /// Lets the body return a response.
    ///
    /// Only the first answer counts. If the call already has an answer or is cancelled, the
    /// response is ignored.
    ///
    /// - Parameter response: The response of the body.
    public func succeed(_ response: Response) {
      answer.fulfill(.success(response))
    }

    /// Lets the body throw an error.
    ///
    /// Only the first answer counts. If the call already has an answer or is cancelled, the error
    /// is ignored.
    ///
    /// - Parameter error: The error of the body.
    public func fail(_ error: any Error) {
      answer.fulfill(.failure(error))
    }

    /// Waits until the task of the body is cancelled.
    ///
    /// If the body returns without being cancelled, `cancelled()` waits until its own task is
    /// cancelled: await the outcome of the operation instead.
    ///
    /// - Throws: `CancellationError`, promptly, when the calling task is cancelled.
    public func cancelled() async throws {
      try await cancellation.pass()
    }

    fileprivate func response() async throws -> Response {
      try await withTaskCancellationHandler {
        try await answer.value.get()
      } onCancel: {
        // The answer comes first: a test that sees the cancellation can no longer answer.
        answer.fulfill(.failure(CancellationError()))
        cancellation.open()
      }
    }
  }

  /// The queue of the executions.
  public let queue: UseCaseQueue
  private let line = Lock(CallLine<Call>.calls([]))

  /// Creates a use case whose calls wait for the test to answer them.
  ///
  /// - Parameter queue: The queue of the executions. The default is `UseCaseQueue.default`.
  public init(queue: UseCaseQueue = .default) {
    self.queue = queue
  }

  /// Returns the oldest call that `next()` hasn't returned yet. If there is none, waits until a
  /// body begins.
  ///
  /// Calls, including cancelled calls, come in the order in which their bodies began. Several
  /// operations that a queue starts at the same time begin in any order. Each call is returned
  /// once. If several tasks wait, the first one gets the first call.
  ///
  /// - Returns: The call, to be answered.
  /// - Throws: `CancellationError`, promptly, when the calling task is cancelled. It takes no call.
  public func next() async throws -> Call {
    try await line.wait(enter: { $0.next($1) }, leave: { $0.remove($1) })
  }

  /// Waits for the answer of the test.
  ///
  /// - Parameter request: The request, as ``Call/request`` shows it.
  /// - Returns: The response given to ``Call/succeed(_:)``.
  /// - Throws: The error given to ``Call/fail(_:)``, or `CancellationError` if the task is
  ///   cancelled before there is an answer.
  public func main(_ request: Request) async throws -> Response {
    let call = Call(request)
    line.withLock { $0.add(call) }?.fulfill(call)
    return try await call.response()
  }
}

/// Calls that nobody has taken, or tasks that wait for a call: never both.
private enum CallLine<Call: Sendable> {
  /// The calls that nobody has taken. Next is itself, or `readers`.
  case calls([Call])

  /// The tasks that wait for a call, at least one. Next is itself, or `calls`.
  case readers([Promise<Call?>])

  /// Returns the oldest call, or keeps the reader.
  mutating func next(_ reader: Promise<Call?>) -> Call? {
    switch self {
    case .calls(var calls):
      guard !calls.isEmpty else {
        self = .readers([reader])
        return nil
      }
      let call = calls.removeFirst()
      self = .calls(calls)
      return call
    case .readers(let readers):
      self = .readers(readers + [reader])
      return nil
    }
  }

  /// Returns whether the reader was there.
  mutating func remove(_ reader: Promise<Call?>) -> Bool {
    switch self {
    case .calls:
      return false
    case .readers(var readers):
      guard let index = readers.firstIndex(where: { $0 === reader }) else { return false }
      readers.remove(at: index)
      self = readers.isEmpty ? .calls([]) : .readers(readers)
      return true
    }
  }

  /// Returns the reader that gets the call, or keeps the call.
  mutating func add(_ call: Call) -> Promise<Call?>? {
    switch self {
    case .calls(let calls):
      self = .calls(calls + [call])
      return nil
    case .readers(var readers):
      let reader = readers.removeFirst()
      self = readers.isEmpty ? .calls([]) : .readers(readers)
      return reader
    }
  }
}
