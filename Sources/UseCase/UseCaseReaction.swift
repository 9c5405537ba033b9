/// A closure that is registered in a ``UseCaseReactions``. Cancel the reaction to remove the
/// closure.
public struct UseCaseReaction: Sendable {
  let reactions: UseCaseReactions
  let type: any Any.Type
  let number: Int

  /// Ends the reaction for later operations. Handlers that the closure has attached stay attached.
  public func cancel() { reactions.remove(number, to: type) }

  /// Ends the reaction when `scope` is deallocated.
  ///
  /// - Parameter scope: The scope that ends the reaction.
  /// - Returns: The reaction itself.
  @discardableResult
  public func store(in scope: UseCaseScope) -> Self {
    let ending = scope.whenEnded { cancel() }
    reactions.whenRemoved(number, to: type) { [weak scope] in scope?.forget(ending) }
    return self
  }
}

extension UseCaseReactions {
  /// Passes every operation of a use case to a closure, before the body of the operation begins.
  ///
  /// - Parameters:
  ///   - type: The type of the use case. `AnyUseCase(base)`, `AnyReportingUseCase(base)` and a
  ///     run of `base.shared()` count as the type of `base`. A use case of yours that wraps `base` counts as its own type.
  ///   - attach: Attaches handlers. It runs on the thread that calls `execute`.
  /// - Returns: The reaction. Releasing this value doesn't end the reaction.
  @discardableResult
  public func to<Base: UseCase>(
    _ type: Base.Type,
    _ attach: @escaping @Sendable (UseCaseOperation<Base.Request, Base.Response>) -> Void
  ) -> UseCaseReaction {
    let number = add(to: type) { operation in
      guard let operation = operation as? UseCaseOperation<Base.Request, Base.Response> else {
        preconditionFailure("An operation has the types of its use case.")
      }
      attach(operation)
    }
    return UseCaseReaction(reactions: self, type: type, number: number)
  }
}
