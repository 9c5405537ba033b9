/// Restores a history from the facts of its journal.
///
/// Tell the replay the facts, ask it for its doubts and tell it the answers, and finish it. `tell`
/// is the one place that checks a fact against the state that it meets: a fact that cannot come
/// there makes an error with a sentence. So whatever the bytes of a journal are, what is restored is
/// something that a history can have written. `Step` is an execution that can be undone.
struct HistoryReplay<Step: Sendable>: ~Copyable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>
  typealias Malformed = HistoryFact.Malformed

  private enum Phase {
    /// Next is `restoring`, or `running`.
    case empty
    /// The journal was written anew, and its pieces come. Next is `running`.
    case restoring
    /// The facts that came since follow.
    case running
  }

  private let making: Making
  private var phase = Phase.empty
  private(set) var pool = HistoryPool<Step>(limit: nil)
  private var move: ReplayedMove<Step>?
  private var executions = ReplayedExecutions()
  /// The steps whose undo or redo has begun.
  private var moves: Set<ID> = []
  private var groups = ReplayedGroups<Step>()
  private var pieces = ReplayedPieces<Step>()
  /// The ids of all executions and groups. Each is used once.
  private var ids: Set<ID> = []
  /// The positions of the undone entries that the next recording drops.
  private var contradicted: [Int]?
  /// Groups whose parts are to be undone.
  private(set) var interrupted: [Record] = []
  /// How many parts of groups may be made anew: a redo that stops in a group makes all of its parts
  /// anew, and so does a recording behind a group that is half undone. A group of a hundred thousand
  /// parts can be made anew five times, and more often the more it moves.
  private var patience = 500_000
  private var left = ReplayedDrops<Step>()
  private(set) var newest: ID?
  /// The number of the last fact.
  private(set) var last: UInt64 = 0

  init(_ making: Making) {
    self.making = making
  }

  /// Steps that have left, and for which `discard` has not returned.
  var drops: [(step: Step, reason: HistoryDiscardReason)] { left.all }
}

// MARK: - Facts

extension HistoryReplay {
  /// Facts with numbers have been appended. The others are those of a journal written anew.
  mutating func tell(_ fact: HistoryFact, _ number: UInt64?) throws {
    guard let number else { return try restore(fact) }
    // It was appended again, because it was unknown whether it had been written.
    if number <= last { return }
    try endRestoring()
    last = number
    patience += 25
    let contradicted = contradicted.take()
    switch fact {
    case .began(let id, let group, let pair):
      try check(pair.response == nil && !pair.isInDoubt, "Execution \(id) begins with its end.")
      try check((group ?? id).number < HistoryFact.firstNumberBeyond, "\(id) is too high.")
      try use(entry: id)
      try groups.begin(in: group)
      executions.begin(id, in: group, pair, isLeftOver: false)
    case .moving(let id):
      try check(!moves.contains(id), "The undo or redo of \(id) has begun.")
      if move?.next()?.id != id { try groups.rollBack(id) }
      moves.insert(id)
    case .failed(let id):
      moves.remove(id)
      guard let execution = try executions.fail(id) else { break }
      if let group = execution.group {
        groups.end(nil, in: group)
      } else {
        // It was announced, and may begin after all.
        ids.remove(id)
      }
    case .answered(let id, let response, let isMarked):
      try executions.answer(id, response, isMarked: isMarked)
    case .combined(let id, let pair): try executions.combine(id, pair, with: pool.undoID)
    case .ended(let id, let end): try self.end(try executions.end(id), end, contradicted)
    case .contradicts(let ids):
      guard let positions = pool.positions(ofUndone: ids) else {
        throw Malformed("One of \(ids) is not undone.")
      }
      try checkAtRest()
      self.contradicted = positions
    case .undone(let id): try moved(id, isRedo: false)
    case .redone(let id, let response, let isMarked):
      try moved(id, isRedo: true, response, isMarked: isMarked)
    case .obsolete(let id, let place): try lose(id, place)
    case .opened(let id, let parent, let title):
      try use(id)
      try groups.open(id, in: parent, title: try making.title(title))
    case .closed(let id, let isLost): try close(id, isLost: isLost, contradicted)
    case .moves(let isRedo, let count):
      let most = isRedo ? pool.redoable : pool.applied.count
      try checkAtRest()
      try check(count > 0 && count <= most, "There are \(most) entries to move, not \(count).")
      move = ReplayedMove(isRedo: isRedo, count: count, in: &pool)
    case .undoes(let id): try take(id, isRedo: false)
    case .redoes(let id): try take(id, isRedo: true)
    case .moved: try endMove()
    case .limited(let limit): change { $0.setLimit(limit, into: &$1) }
    case .cleared:
      executions.noteClear()
      groups.noteClear()
      change { $0.clear(into: &$1) }
    case .forgot(let id):
      executions.forget(id)
      if ids.contains(id) { change { $0.forget(id, into: &$1) } }
    case .saved(let place): pool.saved = place
    case .discarded(let ids): for id in ids { left.remove(id) }
    case .piece: throw Malformed("A piece of a whole history comes behind its facts.")
    }
  }

