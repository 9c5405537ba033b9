import TestSupport
import Testing

@testable import UseCaseHistory

/// The facts of a journal, and the history that they make.
struct HistoryReplayTests {
  private typealias Replay = HistoryReplay<TestStep>

  private final class TestStep: Sendable {
    let id: HistoryEntry.ID
    let pair: HistoryPair
    let isInDoubt = Watched(false)
    init(_ id: HistoryEntry.ID, _ pair: HistoryPair) { (self.id, self.pair) = (id, pair) }
  }

  private func replay(_ facts: [HistoryFact]) throws -> Replay {
    var replay = Replay(
      .init(
        content: { .single(TestStep($0, $1)) }, pair: { ($0.id, $0.pair) },
        doubt: { step, isInDoubt in step.isInDoubt.update { $0 = isInDoubt } },
        title: { String(decoding: $0, as: UTF8.self) }))
    for (index, fact) in facts.enumerated() { try replay.tell(fact, UInt64(index + 1)) }
    return replay
  }

  private func id(_ number: UInt64) -> HistoryEntry.ID { .init(number: number) }
  private func pair(_ number: UInt8) -> HistoryPair { .init(name: "n", request: [number]) }

  private func executed(_ number: UInt64) -> [HistoryFact] {
    [
      .began(id(number), in: nil, pair(UInt8(number))),
      .answered(id(number), [UInt8(number)], isMarked: false), .ended(id(number), .recorded),
    ]
  }

  private func ids(_ replay: borrowing Replay) -> (applied: [UInt64], undone: [UInt64]) {
    let stacks = replay.pool.stacks
    return (
      stacks.applied.records.elements.map(\.id.number), stacks.undone.elements.map(\.id.number)
    )
  }

  @Test func `executions, an undo and a redo`() throws {
    let undo: [HistoryFact] = [
      .moves(isRedo: false, count: 1), .moving(id(2)), .undone(id(2)), .moved,
    ]
    let redo: [HistoryFact] = [
      .moves(isRedo: true, count: 1), .moving(id(2)), .redone(id(2), [9], isMarked: false), .moved,
    ]
    var replay = try replay(executed(1) + executed(2) + undo)
    #expect(ids(replay) == ([1], [2]))
    replay = try self.replay(executed(1) + executed(2) + undo + redo)
    #expect(ids(replay) == ([1, 2], []))
    #expect(replay.pool.stacks.newestStep?.pair.response == [9])
    #expect(try replay.open().count == 0)
  }

  @Test func `a fact that comes again is told once`() throws {
    var replay = try replay(executed(1))
    for (index, fact) in executed(1).enumerated() { try replay.tell(fact, UInt64(index + 1)) }
    #expect(ids(replay) == ([1], []))
    #expect(replay.last == 3)
  }

  @Test func `an intent without an end is a doubt, and each answer has its effect`() throws {
    let facts = executed(1) + [.began(id(2), in: nil, pair(2))]
    for (answer, expected) in [
      (JournalAnswer.noEffect, [UInt64(1)]), (.effect([5]), [1, 2]), (.unknown, [1]),
      (.unreadable, [1]),
    ] {
      var replay = try replay(facts)
      let doubts = try replay.open()
      #expect(doubts.map(\.id) == [id(2)])
      try replay.answer(doubts[0], answer)
      try replay.finish(.compensate)
      #expect(ids(replay).applied == expected)
    }
  }

  @Test func `a move that was interrupted ends where it was`() throws {
    var replay = try replay(
      executed(1) + executed(2) + executed(3) + [
        .moves(isRedo: false, count: 3), .moving(id(3)), .undone(id(3)), .moving(id(2)),
      ])
    let doubts = try replay.open()
    #expect(doubts.map(\.id) == [id(2)])
    try replay.finish(.compensate)
    #expect(ids(replay) == ([1, 2], [3]))
    let inDoubt = replay.pool.stacks.applied.records.elements.compactMap(\.content.step)
      .filter(\.isInDoubt.value)
    #expect(inDoubt.map(\.id) == [id(2)])
  }

  @Test func `a clear makes what runs leave`() throws {
    var replay = try replay(executed(1) + [.began(id(2), in: nil, pair(2)), .cleared])
    try replay.answer(try replay.open()[0], .effect([2]))
    try replay.finish(.compensate)
    #expect(ids(replay) == ([], []))
    #expect(replay.drops.map(\.step.id) == [id(1), id(2)])
    try replay.tell(.discarded([id(1)]), nil)
    #expect(replay.drops.map(\.step.id) == [id(2)])
  }

