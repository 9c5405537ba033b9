import UseCaseInternals

/// Cancels its operations and ends its reactions when it is deallocated, for example with its
/// screen.
///
/// To put an operation or a reaction into a scope, call ``UseCaseOperation/store(in:)`` or
/// ``UseCaseReaction/store(in:)``.
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
  private struct Endings {
    var last = 0
    var waiting: [Int: @Sendable () -> Void] = [:]
  }

  private let members = MemberGroup()
  private let endings = Lock(Endings())

  /// Creates an empty scope.
  public init() {}

  deinit {
    for end in endings.withLock({ $0.waiting.values }) { end() }
    members.cancelAll(.scopeEnded)
  }

  /// How many operations the scope holds. The scope releases each operation that has ended, and each
  /// reaction that is cancelled. Reactions aren't counted.
  public var count: Int { members.count }

  /// Cancels all operations in the scope, for the reason ``UseCaseCancellation/requested``. Its
  /// reactions go on.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func cancelAll() { members.cancelAll(.requested) }

  /// Runs the closure when the scope is deallocated. Returns the number by which to forget it.
  func whenEnded(_ end: @escaping @Sendable () -> Void) -> Int {
    endings.withLock { endings in
      endings.last += 1
      endings.waiting[endings.last] = end
      return endings.last
    }
  }

  /// Releases the closure of this number, outside of the lock.
  func forget(_ number: Int) {
    _ = endings.withLock { $0.waiting.removeValue(forKey: number) }
  }

  fileprivate func hold(_ operation: UseCaseOperation<some Any, some Any>) {
    members.insert(operation)
    operation.core.listen(.group(members), handles: false)
  }
}

extension UseCaseOperation {
  /// Cancels the operation when `scope` is deallocated, for the reason
  /// ``UseCaseCancellation/scopeEnded``.
  ///
  /// Attach the handlers first. The scope releases an operation that has ended, so a handler that
  /// you attach after `store(in:)` may run although the scope is gone.
  ///
  /// - Parameter scope: Holds the operation until it has ended.
  /// - Returns: The operation itself.
  @discardableResult
  public func store(in scope: UseCaseScope) -> Self {
    scope.hold(self)
    return self
  }
}
