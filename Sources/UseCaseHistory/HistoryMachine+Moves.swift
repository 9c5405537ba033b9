/// What an undo, a redo or a move is about to do.
struct HistoryPlan<Step: Sendable>: Sendable {
  let isRedo: Bool
  /// In the order in which they are to be undone or redone.
  let records: HistoryBatch<HistoryRecord<Step>>
  /// How many steps of the first one are applied, if it is half undone.
  let partial: Int?
}

/// How far it came.
struct HistoryProgress<Step: Sendable>: Sendable {
  /// The records that are undone or redone, as they are now.
  var moved = HistoryBatch<HistoryRecord<Step>>.none
  /// The one in which it stopped.
  var stopped: HistoryRecord<Step>?
  /// How many steps of that one are applied.
  var applied = 0
}

extension HistoryMachine {
  typealias Plan = HistoryPlan<Step>
  typealias Progress = HistoryProgress<Step>

  enum Turn {
    case nothing
    case fail(HistoryError)
    case run(Plan)
  }

  /// The turn of the undo, redo or move that holds the lane has come.
  mutating func begin() -> Turn {
    guard isHolderPending, let asked = pending.first else { return .nothing }
    let turn = turn(of: asked)
    switch turn {
    case .nothing:
      leave(asForecast: true)
    case .fail:
      breakMerging()
      leave(asForecast: false)
    case .run(let plan):
      breakMerging()
      if let first = plan.records.first?.id, let last = plan.records.last?.id {
        moving = min(first, last)...max(first, last)
      }
    }
    return turn
  }

  private mutating func turn(of asked: Pending) -> Turn {
    let next: Target?
    let isRedo: Bool
    switch asked.ask {
    case .execution, .group: return .nothing
    case .undo: (isRedo, next) = (false, undoTarget(in: present))
    case .redo: (isRedo, next) = (true, redoTarget(in: present))
    case .move(let id): return turn(to: id)
    }
    guard let target = asked.target else { return .nothing }
    guard resolved(target) == next else { return .fail(.outOfTurn) }
    return turn(isRedo: isRedo, count: 1)
  }

  private mutating func turn(to id: ID?) -> Turn {
    guard let id else { return turn(isRedo: false, count: applied.count) }
    guard let position = position(of: id) else { return .fail(.unknownEntry(id)) }
    let distance = position + 1 - evicted - applied.count
    if distance < 0 { return turn(isRedo: false, count: -distance) }
    return turn(isRedo: true, count: distance + (partial == nil ? 0 : 1))
  }

  private mutating func turn(isRedo: Bool, count: Int) -> Turn {
    guard count > 0 else { return .nothing }
    let records: HistoryBatch<Record> =
      switch (isRedo, partial) {
      case (true, nil): undone.newest(count)
      case (true, _) where count > 1:
        .several(Array(applied.newest(1)) + Array(undone.newest(count - 1)))
      case (true, _): applied.newest(1)
      case (false, _): applied.newest(count)
      }
    return .run(Plan(isRedo: isRedo, records: records, partial: partial))
  }

  /// The undo, redo or move has come as far as it could.
  mutating func finish(_ plan: Plan, _ progress: Progress) -> Drops {
    moving = nil
    var drops: Drops = []
    if isCleared {
      drops = dropAll(of: plan, progress)
    } else {
      for record in progress.moved { shift(record, isRedo: plan.isRedo) }
      if let record = progress.stopped { stop(in: record, at: progress.applied, plan) }
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

  private mutating func stop(in record: Record, at count: Int, _ plan: Plan) {
    guard count > 0 else { return }
    if plan.isRedo { shift(record, isRedo: true) }
    partial = count < record.size ? count : nil
  }

  /// The history was cleared meanwhile: what was in the hands of the move goes as well. If it has
  /// changed anything, nobody knows any more where that is.
  private mutating func dropAll(of plan: Plan, _ progress: Progress) -> Drops {
    let done = Array(progress.moved) + (progress.stopped.map { [$0] } ?? [])
    let first = plan.records.first
    let began = plan.partial ?? (plan.isRedo ? 0 : first?.size ?? 0)
    if !progress.moved.isEmpty || progress.applied != began { bottom = newID() }
    let records = HistoryStack(done + plan.records.dropFirst(done.count))
    return [HistoryDrop(records: records, reason: .cleared, isReversed: !plan.isRedo)]
  }
}
