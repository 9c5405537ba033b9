extension HistoryFact {
  /// A whole history, as facts that make it again.
  struct Whole: Sendable {
    typealias Record = HistoryRecord<any HistoryStep>

    let pool: HistoryPool<any HistoryStep>
    /// Executions of which nobody knows whether they had an effect.
    let inDoubt: [Record]
    /// Groups that the end of the process has interrupted.
    var groups: [(id: ID, title: String, parts: [Record])] = []
    /// Pairs still to be discarded.
    var drops: [(step: any HistoryStep, reason: HistoryDiscardReason)] = []
    /// The number of the last fact.
    let last: UInt64

    /// Returns the facts, in which `title` makes bytes of the titles of groups.
    func facts(_ title: @escaping (String) -> [UInt8]) -> [HistoryFact] {
      var maker = Maker(title: title)
      let newest = HistoryEntry.ID.next()
      maker.facts = [
        .start(last: last, newest: newest, pool.marks), .limited(pool.limit),
        .saved(pool.savedPlace),
      ]
      let (applied, undone, partial) = pool.contents
      for record in applied.elements { maker.add(record, .kept(isApplied: true)) }
      if let partial { maker.facts.append(.partial(partial)) }
      for record in undone.elements { maker.add(record, .kept(isApplied: false)) }
      for group in groups {
        maker.facts.append(.opened(group.id, in: nil, title: title(group.title)))
        for part in group.parts { maker.add(part, .adopted(by: group.id)) }
      }
      for record in inDoubt {
        for case let step as StoredStep in record.leaves.map(\.content.step) {
          maker.facts.append(.began(step.id, in: nil, step.pair))
          if step.isInDoubt { maker.facts.append(.doubted(step.id)) }
        }
      }
      for case (let step as StoredStep, let reason) in drops {
        maker.facts += [.leaf(step.id, step.pair), .dropped(reason)]
      }
      return maker.facts + maker.doubts
    }
  }

  private struct Maker {
    let title: (String) -> [UInt8]
    var facts: [HistoryFact] = []
    var doubts: [HistoryFact] = []

    mutating func add(_ record: Whole.Record, _ fact: HistoryFact) {
      add(record)
      facts.append(fact)
    }

    private mutating func add(_ record: Whole.Record) {
      guard case .group(let group) = record.content else {
        guard let step = record.content.step as? StoredStep else {
          preconditionFailure("What is in a journal is stored.")
        }
        facts.append(.leaf(step.id, step.pair))
        if step.isInDoubt { doubts.append(.doubted(step.id)) }
        return
      }
      for part in group.parts { add(part) }
      facts.append(
        .bundle(record.id, title: title(group.title), group.place, count: group.parts.count))
    }
  }
}
