extension UseCaseOperation {
  /// Runs `handler` with the response when the operation succeeds.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func then(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Response) -> Void
  ) -> Self {
    attach(.success, on: handler.isolation) { [self] _, _ in
      if let response { await handler(response.value) }
      return false
    }
  }

  /// Runs `handler` with the error when the operation fails.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func `catch`(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (any Error) -> Void
  ) -> Self {
    attach(.failure, on: handler.isolation) { verdict, _ in
      guard case .failure(let error)? = verdict else { return false }
      await handler(error)
      return true
    }
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
    attach(.failure, on: handler.isolation) { verdict, _ in
      guard case .failure(let error as Failure)? = verdict else { return false }
      await handler(error)
      return true
    }
  }

  /// Runs `handler` when the operation succeeds or fails.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func common(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable () -> Void
  ) -> Self {
    attach(.common, on: handler.isolation) { _, _ in
      await handler()
      return false
    }
  }

  /// Runs `handler` with the reason when the operation is cancelled, at once.
  ///
  /// The body may still be unwinding. To wait for its return, use `finally`.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func onCancel(
    @_inheritActorContext _ handler:
      @escaping @isolated(any) @Sendable (UseCaseCancellation) -> Void
  ) -> Self {
    attach(.cancellation, on: handler.isolation) { verdict, _ in
      if case .cancelled(let reason)? = verdict { await handler(reason) }
      return false
    }
  }

  /// Runs `handler` whatever the outcome is, when the body has returned and the slot is free.
  ///
  /// The handler comes after every `then`, `catch`, `common` and `onCancel` that is attached.
  ///
  /// - Parameter handler: Runs exactly once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func finally(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable () -> Void
  ) -> Self {
    attach(.always, on: handler.isolation) { _, _ in
      await handler()
      return false
    }
  }

  /// Runs `handler` with the outcome, whatever it is, when the body has returned and the slot is
  /// free.
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
    attach(.always, on: handler.isolation) { [self] verdict, _ in
      guard let outcome = verdict.flatMap(outcome(of:)) else { return false }
      await handler(outcome)
      return true
    }
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
    let callback = Callback(isolation: handler.isolation) { _, _ in
      await handler()
      return false
    }
    switch core.attachStart(callback) {
    case .nothing: break
    case .deliver: deliverInAnotherTask()
    // An operation that was cancelled before its body began runs neither handler.
    case .attachAsCommon: return attach(Handler(branch: .common, callback: callback))
    }
    return self
  }

  @usableFromInline
  func attach(
    _ branch: HandlerBranch, on isolation: (any Actor)?, _ call: @escaping Callback.Call
  ) -> Self {
    attach(Handler(branch: branch, callback: Callback(isolation: isolation, call: call)))
  }

  private func attach(_ handler: Handler<Callback>) -> Self {
    if core.attach(handler, to: self) { deliverInAnotherTask() }
    return self
  }
}
