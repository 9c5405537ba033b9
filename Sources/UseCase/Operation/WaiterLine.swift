/// Those who wait for one thing, in order, each of whom may leave at any time.
///
/// Mostly there is one, who needs no array. `append` and `remove` cost O(log *n*) amortised,
/// `removeAll` O(1).
struct WaiterLine<Waiter: Sendable>: Sendable {
  private typealias Place = (key: Int32, waiter: Waiter?)

  private enum Places: Sendable {
    case none, one(Waiter, key: Int32), several([Place], present: Int32)

    /// Leaves nobody, so that an array that is changed meanwhile is not copied.
    mutating func take() -> Self {
      defer { self = .none }
      return self
    }
  }

  private var places = Places.none
  private var lastKey: Int32 = 0

  /// Puts the waiter last, and returns the key to remove it with.
  mutating func append(_ waiter: Waiter) -> Int32 {
    lastKey += 1
    switch places.take() {
    case .none:
      places = .one(waiter, key: lastKey)
    case .one(let first, let key):
      places = .several([(key, first), (lastKey, waiter)], present: 2)
    case .several(var line, let present):
      line.append((lastKey, waiter))
      places = .several(line, present: present + 1)
    }
    return lastKey
  }

  /// Returns the waiter of the key unless it has left already.
  mutating func remove(_ key: Int32) -> Waiter? {
    switch places.take() {
    case .none:
      return nil
    case .one(let waiter, key):
      return waiter
    case .one(let waiter, let other):
      places = .one(waiter, key: other)
      return nil
    case .several(var line, var present):
      defer { if present > 0 { places = .several(line, present: present) } }
      let index = Self.index(of: key, in: line)
      guard index < line.count, line[index].key == key, let waiter = line[index].waiter.take()
      else { return nil }
      present -= 1
      if present < line.count / 2 { line.removeAll { $0.waiter == nil } }
      return waiter
    }
  }

  private static func index(of key: Int32, in line: [Place]) -> Int {
    var (low, high) = (0, line.count)
    while low < high {
      let middle = (low + high) / 2
      if line[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns all who wait.
  mutating func removeAll() -> Self {
    var all = Self()
    all.places = places.take()
    return all
  }

  /// Calls `body` with each who waits, in the order in which they came.
  func forEach(_ body: (Waiter) -> Void) {
    switch places {
    case .none: break
    case .one(let waiter, _): body(waiter)
    case .several(let line, _): for place in line { place.waiter.map(body) }
    }
  }
}