  private func check(_ condition: Bool, _ sentence: @autoclosure () -> String) throws {
    guard condition else { throw Malformed(sentence()) }
  }

  private func checkAtRest() throws { try check(move == nil, "A move has not ended.") }

  /// A recording drops the undone parts of a group that is half undone.
  private mutating func checkBeforeRecording() throws {
    try checkAtRest()
    if pool.partial != nil { try spend(pool.applied.last?.size ?? 0) }
  }

  /// So many parts of a group are made anew.
  private mutating func spend(_ count: Int) throws {
    patience -= count
    try check(patience > 0, "Great groups are made anew too often.")
  }

  /// An execution or a group has this id from now on.
  private mutating func use(_ id: ID) throws {
    try check(ids.insert(id).inserted, "There is an entry \(id).")
    note(id)
  }

  private mutating func note(_ id: ID) { newest = max(newest ?? id, id) }

  /// Changes the pool. A move that has not ended has to be in its hands then.
  private mutating func change(_ body: (inout HistoryPool<Step>, inout [HistoryDrop<Step>]) -> Void)
  {
    var drops: [HistoryDrop<Step>] = []
    move?.takeAll(from: &pool)
    body(&pool, &drops)
    noteDrops(drops)
  }

  private mutating func noteDrops(_ drops: consuming [HistoryDrop<Step>]) {
    for index in drops.indices {
      drops[index].removeAll { left.add(making.pair($0).id, $0, $1) }
    }
  }
}

// MARK: - Executions and groups

extension HistoryReplay {
  /// The recording drops these undone entries, nil for all of them. Without a word about that, it
  /// drops those that it contradicts.
  private mutating func end(
    _ execution: ReplayedExecutions.Execution, _ end: HistoryFact.End, _ contradicted: [Int]??
  ) throws {
    let record = record(of: execution)
    if let group = execution.group {
      try check(end == .part, "Execution \(execution.id) is a part of group \(group).")
      return groups.end(record, in: group)
    }
    if end != .lost { try checkBeforeRecording() }
    switch end {
    case .recorded:
      let dropped = contradicted ?? pool.contradicted(by: record.footprint)
      change { $0.record(record, dropping: dropped, into: &$1) }
    case .merged:
      guard let pair = execution.combined, let earlier = pool.undoID, pool.newestStep != nil
      else { throw Malformed("Execution \(execution.id) has nothing to merge with.") }
      let merged = making.content(earlier, pair)
      let footprint = HistoryFootprint.union(of: [record.footprint, merged.footprint])
      let dropped = contradicted ?? pool.contradicted(by: footprint)
      change { $0.merge(into: merged, record, dropping: dropped, into: &$1) }
    case .annulled:
      try check(pool.newestStep != nil, "Execution \(execution.id) annuls nothing.")
      let dropped = contradicted ?? pool.contradicted(by: record.footprint)
      change { $0.annul(record, dropping: dropped, into: &$1) }
    case .lost: change { $0.lose(record, into: &$1) }
    case .part: throw Malformed("Execution \(execution.id) is in no group.")
    }
  }

  private func record(of execution: ReplayedExecutions.Execution) -> Record {
    Record(id: execution.id, content: making.content(execution.id, execution.pair))
  }

  private mutating func close(_ id: ID, isLost: Bool, _ contradicted: [Int]?) throws {
    if let leaf = groups.lastLeaf(of: id), moves.contains(leaf.id) {
      throw Malformed("The undo of \(leaf.id) has not ended.")
    }
    let group = try groups.close(id)
    if let kept = group.kept { try keep(kept, isLost: isLost, contradicted) }
    drop(group)
  }

