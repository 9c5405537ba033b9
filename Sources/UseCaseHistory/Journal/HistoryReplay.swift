/// Restores a history from the facts of its journal.
///
/// Tell the replay the facts, ask it for its doubts and tell it the answers, and finish it. Facts
/// that contradict each other make an error. `Step` is an execution that can be undone.
struct HistoryReplay<Step: Sendable>: ~Copyable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>
  typealias Malformed = HistoryFact.Malformed

  private let making: Making
  private(set) var pool = HistoryPool<Step>(limit: nil)
  private var plan: HistoryPlan<Step>?
  private var executions = ReplayedExecutions()
  /// The steps whose undo or redo has begun.
  private var moves: Set<ID> = []
  private var groups = ReplayedGroups<Step>()
  private var stack: [Record] = []
  /// Groups whose parts are to be undone.
  private(set) var interrupted: [Record] = []
  /// Steps that have left, and for which `discard` has not returned.
  private(set) var drops: [(step: Step, reason: HistoryDiscardReason)] = []
  private(set) var newest: ID?
  /// The number of the last fact.
  private(set) var last: UInt64 = 0

  init(_ making: Making) {
    self.making = making
  }
}

// MARK: - Facts

extension HistoryReplay {
  mutating func tell(_ fact: HistoryFact, _ number: UInt64?) throws {
    if let number, number <= last { return }
    last = number ?? last
    switch fact {
    case .began(let id, let group, let pair):
      try check(group.map { groups.isOpen($0) } ?? true)
      // A journal that is written anew has no numbers, and no executions that run.
      try executions.begin(id, in: group, pair, isUnread: number == nil)
      note(id)
    case .moving(let id): moves.insert(id)
    case .failed(let id):
      executions.remove(id)
      moves.remove(id)
    case .answered(let id, let response, let isMarked):
      try executions.answer(id, response, isMarked: isMarked)
    case .combined(let id, let pair): try executions.combine(id, pair)
    case .ended(let id, let end): try self.end(try executions.end(id), end)
    case .undone(let id): try move(id, isRedo: false)
    case .redone(let id, let response, let isMarked):
      try move(id, isRedo: true, response, isMarked: isMarked)
    case .obsolete(let id, let place): try lose(id, place)
    case .opened(let id, let parent, let title):
      try check(!groups.isOpen(id) && (parent.map { groups.isOpen($0) } ?? true))
      groups.open(id, in: parent, title: try making.title(title))
      note(id)
    case .closed(let id, let isLost):
      guard let group = groups.close(id) else { throw Malformed() }
      if let kept = group.rest.kept { try keep(kept, in: group.parent, isLost: isLost) }
      drop(group.rest)
    case .moves(let isRedo, let count):
      let most = isRedo ? pool.redoable : pool.applied.count
      try check(plan == nil && count > 0 && count <= most)
      plan = pool.take(count, isRedo: isRedo)
    case .undoes(let id):
      guard plan == nil, case .applied = pool.spot(of: id) else { throw Malformed() }
      plan = pool.take(id)
    case .moved:
      try check(plan != nil)
      endMove()
    case .limited(let limit): change { $0.setLimit(limit, into: &$1) }
    case .cleared:
      executions.clear()
      groups.clear()
      change { $0.clear(into: &$1) }
    case .forgot(let id):
      executions.remove(id)
      change { $0.forget(id, into: &$1) }
    case .saved(let place): pool.saved = place
    case .discarded(let ids):
      let gone = Set(ids)
      drops.removeAll { gone.contains(making.pair($0.step).id) }
    case .piece(let piece): try build(piece)
    }
  }

  private func check(_ condition: Bool) throws {
    guard condition else { throw Malformed() }
  }

  private mutating func change(_ body: (inout HistoryPool<Step>, inout [HistoryDrop<Step>]) -> Void)
  {
    var drops: [HistoryDrop<Step>] = []
    body(&pool, &drops)
    for index in drops.indices { drops[index].removeAll { self.drops.append(($0, $1)) } }
  }

  private mutating func end(
    _ execution: ReplayedExecutions.Execution, _ end: HistoryFact.End
  ) throws {
    let record = record(of: execution)
    switch end {
    case .recorded:
      try check(plan == nil)
      change { $0.record(record, into: &$1) }
    case .merged:
      guard plan == nil, let pair = execution.combined, let earlier = pool.undoID,
        pool.newestStep != nil
      else { throw Malformed() }
      let merged = making.content(earlier, pair)
      change { $0.merge(into: merged, record, into: &$1) }
    case .annulled:
      try check(plan == nil && pool.newestStep != nil)
      change { $0.annul(record, into: &$1) }
    case .lost: change { $0.lose(record, into: &$1) }
    case .part:
      guard let group = execution.group, groups.add(record, to: group) else { throw Malformed() }
    }
  }

  private func record(of execution: ReplayedExecutions.Execution) -> Record {
    Record(id: execution.id, content: making.content(execution.id, execution.pair))
  }
}

// MARK: - Groups, undo and redo

extension HistoryReplay {
  private mutating func keep(_ group: Record, in parent: ID?, isLost: Bool) throws {
    if let parent {
      try check(groups.add(group, to: parent))
    } else if isLost {
      change { $0.lose(group, into: &$1) }
    } else {
      try check(plan == nil)
      change { $0.record(group, into: &$1) }
    }
  }

  /// Drops the parts that have left a group, which has ended.
  private mutating func drop(_ rest: HistoryResidue<Step>) {
    if let undone = rest.undone { change { $1 = [HistoryDrop(undone, .truncated)] } }
    for part in rest.obsolete { change { $0.lose(part, .obsolete, into: &$1) } }
  }

