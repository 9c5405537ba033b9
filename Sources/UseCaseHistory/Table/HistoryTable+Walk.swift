/// An undo, a redo, a move or a roll-back on its way: one execution after the other.
///
/// Undo goes through the executions of a group backwards and redo forwards, so that the applied ones
/// of a group come first.
struct HistoryWalk<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Row = HistoryRow<Step>

  let isRedo: Bool
  /// In the order in which they are undone or redone. In a roll-back, the group.
  let ids: [ID]
  /// The groups of which parts are taken back, if it is a roll-back.
  let rollsBack: Set<ID>?
  /// The newest applied entry, if it was half undone before.
  let half: ID?
  /// Where the next entry is, as a guess.
  fileprivate var near: Int?
  /// How many of the entries are done with.
  fileprivate(set) var done = 0
  /// The part of the next entry to look at.
  fileprivate var part: Int?
  /// The execution that has begun, wherever it is by now.
  fileprivate var begun: ID?
  /// Whether something was undone or redone; in the next entry, also lost.
  fileprivate(set) var hasMoved = false
  fileprivate var hasMovedNext = false
  fileprivate var hasLostNext = false
  /// The parts that can never be undone or redone.
  fileprivate var lostParts: [Row] = []
  /// The entries that can never be undone or redone.
  fileprivate var lost: Set<ID> = []
  /// The execution at which it has stopped, since nobody can read it, or a recovery might undo it twice.
  fileprivate(set) var refused: ID?
  /// The entries in order, once the history was cleared.
  var held: [Row] = []
  var evictsWhenOver = false
  /// Whether some of the entries are to leave when it is over.
  var mayLeave = false

  /// Whether the recovery of an opened history does it. The row counts the tries of that.
  let isRecovery: Bool

  init(
    isRedo: Bool, _ ids: [ID], rollsBack: Set<ID>? = nil, half: ID? = nil, isRecovery: Bool = false
  ) {
    (self.isRedo, self.ids, self.rollsBack, self.half) = (isRedo, ids, rollsBack, half)
    self.isRecovery = isRecovery
  }

  var isRollBack: Bool { rollsBack != nil }

  /// Whether an entry was undone or redone.
  var hasResult: Bool { done > lost.count }

  /// The first of the entries in the order of the stamps, if they are applied.
  var oldest: ID? { isRedo ? ids.first : ids.last }

  func holds(_ id: ID) -> Bool { ids.count == 1 ? ids[0] == id : ids.contains(id) }

  /// The history is cleared. The rows of the walk stay in it.
  mutating func hold(_ applied: inout [Row], _ undone: inout [Row]) {
    if !held.isEmpty { return }
    let order = Dictionary(uniqueKeysWithValues: zip(ids, 0...))
    func isOwn(_ row: Row) -> Bool { order[row.id] != nil }
    held = (applied.filter(isOwn) + undone.filter(isOwn))
      .sorted { order[$0.id, default: 0] < order[$1.id, default: 0] }
    applied.removeAll(where: isOwn)
    undone.removeAll(where: isOwn)
  }
}

extension HistoryTable {
  typealias Walk = HistoryWalk<Step>

  /// The end of an undo or a redo.
  enum StepEnd {
    case undone
    /// The new step, and what it touches.
    case redone(Step, HistoryFootprint)
    case failed
    /// It can never be undone or redone.
    case obsolete
  }

