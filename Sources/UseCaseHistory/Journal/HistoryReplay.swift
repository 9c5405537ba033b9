import UseCaseInternals

/// Makes a history again of what its journal tells.
///
/// Tell it the facts, ask it for its doubts and tell it the answers, and finish it. Facts that
/// contradict each other make an error. `Step` is an execution that can be undone.
struct HistoryReplay<Step: Sendable>: ~Copyable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>

  struct Malformed: Error {}

  /// Makes a step of what a journal has of it.
  struct Making {
    let content: (ID, HistoryPair) -> Record.Content
    let pair: (Step) -> (id: ID, pair: HistoryPair)
    let title: ([UInt8]) throws -> String
  }

  /// A body that had begun when the process ended.
  struct Doubt {
    enum Kind { case execution, undo, redo }
    let id: ID
    let kind: Kind
    let pair: HistoryPair
  }

  enum Answer {
    case noEffect
    case effect([UInt8]?)
    case unknown
    /// No use case can be asked. Somebody may ask later.
    case unreadable
  }

  private struct Execution {
    let group: ID?
    var pair: HistoryPair
    var isAnswered = false
    var combined: HistoryPair?
    var isLost = false
    /// `settle` did not know.
    var isDoubted = false
  }

  struct OpenGroup {
    let title: String
    let parent: ID?
    var parts: [Record] = []
    var isLost = false
    fileprivate var rollBack: RollBack?
  }

  /// The undo of the parts of a group, which is over when the group is.
  fileprivate final class RollBack {
    var plan: HistoryPlan<Step>
    init(_ record: Record) { plan = .init(isRedo: false, .one(record), applied: record.size) }
  }

  private let making: Making
  private(set) var pool = HistoryPool<Step>(limit: nil)
  private var plan: HistoryPlan<Step>?
  private var executions: [ID: Execution] = [:]
  /// Undos that have begun (false) and redos (true).
  private var moves: [ID: Bool] = [:]
  private(set) var groups: [ID: OpenGroup] = [:]
  /// The groups of parts, and of groups in others, as long as the outermost is open.
  private var homes: [ID: ID] = [:]
  private var stack: [Record] = []
  /// Of these `discard` has not returned.
  private(set) var drops: [(id: ID, step: Step, reason: HistoryDiscardReason)] = []
  /// Steps of which nobody knows whether they were undone or redone.
  private(set) var doubts: Set<ID> = []
  private var answers: [ID: Answer] = [:]
  private(set) var newest = ID(number: 0)
  /// The number of the last fact.
  private(set) var last: UInt64 = 0

  init(_ making: Making) {
    self.making = making
  }
}

// MARK: - Facts

extension HistoryReplay {
  mutating func tell(_ fact: HistoryFact, _ number: UInt64?) throws {
    if let number {
      guard number > last else { return }
      last = number
    }
    switch fact {
    case .began(let id, let group, let pair):
      guard executions[id] == nil, group.map({ groups[$0] != nil }) ?? true else {
        throw Malformed()
      }
      executions[id] = Execution(group: group, pair: pair)
      homes[id] = group
      newest = max(newest, id)
    case .undoing(let id): moves[id] = false
    case .redoing(let id): moves[id] = true
    case .failed(let id): (executions[id], moves[id]) = (nil, nil)
    case .answered(let id, let response, let isMarked):
      guard let execution = executions[id] else { throw Malformed() }
      executions[id]?.pair = execution.pair.answered(response, isMarked: isMarked)
      executions[id]?.isAnswered = true
    case .combined(let id, let pair): executions[id]?.combined = pair
    case .ended(let id, let end):
      guard let execution = executions.removeValue(forKey: id), execution.isAnswered
      else { throw Malformed() }
      try self.end(id, execution, end)
    case .undone(let id): try move(id, isRedo: false)
    case .redone(let id, let response, let isMarked):
      try move(id, isRedo: true, response, isMarked: isMarked)
    case .obsolete(let id, let place): try lose(id, place)
    case .opened(let id, let parent, let title):
      guard groups[id] == nil, parent.map({ groups[$0] != nil }) ?? true else { throw Malformed() }
      groups[id] = OpenGroup(title: try making.title(title), parent: parent)
      homes[id] = parent
      newest = max(newest, id)
    case .closed(let id, let applied, let isLost): try close(id, applied: applied, isLost)
    case .moves(let isRedo, let count): try begin(isRedo, count)
    case .undoes(let id):
      guard plan == nil, case .applied(let slot) = pool.spot(of: id) else { throw Malformed() }
      plan = pool.begin(undoing: slot)
    case .moved:
      guard plan != nil else { throw Malformed() }
      endMove()
    case .limited(let limit): change { $0.setLimit(limit, into: &$1) }
    case .cleared: clear()
    case .forgot(let id):
      if executions[id]?.isDoubted == true { executions[id] = nil }
      change { $0.forget(id, into: &$1) }
    case .saved(let place): pool.markSaved(place)
    case .discarded(let ids):
      let gone = Set(ids)
      drops.removeAll { gone.contains($0.id) }
    case .doubted(let id):
      if executions[id] == nil { doubts.insert(id) }
      executions[id]?.isDoubted = true
    case .start, .leaf, .bundle, .kept, .partial, .adopted, .dropped: try build(fact)
    }
  }

