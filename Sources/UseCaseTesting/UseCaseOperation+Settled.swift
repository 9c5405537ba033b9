public import UseCase

extension UseCaseOperation {
  /// Waits until the operation has ended, as `ended()` does, and throws when its task is cancelled: so
  /// the time limit of a test ends the wait.
  ///
  /// ```swift
  /// #expect(try await search.execute("swift").settled().get() == ["Swift"])
  /// ```
  ///
  /// - Returns: The outcome.
  /// - Throws: `CancellationError`, promptly, when the calling task is cancelled.
  @discardableResult
  public func settled() async throws -> UseCaseOutcome<Response> {
    let outcome = Promise<UseCaseOutcome<Response>?>()
    Task { outcome.fulfill(await ended()) }
    let settled = await withTaskCancellationHandler {
      await outcome.value
    } onCancel: {
      outcome.fulfill(nil)
    }
    guard let settled else { throw CancellationError() }
    return settled
  }
}
