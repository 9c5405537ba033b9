import Testing

@testable import UseCase

struct WaiterLineTests {
  @Test func `waiters leave in the order in which they came`() {
    var line = WaiterLine<String>()
    for (key, waiter) in ["a", "b", "c"].enumerated() { line.append(waiter, key: Int32(key)) }
    #expect(line.removeAll().all == ["a", "b", "c"])
    #expect(line.removeAll().all == [])
  }

  @Test func `a waiter that has left is handed back once`() {
    var line = WaiterLine<String>()
    for (key, waiter) in ["a", "b", "c"].enumerated() { line.append(waiter, key: Int32(key)) }
    #expect(line.remove(1) == "b")
    #expect(line.remove(1) == nil)
    #expect(line.removeAll().all == ["a", "c"])
    #expect(line.remove(0) == nil)
  }

  /// Compares with an array, over every sequence of 10 events.
  @Test func `a line does what an array does`() {
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
        let key = Int32(10 - depth)
        line.append(depth, key: key)
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

  @Test func `a waiter that has left is not kept`() {
    final class Waiter: Sendable {}
    var line = WaiterLine<Waiter>()
    var alive: [() -> Bool] = []
    for key in 0..<10 {
      let waiter = Waiter()
      alive.append { [weak waiter] in waiter != nil }
      line.append(waiter, key: Int32(key))
    }
    _ = line.remove(8)
    _ = line.remove(0)
    #expect(alive.map { $0() } == [false] + Array(repeating: true, count: 7) + [false, true])
    #expect(line.removeAll().all.count == 8)
    #expect(!alive.contains { $0() })
  }
}

extension WaiterLine {
  var all: [Waiter] {
    var all: [Waiter] = []
    forEach { all.append($0) }
    return all
  }
}
