import TestSupport
import Testing

@testable import UseCaseHistory

struct HistoryPoolTests {
  private typealias Pool = HistoryPool<String>
  private typealias Record = HistoryRecord<String>
  private typealias ID = HistoryEntry.ID

  private struct Effect {
    let pool: Pool
    let leavesEffect: (inout Pool) -> Void
    let moves: (inout Pool) -> Void
  }

  @Test func `an entry that is redone above an effect without an entry is at another place`() {
    let effects = [
      Effect(pool: Pool(Record(1), Record(5))) { pool in
        pool.change { $0.insert([Record(3)], into: &$1) }
      } moves: {
        $0.undo(5, .moved)
        $0.redo(.moved)
      },
      Effect(pool: Pool(Record(1), Record(group: 2))) {
        $0.undo(2, .lost, .moved)
      } moves: {
        $0.undo(1, .moved)
        $0.redo(.moved)
      },
      Effect(pool: Pool(Record(1), Record(2))) {
        $0.undo(2, .lost)
      } moves: {
        $0.undo(1, .moved)
        $0.redo(.moved)
      },
      Effect(pool: Pool(Record(group: 2))) {
        $0.undo(2, .lost)
      } moves: {
        $0.undo(2, .moved)
        $0.redo(.moved)
      },
      Effect(pool: Pool(Record(group: 2), Record(3))) { pool in
        pool.change { $0.forget(ID(3), into: &$1) }
        pool.undo(2, .moved)
        pool.redo(.moved)
      } moves: {
        $0.undo(2, .moved, .moved)
        $0.redo(.moved, .moved)
      },
      Effect(pool: Pool(Record(group: 1), Record(2), Record(3))) { pool in
        pool.change { $0.forget(ID(3), into: &$1) }
      } moves: {
        $0.undo(1, .moved)
        $0.undo(1, .moved)
        $0.redo(.moved, .moved)
      },
    ]
    for (index, effect) in effects.enumerated() {
      var pool = effect.pool
      effect.leavesEffect(&pool)
      pool.saved = pool.place
      let count = pool.applied.count
      #expect(pool.isSaved, "effect \(index)")
      effect.moves(&pool)
      #expect(!pool.isSaved && pool.applied.count == count, "effect \(index)")
    }
  }

  @Test func `an effect covers only the entries below it that are left`() {
    var pool = Pool(Record(1))
    pool.change { $0.lose(Record(9), into: &$1) }
    pool.add(Record(2))
    pool.change { $0.setLimit(1, into: &$1) }
    pool.saved = pool.place
    pool.undo(2, .moved)
    #expect(!pool.isSaved)
    pool.redo(.moved)
    #expect(pool.isSaved)
  }

  @Test func `an entry that comes late lies below those that were asked for later`() {
    var pool = Pool(Record(1), Record(5))
    pool.saved = pool.place
    pool.change { $0.insert([Record(3), Record(7)], into: &$1) }
    #expect(pool.applied.records.map(\.id) == [1, 3, 5, 7].map { ID($0) })
    #expect(!pool.isSaved)
  }

  @Test func `an entry that comes late lies below the group that is half undone`() {
    var pool = Pool(Record(1), Record(group: 2))
    pool.undo(2, .moved)
    pool.change { $0.insert([Record(9)], into: &$1) }
    #expect(pool.applied.records.map(\.id) == [1, 9, 2].map { ID($0) })
    #expect(pool.redoID == ID(2))
  }

  @Test func `only the group that is half undone is applied in part`() {
    var pool = Pool(Record(group: 1), Record(group: 2))
    pool.undo(2, .moved)
    #expect([1, 2].map { pool.record(of: ID($0))?.applied } == [2, 1])
  }

  @Test func `a group that leaves half undone leaves at an unknown place`() {
    let changes: [(inout Pool, inout [Pool.Drop]) -> Void] = [
      { $0.setLimit(0, into: &$1) }, { $0.clear(into: &$1) },
    ]
    for change in changes {
      var pool = Pool(Record(1), Record(group: 2))
      let places = [pool.place, .beginning]
      pool.undo(2, .moved)
      pool.change { $0.setLimit(1, into: &$1) }
      #expect(pool.redoID == ID(2) && pool.place == nil)
      pool.change(change)
      #expect(pool.redoID == nil && pool.place != nil && !places.contains(pool.place))
    }
  }

