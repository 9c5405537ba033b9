import Testing

@testable import UseCase

/// The table that lanes stand in, with letters for lanes and numbers for their identities.
struct LaneTableTests {
  private typealias Table = LaneTable<Character, Int>

  /// Enters the lanes, numbered from 0, and returns whether all were taken.
  private func table(_ lanes: [(Character, hash: Int)]) -> Table {
    var table = Table()
    for (id, lane) in lanes.enumerated() {
      let isIn = table.enter(lane.0, id: id, hash: lane.hash, since: table.last)
      #expect(isIn)
    }
    return table
  }

  @Test func `lanes of one hash are found together, and of them the newest`() {
    var table = table([("a", hash: 1), ("b", hash: 2), ("c", hash: 1)])
    let newest = (1...3).map { table.newest(of: $0) }
    #expect(newest == ["c", "b", nil])
    #expect(table.lanes(of: 1).lanes == ["a", "c"])
    #expect(table.lanes == ["a", "b", "c"])
  }

  @Test func `a lane is entered only if none came since the look, also if that one is gone`() {
    var table = Table()
    let seen = table.lanes(of: 1).last
    let first = table.enter("a", id: 0, hash: 1, since: seen)
    let second = table.enter("b", id: 1, hash: 1, since: seen)
    let removed = table.remove(0, hash: 1)
    let third = table.enter("b", id: 1, hash: 1, since: seen)
    #expect(first && !second && !third)
    #expect(removed == "a" && table.count == 0)
  }

  @Test func `a lane is removed once, and only itself`() {
    var table = table([("a", hash: 1), ("b", hash: 1), ("c", hash: 9)])
    let removed = [(0, 2), (1, 1), (1, 1)].map { table.remove($0.0, hash: $0.1) }
    #expect(removed == [nil, "b", nil])
    #expect(table.lanes == ["a", "c"])
    let newest = table.newest(of: 1)
    #expect(newest == "a")
  }

  @Test func `a lane that two look-ups in a row have found is remembered until it goes`() {
    var table = table([("a", hash: 1), ("b", hash: 2)])
    let repeated = [1, 1, 1, 2, 1, 2, 2, 3, 3, 2, 2].map { hash in
      _ = table.newest(of: hash)
      return table.repeated
    }
    #expect(repeated == [nil, "a", "a", nil, nil, nil, "b", nil, nil, nil, "b"])
    _ = table.remove(0, hash: 1)
    #expect(table.repeated == "b")
    _ = table.remove(1, hash: 2)
    #expect(table.repeated == nil)
  }

  @Test func `many lanes come and go, whatever their hashes`() {
    for hash in [{ $0 }, { $0 * 1_024 }, { -$0 }, { _ in 7 }] as [(Int) -> Int] {
      var table = table((0..<200).map { ("x", hash: hash($0)) })
      #expect(table.count == 200 && table.size == 256)
      let found = (0..<200).compactMap { table.newest(of: hash($0)) }
      #expect(found.count == 200)
      let removed = (0..<200).reversed().compactMap { table.remove($0, hash: hash($0)) }
      #expect(removed.count == 200)
      #expect(table.count == 0 && table.lanes.isEmpty && table.size < 8)
    }
  }
}