  private mutating func keep(_ group: Record, isLost: Bool, _ contradicted: [Int]??) throws {
    if isLost { return change { $0.lose(group, into: &$1) } }
    try checkBeforeRecording()
    let dropped = contradicted ?? pool.contradicted(by: group.footprint)
    change { $0.record(group, dropping: dropped, into: &$1) }
  }

  /// Drops the parts that have left a group, which has ended.
  private mutating func drop(_ group: ReplayedGroups<Step>.Closed) {
    noteDrops([HistoryDrop(group.undone, .truncated)])
    for part in group.obsolete { change { $0.lose(part, .obsolete, into: &$1) } }
  }
}

// MARK: - Undo and redo

extension HistoryReplay {
  /// A move takes this entry, wherever it is.
  private mutating func take(_ id: ID, isRedo: Bool) throws {
    try checkAtRest()
    let isThere =
      switch pool.spot(of: id) {
      case .applied: !isRedo
      case .undone: isRedo
      case nil: false
      }
    try check(isThere, "Entry \(id) is not there to be undone or redone.")
    try check(
      pool.partial == nil || pool.undoID == id, "A group is half undone, and comes before \(id).")
    move = ReplayedMove(of: id, in: &pool)
  }

  private mutating func endMove() throws {
    guard var ended = move.take() else { throw Malformed("No move runs.") }
    if let next = ended.next(), moves.contains(next.id) {
      throw Malformed("The undo or redo of \(next.id) has not ended.")
    }
    try spend(ended.replaced)
    var drops: [HistoryDrop<Step>] = []
    ended.end(in: &pool, into: &drops)
    noteDrops(drops)
  }

  /// The step has been undone or redone: the next one of the move, or a part that is rolled back.
  private mutating func moved(
    _ id: ID, isRedo: Bool, _ response: [UInt8]? = nil, isMarked: Bool = false
  ) throws {
    let (step, isRollBack) = try takeNext(id)
    try check(isRedo == (!isRollBack && move?.isRedo == true), "\(id) goes the other way.")
    if isRollBack { return groups.undid(id) }
    if isRedo {
      let pair = making.pair(step).pair.answered(response, isMarked: isMarked)
      move?.redid(making.content(id, pair), in: &pool)
    } else {
      move?.undid(in: &pool)
    }
  }

  private mutating func lose(_ id: ID, _ place: ID) throws {
    let (_, isRollBack) = try takeNext(id)
    note(place)
    if isRollBack { return groups.lose(id, as: place) }
    move?.lose(as: place, in: &pool)
  }

  /// Returns this step, which is undone or redone. Its fate is known.
  private mutating func takeNext(_ id: ID) throws -> (step: Step, isRollBack: Bool) {
    try check(moves.contains(id), "The undo or redo of \(id) has not begun.")
    guard let next = next(id) else { throw Malformed("Step \(id) is not next.") }
    moves.remove(id)
    making.doubt(next.step, false)
    return next
  }

  /// The step that is undone or redone next, if it is this one.
  private mutating func next(_ id: ID) -> (step: Step, isRollBack: Bool)? {
    if let leaf = move?.next(), leaf.id == id {
      return leaf.content.step.map { ($0, false) }
    }
    return groups.next(id)?.content.step.map { ($0, true) }
  }
}

// MARK: - A history that was written anew

