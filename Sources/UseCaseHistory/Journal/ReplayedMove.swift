import UseCaseInternals

/// A move, as far as a journal has been told.
///
/// At first it has one entry in its hands, and twice as many whenever it needs more: a move that
/// comes no further than its first entry costs no more than that, however many it was for.
struct ReplayedMove<Step: Sendable>: ~Copyable {
  typealias Pool = HistoryPool<Step>
  typealias Record = HistoryRecord<Step>

  private var plan: HistoryPlan<Step>
  private let count: Int

  init(isRedo: Bool, count: Int, in pool: inout Pool) {
    self.count = count
    plan = pool.take(1, isRedo: isRedo)
  }

  /// Creates the undo or the redo of one entry.
  init(of id: HistoryEntry.ID, in pool: inout Pool) {
    count = 1
    plan = pool.take(id)
  }

  var isRedo: Bool { plan.isRedo }

  /// Returns the step to undo or redo next, nil if there is none.
  mutating func next() -> Record? { plan.next() }

  /// The parts of the group in which it stops, if they are to be replaced. 0 if none is.
  var replaced: Int { plan.isIncomplete ? plan.listed : 0 }

  /// Takes all of its entries into its hands, because the pool is about to change.
  mutating func takeAll(from pool: inout Pool) { take(count, from: &pool) }

  private mutating func takeMore(from pool: inout Pool) {
    if plan.moved + 1 == plan.records.count { take(2 * plan.records.count, from: &pool) }
  }

  private mutating func take(_ number: Int, from pool: inout Pool) {
    let number = min(number, count)
    if number > plan.records.count { pool.extend(&plan, to: number) }
  }

  mutating func undid(in pool: inout Pool) {
    takeMore(from: &pool)
    plan.undid()
  }

  mutating func redid(_ content: Record.Content, in pool: inout Pool) {
    takeMore(from: &pool)
    plan.redid(content)
  }

  /// The step can never be undone or redone. The rest of its group is another `place`.
  mutating func lose(as place: HistoryEntry.ID, in pool: inout Pool) {
    takeMore(from: &pool)
    _ = plan.lose(HistoryObsolete(), as: place)
  }

  /// Hands its entries back.
  consuming func end(in pool: inout Pool, into drops: inout [HistoryDrop<Step>]) {
    plan.close()
    pool.putBack(&plan, into: &drops)
  }
}
