import Foundation
import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

/// Journals that nobody has written: records with the right checksums, and facts made to cost time,
/// stack, or numbers.
@Suite(.mustEnd)
struct HostileJournalTests {
  // MARK: Time

  private static func time(_ facts: Facts) throws -> Duration {
    let start = threadTime()
    do {
      _ = try restored(facts)
    } catch let error as HistoryFact.Malformed
      where error.sentence == "Great groups are made anew too often."
    {}
    return threadTime() - start
  }

  private final class Step: Sendable {
    let id: HistoryEntry.ID
    let pair: HistoryPair
    init(_ id: HistoryEntry.ID, _ pair: HistoryPair) { (self.id, self.pair) = (id, pair) }
  }

  private static func restored(_ facts: Facts) throws -> HistoryPool<Step> {
    var replay = HistoryReplay<Step>(
      .init(
        content: { id, pair in
          pair.isMarked ? .init(Step(id, pair), touching: .keys(id)) : .single(Step(id, pair))
        }, pair: { ($0.id, $0.pair) }, doubt: { _, _ in },
        title: { _ in "" }))
    for record in records(facts) {
      try FactRecord.read(record) { number, fact in try replay.tell(fact, number) }
    }
    for doubt in try replay.doubts() { try replay.answer(doubt, .hadEffect([])) }
    try replay.finish(.keep)
    return replay.pool
  }

  @Test(.holds("Damage"), arguments: costly.indices)
  func `four times the facts take four times the time`(index: Int) throws {
    let (name, facts) = Self.costly[index]
    func shortest(_ count: Int) throws -> Duration {
      let facts = facts(count)
      return try (1...3).map { _ in try Self.time(facts) }.min() ?? .zero
    }
    _ = try shortest(100)
    // A quadratic step would make it sixteen times as long, each time.
    var isLinear = false
    for _ in 1...5 where !isLinear { isLinear = try shortest(1_600) / shortest(400) < 9 }
    #expect(isLinear, "\(name)")
  }

  #if !DEBUG
    @Test(arguments: costly.indices)
    func `a megabyte takes less than two seconds`(index: Int) throws {
      let (name, facts) = Self.costly[index]
      var count = 1_000
      while Self.records(facts(count)).reduce(0, { $0 + $1.count }) < 1 << 20 { count += count / 2 }
      let time = try Self.time(facts(count))
      #expect(time < .seconds(2), "\(name), \(count): \(time)")
    }
  #endif

  // MARK: Stack

