import TestSupport
import Testing

@testable import UseCaseHistory

struct HistoryStackTests {
  private typealias Stack = HistoryStack<Int>
  private typealias Record = HistoryRecord<Int>

  private func record(_ number: Int, _ footprint: HistoryFootprint = .everything) -> Record {
    Record(
      id: HistoryEntry.ID(number: UInt64(number)), content: .init(number, touching: footprint))
  }

  private func steps(_ records: [Record]) -> [Int?] { records.map(\.content.step) }

  /// Records come at the end, and leave at both ends and in the middle. Half of them touch keys.
  @Test func `it holds what an array holds, and finds each by its id and by what it touches`() {
    var random = SeededGenerator(seed: 1)
    var stack = Stack()
    var array: [Record] = []
    for number in 1...20_000 {
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<50:
        let new = record(number, footprint(number, &random))
        stack.push(new)
        array.append(new)
      case 50..<70: #expect(stack.popLast()?.id == array.popLast()?.id)
      case 70..<80:
        let count = Int.random(in: 0...min(3, array.count), using: &random)
        #expect(stack.removeFirst(count).map(\.id) == array.prefix(count).map(\.id))
        array.removeFirst(count)
      case 80..<83:
        let indices = array.indices.filter { _ in Int.random(in: 0..<20, using: &random) == 0 }
        let removed = stack.remove(at: indices.reversed())
        #expect(removed.map(\.id) == indices.reversed().map { array[$0].id })
        for index in indices.reversed() { array.remove(at: index) }
      case 83..<99:
        guard let index = array.indices.randomElement(using: &random) else { continue }
        #expect(stack.remove(at: index).id == array.remove(at: index).id)
      default:
        let count = Int.random(in: 0...array.count, using: &random)
        #expect(stack.removeFirst(count).map(\.id) == array.prefix(count).map(\.id))
        array.removeFirst(count)
      }
      #expect(stack.count == array.count && stack.last?.id == array.last?.id)
      guard let index = array.indices.randomElement(using: &random) else { continue }
      let id = array[index].id
      #expect(stack[index].id == id && stack.position(of: id) == index)
      #expect(stack.count(below: stack[index].order) == index)
      let footprint = footprint(number, &random)
      let range = index..<Int.random(in: index...array.count, using: &random)
      let positions = range.filter { array[$0].footprint.overlaps(footprint) }
      #expect(stack.positions(overlapping: footprint, in: range) == positions)
      #expect(stack.first(overlapping: footprint, in: range) == positions.first)
      #expect(stack.last(overlapping: footprint, in: range) == positions.last)
      let count = array.count { $0.footprint.overlaps(footprint) }
      #expect(stack.count(overlapping: footprint) == count)
      #expect(stack.position(of: HistoryEntry.ID(number: UInt64(number + 1))) == nil)
    }
    #expect(stack.records.map(\.id) == array.map(\.id))
    let few = min(5, array.count)
    #expect(stack.newest(few).map(\.id) == array.suffix(few).map(\.id).reversed())
    #expect(stack.newestOrders(few).lowerBound == stack[array.count - few].order)
    #expect(stack.newestOrders(0).isEmpty)
  }

  private func footprint(
    _ number: Int, _ random: inout SeededGenerator
  ) -> HistoryFootprint {
    let footprints: [HistoryFootprint] = [
      .everything, .everything, .keys(), .keys(1), .keys(2, 3), .keys(1, number % 20),
    ]
    return footprints.randomElement(using: &random) ?? .everything
  }

  @Test(arguments: [false, true])
  func `all are taken out in order, each let go before the next`(isReversed: Bool) {
    let lifetime = Lifetime()
    var stack = HistoryStack<Lifetime.Token>()
    for number in 1...10 {
      stack.push(
        .init(id: .init(number: UInt64(number)), content: .single(lifetime.track())))
    }
    _ = (stack.removeFirst(2), stack.popLast())
    var numbers: [UInt64] = []
    stack.removeAll(isReversed: isReversed) { record in
      numbers.append(record.id.number)
      #expect(lifetime.alive == 8 - numbers.count)
    }
    #expect(numbers == (isReversed ? [9, 8, 7, 6, 5, 4, 3] : [3, 4, 5, 6, 7, 8, 9]))
    #expect(lifetime.alive == 0 && stack.isEmpty)
  }

  @Test func `those in the hand of a move are spared, and the others leave in order`() {
    for (positions, left) in [
      (3..<5, [1, 2, 3]), (1..<2, [1, 3, 4, 5]), (5..<5, [1, 2, 3, 4, 5]),
    ] {
      for isReversed in [false, true] {
        var stack = Stack()
        for number in 1...5 { stack.push(record(number)) }
        let orders =
          positions.upperBound == 5
          ? stack.newestOrders(positions.count)
          : stack[positions.lowerBound].order..<stack[positions.upperBound].order
        stack.spare(orders)
        var numbers: [Int?] = []
        stack.removeAll(isReversed: isReversed) { numbers.append($0.content.step) }
        #expect(numbers == (isReversed ? left.reversed() : left) && stack.isEmpty)
      }
    }
  }

  @Test func `the first that lies behind is found in any part of an array`() {
    let numbers = [9, 1, 3, 3, 7][1...]
    let indices = (0...8).map { number in numbers.partitioningIndex { $0 >= number } }
    #expect(indices == [1, 1, 2, 2, 4, 4, 4, 4, 5])
  }

  @Test func `what is taken from either end is let go`() {
    let lifetime = Lifetime()
    var stack = HistoryStack<Lifetime.Token>()
    var last: UInt64 = 0
    func push() {
      last += 1
      stack.push(
        .init(id: .init(number: last), content: .init(lifetime.track(), touching: .keys(1))))
    }
    for _ in 1...10 { push() }
    _ = stack.removeFirst(1)
    _ = stack.popLast()
    #expect(lifetime.alive == 8)
    _ = stack.removeFirst(3)
    #expect(lifetime.alive == 5)
    for _ in 1...1_000 {
      push()
      _ = stack.removeFirst(1)
    }
    #expect(lifetime.alive == 5)
  }
}

