/// Those who wait for one thing, in order, each of whom may leave at any time.
///
/// `append` and `remove` cost O(log *n*) amortised, `removeAll` O(*n*).
struct WaiterLine<Waiter: Sendable>: Sendable {
  private var places: [(key: Int, waiter: Waiter?)] = []
  private var present = 0
  private var lastKey = 0

  /// Puts the waiter last, and returns the key to remove it with.
  mutating func append(_ waiter: Waiter) -> Int {
    lastKey += 1
    present += 1
    places.append((lastKey, waiter))
    return lastKey
  }

  /// Returns the waiter of the key unless it has left already.
  mutating func remove(_ key: Int) -> Waiter? {
    var (low, high) = (0, places.count)
    while low < high {
      let middle = (low + high) / 2
      if places[middle].key < key { low = middle + 1 } else { high = middle }
    }
    guard low < places.count, places[low].key == key, let waiter = places[low].waiter.take() else {
      return nil
    }
    present -= 1
    if present < places.count / 2 { places.removeAll { $0.waiter == nil } }
    return waiter
  }

  /// Returns all who wait, in the order in which they came.
  mutating func removeAll() -> [Waiter] {
    guard present > 0 else { return [] }
    defer {
      places = []
      present = 0
    }
    return places.compactMap(\.waiter)
  }
}