  /// Returns the execution to undo or redo next, which begins. Nil at the end, and at one that is
  /// refused, which stays as it is.
  mutating func next() -> (id: ID, step: Step)? {
    guard let walk, walk.done < walk.ids.count, let spot = spotOfNext() else { return nil }
    switch spot {
    case .applied(let index), .undone(let index): self.walk?.near = index
    case .held, .running: break
    }
    let part = self[spot].isGroup ? nextPart(of: spot) : nil
    if self[spot].isGroup, part == nil { return nil }
    let marks = part.map { self[spot].parts[$0].marks } ?? self[spot].marks
    if marks.contains(.unreadable) || walk.isRecovery && marks.contains(.inDoubt) {
      let refused = part.map { self[spot].parts[$0].id } ?? self[spot].id
      self.walk?.refused = refused
      return nil
    }
    let state = walk.isRedo ? Row.State.redoing : .undoing
    if walk.isRecovery {
      self[spot].tries += 1
      note(spot)
    }
    guard let part else {
      let id = walk.ids[walk.done]
      self.walk?.begun = id
      self[spot].state = state
      note(spot)
      return self[spot].step.map { (id, $0) }
    }
    self.walk?.part = part
    let id = self[spot].parts[part].id
    self.walk?.begun = id
    self[spot].parts[part].state = state
    note(spot, part: part)
    if self[spot].state != state, !walk.isRollBack {
      self[spot].state = state
      note(spot)
    }
    return self[spot].parts[part].step.map { (id, $0) }
  }

  private func spotOfNext() -> Spot? {
    guard let walk, walk.done < walk.ids.count else { return nil }
    if walk.isRollBack { return .running }
    let id = walk.ids[walk.done]
    return walk.held.isEmpty ? spot(of: id, near: walk.near) : .held(walk.done)
  }

  private func nextPart(of spot: Spot) -> Int? {
    guard let walk else { return nil }
    let parts = self[spot].parts
    var index = walk.part.map { min($0, parts.count - 1) } ?? (walk.isRedo ? 0 : parts.count - 1)
    while parts.indices.contains(index) {
      let part = parts[index]
      if !part.isGroup, part.state == (walk.isRedo ? .undone : .applied),
        walk.rollsBack?.contains(part.parent) != false
      {
        return index
      }
      index += walk.isRedo ? 1 : -1
    }
    return nil
  }

  /// Returns where the part is that has begun. Other parts of a running group may have ended since.
  private func begunPart(of spot: Spot) -> Int? {
    guard let walk, let part = walk.part, self[spot].isGroup else { return nil }
    let parts = self[spot].parts
    if parts.indices.contains(part), parts[part].id == walk.begun { return part }
    return parts.lastIndex { $0.id == walk.begun }
  }

  /// The undo or redo has ended that `next` has begun. Returns whether the walk may go on.
  mutating func ended(_ end: StepEnd) -> Bool {
    guard let spot = spotOfNext(), let isRedo = walk?.isRedo, let id = walk?.begun else {
      preconditionFailure("A step ends, and none has begun: \(String(describing: self.walk)).")
    }
    if self[spot].tries > 0 {
      self[spot].tries = 0
      note(spot)
    }
    let part = begunPart(of: spot)
    let isCounted = isCounted(spot)
    switch end {
    case .failed:
      change(spot, part: part) { $0.state = isRedo ? .undone : .applied }
      note(spot, part: part)
      return false
    case .obsolete:
      guard let part else {
        self[spot].state = isRedo ? .undone : .applied
        walk?.lost.insert(id)
        return false
      }
      losePart(part, of: spot)
    case .undone:
      change(spot, part: part) { $0.state = .undone }
      if isCounted { wasUndone(id, in: self[spot].stamp) }
      hasMoved(spot, part)
    case .redone(let step, let footprint):
      trash.append(row(at: spot, part: part))
      change(spot, part: part) { $0.apply(step, footprint) }
      if isCounted { wasRedone(id) }
      hasMoved(spot, part)
    }
    walk?.hasMovedNext = true
    if part == nil || nextPart(of: spot) == nil { entryIsDone(spot) }
    return true
  }

  private mutating func hasMoved(_ spot: Spot, _ part: Int?) {
    walk?.hasMoved = true
    // An entry is noted when it is done with.
    guard let part else { return }
    self[spot].parts[part].marks.remove(.inDoubt)
    note(spot, part: part)
  }

  /// The part can never be undone or redone.
  private mutating func losePart(_ part: Int, of spot: Spot) {
    let id = self[spot].parts[part].id
    if walk?.isRedo == false {
      if isCounted(spot) {
        wasLost(id, in: self[spot].stamp)
      } else if walk?.isRollBack == true {
        partWasLost(id)
      }
    }
    let lost = removeParts(of: spot) { $0.id == id }
    walk?.lostParts += lost
    // Nobody asks again whether it took effect.
    for var part in lost {
      (part.state, part.reason) = (.leaving, .obsolete)
      note(part)
    }
    walk?.hasLostNext = true
    walk?.part = nil
  }

