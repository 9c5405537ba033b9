extension HistoryFact {
  /// A whole history, as facts that make it again.
  struct Whole: Sendable {
    typealias Record = HistoryRecord<any HistoryStep>

    let pool: HistoryPool<any HistoryStep>
    /// Executions that may have had an effect.
    let inDoubt: [Record]
    /// Groups that the end of the process has interrupted.
    var interrupted: [Record] = []
    /// Pairs still to be discarded.
    var drops: [(step: any HistoryStep, reason: HistoryDiscardReason)] = []
    /// The number of the last fact.
    let last: UInt64

    /// Returns the facts, in which `title` makes bytes of the titles of groups. All ids are below
    /// that of the `newest`.
    func facts(newest: HistoryEntry.ID, _ title: (String) -> [UInt8]) -> [HistoryFact] {
      var facts: [HistoryFact] = [
        .piece(.start(last: last, newest: newest, pool.places)), .limited(pool.limit),
        .saved(pool.saved),
      ]
      func add(_ step: any HistoryStep) {
        facts.append(.piece(.leaf(step.stored.id, step.stored.pair)))
      }
      func add(_ record: Record) {
        if let step = record.content.step { return add(step) }
        guard case .group(let group) = record.content else { return }
        for part in group.parts { add(part) }
        let title = title(group.title)
        facts.append(
          .piece(.bundle(record.id, title: title, group.place, count: group.parts.count)))
      }
      func add(_ record: Record, _ piece: Piece) {
        add(record)
        facts.append(.piece(piece))
      }
      for record in pool.applied.records { add(record, .kept(isApplied: true)) }
      if let partial = pool.partial { facts.append(.piece(.partial(partial))) }
      for record in pool.undone.records { add(record, .kept(isApplied: false)) }
      for group in interrupted { add(group, .interrupted) }
      for step in inDoubt.compactMap(\.content.step?.stored) {
        facts.append(.began(step.id, in: nil, step.pair))
      }
      for (step, reason) in drops {
        add(step)
        facts.append(.piece(.dropped(reason)))
      }
      return facts
    }
  }
}
