/// What an undo, a redo or a move is about to do, and how far it has come. It is handed on and
/// never copied.
struct HistoryPlan<Step: Sendable>: ~Copyable, Sendable {
  typealias Record = HistoryRecord<Step>

  var isRedo = false
  /// In the order in which they are to be undone or redone. None if there is nothing to do. Those
  /// that have been redone are here as they are now.
  var records = HistoryBatch<Record>.none
  /// How many of them have been undone or redone.
  var moved = 0
  /// The steps of the next one, if it is a group that has begun.
  var steps: [Step] = []
  /// How many steps of the next one are applied.
  var applied = 0
  /// How many steps of the first one were applied at the start.
  var appliedFirst = 0
  /// Why nothing is done.
  var error: HistoryError?

  /// What is to be undone or redone next. Tell the plan when it is.
  mutating func next() -> Step? {
    guard isIncomplete else { return nil }
    if case .single(let step) = records[moved].content { return step }
    if steps.isEmpty { steps = records[moved].steps }
    return steps[isRedo ? applied : applied - 1]
  }

  mutating func undid() {
    applied -= 1
    if applied == 0 { advance() }
  }

  /// The step has been redone, and this is what has become of it.
  mutating func redid(_ step: Step) {
    applied += 1
    if steps.isEmpty {
      records[moved] = Record(id: records[moved].id, content: .single(step))
      advance()
    } else {
      steps[applied - 1] = step
      guard applied == steps.count else { return }
      records[moved] = records[moved].replacing(steps)
      advance()
    }
  }

  private mutating func advance() {
    moved += 1
    steps = []
    applied = isRedo || moved == records.count ? 0 : records[moved].size
  }

  /// No more is done. A group in which it has stopped becomes what it is now.
  mutating func close() {
    if !steps.isEmpty { records[moved] = records[moved].replacing(steps) }
  }

  /// Whether there is something left to do.
  var isIncomplete: Bool { moved < records.count }
}

extension HistoryMachine {
  typealias Plan = HistoryPlan<Step>

  /// The turn of the undo, redo or move that holds the lane has come.
  mutating func begin() -> Plan {
    guard isHolderPending, let asked = pending.first else { return Plan() }
    let plan = plan(for: asked)
    if plan.error != nil {
      breakMerging()
      leave(asForecast: false)
    } else if plan.records.isEmpty {
      leave(asForecast: true)
    } else {
      breakMerging()
      let (first, last) = (plan.records[0].id, plan.records[plan.records.count - 1].id)
      moving = min(first, last)...max(first, last)
    }
    return plan
  }

  private mutating func plan(for asked: Pending) -> Plan {
    let next: ID?
    let isRedo: Bool
    switch asked.ask {
    case .execution, .group: return Plan()
    case .undo: (isRedo, next) = (false, Self.newest(applied))
    case .redo: (isRedo, next) = (true, partial == nil ? Self.newest(undone) : Self.newest(applied))
    case .move(let id): return plan(to: id)
    }
    guard let target = asked.target else { return Plan() }
    guard let next, resolved(target) == .entry(next) else { return Plan(error: .outOfTurn) }
    return plan(isRedo: isRedo, count: 1)
  }

  private static func newest(_ records: borrowing HistoryStack<Record>) -> ID? {
    records.isEmpty ? nil : records[records.count - 1].id
  }

  private mutating func plan(to id: ID?) -> Plan {
    guard let id else { return plan(isRedo: false, count: applied.count) }
    guard let position = position(of: id) else { return Plan(error: .unknownEntry(id)) }
    let distance = position + 1 - evicted - applied.count
    if distance < 0 { return plan(isRedo: false, count: -distance) }
    return plan(isRedo: true, count: distance + (partial == nil ? 0 : 1))
  }

  private mutating func plan(isRedo: Bool, count: Int) -> Plan {
    guard count > 0 else { return Plan() }
    let records: HistoryBatch<Record> =
      switch (isRedo, partial) {
      case (true, nil): undone.newest(count)
      case (true, _) where count > 1:
        .several(Array(applied.newest(1)) + Array(undone.newest(count - 1)))
      case (true, _): applied.newest(1)
      case (false, _): applied.newest(count)
      }
    let applied = partial ?? (isRedo ? 0 : records[0].size)
    return Plan(isRedo: isRedo, records: records, applied: applied, appliedFirst: applied)
  }

  /// The undo, redo or move has come as far as it could, and the plan is closed. What was redone is
  /// left in the plan as it was before: the last reference to a step is not to go under a lock.
  mutating func finish(_ plan: inout Plan) -> Drops {
    moving = nil
    var drops: Drops = []
    if isCleared {
      drops = dropAll(of: plan)
    } else {
      for index in 0..<plan.moved { shift(&plan, index) }
      if plan.isIncomplete, plan.applied > 0 { stop(in: &plan) }
      if evictsWhenOver { evict(into: &drops) }
    }
    if clearsWhenOver {
      clearsWhenOver = false
      drops += clear()
    }
    evictsWhenOver = false
    leave(asForecast: !plan.isIncomplete && drops.isEmpty)
    return drops
  }

  private mutating func shift(_ plan: inout Plan, _ index: Int) {
    let isPartial = partial.take() != nil
    if !plan.isRedo {
      if let record = applied.popLast() { undone.append(record) }
    } else if let record = isPartial ? applied.popLast() : undone.popLast() {
      applied.append(plan.records[index])
      plan.records[index] = record
    }
  }

  private mutating func stop(in plan: inout Plan) {
    let size = plan.records[plan.moved].size
    if plan.isRedo { shift(&plan, plan.moved) }
    partial = plan.applied < size ? plan.applied : nil
  }

  /// The history was cleared meanwhile: what was in the hands of the move goes as well. If it has
  /// changed anything, nobody knows any more where that is.
  private mutating func dropAll(of plan: borrowing Plan) -> Drops {
    if plan.moved > 0 || plan.applied != plan.appliedFirst { bottom = .next() }
    let records = HistoryStack(Array(plan.records))
    return [HistoryDrop(records: records, reason: .cleared, isReversed: !plan.isRedo)]
  }
}
