/// Tasks that wait for one value, in order. Each may leave at any time.
///
/// The first waiter needs no allocation. Every event costs O(1), and `forEach` O(*n* log *n*).
struct WaiterLine<Waiter: Sendable>: Sendable {
  private enum Places: Sendable {
    case none
    case one(Waiter, key: Int32)
    case several([Int32: Waiter])
  }

  private var places = Places.none

  /// Adds a waiter. `key` is its own, and higher for a waiter that came later.
  mutating func append(_ waiter: Waiter, key: Int32) {
    switch places {
    case .none:
      places = .one(waiter, key: key)
    case .one(let first, let firstKey):
      places = .several([firstKey: first, key: waiter])
    case .several(var waiters):
      // The dictionary has one owner, and is not copied.
      places = .none
      waiters[key] = waiter
      places = .several(waiters)
    }
  }

  /// Returns the waiter of the key, unless it has left already.
  mutating func remove(_ key: Int32) -> Waiter? {
    switch places {
    case .one(let waiter, key):
      places = .none
      return waiter
    case .several(var waiters):
      places = .none
      defer { places = .several(waiters) }
      return waiters.removeValue(forKey: key)
    case .none, .one: return nil
    }
  }

  /// Returns all waiters, and keeps none.
  mutating func removeAll() -> Self {
    defer { self = Self() }
    return self
  }

  /// Calls `body` with each waiter, in the order in which they came.
  @inline(__always) consuming func forEach(_ body: (Waiter) -> Void) {
    switch places {
    case .none: break
    case .one(let waiter, _): body(waiter)
    case .several(let waiters):
      for (_, waiter) in waiters.sorted(by: { $0.key < $1.key }) { body(waiter) }
    }
  }
}