struct HistoryRecordTests {
  private typealias Record = HistoryRecord<String>

  private func id(_ number: UInt64) -> HistoryEntry.ID { HistoryEntry.ID(number: number) }

  private func group(_ title: String, _ parts: [Record], id number: UInt64) -> Record {
    let group = HistoryParts(title: title, parts: parts, place: .of(id(number)))
    return Record(id: id(number), content: .group(group))
  }

  /// `G(a N(b c) d)`
  private var record: Record {
    let parts = ["a", "b", "c", "d"].enumerated().map { index, text in
      Record(id: id(UInt64(index + 1)), content: .single(text))
    }
    return group("G", [parts[0], group("N", [parts[1], parts[2]], id: 8), parts[3]], id: 9)
  }

  private func layout(_ record: Record?, applied: Int? = nil) -> String? {
    record.map { $0.entry(applied: applied ?? $0.size) { $0 }.layout }
  }

  @Test func `it shows which parts are applied`() {
    let layouts = (0...4).map { layout(record, applied: $0) }
    #expect(
      layouts == [
        "G(a N(b c) d)", "G(a | N(b c) d)", "G(a N(b | c) | d)", "G(a N(b c) | d)", "G(a N(b c) d)",
      ])
    #expect(record.leaves.map(\.content.step) == ["a", "b", "c", "d"])
  }

  @Test func `it can be split after any step`() {
    let splits = (0...4).map { count in
      let (kept, rest) = record.split(at: count, place: .unknown(1))
      return [layout(kept), layout(rest)]
    }
    #expect(
      splits == [
        [nil, "G(a N(b c) d)"], ["G(a)", "G(N(b c) d)"], ["G(a N(b))", "G(N(c) d)"],
        ["G(a N(b c))", "G(d)"], ["G(a N(b c) d)", nil],
      ])
  }

  @Test func `what is left after a split is the same entry at another place`() {
    let (kept, _) = record.split(at: 2, place: .unknown(1))
    #expect(kept?.id == record.id && kept?.place == .unknown(1))
    #expect(record.split(at: 4, place: .unknown(1)).kept?.place == record.place)
  }

  @Test func `its leaves can be replaced`() {
    let leaves = record.leaves.map { leaf in
      Record(id: leaf.id, content: .single(leaf.content.step?.uppercased() ?? ""))
    }
    let replaced = record.replacing(leaves)
    #expect(layout(replaced) == "G(A N(B C) D)")
    #expect(replaced?.place == record.place)
    let single = Record(id: id(1), content: .single("a"))
    #expect(layout(single.replacing([leaves[1]])) == "B")
  }

  @Test func `it can lose leaves, and is another place then`() {
    let leaves = record.leaves
    let fewer = record.replacing([nil, leaves[1], nil, leaves[3]], place: .unknown(1))
    #expect(layout(fewer) == "G(N(b) d)" && fewer?.id == record.id)
    #expect(fewer?.place == .unknown(1))
    let without = record.replacing([leaves[0], nil, nil, leaves[3]], place: .unknown(1))
    #expect(layout(without) == "G(a d)")
    #expect(record.replacing([nil, nil, nil, nil]) == nil)
  }

  @Test func `it touches what its parts touch`() {
    func part(_ number: UInt64, _ footprint: HistoryFootprint) -> Record {
      Record(id: id(number), content: .init("", touching: footprint))
    }
    let both = group("G", [part(1, .keys(1, 2)), part(2, .keys(2, 3))], id: 9)
    #expect(both.footprint == .keys(1, 2, 3))
    let all = group("G", [part(1, .keys(1)), part(2, .everything)], id: 9)
    #expect(all.footprint == .everything)
  }
}