  /// Whether the applied executions of the row count for the place.
  private func isCounted(_ spot: Spot) -> Bool {
    switch spot {
    case .applied, .undone: true
    case .held, .running: false
    }
  }

  /// All executions of the entry are undone or redone, or gone.
  private mutating func entryIsDone(_ spot: Spot) {
    guard walk?.isRollBack == false else {
      walk?.done += 1
      return
    }
    if self[spot].isGroup, self[spot].parts.isEmpty {
      let id = self[spot].id
      walk?.lost.insert(id)
      self[spot].marks.insert(.leavesLater)
      noteGone(id)
    } else {
      self[spot].stamp = nextStamp()
      if walk?.isRedo == true {
        self[spot].state = .applied
        unmark(spot, [.inDoubt, .interrupted, .incomplete, .redo])
        if self[spot].isGroup { renewFootprint(of: spot) }
      } else {
        self[spot].state = .undone
        // A group that was never complete leaves as what it was.
        let isIncomplete = self[spot].marks.contains(.incomplete)
        unmark(spot, isIncomplete ? .inDoubt : [.inDoubt, .interrupted, .redo])
      }
      note(spot)
    }
    walk?.done += 1
    walk?.part = nil
    if let near = walk?.near { walk?.near = near - 1 }
    walk?.hasMovedNext = false
    walk?.hasLostNext = false
  }

  /// The walk has come as far as it could. Returns the entries that were undone or redone.
  mutating func finish() -> [Row] {
    guard let walk = walk.take() else {
      preconditionFailure("A move ends, and none has begun.")
    }
    drop(walk.lostParts, .obsolete)
    guard walk.held.isEmpty else { return finishCleared(walk) }
    var moved: [Row] = []
    for id in walk.ids[..<walk.done] {
      guard let spot = spot(of: id) else { continue }
      if let row = finish(spot, of: walk) { moved.append(row) }
    }
    if walk.done < walk.ids.count, let spot = spot(of: walk.ids[walk.done]) {
      stop(spot, of: walk)
    }
    // To look each up costs more than all the rest.
    for id in walk.ids where walk.mayLeave || walk.isRecovery {
      guard let (row, _) = row(of: id), row.marks.contains(.leavesLater) else { continue }
      forget(id, row.reason)
    }
    if walk.evictsWhenOver { evict() }
    return moved
  }

  private mutating func finishCleared(_ walk: Walk) -> [Row] {
    for id in walk.lost { noteGone(id) }
    // The move has led to an unknown place.
    if walk.hasMoved { head.rowless.addUnknown(above: stamp) }
    let left = walk.held.filter { !walk.lost.contains($0.id) }
    drop(left, .cleared, isReversed: !walk.isRedo)
    drop(walk.held.filter { !$0.isGroup && walk.lost.contains($0.id) }, .obsolete)
    let done = Set(walk.ids[..<walk.done]).subtracting(walk.lost)
    return walk.held.filter { done.contains($0.id) }
  }

  /// An entry that is done with goes to the other side.
  private mutating func finish(
    _ spot: Spot, of walk: Walk
  ) -> Row? {
    var row = take(spot)
    if walk.lost.contains(row.id) {
      noteGone(row.id)
      return nil
    }
    if walk.isRedo {
      push(row)
    } else if row.marks.contains(.incomplete) {
      drop([row], .truncated)
      row.marks.subtract([.incomplete, .interrupted])
    } else {
      pushUndone(row)
    }
    return row
  }

  private mutating func take(_ spot: Spot) -> Row {
    switch spot {
    case .applied(let index): return takeApplied(at: index)
    case .undone(let index): return takeUndone(at: index)
    case .held, .running: preconditionFailure("A row at \(spot) changes sides.")
    }
  }

