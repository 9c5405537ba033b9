import Testing

@testable import UseCase

struct WaiterLineTests {
  @Test func `those who wait leave in the order in which they came`() {
    var line = WaiterLine<String>()
    for waiter in ["a", "b", "c"] { _ = line.append(waiter) }
    #expect(line.removeAll().all == ["a", "b", "c"])
    #expect(line.removeAll().all == [])
  }

  @Test func `who has left is handed back once`() {
    var line = WaiterLine<String>()
    let keys = ["a", "b", "c"].map { line.append($0) }
    #expect(line.remove(keys[1]) == "b")
    #expect(line.remove(keys[1]) == nil)
    #expect(line.removeAll().all == ["a", "c"])
    #expect(line.remove(keys[0]) == nil)
  }

  @Test func `a key is never used again`() {
    var line = WaiterLine<Int>()
    var keys: Set<Int32> = []
    for round in 0..<4 {
      for waiter in 0..<4 {
        let key = line.append(waiter)
        let isNew = keys.insert(key).inserted
        #expect(isNew)
      }
      if round.isMultiple(of: 2) { _ = line.removeAll() }
    }
  }

  /// Compares with an array, over every sequence of 10 events.
  @Test func `it does what an array does`() {
    var sequences = 0
    func go(_ line: WaiterLine<Int>, _ plain: [Int32: Int], keys: [Int32], depth: Int) {
      guard depth > 0 else {
        sequences += 1
        var line = line
        let rest = line.removeAll().all
        if rest != plain.sorted(by: { $0.key < $1.key }).map(\.value) {
          Issue.record("\(rest) remain of \(plain), keys \(keys)")
        }
        return
      }
      do {
        var (line, plain) = (line, plain)
        let key = line.append(depth)
        plain[key] = depth
        go(line, plain, keys: keys + [key], depth: depth - 1)
      }
      for key in keys {
        var (line, plain) = (line, plain)
        let (left, expected) = (line.remove(key), plain.removeValue(forKey: key))
        if left != expected { Issue.record("\(key) gives \(left as Any), not \(expected as Any)") }
        if expected != nil { go(line, plain, keys: keys, depth: depth - 1) }
      }
    }
    go(WaiterLine(), [:], keys: [], depth: 10)
    #expect(sequences == 9_496)
  }

  @Test func `who has left is not kept`() {
    final class Waiter: Sendable {}
    var line = WaiterLine<Waiter>()
    weak var left: Waiter?
    weak var last: Waiter?
    var keys: [Int32] = []
    for _ in 0..<8 { keys.append(line.append(Waiter())) }
    do {
      let waiter = Waiter()
      left = waiter
      keys.append(line.append(waiter))
    }
    do {
      let waiter = Waiter()
      last = waiter
      _ = line.append(waiter)
    }
    _ = line.remove(keys[8])
    #expect(left == nil)
    #expect(last != nil)
    #expect(line.removeAll().all.count == 9)
    #expect(last == nil)
  }

  /// Fails in time or in memory without the line that forgets the empty places.
  @Test func `the places of those who come and go are reused`() {
    var line = WaiterLine<Int>()
    let first = line.append(0)
    for waiter in 1...1_000 {
      let key = line.append(waiter)
      #expect(line.remove(key) == waiter)
    }
    let places =
      Mirror(reflecting: line).descendant("places", "several", 0) as? [(key: Int32, waiter: Int?)]
    #expect((places?.count).map { $0 < 4 } == true)
    #expect(line.remove(first) == 0)
  }
}

extension WaiterLine {
  var all: [Waiter] {
    var all: [Waiter] = []
    forEach { all.append($0) }
    return all
  }
}
