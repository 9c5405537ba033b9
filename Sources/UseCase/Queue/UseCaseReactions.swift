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
/// A *reaction* is a closure registered with ``to(_:_:)``. A queue with these reactions passes each
/// operation of the use case to the closure, on the thread that calls `execute`, before `execute`
/// returns and before the body begins. So the handlers that the closure attaches come first among
/// those of the same moment. Several reactions to one use case are called in the order of their
/// registration.
///
/// The idea comes from the library Aftermath, whose `wait`, `consume` and `rescue` are `onStart`,
/// `then` and `catch` here.
public final class UseCaseReactions: Sendable {
  typealias Attach = @Sendable (any AnyObject & Sendable) -> Void

  private typealias Act = @Sendable () -> Void

  private struct Registry {
    var last = 0
    /// The closures for each type, in the order of their numbers.
    var reactions: [ObjectIdentifier: MemberLine<Int, Attach>] = [:]
    /// The acts at the removal of a reaction, by its number.
    var whenRemoved: [Int: [Act]] = [:]
  }

  private let registry = Lock(Registry())

  /// Creates an empty set of reactions.
  public init() {}

  /// Registers a reaction to operations of `type`. Returns its number.
  func add(to type: any Any.Type, _ attach: @escaping Attach) -> Int {
    registry.withLock { registry in
      registry.last += 1
      registry.reactions[ObjectIdentifier(type), default: MemberLine()]
        .insert(attach, registry.last)
      return registry.last
    }
  }

  /// Forgets the reaction, for later operations.
  func remove(_ number: Int, to type: any Any.Type) {
    // The removed closures are returned, so that they are released outside of the lock.
    let (_, acts) = registry.withLock { registry -> (Attach?, [Act]?) in
      let key = ObjectIdentifier(type)
      let attach = registry.reactions[key]?.remove(number)
      if registry.reactions[key]?.isEmpty == true { registry.reactions[key] = nil }
      return (attach, registry.whenRemoved.removeValue(forKey: number))
    }
    for act in acts ?? [] { act() }
  }

  /// Acts when the reaction is removed, or now if it has been.
  func whenRemoved(
    _ number: Int, to type: any Any.Type, _ act: @escaping @Sendable () -> Void
  ) {
    let isThere = registry.withLock { registry in
      guard registry.reactions[ObjectIdentifier(type)]?.contains(number) == true else {
        return false
      }
      registry.whenRemoved[number, default: []].append(act)
      return true
    }
    if !isThere { act() }
  }

  /// Hands the operation to the reactions to its type.
  func react(to operation: any AnyObject & Sendable, of type: any Any.Type) {
    let attachers = registry.withLock { $0.reactions[ObjectIdentifier(type)]?.members }
    for attach in attachers ?? [] { attach(operation) }
  }
}
