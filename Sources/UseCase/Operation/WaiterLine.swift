/// Tasks that wait for one value, in order. Each may leave at any time.
///
/// The first waiter needs no allocation. Every event costs O(1), and `forEach` O(*n* log *n*).
struct WaiterLine<Waiter: Sendable>: Sendable {
  private var first: (waiter: Waiter, key: Int32)?
  /// There rarely are others: an empty dictionary would cost more than none.
  private var others: [Int32: Waiter]?

  /// Adds a waiter. `key` is higher than that of any waiter that came before.
  mutating func append(_ waiter: Waiter, key: Int32) {
    if first == nil, others == nil {
      first = (waiter, key)
    } else {
      others = others ?? [:]
      others?[key] = waiter
    }
  }

  /// Returns the waiter of the key, unless it has left already.
  mutating func remove(_ key: Int32) -> Waiter? {
    guard let first, first.key == key else { return others?.removeValue(forKey: key) }
    self.first = nil
    return first.waiter
  }

  /// Returns all waiters, and keeps none.
  mutating func removeAll() -> Self {
    defer { self = Self() }
    return self
  }

  /// Calls `body` with each waiter, in the order in which they came.
  func forEach(_ body: (Waiter) -> Void) {
    if let first { body(first.waiter) }
    guard let others else { return }
    for (_, waiter) in others.sorted(by: { $0.key < $1.key }) { body(waiter) }
  }
}
