public import UseCase

/// A reporting use case whose updates and answers come from a test.
///
/// It is a ``ControlledUseCase`` whose calls can report. Take the calls with ``next()``, report as
/// often as you like, and answer.
///
/// ```swift
/// let upload = ControlledReportingUseCase<String, Int, Double>()
/// let operation = upload.execute("cat.png") { part in print(part) }  // 0.5
///
/// let call = try await upload.next()
/// call.report(0.5)
/// call.succeed(1_024)
/// print(try await operation.value)  // 1024
/// ```
///
/// All members can be called from any isolation.
public final class ControlledReportingUseCase<
  Request: Sendable, Response: Sendable, Update: Sendable
>: ReportingUseCase {
  fileprivate typealias Base = ControlledUseCase<Question, Response>

  /// The request of the base, and the way of its updates.
  fileprivate struct Question: Sendable {
    let request: Request
    let report: @Sendable (Update) -> Void
  }

  /// One call: a body that has begun, and waits for an answer.
  public struct Call: Sendable {
    private let base: Base.Call

    fileprivate init(_ base: Base.Call) {
      self.base = base
    }

    /// The request that the body was given.
    public var request: Request { base.request.request }

    /// Lets the body report an update.
    ///
    /// The update is dropped if the operation has its outcome already.
    ///
    /// - Parameter update: The update.
    public func report(_ update: Update) {
      base.request.report(update)
    }

    /// Lets the body return a response.
    ///
    /// Only the first answer counts. If the call already has an answer or is cancelled, the
    /// response is ignored.
    ///
    /// - Parameter response: The response of the body.
    public func succeed(_ response: Response) {
      base.succeed(response)
    }

    /// Lets the body throw an error.
    ///
    /// Only the first answer counts. If the call already has an answer or is cancelled, the error
    /// is ignored.
    ///
    /// - Parameter error: The error of the body.
    public func fail(_ error: any Error) {
      base.fail(error)
    }

    /// Whether the task of the body was cancelled before the body returned.
    public var isCancelled: Bool { base.isCancelled }

    /// Waits until the task of the body is cancelled, as ``ControlledUseCase/Call/cancelled()``.
    ///
    /// - Throws: `CancellationError`, promptly, when the calling task is cancelled.
    public func cancelled() async throws {
      try await base.cancelled()
    }
  }

  private let base: Base

  /// The queue of the executions.
  public var queue: UseCaseQueue { base.queue }

  /// Creates a use case whose calls wait for the test to answer them.
  ///
  /// - Parameter queue: The queue of the executions. The default is `UseCaseQueue.default`.
  public init(queue: UseCaseQueue = .default) {
    base = Base(queue: queue)
  }

  /// Returns the oldest call that `next()` hasn't returned yet, as ``ControlledUseCase/next()``. If
  /// there is none, waits until a body begins.
  ///
  /// - Returns: The call, to be answered.
  /// - Throws: `CancellationError`, promptly, when the calling task is cancelled. It takes no call.
  public func next() async throws -> Call {
    Call(try await base.next())
  }

  /// Waits for the answer of the test.
  ///
  /// - Parameters:
  ///   - request: The request, as ``Call/request`` shows it.
  ///   - report: Receives the updates given to ``Call/report(_:)``.
  /// - Returns: The response given to ``Call/succeed(_:)``.
  /// - Throws: The error given to ``Call/fail(_:)``, or `CancellationError` if the task is
  ///   cancelled before there is an answer.
  public func main(
    _ request: Request, report: @escaping @Sendable (Update) -> Void
  ) async throws -> Response {
    try await base.main(Question(request: request, report: report))
  }
}
