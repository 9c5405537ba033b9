public import UseCase

extension UseCaseOperation {
  /// Waits until the operation has ended, as `ended()` does. Cancelling the calling task ends the wait:
  /// so does the time limit of a test.
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
