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

  /// A history that was written anew, and what has happened since.
  private func replay(whole: [HistoryFact], _ facts: [HistoryFact] = []) throws -> Replay {
    var replay = try replay([])
    let marks = HistoryPlaces(sum: .beginning, lastNumber: 0, covered: 0)
    try replay.tell(.piece(.start(last: 100, newest: id(1), marks)), nil)
    for fact in whole { try replay.tell(fact, nil) }
    for (index, fact) in facts.enumerated() { try replay.tell(fact, UInt64(index + 101)) }
    _ = try replay.doubts()
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
    (
      replay.pool.applied.records.map(\.id.number), replay.pool.undone.records.map(\.id.number)
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
    #expect(replay.pool.newestStep?.pair.response == [9])
    #expect(try replay.doubts().count == 0)
  }

  @Test func `a fact that comes again is told once`() throws {
    var replay = try replay(executed(1))
    for (index, fact) in executed(1).enumerated() { try replay.tell(fact, UInt64(index + 1)) }
    #expect(ids(replay) == ([1], []))
    #expect(replay.last == 3)
  }

  @Test func `an intent without an end is a doubt, and each answer has its effect`() throws {
    let facts = executed(1) + [.began(id(2), in: nil, pair(2))]
    let answers: [(HistorySettlement<[UInt8]?>?, [UInt64])] = [
      (.hadNoEffect, [1]), (.hadEffect([5]), [1, 2]), (.unknown, [1]), (nil, [1]),
    ]
    for (answer, expected) in answers {
      var replay = try replay(facts)
      let doubts = try replay.doubts()
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
    try replay.tell(.saved(.of(id(1))), 100)
    let doubts = try replay.doubts()
    #expect(doubts.map(\.id) == [id(2)])
    try replay.finish(.compensate)
    #expect(ids(replay) == ([1, 2], [3]) && replay.pool.saved == nil)
    let inDoubt = replay.pool.applied.records.compactMap(\.content.step)
      .filter(\.isInDoubt.value)
    #expect(inDoubt.map(\.id) == [id(2)])
  }

  @Test func `a group of which a part was undone has the place of its own, with one lost too`()
    throws
  {
    let parts = ([5, 6, 7] as [UInt64]).flatMap { part -> [HistoryFact] in
      [
        .began(id(part), in: id(4), pair(1)), .answered(id(part), [], isMarked: false),
        .ended(id(part), .part),
      ]
    }
    let opened = [HistoryFact.opened(id(4), in: nil, title: [])] + parts
    let lost: [HistoryFact] = [.moving(id(7)), .obsolete(id(7), place: id(20))]
    let undone: [HistoryFact] = [.moving(id(6)), .undone(id(6))]
    let closed = HistoryFact.closed(id(4), isLost: false)
    for (facts, place) in [(lost, id(20)), (lost + undone, id(4))] {
      let replay = try replay(opened + facts + [closed])
      guard case .group(let group) = replay.pool.applied.last?.content else {
        Issue.record("The group is an entry.")
        return
      }
      #expect(group.place == .of(place))
    }
  }

  @Test func `an undo in doubt is none any more when it is done`() throws {
    var replay = try replay(executed(1))
    let step = try #require(replay.pool.newestStep)
    step.isInDoubt.update { $0 = true }
    let undo: [HistoryFact] = [
      .moves(isRedo: false, count: 1), .moving(id(1)), .undone(id(1)), .moved,
    ]
    for (index, fact) in undo.enumerated() { try replay.tell(fact, UInt64(index + 10)) }
    #expect(!step.isInDoubt.value)
  }

  @Test func `groups that were interrupted are undone in the order of their calls`() throws {
    for numbers in [[4, 6, 8], [8, 4, 6], [6, 8, 4]] as [[UInt64]] {
      var replay = try replay(
        numbers.flatMap { group -> [HistoryFact] in
          let part = id(group + 1)
          return [
            .opened(id(group), in: nil, title: []), .began(part, in: id(group), pair(1)),
            .answered(part, [], isMarked: false), .ended(part, .part),
          ]
        })
      try replay.finish(.compensate)
      #expect(replay.interrupted.map(\.id) == [id(4), id(6), id(8)])
    }
  }

  @Test func `a clear makes what runs leave`() throws {
    var replay = try replay(executed(1) + [.began(id(2), in: nil, pair(2)), .cleared])
    try replay.answer(try replay.doubts()[0], .hadEffect([2]))
    try replay.finish(.compensate)
    #expect(ids(replay) == ([], []))
    #expect(replay.drops.map(\.step.id) == [id(1), id(2)])
    try replay.tell(.discarded([id(1)]), 100)
    #expect(replay.drops.map(\.step.id) == [id(2)])
  }

  @Test(.holds("Damage"))
  func `facts that contradict each other are an error`() {
    let began = HistoryFact.began(id(5), in: nil, pair(5))
    let answered = HistoryFact.answered(id(5), [], isMarked: false)
    let undo = HistoryFact.moves(isRedo: false, count: 1)
    let inGroup: [HistoryFact] = [
      .opened(id(4), in: nil, title: []), .began(id(5), in: id(4), pair(5)), answered,
      .ended(id(5), .part),
    ]
    let wrong: [[HistoryFact]] = [
      [.ended(id(1), .recorded)], [.undone(id(1))], [.redone(id(1), nil, isMarked: true)], [.moved],
      [.moves(isRedo: false, count: 1)], [.moves(isRedo: true, count: 0)],
      [.closed(id(1), isLost: false)], [.combined(id(1), pair(1))], [.moving(id(1))],
      [.began(id(1), in: id(2), pair(1))], [.undoes(id(1))], [.redoes(id(1))],
      [.contradicts([id(1)])], executed(1) + [.redoes(id(1))], [.obsolete(id(1), place: id(2))],
      [.began(id(1), in: nil, HistoryPair(name: "n", request: [], response: []))],
      [.began(id(1 << 62), in: nil, pair(1))],
      [.opened(id(4), in: nil, title: []), .began(id(1 << 62), in: id(4), pair(1))],
      [.opened(id(1 << 62), in: nil, title: []), .began(id(1), in: id(1 << 62), pair(1))],
      [.opened(id(2), in: id(1), title: [])],
      [began, .ended(id(5), .recorded)], [began, answered, answered],
      [began, answered, .ended(id(5), .merged)], [began, answered, .ended(id(5), .annulled)],
      [began, answered, .ended(id(5), .part)], [began, answered, .failed(id(5))],
      [began, began], [began, .combined(id(5), pair(5))],
      [began, answered, .ended(id(5), .recorded), .ended(id(5), .recorded)],
      [began, answered, .ended(id(5), .recorded), began],
      executed(1) + [.opened(id(1), in: nil, title: [])],
      executed(1) + [.undone(id(1))], executed(1) + [.moving(id(1))],
      executed(1) + [undo, .undone(id(1))], executed(1) + [undo, .moving(id(1)), .moving(id(1))],
      executed(1) + [undo, .moving(id(1)), .redone(id(1), [], isMarked: false)],
      executed(1) + [undo, .moving(id(1)), .moved], executed(1) + [undo, undo],
      executed(1) + [undo, began, answered, .ended(id(5), .recorded)],
      executed(1) + [.moves(isRedo: false, count: 2)],
      executed(1) + [undo, .contradicts([])], executed(1) + executed(6) + [undo, .undoes(id(1))],
      inGroup + executed(1) + [undo, .closed(id(4), isLost: false)],
      inGroup + [.ended(id(5), .part)], inGroup + [.undone(id(5))],
      inGroup.dropLast() + [.ended(id(5), .recorded)],
      inGroup.dropLast() + [.closed(id(4), isLost: false)],
      inGroup + [.moving(id(5)), .began(id(6), in: id(4), pair(6))],
      inGroup + [
        .began(id(6), in: id(4), pair(6)), .answered(id(6), [], isMarked: false),
        .ended(id(6), .part), .moving(id(5)),
      ],
      inGroup + [.moving(id(5)), .closed(id(4), isLost: false)],
      inGroup + [.opened(id(6), in: id(4), title: []), .closed(id(4), isLost: false)],
      inGroup + [.closed(id(4), isLost: false), .closed(id(4), isLost: false)],
      [.piece(.kept(isApplied: true))],
    ]
    for facts in wrong {
      #expect(throws: HistoryFact.Malformed.self, "\(facts)") { _ = try replay(facts) }
    }
    let error = #expect(throws: HistoryFact.Malformed.self) {
      _ = try replay(inGroup + [.closed(id(4), isLost: false), .moving(id(5))])
    }
    #expect(error?.sentence == "Step \(id(5)) is not next.")
  }

  @Test(.holds("Damage"))
  func `pieces of a whole history that contradict each other are an error`() throws {
    func leaf(_ number: UInt64) -> HistoryFact { .piece(.leaf(id(number), pair(1))) }
    func bundle(_ number: UInt64, _ count: Int) -> HistoryFact {
      .piece(.bundle(id(number), title: [], .of(id(number)), count: count))
    }
    let (applied, undone) = (
      HistoryFact.piece(.kept(isApplied: true)), HistoryFact.piece(.kept(isApplied: false))
    )
    let group = [leaf(1), leaf(2), bundle(3, 2)]
    let nothing = HistoryPlaces(sum: .beginning, lastNumber: 0, covered: 0)
    let wrong: [[HistoryFact]] = [
      [applied], [undone], [.piece(.partial(1))], [.piece(.interrupted)],
      [.piece(.dropped(.cleared))], [bundle(1, 1)], [leaf(1), bundle(2, 0)],
      [leaf(1)], group, group + [bundle(3, 1), applied], [leaf(1), applied, leaf(1), applied],
      [leaf(1), .piece(.interrupted)], group + [.piece(.dropped(.cleared))],
      group + [applied, .piece(.partial(2))], group + [applied, .piece(.partial(0))],
      group + [applied, .piece(.partial(1)), .piece(.partial(1))],
      group + [applied, .piece(.partial(1)), leaf(4), applied],
      group + [undone, .piece(.partial(1))], [leaf(1), undone, leaf(2), applied],
      [leaf(1 << 62), applied], [.piece(.start(last: 0, newest: id(1), nothing))],
      [leaf(1), applied, leaf(1), undone], [leaf(1), applied, .began(id(1), in: nil, pair(1))],
      [.began(id(1), in: id(2), pair(1))], [.cleared], [.discarded([])],
    ]
    for facts in wrong {
      #expect(throws: HistoryFact.Malformed.self, "\(facts)") { _ = try replay(whole: facts) }
    }
    _ = try replay(whole: group + [applied, .piece(.partial(1)), leaf(4), undone])
    let half = [leaf(4), applied] + group + [applied, .piece(.partial(1))]
    _ = try replay(whole: half, [.undoes(id(3))])
    #expect(throws: HistoryFact.Malformed.self) { _ = try replay(whole: half, [.undoes(id(4))]) }
    #expect(throws: HistoryFact.Malformed.self) { _ = try replay(whole: [], [applied]) }
    for (last, covered) in [(UInt64(1) << 62, 0), (1, 1)] {
      #expect(throws: HistoryFact.Malformed.self) {
        var replay = try replay([])
        let marks = HistoryPlaces(sum: .beginning, lastNumber: .max, covered: covered)
        try replay.tell(.piece(.start(last: last, newest: id(1), marks)), nil)
        _ = try replay.doubts()
      }
    }
  }

  @Test(.holds("Damage"))
  func `a whole history is complete, and comes before all other facts`() throws {
    let leaf = HistoryFact.piece(.leaf(id(1), pair(1)))
    #expect(throws: HistoryFact.Malformed.self) { _ = try replay(whole: [leaf], [.saved(nil)]) }
    #expect(throws: HistoryFact.Malformed.self) {
      var replay = try replay([])
      try replay.tell(leaf, nil)
    }
    #expect(throws: HistoryFact.Malformed.self) {
      var replay = try replay([])
      let nothing = HistoryPlaces(sum: .beginning, lastNumber: 0, covered: 0)
      try replay.tell(.piece(.start(last: 100, newest: id(1), nothing)), nil)
      try replay.tell(.saved(nil), 101)
      try replay.tell(leaf, nil)
    }
  }

  @Test func `the newest id is that of an execution, a group or a place`() throws {
    #expect(try replay(executed(7) + executed(3)).newest == id(7))
    #expect(try replay([.opened(id(8), in: nil, title: [])]).newest == id(8))
    let undo = HistoryFact.moves(isRedo: false, count: 1)
    let lost: [HistoryFact] = [undo, .moving(id(7)), .obsolete(id(7), place: id(9)), .moved]
    #expect(try replay(executed(7) + lost).newest == id(9))
  }

  @Test func `a redo that has had an effect has the response of the answer`() throws {
    var replay = try replay(
      executed(1) + [
        .moves(isRedo: false, count: 1), .moving(id(1)), .undone(id(1)), .moved,
        .moves(isRedo: true, count: 1), .moving(id(1)),
      ])
    let doubts = try replay.doubts()
    try replay.answer(doubts[0], .hadEffect([7]))
    try replay.finish(.compensate)
    #expect(doubts.count == 1 && doubts[0].kind == .redo && ids(replay) == ([1], []))
    let pair = replay.pool.newestStep?.pair
    // The use case is asked for the footprint of the new response.
    #expect(pair?.response == [7] && pair?.isMarked == true)
  }

  @Test func `an effect without an entry covers no entry that was annulled`() throws {
    func answered(_ number: UInt64, _ end: HistoryFact.End) -> [HistoryFact] {
      executed(number).dropLast() + [.ended(id(number), end)]
    }
    let replay = try replay(executed(1) + answered(2, .lost) + answered(3, .annulled))
    #expect(replay.pool.applied.isEmpty && replay.pool.places.covered == 0)
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
      .moves(isRedo: true, count: 128), .undoes(one), .redoes(one), .contradicts([one, id(2)]),
      .contradicts([]),
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
    let numbered = all.enumerated().map { NumberedFact(number: UInt64($0 * $0 + 5), fact: $1) }
    var numbers: [UInt64?] = []
    try FactRecord.read(FactRecord.bytes(of: numbered)) { number, fact in
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
    try FactRecord.read(bytes) { number, fact in try replay.tell(fact, (number ?? 0) + 100) }
    _ = try replay.doubts()
    try replay.finish(.keep)
    return replay.newest
  }
}
