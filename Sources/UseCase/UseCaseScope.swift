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
  private let members = MemberGroup()
  /// The closures to run at the end, by their numbers.
  private let endings = Lock((last: 0, waiting: [Int: @Sendable () -> Void]()))

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

  /// Lets go of all operations, which go on.
  func release() { members.removeAll() }

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
    members.insert(operation.core)
    operation.core.listen(for: .end) { [members, id = operation.id] _ in members.remove(id) }
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

/// The operations that a scope holds until they have ended.
private final class MemberGroup: Sendable {
  private let members = Lock([UseCaseOperationID: any QueueMember]())

  var count: Int { members.withLock { $0.count } }

  func insert(_ member: any QueueMember) {
    let id = member.id
    _ = members.withLock { $0.updateValue(member, forKey: id) }
  }

  func remove(_ id: UseCaseOperationID) {
    _ = members.withLock { $0.removeValue(forKey: id) }
  }

  /// Lets go of the members, outside of the lock.
  func removeAll() {
    _ = members.withLock { members in
      defer { members = [:] }
      return members
    }
  }

  /// Cancels the members in order of `execute`.
  func cancelAll(_ reason: UseCaseCancellation) {
    for (_, member) in members.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      member.concludeEarly(.cancelled(reason), isFromQueue: false)
    }
  }
}
