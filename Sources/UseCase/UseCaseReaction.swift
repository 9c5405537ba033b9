/// A registered reaction, which you can end.
public struct UseCaseReaction: Sendable {
  let reactions: UseCaseReactions
  let type: any Any.Type
  let number: Int

  /// Ends the reaction: later operations are not handed to it. Handlers that it has attached stay.
  public func cancel() { reactions.remove(number, to: type) }

  /// Ends the reaction when `scope` goes away.
  ///
  /// - Parameter scope: The scope whose end is that of the reaction.
  /// - Returns: The reaction itself.
  @discardableResult
  public func store(in scope: UseCaseScope) -> Self {
    scope.whenEnded { cancel() }
    return self
  }
}

extension UseCaseReactions {
  /// Hands every operation of a use case to `attach`, before its body begins.
  ///
  /// - Parameters:
  ///   - type: The type of the use case. A wrapper is a type of its own, and `AnyUseCase(base)`
  ///     counts as its base.
  ///   - attach: Attaches handlers, on the thread that executes.
  /// - Returns: The reaction. Releasing it doesn't end it.
  @discardableResult
  public func to<Base: UseCase>(
    _ type: Base.Type,
    _ attach: @escaping @Sendable (UseCaseOperation<Base.Request, Base.Response>) -> Void
  ) -> UseCaseReaction {
    let number = add(to: type) { operation in
      if let operation = operation as? UseCaseOperation<Base.Request, Base.Response> {
        attach(operation)
      }
    }
    return UseCaseReaction(reactions: self, type: type, number: number)
  }
}
