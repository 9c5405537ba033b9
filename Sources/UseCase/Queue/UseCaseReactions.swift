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

  private struct Reaction {
    let number: Int
    let attach: Attach
    var whenRemoved: [@Sendable () -> Void] = []
  }

  /// The reactions to one type, in the order of their numbers.
  private struct List {
    /// A reaction that was cancelled leaves a hole, until half of them are holes.
    private var all: [(number: Int, reaction: Reaction?)] = []
    private var holes = 0

    var attachers: [Attach] { all.compactMap(\.reaction?.attach) }
    var isEmpty: Bool { all.count == holes }

    mutating func append(_ reaction: Reaction) { all.append((reaction.number, reaction)) }

    private func index(of number: Int) -> Int? {
      var range = all.indices
      while range.count > 1 {
        let middle = range.lowerBound + range.count / 2
        range =
          all[middle].number <= number
          ? middle..<range.upperBound : range.lowerBound..<middle
      }
      return range.first.flatMap { all[$0].number == number ? $0 : nil }
    }

    mutating func remove(_ number: Int) -> Reaction? {
      guard let index = index(of: number), let reaction = all[index].reaction.take() else {
        return nil
      }
      holes += 1
      if holes * 2 > all.count {
        all.removeAll { $0.reaction == nil }
        holes = 0
      }
      return reaction
    }

    /// Returns whether the reaction is there.
    mutating func whenRemoved(_ number: Int, _ act: @escaping @Sendable () -> Void) -> Bool {
      guard let index = index(of: number), all[index].reaction != nil else { return false }
      all[index].reaction?.whenRemoved.append(act)
      return true
    }
  }

  private struct Registry {
    var last = 0
    var reactions: [ObjectIdentifier: List] = [:]
  }

  private let registry = Lock(Registry())

  /// Creates an empty set of reactions.
  public init() {}

  /// Registers a reaction to operations of `type`. Returns its number.
  func add(to type: any Any.Type, _ attach: @escaping Attach) -> Int {
    registry.withLock { registry in
      registry.last += 1
      registry.reactions[ObjectIdentifier(type), default: List()]
        .append(Reaction(number: registry.last, attach: attach))
      return registry.last
    }
  }

  /// Forgets the reaction, for later operations.
  func remove(_ number: Int, to type: any Any.Type) {
    // The removed closures are returned, so that they are released outside of the lock.
    let removed = registry.withLock { registry -> Reaction? in
      let key = ObjectIdentifier(type)
      let reaction = registry.reactions[key]?.remove(number)
      if registry.reactions[key]?.isEmpty == true { registry.reactions[key] = nil }
      return reaction
    }
    for act in removed?.whenRemoved ?? [] { act() }
  }

  /// Acts when the reaction is removed, or now if it has been.
  func whenRemoved(
    _ number: Int, to type: any Any.Type, _ act: @escaping @Sendable () -> Void
  ) {
    let isThere = registry.withLock { registry in
      registry.reactions[ObjectIdentifier(type)]?.whenRemoved(number, act) ?? false
    }
    if !isThere { act() }
  }

  /// Hands the operation to the reactions to its type.
  func react(to operation: any AnyObject & Sendable, of type: any Any.Type) {
    let attachers = registry.withLock { $0.reactions[ObjectIdentifier(type)]?.attachers }
    for attach in attachers ?? [] { attach(operation) }
  }
}