  private mutating func change(_ body: (inout HistoryPool<Step>, inout [HistoryDrop<Step>]) -> Void)
  {
    var drops: [HistoryDrop<Step>] = []
    body(&pool, &drops)
    for index in drops.indices {
      let reason = drops[index].reason
      drops[index].removeAll { drop($0, reason) }
    }
  }

  private mutating func drop(_ step: Step, _ reason: HistoryDiscardReason) {
    drops.append((making.pair(step).id, step, reason))
  }

  private mutating func end(
    _ id: ID, _ execution: Execution, _ end: HistoryFact.End
  ) throws {
    let record = Record(id: id, content: making.content(id, execution.pair))
    switch end {
    case .recorded:
      guard plan == nil else { throw Malformed() }
      change { $0.record(record, into: &$1) }
    case .merged:
      guard plan == nil, let pair = execution.combined, let earlier = pool.undoID,
        pool.newestStep != nil
      else { throw Malformed() }
      let merged = making.content(earlier, pair)
      change { $0.merge(into: merged, record, into: &$1) }
    case .annulled:
      guard plan == nil, pool.newestStep != nil else { throw Malformed() }
      change { $0.annul(record, into: &$1) }
    case .lost: change { $0.lose(record, into: &$1) }
    case .part:
      guard let group = execution.group, groups[group] != nil else { throw Malformed() }
      groups[group]?.parts.append(record)
    }
  }

  private mutating func clear() {
    executions = executions.filter { !$0.value.isDoubted }
    for id in executions.keys { executions[id]?.isLost = true }
    for id in groups.keys { groups[id]?.isLost = true }
    change { $0.clear(into: &$1) }
  }
}

// MARK: - Groups

extension HistoryReplay {
  private mutating func close(_ id: ID, applied: Int?, _ isLost: Bool) throws {
    guard let group = groups.removeValue(forKey: id) else { throw Malformed() }
    let (kept, obsolete) = rest(of: group, id, applied: applied)
    if let kept { try close(kept, group.parent, isLost) }
    for part in obsolete { change { $0.lose(part, .obsolete, into: &$1) } }
    if groups.isEmpty { homes = [:] }
  }

  private mutating func close(_ kept: Record, _ parent: ID?, _ isLost: Bool) throws {
    if let parent {
      guard groups[parent] != nil else { throw Malformed() }
      groups[parent]?.parts.append(kept)
    } else if isLost {
      change { $0.lose(kept, into: &$1) }
    } else {
      guard plan == nil else { throw Malformed() }
      change { $0.record(kept, into: &$1) }
    }
  }

  private func record(of group: OpenGroup, _ id: ID) -> Record? {
    if group.parts.isEmpty { return nil }
    let content = HistoryGroup(title: group.title, parts: group.parts, place: .of(id))
    return Record(id: id, content: .group(content))
  }