  @Test func `a recording drops what overlaps the undone parts that it drops`() {
    var pool = Pool(
      Record(group: 2, .keys(1), .keys(2)), Record(3, .keys(2)), Record(4, .keys(1)))
    for number in [4, 3] { pool.undo(number, .moved) }
    #expect(pool.contradicted(by: .keys(9)) == [])
    pool.undo(2, .moved)
    let dropped = pool.contradicted(by: .keys(9))?.map { pool.undone[$0].id }
    #expect(dropped == [ID(3)])
  }

  @Test func `an execution that annuls another drops what it contradicts`() {
    for positions in [nil, [0]] {
      var pool = Pool(Record(1), Record(2))
      pool.undo(2, .moved)
      let left = pool.change { $0.annul(Record(3), dropping: positions, into: &$1) }
      #expect(left == ["2", "1", "3"] && pool.applied.isEmpty && pool.undone.isEmpty)
    }
  }

  @Test func `an execution is found in the entry that it went into while that is undone`() {
    var pool = Pool(Record(1))
    let merge = { (pool: inout Pool, number: Int) in
      _ = pool.change {
        $0.merge(into: .single(""), Record(number), dropping: [], into: &$1)
      }
    }
    merge(&pool, 2)
    pool.undo(1, .moved)
    pool.add(Record(3))
    for number in 4..<200 { merge(&pool, number) }
    #expect(pool.entry(of: ID(2))?.record.id == ID(1))
    #expect(pool.entry(of: ID(199))?.record.id == ID(3))
  }

  @Test func `what a move takes later is in its hand as well`() {
    for isRedo in [false, true] {
      var pool = Pool(Record(1), Record(2))
      if isRedo { for number in [2, 1] { pool.undo(number, .moved) } }
      var plan = pool.take(1, isRedo: isRedo)
      pool.extend(&plan, to: 2)
      let last = ID(isRedo ? 2 : 1)
      let left = pool.change { $0.forget(last, into: &$1) }
      #expect(left == [])
      #expect(pool.spot(of: last) != nil)
      pool.end(&plan, [.moved, .moved])
      #expect(pool.spot(of: last) == nil)
      #expect(pool.applied.count == (isRedo ? 1 : 0) && pool.undone.count == (isRedo ? 0 : 1))
    }
  }

  @Test(.holds("Clean"))
  func `a history that is cleared during a move stays clean unless the move has done something`() {
    for isRedo in [false, true] {
      for fates in [[], [.lost], [.moved], [.lost, .moved]] as [[StepFate]] {
        var pool = Pool(Record(group: 1))
        if isRedo { pool.undo(1, .moved, .moved) }
        pool.saved = pool.place
        var plan = pool.take(1, isRedo: isRedo)
        pool.change { $0.clear(into: &$1) }
        #expect(pool.isSaved)
        pool.end(&plan, fates)
        #expect(pool.isSaved == !fates.contains(.moved), "\(isRedo) \(fates)")
      }
    }
  }

  @Test func `the oldest leave first`() {
    var pool = Pool(Record(1), Record(2), Record(3))
    for number in [3, 2] { pool.undo(number, .moved) }
    let left = pool.change { $0.clear(into: &$1) }
    #expect(left == ["1", "2", "3"])
  }

  @Test func `the old steps of a group that loses a part live as long as the plan`() {
    let lifetime = Lifetime()
    var pool = HistoryPool<Lifetime.Token>(limit: nil)
    func restore() {
      let parts = [2, 3].map {
        HistoryRecord(id: ID($0), content: .single(lifetime.track()))
      }
      let group = HistoryParts(title: "", parts: parts, place: .of(ID(1)))
      pool.restore(HistoryRecord(id: ID(1), content: .group(group)), isApplied: false)
    }
    restore()
    var plan = pool.take(1, isRedo: true)
    var drops: [HistoryDrop<Lifetime.Token>] = []
    _ = plan.next()
    plan.redid(.single(lifetime.track()))
    _ = plan.next()
    _ = plan.lose(HistoryObsolete(), as: ID(9))
    plan.close()
    pool.putBack(&plan, into: &drops)
    #expect(lifetime.alive == 3)
    let hasLost = plan.hasLost
    #expect(hasLost)
  }
}
