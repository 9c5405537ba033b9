/// What an undo, a redo or a move is about to do. It is handed on and never copied.
struct HistoryPlan<Step: Sendable>: ~Copyable, Sendable {
  var isRedo = false
  /// In the order in which they are to be undone or redone. None if there is nothing to do.
  var records = HistoryBatch<HistoryRecord<Step>>.none
  /// How many steps of the first one are applied, if it is half undone.
  var partial: Int?
  /// Why nothing is done.
  var error: HistoryError?
}

/// How far it came.
struct HistoryProgress<Step: Sendable>: ~Copyable, Sendable {
  /// The records that are undone or redone, as they are now.
  var moved = HistoryBatch<HistoryRecord<Step>>.none
  /// The one in which it stopped.
  var stopped: HistoryRecord<Step>?
  /// How many steps of that one are applied.
  var applied = 0
  /// Why it stopped.
  var failure: (any Error)?
}

extension HistoryMachine {
  typealias Plan = HistoryPlan<Step>
  typealias Progress = HistoryProgress<Step>

  /// The turn of the undo, redo or move that holds the lane has come.
  mutating func begin() -> Plan {
    guard isHolderPending, let asked = pending.first else { return Plan() }
    let plan = plan(for: asked)
    if plan.error != nil {
      breakMerging()
      leave(asForecast: false)
    } else if let first = plan.records.first?.id, let last = plan.records.last?.id {
      breakMerging()
      moving = min(first, last)...max(first, last)
    } else {
      leave(asForecast: true)
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
    return Plan(isRedo: isRedo, records: records, partial: partial)
  }

  /// The undo, redo or move has come as far as it could.
  mutating func finish(_ plan: borrowing Plan, _ progress: borrowing Progress) -> Drops {
    moving = nil
    var drops: Drops = []
    if isCleared {
      drops = dropAll(of: plan, progress)
    } else {
      for record in progress.moved { shift(record, isRedo: plan.isRedo) }
      if let record = progress.stopped {
        stop(in: record, at: progress.applied, isRedo: plan.isRedo)
      }
      if evictsWhenOver { evict(into: &drops) }
    }
    if clearsWhenOver { drops += clear() }
    evictsWhenOver = false
    leave(asForecast: progress.stopped == nil && drops.isEmpty)
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
  private mutating func dropAll(
    of plan: borrowing Plan, _ progress: borrowing Progress
  ) -> Drops {
    let done = Array(progress.moved) + (progress.stopped.map { [$0] } ?? [])
    let first = plan.records.first
    let size = first?.size ?? 0
    let began = plan.partial ?? (plan.isRedo ? 0 : size)
    if !progress.moved.isEmpty || progress.applied != began { bottom = newID() }
    let records = HistoryStack(done + plan.records.dropFirst(done.count))
    return [HistoryDrop(records: records, reason: .cleared, isReversed: !plan.isRedo)]
  }
}
