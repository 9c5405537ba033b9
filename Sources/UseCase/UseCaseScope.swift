import UseCaseInternals

/// Cancels the operations that it holds when it goes away: the lifetime of a screen, say.
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
  let members = Members()

  /// Creates an empty scope.
  ///
  /// - Complexity: O(1).
  public init() {}

  deinit { members.cancelAll(.scopeEnded) }

  /// How many operations the scope holds. It forgets each one that ends.
  ///
  /// - Complexity: O(1).
  public var count: Int { members.count }

  /// Cancels all operations in the scope, as ``UseCaseCancellation/requested``.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func cancelAll() { members.cancelAll(.requested) }

  /// The operations of a scope. They hold it, not the scope, until they have ended.
  @usableFromInline
  final class Members: Sendable {
    private let operations = Lock([UseCaseOperationID: any AnyOperation]())

    var count: Int { operations.withLock { $0.count } }

    func insert(_ operation: any AnyOperation) {
      let id = operation.withCore { $0.id }
      _ = operations.withLock { $0.updateValue(operation, forKey: id) }
    }

    @usableFromInline
    func remove(_ id: UseCaseOperationID) {
      _ = operations.withLock { $0.removeValue(forKey: id) }
    }

    func cancelAll(_ reason: UseCaseCancellation) {
      for (_, operation) in operations.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
        operation.withCore { $0.end(.cancelled(reason)) }
      }
    }
  }
}
