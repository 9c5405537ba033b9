import TestSupport
import Testing

@testable import UseCaseHistory

struct HistoryStackTests {
  @Test func `it holds what an array holds`() {
    var random = SeededGenerator(seed: 1)
    var stack = HistoryStack<Int>()
    var array: [Int] = []
    for number in 1...20_000 {
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<50:
        stack.append(number)
        array.append(number)
      case 50..<70:
        let last = (stack.popLast(), array.popLast())
        #expect(last.0 == last.1)
      case 70..<98:
        let first = (stack.popFirst(), array.isEmpty ? nil : array.removeFirst())
        #expect(first.0 == first.1)
      default:
        let count = Int.random(in: 0...array.count, using: &random)
        let gone = stack.removeFirst(count)
        #expect(gone.elements == Array(array.prefix(count)))
        array.removeFirst(count)
      }
      #expect(stack.count == array.count && stack.last == array.last)
    }
    #expect(stack.elements == array)
  }

  @Test(arguments: [false, true])
  func `all are taken out in order, each let go before the next`(isReversed: Bool) {
    let lifetime = Lifetime()
    var stack = HistoryStack<(number: Int, token: Lifetime.Token)>()
    for number in 1...10 { stack.append((number, lifetime.track())) }
    _ = (stack.popFirst(), stack.popFirst(), stack.popLast())
    var numbers: [Int] = []
    stack.removeAll(sparing: 0, isReversed: isReversed) { number, _ in
      numbers.append(number)
      #expect(lifetime.alive == 8 - numbers.count)
    }
    #expect(numbers == (isReversed ? [9, 8, 7, 6, 5, 4, 3] : [3, 4, 5, 6, 7, 8, 9]))
    #expect(lifetime.alive == 0 && stack.isEmpty)
  }

  @Test func `the last are spared, and the others are taken out in order`() {
    for isReversed in [false, true] {
      var stack = HistoryStack(Array(1...5))
      var numbers: [Int] = []
      stack.removeAll(sparing: 2, isReversed: isReversed) { numbers.append($0) }
      #expect(numbers == (isReversed ? [3, 2, 1] : [1, 2, 3]) && stack.isEmpty)
    }
  }

  @Test func `it finds the first that lies behind`() {
    let stack = HistoryStack([1, 3, 3, 7])
    let indices = (0...8).map { number in stack.firstIndex(behind: { $0 >= number }) }
    #expect(indices == [0, 0, 1, 1, 3, 3, 3, 3, 4])
  }

  @Test func `what is taken out of the middle leaves a hole, and the others keep their positions`()
  {
    var random = SeededGenerator(seed: 2)
    var stack = HistoryStack<Int>()
    var expected: [(position: Int, number: Int)] = []
    for number in 1...20_000 {
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<50:
        stack.append(number)
        expected.append((stack.positions.upperBound - 1, number))
      case 50..<60: #expect(stack.popLast() == expected.popLast()?.number)
      case 60..<70:
        #expect(stack.popFirst() == (expected.isEmpty ? nil : expected.removeFirst().number))
      case 70..<97:
        guard let index = expected.indices.randomElement(using: &random) else { continue }
        let (position, number) = expected.remove(at: index)
        #expect(stack.take(at: position) == number && stack.take(at: position) == nil)
      case 97:
        let count = Int.random(in: 0...min(20, expected.count), using: &random)
        #expect(stack.removeFirst(count).elements == expected.prefix(count).map(\.number))
        expected.removeFirst(count)
      default:
        guard stack.compact() else { continue }
        expected = Array(zip(stack.positions, expected.map(\.number)))
      }
      #expect(stack.count == expected.count && stack.last == expected.last?.number)
      #expect(stack.first == expected.first?.number)
    }
    #expect(stack.elements == expected.map(\.number))
    #expect(expected.allSatisfy { stack[at: $0.position] == $0.number })
    let few = min(5, expected.count)
    #expect(Array(stack.newest(few)) == expected.suffix(few).map(\.number).reversed())
    #expect(stack.newestPositions(few).lowerBound == expected.suffix(few).first?.position)
  }

  @Test func `what is taken from either end is let go`() {
    let lifetime = Lifetime()
    var stack = HistoryStack<Lifetime.Token>()
    for _ in 1...10 { stack.append(lifetime.track()) }
    _ = stack.popFirst()
    _ = stack.popLast()
    #expect(lifetime.alive == 8)
    _ = stack.removeFirst(3)
    #expect(lifetime.alive == 5)
    for _ in 1...1_000 {
      stack.append(lifetime.track())
      _ = stack.popFirst()
    }
    #expect(lifetime.alive == 5)
  }
}

struct HistoryRecordTests {
  private typealias Record = HistoryRecord<String>

  private func id(_ number: UInt64) -> HistoryEntry.ID { HistoryEntry.ID(number: number) }

  private func group(_ title: String, _ parts: [Record], id number: UInt64) -> Record {
    let group = HistoryGroup(title: title, parts: parts, place: .of(id(number)))
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
      Record(id: leaf.id, content: .init(leaf.content.step?.uppercased() ?? "", marks: nil))
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
    func part(_ number: UInt64, _ marks: [Int]?) -> Record {
      Record(id: id(number), content: .init("", marks: marks))
    }
    let both = group("G", [part(1, [1, 2]), part(2, [2, 3])], id: 9)
    #expect(Set(both.marks ?? []) == [1, 2, 3] && both.marks?.count == 3)
    #expect(group("G", [part(1, [1]), part(2, nil)], id: 9).marks == nil)
  }
}
