extension UseCaseOperation {
  /// Runs `handler` with the response when the operation succeeds.
  ///
  /// - Parameter handler: Runs once at the most, on the isolation that it was written in.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func then(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Response) -> Void
  ) -> Self {
    attach(.then(handler))
  }

  /// Runs `handler` with the error when the operation fails.
  ///
  /// - Parameter handler: Runs once at the most, on the isolation that it was written in.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func `catch`(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (any Error) -> Void
  ) -> Self {
    attach(.failure(handler))
  }

  /// Runs `handler` with the error when the operation fails with a `Failure`. It does not keep
  /// the error from the other handlers.
  ///
  /// - Parameters:
  ///   - type: The type of error to wait for.
  ///   - handler: Runs once at the most, on the isolation that it was written in.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func `catch`<Failure: Error>(
    _ type: Failure.Type,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Failure) -> Void
  ) -> Self {
    attach(
      .typedFailure(handler.isolation) { error in
        if let error = error as? Failure { await handler(error) }
      })
  }

  /// Runs `handler` when the operation succeeds or fails.
  ///
  /// - Parameter handler: Runs once at the most, on the isolation that it was written in.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func common(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable () -> Void
  ) -> Self {
    attach(.common(handler))
  }

  /// Runs `handler` with the reason when the operation is cancelled.
  ///
  /// - Parameter handler: Runs once at the most, on the isolation that it was written in.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func onCancel(
    @_inheritActorContext _ handler:
      @escaping @isolated(any) @Sendable (UseCaseCancellation) -> Void
  ) -> Self {
    attach(.cancellation(handler))
  }

  /// Runs `handler` whatever becomes of the operation.
  ///
  /// - Parameter handler: Runs exactly once, on the isolation that it was written in.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func finally(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable () -> Void
  ) -> Self {
    attach(.finally(handler))
  }

  @inlinable
  func attach(_ handler: Handler<Response>) -> Self {
    guard let branch = handler.branch else { preconditionFailure("There is no handler to attach.") }
    let delivers = core.attach(branch) { handlers.append(handler) }
    if delivers { Task { await deliver() } }
    return self
  }
}