  /// Returns what `body` returns, on a thread with the stack of one of Apple's threads.
  private static func small<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let thread = Thread { continuation.resume(with: Result { try body() }) }
      thread.stackSize = 512 << 10
      thread.start()
    }
  }

  private static func nested(_ depth: Int) -> [HistoryFact] {
    [leaf(1)] + (0..<depth).map { bundle(2 + $0, 1) } + [kept()]
  }

  @Test(.holds("Damage"))
  func `a thousand groups in each other take no great stack, and one more are refused`()
    async throws
  {
    try await Self.small {
      let pool = try Self.restored((Self.nested(1_000), []))
      let record = try #require(pool.applied.last)
      let entry = record.entry(applied: 1, title: { _ in "" })
      #expect(entry.children.count == 1 && entry == record.entry(applied: 1, title: { _ in "" }))
      #expect(record.leaves.count == 1 && record.part(Self.id(1)) != nil)
      #expect(record.replacing(record.leaves)?.size == 1)
      #expect(record.split(at: 1, place: .beginning).kept?.size == 1)
      let again = try Self.restored(
        (
          Self.nested(1_000),
          [
            .moves(isRedo: false, count: 1), .moving(Self.id(1)), .undone(Self.id(1)), .moved,
          ]
        ))
      #expect(again.undone.count == 1)
      for depth in [1_001, 20_000] {
        #expect(throws: HistoryFact.Malformed.self) {
          _ = try Self.restored((Self.nested(depth), []))
        }
      }
      let groups = [Self.opened(1)] + (2...1_000).map { Self.opened($0, in: $0 - 1) }
      let part = Self.part(2_000, of: 1_000)
      #expect(try Self.restored(([], groups + part)).applied.last?.size == 1)
      #expect(throws: HistoryFact.Malformed.self) {
        _ = try Self.restored(([], groups + [Self.opened(1_001, in: 1_000)]))
      }
    }
  }

  // MARK: Numbers

  @Test(.holds("Damage"))
  func `every number at its end is read or refused, and opens the same again`() async throws {
    let ends: [UInt64] = [
      0, 1, 127, 128, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 32, 1 << 61, 1 << 62 - 1, 1 << 62,
      1 << 63 - 1, 1 << 63, .max,
    ]
    func bytes(_ number: UInt64) -> [UInt8] {
      var writer = FactWriter()
      writer.number(number)
      return writer.bytes
    }
    let filler: [UInt8] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    for tag in HistoryFactNumbers.Tag.allCases {
      for first in ends {
        for second in ends {
          for isNumbered in [UInt8(0), 1] {
            let number: [UInt8] = isNumbered == 1 ? [1] : []
            let fact = number + [tag.rawValue] + bytes(first) + bytes(second)
            let flagged = number + [tag.rawValue] + bytes(first) + [1] + bytes(second)
            for record in [fact, fact + filler, flagged, flagged + filler] {
              try? FactRecord.read([1, isNumbered] + record) { _, _ in }
            }
          }
        }
      }
    }
  }

  @Test(.holds("Ids"))
  func `a journal with the highest ids opens again, and moves no ids of another`()
    async throws
  {
    let paper = Paper()
    let ends: [UInt64] = [1 << 61, (1 << 62) - 2, (1 << 62) - 1, 1 << 62, (1 << 63) - 1]
    for newest in ends {
      let highest: UInt64 = min(newest, (1 << 62) - 1)
      let facts: [HistoryFact] = [
        Self.start(last: (1 << 62) - 1, newest: newest, lastPlace: .max),
        .piece(.leaf(.init(number: highest), Self.pair)), Self.kept(),
      ]
      var disk = Disk([FactRecord.bytes(of: facts)])
      for _ in 1...3 {
        let history = try await UseCaseHistory.open(disk, paper)
        #expect(history.entries.first?.id.number == highest)
        let outcome = await history.write(paper, "A")
        if newest == 1 << 61 {
          #expect(outcome?.value != nil)
        } else {
          #expect(outcome?.journalReason == .cannotWrite)
        }
        await history.group("G") { try await Write(paper: paper).recorded(in: history)("B") }
          .ended()
        await history.idle()
        disk = disk.next()
      }
    }
    let history = try await UseCaseHistory.open(Disk(), paper)
    await history.write(paper, "A")
    #expect(try #require(history.entries.first).id.number < 1 << 40)
  }

  @Test func `a place of its own with the highest number goes on`() async throws {
    let paper = Paper()
    let group: [HistoryFact] = [
      Self.leaf(1), Self.leaf(2), Self.bundle(3, 2), Self.kept(), .piece(.partial(1)),
    ]
    let ends: [UInt64] = [1 << 62, (1 << 63) - 1, .max]
    for last in ends {
      let facts = [Self.start(last: 0, newest: 3, lastPlace: last)] + group
      var disk = Disk([FactRecord.bytes(of: facts)])
      for count in [1, 2, 2] {
        let history = try await UseCaseHistory.open(disk, paper)
        #expect(history.entries.count == count)
        if count == 1 { await history.write(paper, "A") }
        await history.idle()
        disk = disk.next()
      }
    }
  }

  @Test(.holds("Damage"))
  func `a fact that makes no sense says where, and why`() async throws {
    let facts: Facts = (Self.entries(2), [.moved])
    let error = await #expect(throws: HistoryJournalError.self) {
      _ = try await UseCaseHistory.open(Disk(Self.records(facts)), Paper())
    }
    #expect(
      error?.description == """
        The journal is damaged at offset 1. It was left unchanged: move it away, or restore a copy. \
        (Byte 2 of the record: No move runs.)
        """)
  }

  @Test(.holds("Format"))
  func `what a later version of the format may have is refused in words`() async throws {
    let whole = FactRecord.bytes(of: [Self.start] + Self.entries(1))
    for (record, sentence) in [
      ([2, 1], "Byte 0 of the record: No record has the version 2."),
      ([1, 1, 1, 200], "Byte 2 of the record: No fact has the tag 200."),
    ] as [([UInt8], String)] {
      let error = await #expect(throws: HistoryJournalError.self) {
        _ = try await UseCaseHistory.open(Disk([whole, record]), Paper())
      }
      #expect(error?.reason == .damaged(offset: 1))
      #expect(error?.description.contains(sentence) == true)
    }
  }

  @Test func `a program that nests too many groups gets a sentence`() async throws {
    let history = UseCaseHistory()
    @Sendable func nest(_ depth: Int) async throws {
      if depth == 0 { return }
      try await history.group("G") { try await nest(depth - 1) }.value
    }
    try await nest(1_000)
    let error = await #expect(throws: HistoryError.self) { try await nest(1_001) }
    #expect(error == .tooDeep)
  }
}