  /// The walk has stopped at an entry.
  private mutating func stop(_ spot: Spot, of walk: Walk) {
    if walk.lost.contains(self[spot].id) {
      let row = take(spot)
      if !walk.isRedo { leaveEffect(of: row) }
      return drop([row], .obsolete)
    }
    guard self[spot].isGroup else { return }
    if walk.isRedo, walk.hasMovedNext { renewFootprint(of: spot) }
    let state = self[spot].state
    switch spot {
    case .applied(let index):
      self[spot].state = .applied
      // A group in the middle of which it has stopped goes on top of the applied entries, where the
      // next undo and redo find it. Since no entry above overlaps it, that changes nothing.
      if walk.hasMovedNext, index != newest, !self[spot].marks.contains(.interrupted) {
        var row = take(spot)
        row.stamp = nextStamp()
        if walk.hasLostNext { head.rowless.cover(row.stamp) }
        push(row)
        note(.applied(applied.count - 1))
      } else if state != .applied {
        note(spot)
      }
    case .undone:
      guard self[spot].isPartial else {
        self[spot].state = .undone
        if state != .undone { note(spot) }
        return
      }
      var row = take(spot)
      (row.state, row.stamp) = (.applied, nextStamp())
      push(row)
      note(.applied(applied.count - 1))
    case .held, .running: break
    }
  }
}

// MARK: - Groups that run

extension HistoryTable {
  /// A part of the running group begins.
  mutating func beginPart(_ part: Row) {
    var part = part
    part.stamp = nextStamp()
    part.state = .executing
    running?.parts.append(part)
    if let count = running?.parts.count { note(.running, part: count - 1) }
  }

  /// A part has ended: with its step, or it has thrown, and is none.
  mutating func endPart(_ id: ID, _ answer: (step: Step, footprint: HistoryFootprint)?) {
    guard let index = running?.parts.lastIndex(where: { $0.id == id }) else { return }
    guard let answer else {
      running?.parts.remove(at: index)
      return noteGone(id)
    }
    // Parts that overlap are in the order of their ends.
    guard var part = running?.parts.remove(at: index) else { return }
    part.apply(answer.step, answer.footprint)
    part.stamp = nextStamp()
    note(part)
    running?.parts.append(part)
  }

  /// A group in the running one has ended.
  mutating func endNested(_ id: ID) {
    guard let index = running?.parts.lastIndex(where: { $0.id == id }) else { return }
    let groups = running?.groups(in: id) ?? []
    if running?.parts.contains(where: { !$0.isGroup && groups.contains($0.parent) }) == true {
      running?.parts[index].state = .applied
      note(.running, part: index)
    } else {
      running?.parts.removeAll { $0.isGroup && groups.contains($0.id) }
      for group in groups { noteGone(group) }
    }
  }

  /// The running group is over. Returns it, nil if no part is left.
  mutating func takeGroup() -> Row? {
    guard var group = running.take() else {
      preconditionFailure("A group ends, and none runs.")
    }
    group.footprint = .union(of: group.leaves.map(\.footprint))
    if group.parts.isEmpty {
      noteGone(group.id)
      return nil
    }
    return group
  }

  /// The parts of the running group, or of a group in it, are going to be undone.
  mutating func beginRollBack(of group: ID) {
    guard walk == nil else {
      preconditionFailure("\(group) is rolled back while \(String(describing: walk)) moves.")
    }
    walk = Walk(isRedo: false, [group], rollsBack: running?.groups(in: group) ?? [])
    // The next launch undoes the rest, even one that keeps interrupted groups.
    running?.marks.insert(.incomplete)
    note(.running)
  }

  /// The roll-back has come as far as it could: what is undone is no part any more. Returns whether
  /// parts are left that could not be undone.
  mutating func endRollBack() -> Bool {
    guard let walk = walk.take(), let groups = walk.rollsBack, running != nil else {
      preconditionFailure("A roll-back ends, and none has begun.")
    }
    let undone = removeParts(of: .running) {
      groups.contains($0.parent) && $0.state == .undone
    }
    drop(undone, .truncated)
    drop(walk.lostParts, .obsolete)
    running?.marks.remove(.incomplete)
    note(.running)
    return running?.parts.contains { groups.contains($0.parent) && !$0.isGroup } ?? false
  }
}
