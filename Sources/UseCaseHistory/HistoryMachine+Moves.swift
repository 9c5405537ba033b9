/// What an undo, a redo or a move is about to do, and how far it has come. It is handed on and
/// never copied.
struct HistoryPlan<Step: Sendable>: ~Copyable, Sendable {
  typealias Record = HistoryRecord<Step>

  var isRedo = false
  /// In the order in which they are to be undone or redone. None if there is nothing to do. They
  /// stay as they were: the last reference to a step is not to go under a lock.
  var records = HistoryBatch<Record>.none
  /// Those that are undone or redone, as they are now.
  var moved = HistoryBatch<Record>.none
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
    guard moved.count < records.count else { return nil }
    let record = records[moved.count]
    if case .single(let step) = record.content { return step }
    if steps.isEmpty { steps = record.steps }
    return steps[isRedo ? applied : applied - 1]
  }

  mutating func undid() {
    applied -= 1
    if applied == 0 { advance(records[moved.count]) }
  }

  /// The step has been redone, and this is what has become of it.
  mutating func redid(_ step: Step) {
    let record = records[moved.count]
    applied += 1
    if case .single = record.content {
      advance(Record(id: record.id, content: .single(step)))
    } else {
      steps[applied - 1] = step
      if applied == record.size { advance(record.replacing(steps)) }
    }
  }

  private mutating func advance(_ record: Record) {
    moved.append(record)
    steps = []
    applied = isRedo || moved.count == records.count ? 0 : records[moved.count].size
  }

  /// The record in which it has stopped, as it is now. Nil if it has not.
  var stopped: Record? {
    guard moved.count < records.count else { return nil }
    return steps.isEmpty ? records[moved.count] : records[moved.count].replacing(steps)
  }
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
    let next: Target?
    let isRedo: Bool
    switch asked.ask {
    case .execution, .group: return Plan()
    case .undo: (isRedo, next) = (false, undoTarget(in: present))
    case .redo: (isRedo, next) = (true, redoTarget(in: present))
    case .move(let id): return plan(to: id)
    }
    guard let target = asked.target else { return Plan() }
    guard resolved(target) == next else { return Plan(error: .outOfTurn) }
    return plan(isRedo: isRedo, count: 1)
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

  /// The undo, redo or move has come as far as it could. `stopped` is that of the plan, which for
  /// a group is to be built outside of the lock.
  mutating func finish(_ plan: borrowing Plan, _ stopped: Record?) -> Drops {
    moving = nil
    var drops: Drops = []
    if isCleared {
      drops = dropAll(of: plan, stopped)
    } else {
      for index in plan.moved.indices { shift(plan.moved[index], isRedo: plan.isRedo) }
      if let stopped { stop(in: stopped, at: plan.applied, isRedo: plan.isRedo) }
      if evictsWhenOver { evict(into: &drops) }
    }
    if clearsWhenOver {
      clearsWhenOver = false
      drops += clear()
    }
    evictsWhenOver = false
    leave(asForecast: stopped == nil && drops.isEmpty)
    return drops
  }

  private mutating func shift(_ record: Record, isRedo: Bool) {
    if isRedo {
      _ = partial.take() == nil ? undone.popLast() : applied.popLast()
      applied.append(record)
    } else {
      _ = applied.popLast()
      partial = nil
      undone.append(record)
    }
  }

  private mutating func stop(in record: Record, at count: Int, isRedo: Bool) {
    guard count > 0 else { return }
    if isRedo { shift(record, isRedo: true) }
    partial = count < record.size ? count : nil
  }

  /// The history was cleared meanwhile: what was in the hands of the move goes as well. If it has
  /// changed anything, nobody knows any more where that is.
  private mutating func dropAll(of plan: borrowing Plan, _ stopped: Record?) -> Drops {
    if !plan.moved.isEmpty || plan.applied != plan.appliedFirst { bottom = newID() }
    let done = Array(plan.moved) + [stopped].compactMap(\.self)
    let records = HistoryStack(done + plan.records.dropFirst(done.count))
    return [HistoryDrop(records: records, reason: .cleared, isReversed: !plan.isRedo)]
  }
}
