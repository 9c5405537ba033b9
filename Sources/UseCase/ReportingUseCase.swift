/// A use case that reports while it works: progress, or several results over time.
///
/// ```swift
/// struct Count: ReportingUseCase {
///   func main(
///     _ limit: Int, report: @escaping @Sendable (Int) -> Void
///   ) async throws -> String {
///     for number in 1...limit { report(number) }
///     return "done"
///   }
/// }
///
/// Count().execute(3) { number in print(number) }  // 1 2 3
///   .then { text in print(text) }  // done
/// ```
public protocol ReportingUseCase<Request, Response, Update>: UseCase {
  // Restated: otherwise a type with only `main(_:report:)` doesn't conform.

  /// The input of an execution.
  associatedtype Request

  /// The result of an execution.
  associatedtype Response

  /// A report on the way to the result.
  associatedtype Update: Sendable

  /// Answers one request, and reports updates along the way.
  ///
  /// - Parameters:
  ///   - request: The input of the use case.
  ///   - report: Takes an update and returns at once, in O(1), however slow the receiver is.
  /// - Returns: The response.
  /// - Throws: Any error, which becomes the failure of the operation. Throw `CancellationError` to
  ///   end the operation as cancelled.
  func main(
    _ request: Request, report: @escaping @Sendable (Update) -> Void
  ) async throws -> Response
}

extension ReportingUseCase {
  /// Answers one request without reporting.
  ///
  /// - Parameter request: The input of the use case.
  /// - Returns: The response.
  /// - Throws: The failure of the operation.
  /// - Complexity: That of ``main(_:report:)``.
  @_documentation(visibility: internal)
  public func main(_ request: Request) async throws -> Response {
    try await main(request) { _ in }
  }

  /// Executes the request in an operation of its own, and passes the updates to `onUpdate`.
  ///
  /// A wrapper reports what its base reports: ``AnyReportingUseCase``, `shared()`, and `recorded(in:)`
  /// of a history.
  ///
  /// - Parameters:
  ///   - request: The input of the use case.
  ///   - priority: The priority of the task that runs `main`, `nil` for that of the current task.
  ///   - onUpdate: Receives the updates in the order in which they were reported, before any
  ///     `then`, `catch`, `common` or `finally`. The closure runs in the isolation of the code that
  ///     passes it. Updates that are reported after the outcome, or not yet delivered when the
  ///     operation is cancelled, are discarded.
  /// - Returns: The operation, to attach handlers to, to await or to cancel.
  /// - Complexity: O(1), and O(1) for each operation that it supersedes.
  @discardableResult
  public func execute(
    _ request: Request, priority: TaskPriority? = nil,
    @_inheritActorContext onUpdate: @escaping @isolated(any) @Sendable (Update) -> Void
  ) -> UseCaseOperation<Request, Response> {
    let (receive, isolation) = (onIsolation(onUpdate), onUpdate.isolation)
    let operation = operation(for: request, isCall: false) { core in
      { update in
        core.report(
          Callback(isolation: isolation) { _ in
            receive(update)
            return false
          })
      }
    }
    operation.submit(urgency: priority?.rawValue ?? 0, isCall: false)
    return operation
  }

  /// Returns an operation that is not submitted yet, and reports by a function that `report` makes.
  func operation(
    for request: Request, isCall: Bool,
    _ report: (OperationCore) -> @Sendable (Update) -> Void
  ) -> UseCaseOperation<Request, Response> {
    let core = core(for: request, isCall: isCall)
    return UseCaseOperation(core, of: Reporting(base: self, report: report(core)), request)
  }

  /// Executes the request and waits for the response, as the call form does. The operation passes its
  /// updates to `report` as they come, until it has an outcome.
  package func callAsFunction(
    _ request: Request, report: @escaping @Sendable (Update) -> Void
  ) async throws -> Response {
    try Task.checkCancellation()
    let operation = operation(for: request, isCall: true) { core in
      { if core.verdict == nil { report($0) } }
    }
    return try await operation.call()
  }
}

extension ReportingUseCase where Request == Void {
  /// Executes the use case in an operation of its own, and passes the updates to `onUpdate`.
  ///
  /// - Parameter onUpdate: Receives the updates, as in ``execute(_:priority:onUpdate:)``.
  /// - Returns: The operation, to attach handlers to, to await or to cancel.
  /// - Complexity: O(1), and O(1) for each operation that it supersedes.
  @discardableResult
  public func execute(
    @_inheritActorContext onUpdate: @escaping @isolated(any) @Sendable (Update) -> Void
  ) -> UseCaseOperation<Void, Response> {
    execute((), onUpdate: onUpdate)
  }
}

/// The use case that an operation with updates runs, which has its queue already.
private struct Reporting<Base: ReportingUseCase>: UseCase, DescribedUseCase {
  let base: Base
  let report: @Sendable (Base.Update) -> Void

  var described: (any DescribedUseCase)? { base as? any DescribedUseCase }

  var timeout: Duration { base.timeout }
  var useCaseName: String { base.useCaseName }
  var baseType: any Any.Type { described?.baseType ?? Base.self }

  func main(_ request: Base.Request) async throws -> Base.Response {
    try await base.main(request, report: report)
  }
}