  /// Ends the roll-back, if there is one, and returns what is left of the group, and what has left it.
  private mutating func rest(
    of group: OpenGroup, _ id: ID, applied: Int?
  ) -> (kept: Record?, obsolete: [Record]) {
    guard let rollBack = group.rollBack else {
      // It was asked to undo none of its parts, or could not.
      return (applied == 0 ? nil : record(of: group, id), [])
    }
    rollBack.plan.close()
    let obsolete = rollBack.plan.obsoleteParts
    if rollBack.plan.isObsolete(0) { return (nil, obsolete) }
    let record = rollBack.plan.records[0]
    let parts = record.split(at: rollBack.plan.applied, place: .of(id))
    for leaf in parts.rest?.leaves ?? [] { leaf.content.step.map { drop($0, .truncated) } }
    return (parts.kept, obsolete)
  }

  /// The innermost open group of a part.
  private func home(of id: ID) -> ID? {
    var home = homes[id]
    while let group = home, groups[group] == nil { home = homes[group] }
    return home
  }
}

// MARK: - Undo and redo

extension HistoryReplay {
  private mutating func begin(_ isRedo: Bool, _ count: Int) throws {
    let most = isRedo ? pool.redoCount + (pool.isPartial ? 1 : 0) : pool.undoCount
    guard plan == nil, count > 0, count <= most else { throw Malformed() }
    plan = pool.begin(isRedo: isRedo, count: count)
  }

  private mutating func endMove() {
    guard var ended = plan.take() else { return }
    ended.close()
    var drops: [HistoryDrop<Step>] = []
    pool.finish(&ended, into: &drops)
    change { $1 = drops }
  }

  /// The step has been undone or redone: the next one of the move, or a part that is rolled back.
  private mutating func move(
    _ id: ID, isRedo: Bool, _ response: [UInt8]? = nil, isMarked: Bool = false
  ) throws {
    guard let step = next(id) else { throw Malformed() }
    moves[id] = nil
    doubts.remove(id)
    if plan == nil {
      rollBack(of: id)?.plan.undid()
    } else if plan?.isRedo != isRedo {
      throw Malformed()
    } else if isRedo {
      let pair = making.pair(step).pair.answered(response, isMarked: isMarked)
      plan?.redid(making.content(id, pair))
    } else {
      plan?.undid()
    }
  }

  private mutating func lose(_ id: ID, _ place: ID) throws {
    guard next(id) != nil else { throw Malformed() }
    moves[id] = nil
    doubts.remove(id)
    newest = max(newest, place)
    if plan != nil {
      _ = plan?.lose(HistoryObsolete(), as: place)
    } else {
      _ = rollBack(of: id)?.plan.lose(HistoryObsolete(), as: place)
    }
  }

  /// The step that is undone or redone next, if it is this one.
  private mutating func next(_ id: ID) -> Step? {
    let leaf = plan != nil ? plan?.next() : rollBack(of: id)?.plan.next()
    return leaf?.id == id ? leaf?.content.step : nil
  }

  /// The roll-back of the group in which this is, which begins with the first of its undos.
  private mutating func rollBack(of id: ID) -> RollBack? {
    guard let home = home(of: id), let group = groups[home] else { return nil }
    if let rollBack = group.rollBack { return rollBack }
    let rollBack = record(of: group, home).map { RollBack($0) }
    groups[home]?.rollBack = rollBack
    return rollBack
  }
}

// MARK: - A history that was written anew

