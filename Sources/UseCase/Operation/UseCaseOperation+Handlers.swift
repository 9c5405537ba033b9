extension UseCaseOperation {
  /// Runs `handler` with the response when the operation succeeds.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func then(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Response) -> Void
  ) -> Self {
    let call = onIsolation(handler)
    return attach(.success, on: handler.isolation) { _ in
      if let response = self.response { call(response.value) }
      return false
    }
  }

  /// Runs `handler` with the error when the operation fails.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @discardableResult
  public func `catch`(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (any Error) -> Void
  ) -> Self {
    let call = onIsolation(handler)
    return attach(.failure, on: handler.isolation) { verdict in
      if case .failure(let error)? = verdict { call(error) }
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
  @discardableResult
  public func `catch`<Failure: Error>(
    _ type: Failure.Type,
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Failure) -> Void
  ) -> Self {
    let call = onIsolation(handler)
    return attach(.failure, on: handler.isolation) { verdict in
      guard case .failure(let error as Failure)? = verdict else { return false }
      call(error)
      return true
    }
  }

  /// Runs `handler` when the operation succeeds or fails.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @discardableResult
  public func common(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable () -> Void
  ) -> Self {
    let call = onIsolation(handler)
    return attach(.common, on: handler.isolation) { _ in
      call()
      return false
    }
  }

  /// Runs `handler` with the reason when the operation is cancelled, at once.
  ///
  /// The body may still be unwinding. To wait for its return, use `finally`.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @discardableResult
  public func onCancel(
    @_inheritActorContext _ handler:
      @escaping @isolated(any) @Sendable (UseCaseCancellation) -> Void
  ) -> Self {
    let call = onIsolation(handler)
    return attach(.cancellation, on: handler.isolation) { verdict in
      if case .cancelled(let reason)? = verdict { call(reason) }
      return false
    }
  }

  /// Runs `handler` whatever the outcome is, when the body has returned.
  ///
  /// The handler comes after every `then`, `catch`, `common` and `onCancel` that is attached.
  ///
  /// - Parameter handler: Runs exactly once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @discardableResult
  public func finally(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable () -> Void
  ) -> Self {
    let call = onIsolation(handler)
    return attach(.always, on: handler.isolation) { _ in
      call()
      return false
    }
  }

  /// Runs `handler` with the outcome, whatever it is, when the body has returned.
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
  ///   handler receives the outcome, with one exception: if you call ``cancel()``, or a newer
  ///   operation supersedes this one, after the outcome, but before the last `then`, `catch` or
  ///   `common` has begun, the handler receives a cancellation.
  /// - Returns: The operation itself.
  @inlinable @discardableResult
  public func finally(
    @_inheritActorContext _ handler:
      @escaping @isolated(any) @Sendable (UseCaseOutcome<Response>) -> Void
  ) -> Self {
    let call = onIsolation(handler)
    return attach(.always, on: handler.isolation) { verdict in
      if let outcome = verdict.flatMap(self.outcome(of:)) { call(outcome) }
      return true
    }
  }

  /// Runs `handler` when the body begins, before any update and any other handler.
  ///
  /// If you attach the handler while the body runs, it comes after the updates reported so far. If
  /// you attach it after the body has returned, it comes when a ``common(_:)`` would. The
  /// handler doesn't run if the operation never starts, or is cancelled or superseded before the
  /// handler's turn.
  ///
  /// - Parameter handler: Runs at most once, in the isolation of the code that attaches it.
  /// - Returns: The operation itself.
  @discardableResult
  public func onStart(
    @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable () -> Void
  ) -> Self {
    let call = onIsolation(handler)
    core.attachStart(
      Handler(.common, on: handler.isolation) { _ in
        call()
        return false
      })
    return self
  }

  @usableFromInline
  func attach(
    _ branch: HandlerBranch, on isolation: consuming (any Actor)?,
    _ call: consuming @escaping Callback.Call
  ) -> Self {
    core.attach(Handler(branch, on: isolation, call))
    return self
  }
}
