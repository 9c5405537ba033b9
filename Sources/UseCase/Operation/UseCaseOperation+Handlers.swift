extension UseCaseOperation {
  /// Runs `handler` with the response when the operation succeeds.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func then(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Response) -> Void
  ) -> Self {
    attach(.then(handler))
  }

  /// Runs `handler` with the error when the operation fails.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func `catch`(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (any Error) -> Void
  ) -> Self {
    attach(.failure(handler))
  }

  /// Runs `handler` with the error when the operation fails with a `Failure`. Other handlers still
  /// receive the error.
  ///
  /// - Parameters:
  ///   - type: The type of error to handle.
  ///   - handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func `catch`<Failure: Error>(
    _ type: Failure.Type,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Failure) -> Void
  ) -> Self {
    attach(
      .typedFailure(handler.isolation) { error in
        guard let error = error as? Failure else { return false }
        await handler(error)
        return true
      })
  }

  /// Runs `handler` when the operation succeeds or fails.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func common(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable () -> Void
  ) -> Self {
    attach(.common(handler))
  }

  /// Runs `handler` with the reason when the operation is cancelled.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func onCancel(
    @_inheritActorContext _ handler:
      @escaping @isolated(any) @Sendable (UseCaseCancellation) -> Void
  ) -> Self {
    attach(.cancellation(handler))
  }

  /// Runs `handler` whatever the outcome is.
  ///
  /// - Parameter handler: Runs exactly once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func finally(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable () -> Void
  ) -> Self {
    attach(.finally(handler))
  }

  /// Runs `handler` with the outcome, whatever it is.
  ///
  /// Use this handler to stop a progress indicator. Keep the indicator running if the operation was
  /// superseded or dropped, because another operation goes on:
  ///
  /// ```swift
  /// .finally { outcome in
  ///   switch outcome {
  ///   case .cancelled(.superseded), .cancelled(.dropped): break
  ///   case .success, .failure, .cancelled: spinner.stop()
  ///   }
  /// }
  /// ```
  ///
  /// If several operations can run or wait, follow ``UseCaseQueue/activities()`` instead.
  ///
  /// - Parameter handler: Runs exactly once, in the isolation of the code that attaches it. The
  ///   handler receives the outcome, with one exception: if you call ``cancel()`` after the
  ///   outcome, but before the last `then`, `catch` or `common` has begun, the handler receives a
  ///   cancellation.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func finally(
    @_inheritActorContext _ handler:
      @escaping @isolated(any) @Sendable (UseCaseOutcome<Response>) -> Void
  ) -> Self {
    attach(.outcome(handler))
  }

  /// Runs `handler` when the body begins, before any update and any other handler.
  ///
  /// If you attach the handler while the body runs, it comes after the updates reported so far. If
  /// you attach it after the body has returned, it comes after the handlers attached before it. The
  /// handler doesn't run if the operation never starts, or is cancelled before the handler's turn.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @discardableResult
  public func onStart(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable () -> Void
  ) -> Self {
    switch core.attachStart(OperationUpdate(isolation: handler.isolation) { await handler() }) {
    case .nothing: break
    case .deliver: deliverInAnotherTask()
    // An operation that was cancelled before its body began runs neither handler.
    case .attachAsCommon: return attach(.common(handler))
    }
    return self
  }

  @inlinable
  func attach(_ handler: Handler<Response>) -> Self {
    guard let branch = handler.branch else { preconditionFailure("There is no handler to attach.") }
    let delivers = core.attach(branch) { handlers.append(handler) }
    if delivers { deliverInAnotherTask() }
    return self
  }
}