extension HistoryReplay {
  private mutating func restore(_ fact: HistoryFact) throws {
    let isStart = if case .piece(.start) = fact { true } else { false }
    try check(
      phase == (isStart ? .empty : .restoring),
      "A whole history begins with its start, once, and comes before all other facts.")
    switch fact {
    case .piece(.start(let last, let newest, let places)):
      try check(last < 1 << 62, "The number of the last fact is too high.")
      pool.restore(places)
      (self.last, self.newest, phase) = (last, newest, .restoring)
    case .limited(let limit): change { $0.setLimit(limit, into: &$1) }
    case .saved(let place): pool.saved = place
    case .piece(.leaf(let id, let pair)):
      try use(entry: id)
      pieces.add(Record(id: id, content: making.content(id, pair)))
    case .piece(.bundle(let id, let title, let place, let count)):
      try use(entry: id)
      try pieces.bundle(id, try making.title(title), count, place: place)
    case .piece(.kept(let isApplied)):
      let record = try pieces.take()
      try check(
        !isApplied || (pool.partial == nil && pool.undone.isEmpty),
        "Entry \(record.id) is applied, and comes behind the cursor.")
      pool.restore(record, isApplied: isApplied)
    case .piece(.partial(let count)):
      try check(
        pool.partial == nil && pool.undone.isEmpty && pool.restore(partial: count),
        "No group has \(count) of its steps applied.")
    case .piece(.interrupted): try groups.restore(try pieces.take())
    case .began(let id, let group, let pair):
      try check(group == nil && pair.response == nil, "Execution \(id) is none in doubt.")
      try use(entry: id)
      executions.begin(id, in: nil, pair, isLeftOver: true)
    case .piece(.dropped(let reason)):
      let record = try pieces.take()
      guard let step = record.content.step else {
        throw Malformed("Group \(record.id) leaves as a whole.")
      }
      left.add(record.id, step, reason)
    case .moving, .failed, .answered, .combined, .ended, .undone, .redone, .obsolete, .opened,
      .closed, .contradicts, .moves, .undoes, .redoes, .moved, .cleared, .forgot, .discarded:
      throw Malformed("A fact of a whole history is none of its pieces.")
    }
  }

  private mutating func use(entry id: ID) throws {
    try check(id.number < HistoryFact.firstNumberBeyond, "\(id) is too high.")
    try use(id)
  }

  private mutating func endRestoring() throws {
    if phase == .running { return }
    try check(pieces.isEmpty, "A part is in no entry.")
    let (covered, count) = (pool.places.covered, pool.applied.count)
    try check(covered <= count, "\(covered) of \(count) entries are covered.")
    phase = .running
  }
}

// MARK: - The end

extension HistoryReplay {
  /// The bodies that were interrupted and have to be settled, in the order of their admission.
  mutating func doubts() throws -> [JournalDoubt] {
    try endRestoring()
    var doubts: [JournalDoubt] = []
    for id in moves.sorted() {
      guard let (step, isRollBack) = next(id) else {
        throw Malformed("The undo or redo of \(id) has begun, and is not next.")
      }
      let kind: JournalDoubt.Kind = !isRollBack && move?.isRedo == true ? .redo : .undo
      doubts.append(JournalDoubt(id: id, kind: kind, pair: making.pair(step).pair))
    }
    return doubts
      + executions.unsettled.map { JournalDoubt(id: $0.id, kind: .execution, pair: $0.pair) }
  }

  /// Takes an answer, nil if no use case could be asked. Without one that settles it, an undo or a
  /// redo stays in doubt.
  mutating func answer(_ doubt: JournalDoubt, _ answer: HistorySettlement<[UInt8]?>?) throws {
    let id = doubt.id
    switch (doubt.kind, answer) {
    case (.execution, _): if executions.settle(id, answer) { pool.saved = nil }
    case (_, .hadNoEffect): moves.remove(id)
    case (_, .hadEffect(let response)):
      try moved(id, isRedo: doubt.kind == .redo, response, isMarked: true)
    case (_, .unknown), (_, nil): break
    }
  }

  /// Ends the move, the executions and the groups that were interrupted.
  mutating func finish(_ interruption: HistoryInterruption) throws {
    for id in moves {
      if let (step, _) = next(id) { making.doubt(step, true) }
      pool.saved = nil
    }
    moves = []
    if move != nil { try endMove() }
    var late: [Record] = []
    for (execution, isLost) in executions.takeAnswered() {
      if execution.isLeftOver {
        // Later executions are in the history already.
        late.append(record(of: execution))
      } else {
        let merges =
          execution.combined != nil && execution.earlier == pool.undoID && pool.newestStep != nil
        let end: HistoryFact.End =
          execution.group != nil ? .part : isLost ? .lost : merges ? .merged : .recorded
        try self.end(execution, end, nil)
      }
    }
    change { $0.insert(late, into: &$1) }
    for id in groups.open {
      let group = try groups.close(id, isInterrupted: true)
      if let kept = group.kept {
        if interruption == .compensate {
          interrupted.append(kept)
        } else {
          try keep(kept, isLost: group.isLost, nil)
        }
      }
      drop(group)
    }
    interrupted.sort { $0.id < $1.id }
  }

  /// The limit that the history has from now on.
  mutating func setLimit(_ limit: Int?) { change { $0.setLimit(limit, into: &$1) } }

  /// Executions that may have had an effect.
  var inDoubt: [Record] { executions.all.map { record(of: $0) } }
}