  private mutating func endMove() {
    guard var ended = plan.take() else { return }
    ended.close()
    change { $0.putBack(&ended, into: &$1) }
  }

  /// The step has been undone or redone: the next one of the move, or a part that is rolled back.
  private mutating func move(
    _ id: ID, isRedo: Bool, _ response: [UInt8]? = nil, isMarked: Bool = false
  ) throws {
    let step = try takeNext(id)
    if isRedo != (plan?.isRedo ?? false) { throw Malformed() }
    if isRedo {
      let pair = making.pair(step).pair.answered(response, isMarked: isMarked)
      plan?.redid(making.content(id, pair))
    } else if plan != nil {
      plan?.undid()
    } else {
      groups.undid(id)
    }
  }

  private mutating func note(_ id: ID) { newest = max(newest ?? id, id) }

  private mutating func lose(_ id: ID, _ place: ID) throws {
    _ = try takeNext(id)
    note(place)
    if plan != nil {
      _ = plan?.lose(HistoryObsolete(), as: place)
    } else {
      groups.lose(id, as: place)
    }
  }

  /// Returns this step, which is the next to be undone or redone. Its fate is known.
  private mutating func takeNext(_ id: ID) throws -> Step {
    guard let step = next(id) else { throw Malformed() }
    moves.remove(id)
    making.doubt(step, false)
    return step
  }

  /// The step that is undone or redone next, if it is this one.
  private mutating func next(_ id: ID) -> Step? {
    let leaf = plan != nil ? plan?.next() : groups.next(id)
    return leaf?.id == id ? leaf?.content.step : nil
  }
}

// MARK: - A history that was written anew

extension HistoryReplay {
  private mutating func build(_ piece: HistoryFact.Piece) throws {
    switch piece {
    case .start(let last, let newest, let places):
      pool.restore(places)
      (self.last, self.newest) = (last, newest)
    case .leaf(let id, let pair):
      stack.append(Record(id: id, content: making.content(id, pair)))
      note(id)
    case .bundle(let id, let title, let place, let count):
      try check(count <= stack.count)
      let parts = stack.suffix(count)
      guard let group = Record(group: id, try making.title(title), Array(parts), place: place)
      else { throw Malformed() }
      stack.replaceSubrange(parts.indices, with: [group])
      note(id)
    case .kept(let isApplied):
      guard let record = stack.popLast(), plan == nil else { throw Malformed() }
      pool.restore(record, isApplied: isApplied)
    case .partial(let count):
      try check(plan == nil && pool.restore(partial: count))
    case .interrupted:
      guard let record = stack.popLast(), case .group(let group) = record.content
      else { throw Malformed() }
      groups.open(record.id, in: nil, title: group.title, parts: group.parts)
    case .dropped(let reason):
      guard let step = stack.popLast()?.content.step else { throw Malformed() }
      drops.append((step, reason))
    }
  }
}

// MARK: - The end

extension HistoryReplay {
  /// The bodies that were interrupted and have to be settled, in the order of their admission.
  mutating func open() throws -> [JournalDoubt] {
    let kind: JournalDoubt.Kind = plan?.isRedo == true ? .redo : .undo
    let moving = try moves.sorted().map { id in
      guard let step = next(id) else { throw Malformed() }
      return JournalDoubt(id: id, kind: kind, pair: making.pair(step).pair)
    }
    let begun = executions.all.filter { !$0.isAnswered && !$0.pair.isInDoubt }
    return moving + begun.map { JournalDoubt(id: $0.id, kind: .execution, pair: $0.pair) }
  }

  /// Takes an answer. Without one that settles it, an undo or a redo stays in doubt.
  mutating func answer(_ doubt: JournalDoubt, _ answer: JournalAnswer) throws {
    let id = doubt.id
    switch (doubt.kind, answer) {
    case (.execution, .noEffect): executions.remove(id)
    case (.execution, .effect(let response)): try executions.answer(id, response, isMarked: true)
    case (.execution, .unknown):
      executions.doubt(id)
      pool.saved = nil
    case (.execution, .unreadable): if !executions.isUnread(id) { pool.saved = nil }
    case (_, .noEffect): moves.remove(id)
    case (_, .effect(let response)):
      try move(id, isRedo: doubt.kind == .redo, response, isMarked: true)
    case (_, .unknown), (_, .unreadable): break
    }
  }

  /// Ends the move, the executions and the groups that were interrupted.
  mutating func finish(_ interruption: HistoryInterruption) throws {
    while let id = moves.popFirst() {
      if let step = next(id) { making.doubt(step, true) }
      pool.saved = nil
    }
    endMove()
    executions.removeLostInDoubt()
    for execution in executions.all where execution.isAnswered {
      if execution.isUnread, execution.group == nil {
        // Later executions are in the history already.
        let record = record(of: try executions.end(execution.id))
        change { $0.insert(record, into: &$1) }
        continue
      }
      let end: HistoryFact.End =
        execution.group != nil ? .part : execution.isLost ? .lost : .recorded
      try self.end(try executions.end(execution.id), end)
    }
    // Nested groups first: they have begun later.
    for id in groups.ids.reversed() {
      guard let group = groups.close(id) else { continue }
      if let kept = group.rest.kept {
        if group.parent == nil, interruption == .compensate {
          interrupted.insert(kept, at: 0)
        } else {
          try keep(kept, in: group.parent, isLost: group.isLost)
        }
      }
      drop(group.rest)
    }
  }

  /// Executions that may have had an effect.
  var inDoubt: [Record] { executions.all.map { record(of: $0) } }
}
