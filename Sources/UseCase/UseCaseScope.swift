import UseCaseInternals

/// Holds operations, and cancels them when it goes away, for example with its screen.
///
/// ```swift
/// final class SearchScreen {
///   let scope = UseCaseScope()
///   func type(_ text: String) {
///     search.execute(text).then { results in print(results) }.store(in: scope)
///   }
/// }
/// ```
public final class UseCaseScope: Sendable {
  private let members = MemberGroup()
  private let cleanups = Lock([@Sendable () -> Void]())

  /// Creates an empty scope.
  public init() {}

  deinit {
    for cleanUp in cleanups.withLock({ $0 }) { cleanUp() }
    members.cancelAll(.scopeEnded)
  }

  /// How many operations the scope holds. It forgets each one that ends.
  public var count: Int { members.count }

  /// Cancels all operations in the scope, as ``UseCaseCancellation/requested``.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func cancelAll() { members.cancelAll(.requested) }

  /// Runs `cleanUp` when the scope goes away.
  func whenEnded(_ cleanUp: @escaping @Sendable () -> Void) {
    cleanups.withLock { $0.append(cleanUp) }
  }

  fileprivate func hold(_ operation: UseCaseOperation<some Any, some Any>) {
    members.insert(operation)
    operation.core.listen(.group(members), handles: false)
  }
}

extension UseCaseOperation {
  /// Cancels the operation when `scope` goes away, as ``UseCaseCancellation/scopeEnded``.
  ///
  /// - Parameter scope: Holds the operation until it has ended.
  /// - Returns: The operation itself.
  @discardableResult
  public func store(in scope: UseCaseScope) -> Self {
    scope.hold(self)
    return self
  }
}