  @Test(.holds("Damage"))
  func `facts that contradict each other are an error`() {
    let wrong: [[HistoryFact]] = [
      [.ended(id(1), .recorded)], [.undone(id(1))], [.redone(id(1), nil, isMarked: true)], [.moved],
      [.moves(isRedo: false, count: 1)], [.moves(isRedo: true, count: 0)],
      [.closed(id(1), isLost: false)], [.combined(id(1), pair(1))],
      [.began(id(1), in: id(2), pair(1))], [.piece(.kept(isApplied: true))], [.piece(.partial(1))],
      [.piece(.bundle(id(1), title: [], .beginning, count: 1))], [.piece(.interrupted)],
      [.piece(.dropped(.cleared))],
      [.undoes(id(1))], [.obsolete(id(1), place: id(2))], executed(1) + [.undone(id(1))],
      [.began(id(1), in: nil, pair(1)), .ended(id(1), .recorded)],
      [
        .began(id(1), in: nil, pair(1)), .answered(id(1), [], isMarked: false),
        .ended(id(1), .merged),
      ],
      executed(1) + [.moves(isRedo: false, count: 1), .redone(id(1), [], isMarked: false)],
    ]
    for facts in wrong { #expect(throws: (any Error).self, "\(facts)") { _ = try replay(facts) } }
  }

  // MARK: Bytes

  private var all: [HistoryFact] {
    let (one, pair) = (
      id(1), HistoryPair(name: "näme", request: [1], response: [2], isMarked: true, isInDoubt: true)
    )
    return [
      .began(one, in: id(300), pair), .began(one, in: nil, self.pair(7)), .moving(one),
      .failed(one), .answered(one, [], isMarked: true), .answered(one, nil, isMarked: false),
      .combined(one, pair), .ended(one, .annulled), .undone(one),
      .redone(one, [1, 2], isMarked: false), .obsolete(one, place: id(1 << 61)),
      .opened(one, in: nil, title: [3]), .closed(one, isLost: true), .closed(one, isLost: false),
      .moves(isRedo: true, count: 128), .undoes(one),
      .moved,
      .limited(nil), .limited(0), .cleared, .forgot(one), .saved(nil), .saved(.of(one)),
      .discarded([one, id(2)]),
      .piece(
        .start(last: 1 << 40, newest: one, .init(sum: .unknown(5), lastNumber: 3, covered: 2))),
      .piece(.leaf(one, pair)),
      .piece(.bundle(one, title: [], .of(one), count: 2)), .piece(.kept(isApplied: false)),
      .piece(.partial(1)),
      .piece(.interrupted), .piece(.dropped(.forgotten)),
    ]
  }

  @Test func `each fact is read as it was written`() throws {
    var read: [HistoryFact] = []
    try FactRecord.read(FactRecord.bytes(of: all)) { number, fact in
      #expect(number == nil)
      read.append(fact)
    }
    #expect(read == all)
    let numbered = all.enumerated().map { (number: UInt64($0 * $0 + 5), fact: $1) }
    var numbers: [UInt64?] = []
    try FactRecord.read(FactRecord.bytes(ofNumbered: numbered)) { number, fact in
      numbers.append(number)
    }
    #expect(numbers == numbered.map(\.number))
  }

  @Test func `every prefix, every flipped byte and random bytes are read or refused`() {
    let bytes = FactRecord.bytes(of: all)
    for length in bytes.indices { try? FactRecord.read(Array(bytes[..<length])) { _, _ in } }
    for index in bytes.indices {
      for value in UInt8.min...UInt8.max {
        var changed = bytes
        changed[index] = value
        _ = try? replayed(changed)
      }
    }
    var random = SeededGenerator(seed: 7)
    for _ in 0..<2_000 {
      let count = Int.random(in: 0..<40, using: &random)
      let noise = (0..<count).map { _ in UInt8.random(in: 0...40, using: &random) }
      _ = try? replayed([1, UInt8.random(in: 0...1, using: &random)] + noise)
    }
  }

  private func replayed(_ bytes: [UInt8]) throws -> HistoryEntry.ID? {
    var replay = try replay(executed(1) + executed(2))
    try FactRecord.read(bytes) { number, fact in try replay.tell(fact, number.map { $0 + 100 }) }
    _ = try replay.open()
    try replay.finish(.keep)
    return replay.newest
  }
}
