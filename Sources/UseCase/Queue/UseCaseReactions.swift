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
/// returns and before the body begins. So the handlers that the closure attaches run before all
/// other handlers. Several reactions to one use case are called in the order of their registration.
///
/// The idea comes from the library Aftermath, whose `wait`, `consume` and `rescue` are `onStart`,
/// `then` and `catch` here.
public final class UseCaseReactions: Sendable {
  typealias Attach = @Sendable (any AnyObject & Sendable) -> Void

  private struct Registry {
    var last = 0
    var reactions: [ObjectIdentifier: List] = [:]
  }

  /// The reactions to one type, in the order of their numbers.
  private struct List {
    /// A reaction that was cancelled leaves a hole, until half of them are holes.
    private var all: [(number: Int, attach: Attach?)] = []
    private var holes = 0

    var attachers: [Attach] { all.compactMap(\.attach) }
    var isEmpty: Bool { all.count == holes }

    mutating func append(_ number: Int, _ attach: @escaping Attach) {
      all.append((number, attach))
    }

    mutating func remove(_ number: Int) -> Attach? {
      var range = all.indices
      while range.count > 1 {
        let middle = range.lowerBound + range.count / 2
        range =
          all[middle].number <= number
          ? middle..<range.upperBound : range.lowerBound..<middle
      }
      guard let index = range.first, all[index].number == number,
        let attach = all[index].attach.take()
      else { return nil }
      holes += 1
      if holes * 2 > all.count {
        all.removeAll { $0.attach == nil }
        holes = 0
      }
      return attach
    }
  }

  private let registry = Lock(Registry())

  /// Creates an empty set of reactions.
  public init() {}

  /// Registers a reaction to operations of `type`. Returns its number.
  func add(to type: any Any.Type, _ attach: @escaping Attach) -> Int {
    registry.withLock { registry in
      registry.last += 1
      registry.reactions[ObjectIdentifier(type), default: List()].append(registry.last, attach)
      return registry.last
    }
  }

  /// Forgets the reaction, for later operations.
  func remove(_ number: Int, to type: any Any.Type) {
    // The removed closure is returned, so that it is released outside of the lock.
    _ = registry.withLock { registry -> Attach? in
      let key = ObjectIdentifier(type)
      let attach = registry.reactions[key]?.remove(number)
      if registry.reactions[key]?.isEmpty == true { registry.reactions[key] = nil }
      return attach
    }
  }

  /// Hands the operation to the reactions to its type.
  func react(to operation: any AnyObject & Sendable, of type: any Any.Type) {
    let attachers = registry.withLock { $0.reactions[ObjectIdentifier(type)]?.attachers }
    for attach in attachers ?? [] { attach(operation) }
  }
}
