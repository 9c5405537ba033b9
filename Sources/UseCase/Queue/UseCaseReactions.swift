import UseCaseInternals

/// Handlers for every operation of a use case, whichever code executes it.
///
/// ```swift
/// let reactions = UseCaseReactions()
/// let queue = UseCaseQueue(reactions: reactions)
/// reactions.to(LogIn.self) { operation in
///   operation.then { user in badge.show(user) }
/// }
/// ```
///
/// Each operation of that type on a queue with these reactions is handed to the closure on the
/// caller's thread, before `execute` returns and before the body begins. So handlers attached there
/// run before all others. Any number of closures may react, in the order in which they registered.
///
/// The idea comes from the library Aftermath, whose `wait`, `consume` and `rescue` are `onStart`,
/// `then` and `catch` here.
public final class UseCaseReactions: Sendable {
  typealias Attach = @Sendable (any AnyObject & Sendable) -> Void

  private struct Registry {
    var last = 0
    var reactions: [ObjectIdentifier: [(number: Int, attach: Attach)]] = [:]
  }

  private let registry = Lock(Registry())

  /// Creates an empty set of reactions.
  public init() {}

  /// Registers a reaction to operations of `type`. Returns its number.
  func add(to type: any Any.Type, _ attach: @escaping Attach) -> Int {
    registry.withLock { registry in
      registry.last += 1
      registry.reactions[ObjectIdentifier(type), default: []].append((registry.last, attach))
      return registry.last
    }
  }

  /// Forgets the reaction, for later operations.
  func remove(_ number: Int, to type: any Any.Type) {
    // The removed closures are returned, so that they are released outside of the lock.
    _ = registry.withLock { registry in
      let old = registry.reactions[ObjectIdentifier(type)]
      registry.reactions[ObjectIdentifier(type)] = old?.filter { $0.number != number }
      return old?.map(\.attach)
    }
  }

  /// Hands the operation to the reactions to its type.
  func react(to operation: any AnyObject & Sendable, of type: any Any.Type) {
    let attachers = registry.withLock { $0.reactions[ObjectIdentifier(type)]?.map(\.attach) }
    for attach in attachers ?? [] { attach(operation) }
  }
}