extension HistoryReplay {
  private mutating func build(_ fact: HistoryFact) throws {
    switch fact {
    case .start(let last, let newest, let marks):
      pool.restore(marks)
      (self.last, self.newest) = (last, newest)
    case .leaf(let id, let pair):
      stack.append(Record(id: id, content: making.content(id, pair)))
      newest = max(newest, id)
    case .bundle(let id, let title, let place, let count):
      guard count > 0, count <= stack.count else { throw Malformed() }
      let group = HistoryGroup(
        title: try making.title(title), parts: Array(stack.suffix(count)), place: place)
      stack.removeLast(count)
      stack.append(Record(id: id, content: .group(group)))
      newest = max(newest, id)
    case .kept(let isApplied):
      guard let record = stack.popLast(), plan == nil else { throw Malformed() }
      pool.restore(record, isApplied: isApplied)
    case .partial(let count):
      guard plan == nil, pool.restore(partial: count) else { throw Malformed() }
    case .adopted(let group):
      guard let part = stack.popLast(), groups[group] != nil else { throw Malformed() }
      for leaf in part.leaves { homes[leaf.id] = group }
      groups[group]?.parts.append(part)
    case .dropped(let reason):
      guard let step = stack.popLast()?.content.step else { throw Malformed() }
      drop(step, reason)
    default: preconditionFailure("These do not build a history.")
    }
  }
}

// MARK: - The end

extension HistoryReplay {
  /// The bodies of which somebody has to say what has become of them, in the order asked for.
  mutating func open() throws -> [Doubt] {
    let ended = try moves.keys.sorted().map { id in
      guard let step = next(id) else { throw Malformed() }
      return Doubt(
        id: id, kind: moves[id] == true ? .redo : .undo, pair: making.pair(step).pair)
    }
    let begun = executions.filter { !$0.value.isAnswered && !$0.value.isDoubted }
    return ended
      + begun.sorted { $0.key < $1.key }.map { id, execution in
        Doubt(id: id, kind: .execution, pair: execution.pair)
      }
  }

  mutating func answer(_ doubt: Doubt, _ answer: Answer) { answers[doubt.id] = answer }

  /// Applies the answers, and ends what was going on. Of the groups that are left none is in another.
  mutating func finish(_ interruption: HistoryInterruption) throws {
    for (id, isRedo) in moves.sorted(by: { $0.key < $1.key }) {
      switch answers[id] {
      case .effect(let response):
        try move(id, isRedo: isRedo, response, isMarked: true)
      case .noEffect: moves[id] = nil
      case .unknown, .unreadable, nil:
        moves[id] = nil
        doubts.insert(id)
        pool.markSaved(nil)
      }
    }
    endMove()
    for (id, execution) in executions.sorted(by: { $0.key < $1.key }) {
      try finish(id, execution)
    }
    try closeGroups(interruption)
  }

  private mutating func finish(_ id: ID, _ execution: Execution) throws {
    var execution = execution
    if !execution.isAnswered {
      switch answers[id] {
      case .effect(let response):
        execution.pair = execution.pair.answered(response, isMarked: true)
      case .noEffect:
        executions[id] = nil
        return
      case .unknown:
        executions[id]?.isDoubted = true
        fallthrough
      case .unreadable:
        pool.markSaved(nil)
        return
      case nil: return
      }
    }
    executions[id] = nil
    try end(id, execution, execution.group != nil ? .part : execution.isLost ? .lost : .recorded)
  }

  private mutating func closeGroups(_ interruption: HistoryInterruption) throws {
    // Those in others first: they have begun later.
    for id in groups.keys.sorted(by: >) {
      guard let group = groups[id] else { continue }
      if group.parent != nil || interruption == .keep || group.parts.isEmpty {
        try close(id, applied: nil, group.isLost)
        continue
      }
      let (kept, obsolete) = rest(of: group, id, applied: nil)
      for part in obsolete { change { $0.lose(part, .obsolete, into: &$1) } }
      if case .group(let kept)? = kept?.content {
        groups[id]?.parts = kept.parts
        groups[id]?.rollBack = nil
      } else {
        groups[id] = nil
      }
    }
  }

  /// Executions of which nobody knows whether they had an effect, and whether `settle` has been
  /// asked.
  var inDoubt: [(record: Record, isAsked: Bool)] {
    executions.sorted { $0.key < $1.key }.map { id, execution in
      (Record(id: id, content: making.content(id, execution.pair)), execution.isDoubted)
    }
  }
}
