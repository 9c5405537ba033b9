/// The table of a history that another process has left: its rows are checked once, what was
/// interrupted comes to rest, and what is to be recovered is named.
extension HistoryTable {
  /// A row that no history has written.
  struct Damage: Error {
    let id: ID
  }

  /// An answer to whether an execution, an undo or a redo took effect.
  enum Settlement {
    case hadNoEffect
    /// The step, with the response of an execution or a redo, and what it touches.
    case hadEffect(Step, HistoryFootprint)
    case unknown
  }

  /// The interrupted groups, undos and redos.
  struct Interrupted {
    /// Groups to be taken back, and undos to be carried on.
    var recoverable: [ID] = []
    /// Groups that stay as they are, because the app has asked for that.
    var kept: [ID] = []
  }

  /// Creates a table of rows in any order. Their states are those that they were written with.
  init(_ rows: [Row], head: Head) throws {
    self.init(limit: head.limit)
    self.head = head
    changed = [:]
    leaving = rows.filter { $0.state == .leaving }.sorted { $0.stamp < $1.stamp }
    for row in leaving where row.isGroup { throw Damage(id: row.id) }
    let rows = rows.filter { $0.state != .leaving }.sorted { $0.stamp < $1.stamp }
    stamp = max(rows.last?.stamp ?? 0, head.covered)
    for (row, next) in zip(rows, rows.dropFirst()) where row.stamp == next.stamp {
      throw Damage(id: next.id)
    }
    opened = rows.filter { $0.parent == .nobody }
    var roots: [ID: (index: Int, depth: Int)] = [:]
    for (index, row) in opened.enumerated() where row.isGroup { roots[row.id] = (index, 0) }
    for part in rows where part.parent != .nobody {
      guard let (index, depth) = roots[part.parent], !part.isGroup || depth < Self.deepest
      else { throw Damage(id: part.id) }
      if part.isGroup { roots[part.id] = (index, depth + 1) }
      opened[index].parts.append(part)
    }
    for index in opened.indices { try check(&opened[index]) }
  }

  /// Checks an entry with its parts.
  private func check(_ row: inout Row) throws {
    for row in [row] + row.parts where !row.hasPossibleMarks { throw Damage(id: row.id) }
    guard row.isGroup else { return }
    let leaves = row.leaves
    let transient: [Row.State] =
      switch row.state {
      case .executing: [.executing, .undoing]
      case .undoing: [.undoing]
      case .redoing: [.redoing]
      case .applied, .undone, .leaving: []
      }
    for leaf in leaves
    where leaf.state != .applied && leaf.state != .undone && !transient.contains(leaf.state) {
      throw Damage(id: leaf.id)
    }
    if row.state != .executing {
      // Redo goes forwards, and undo backwards. So the applied parts come first.
      for (leaf, next) in zip(leaves, leaves.dropFirst())
      where leaf.state != .applied && next.state != .undone {
        throw Damage(id: next.id)
      }
      if leaves.isEmpty { throw Damage(id: row.id) }
    }
    if row.state == .undone, leaves[0].state != .undone { throw Damage(id: row.id) }
    // A half undone group is redone.
    let isRedone = row.state == .redoing && row.marks.contains(.interrupted)
    if row.state == .applied || isRedone, leaves[0].state != .applied { throw Damage(id: row.id) }
    try checkGroups(in: row)
    row.footprint = .union(of: leaves.map(\.footprint))
  }

  /// A group in another one runs, or has ended and has parts.
  private func checkGroups(in row: Row) throws {
    var running: Set<ID> = row.state == .executing ? [row.id] : []
    let parents = Set(row.parts.map(\.parent))
    for part in row.parts {
      let isSound =
        switch part.state {
        case .executing: running.contains(part.parent)
        case .applied: !part.isGroup || parents.contains(part.id)
        case .undoing, .undone, .redoing, .leaving: !part.isGroup
        }
      if !isSound { throw Damage(id: part.id) }
      if part.isGroup, part.state == .executing { running.insert(part.id) }
    }
  }

  /// The executions, undos and redos that were interrupted.
  var doubts: [Row] {
    opened.flatMap { row in
      row.leaves.filter(\.isTransient)
    }
  }

  /// Puts all rows to their places.
  mutating func finishOpening(
    _ answers: [ID: Settlement], keepsGroups: Bool, into drops: inout [Drop]
  ) throws -> Interrupted {
    var interrupted = Interrupted()
    var (applied, undone, recorded) = ([Row](), [Row](), [Row]())
    var lifted: [Row] = []
    for var row in opened {
      let written = row
      let isGroup = row.isGroup
      if !isGroup, answers[row.id] == nil, row.isTransient {
        // A later version of the app may know it, so its row stays as it is.
        row.marks.formUnion([.inDoubt, .unreadable])
        if row.state != .executing { isUncertain(row.id) }
        if row.state == .undoing { row.state = .applied }
        if row.state == .redoing { row.state = .undone }
        if row.state == .undone { undone.append(row) } else { applied.append(row) }
        continue
      }
      lifted += settle(&row, answers, into: &drops)
      if isGroup {
        comeToRest(&row, keepsGroups, &interrupted, &lifted, &recorded, into: &drops)
      }
      if !isGroup, row.state == .executing, row.marks.contains(.inDoubt) {
        applied.append(row)
      } else if row.state == .applied {
        applied.append(row)
      } else if row.state == .undone {
        undone.append(row)
      } else if row.state == .executing, !isGroup, row.step != nil,
        answers[row.id]?.isEffect == true
      {
        recorded.append(row)
      }
      // A row that leaves is noted already.
      if row.state != .leaving { noteIfChanged(row, from: written) }
    }
    opened = []
    for row in lifted {
      note(row)
      applied.append(row)
    }
    // An execution of an earlier process has its place by its stamp. Nothing that came later goes.
    let newest = applied.lazy.filter { !$0.isDoubtfulExecution }.map(\.stamp).max() ?? 0
    for var row in recorded where row.isPassed(by: newest) {
      row.state = .applied
      head.covered = max(head.covered, row.stamp)
      note(row)
      applied.append(row)
    }
    place(applied, undone)
    try settleHalves()
    for row in recorded where !row.isPassed(by: newest) {
      if row.marks.contains(.leavesLater) {
        leaveEffect(row.place)
        drop([row], row.reason, into: &drops)
      } else {
        insertOpened(row, into: &drops)
      }
    }
    if recorded.contains(where: { $0.isPassed(by: newest) }) { evict(into: &drops) }
    // A row that is to be recovered leaves when that is over.
    leaveNow(except: Set(interrupted.recoverable), into: &drops)
    return interrupted
  }

  private mutating func place(_ applied: [Row], _ undone: [Row]) {
    for row in applied.sorted(by: { $0.stamp < $1.stamp }) { pushOpened(row) }
    for row in undone.sorted(by: { $0.stamp < $1.stamp }) { pushUndone(row) }
  }

  private mutating func noteIfChanged(_ row: Row, from old: Row) {
    if row.isGroup, row.state == .executing { return noteGone(row.id) }
    if row.state != old.state || row.marks != old.marks || row.stamp != old.stamp
      || row.reason != old.reason
    {
      note(row)
    }
  }

  // MARK: Interruptions

  /// Takes the answers for an execution, or for the parts of a group. Returns the executions in doubt,
  /// which are entries of their own.
  private mutating func settle(
    _ row: inout Row, _ answers: [ID: Settlement], into drops: inout [Drop]
  ) -> [Row] {
    guard row.isGroup else {
      guard let answer = answers[row.id] else { return [] }
      if row.state == .executing, case .hadNoEffect = answer { noteGone(row.id) }
      settle(&row, answer)
      return []
    }
    var lifted: [Row] = []
    for index in row.parts.indices {
      var part = row.parts[index]
      guard !part.isGroup, let answer = answers[part.id] else { continue }
      let wasExecuting = part.state == .executing
      settle(&part, answer)
      if wasExecuting {
        switch answer {
        case .hadEffect: part.state = .applied
        case .hadNoEffect: noteGone(part.id)
        case .unknown:
          var entry = part
          entry.parent = .nobody
          lifted.append(entry)
        }
      }
      if part.state == .undone, row.stamp <= head.covered { head.rest += unknownPlace() }
      row.parts[index] = part
      if part.state != .executing { note(part) }
    }
    _ = row.removeParts { $0.state == .executing }
    row.footprint = .union(of: row.leaves.map(\.footprint))
    return lifted
  }

  private mutating func settle(_ row: inout Row, _ answer: Settlement) {
    let state = row.state
    switch (state, answer) {
    case (.undoing, .hadNoEffect): row.state = .applied
    case (.undoing, .hadEffect):
      row.state = .undone
      if row.parent == .nobody {
        if row.stamp <= head.covered { head.rest += unknownPlace() }
        row.stamp = nextStamp()
      }
    case (.redoing, .hadNoEffect): row.state = .undone
    case (.redoing, .hadEffect(let step, let footprint)):
      (row.state, row.step, row.footprint) = (.applied, step, footprint)
      if row.parent == .nobody { row.stamp = nextStamp() }
    case (.executing, .hadEffect(let step, let footprint)):
      (row.step, row.footprint) = (step, footprint)
    case (.executing, .hadNoEffect): break
    case (_, .unknown):
      if state != .executing { row.state = state == .undoing ? .applied : .undone }
      row.marks.insert(.inDoubt)
      head.rest += unknownPlace()
      head.covered = max(head.covered, row.stamp)
    case (.applied, _), (.undone, _), (.leaving, _): break
    }
  }

  /// The group is at rest from now on.
  private mutating func comeToRest(
    _ row: inout Row, _ keepsGroups: Bool, _ interrupted: inout Interrupted,
    _ lifted: inout [Row], _ recorded: inout [Row], into drops: inout [Drop]
  ) {
    switch row.state {
    case .executing:
      let groups = Set(row.parts.filter(\.isGroup).map(\.id))
      let undone = row.removeParts { $0.state == .undone }
      drop(undone, .truncated, into: &drops)
      for index in row.parts.indices where row.parts[index].isGroup {
        row.parts[index].state = .applied
        note(row.parts[index])
      }
      _ = row.removeParts { _ in false }
      for group in groups.subtracting(row.parts.map(\.id)) { noteGone(group) }
      if row.parts.isEmpty { return }
      row.footprint = .union(of: row.leaves.map(\.footprint))
      if keepsGroups, !row.marks.contains(.incomplete) {
        interrupted.kept.append(row.id)
        recorded.append(row)
        row.parts = []
        return
      }
      row.marks.formUnion([.interrupted, .incomplete])
      row.state = .applied
      row.stamp = nextStamp()
      interrupted.recoverable.append(row.id)
    case .undoing:
      let isDone = !row.leaves.contains { $0.state == .applied }
      let isWhole = !row.leaves.contains { $0.state == .undone }
      if isDone {
        row.stamp = nextStamp()
        return wasUndone(&row, into: &drops)
      }
      row.state = .applied
      // A roll-back that had begun is carried on.
      if keepsGroups, !row.marks.contains(.incomplete) {
        if !isWhole {
          row.marks.insert(.interrupted)
          interrupted.kept.append(row.id)
        }
        return
      }
      row.marks.insert(.interrupted)
      interrupted.recoverable.append(row.id)
    case .redoing:
      let isDone = !row.leaves.contains { $0.state == .undone }
      let isWhole = !row.leaves.contains { $0.state == .applied }
      if isWhole {
        row.state = .undone
        return
      }
      (row.state, row.stamp) = (.applied, nextStamp())
      if !isDone { row.marks.formUnion([.interrupted, .redo]) }
    case .applied:
      guard row.marks.contains(.interrupted), !row.marks.contains(.redo), !keepsGroups else {
        return
      }
      interrupted.recoverable.append(row.id)
    case .undone: wasUndone(&row, into: &drops)
    case .leaving: break
    }
  }

  /// All parts of the group are undone: one that was never complete is no entry.
  private mutating func wasUndone(_ row: inout Row, into drops: inout [Drop]) {
    guard row.marks.contains(.incomplete) else {
      row.state = .undone
      return row.marks.subtract([.interrupted, .redo])
    }
    drop([row], .truncated, into: &drops)
    row.state = .leaving
  }
}

extension HistoryRow {
  /// Whether a history has ever given these marks to such a row, and as many tries.
  fileprivate var hasPossibleMarks: Bool {
    let isPart = parent != .nobody
    guard isGroup else {
      if isPart, isDoubtfulExecution { return false }
      let possible: Marks = [.inDoubt, .unreadable, .keyed]
      return tries == 0 && marks.isSubset(of: isPart ? possible : possible.union(.leavesLater))
    }
    if isPart { return tries == 0 && marks == .group }
    // A recovery is not begun a third time.
    guard tries <= 2, marks.isDisjoint(with: [.inDoubt, .unreadable, .keyed]) else { return false }
    let half = marks.intersection([.interrupted, .incomplete, .redo])
    if state == .executing { return half.isSubset(of: .incomplete) }
    return half.isEmpty || half.contains(.interrupted)
  }

  /// Whether an entry with this stamp came later, and it is an entry, too.
  fileprivate func isPassed(by newest: UInt64) -> Bool {
    stamp < newest && !marks.contains(.leavesLater)
  }

  /// Whether its execution, undo or redo was interrupted.
  fileprivate var isTransient: Bool {
    switch state {
    case .executing: !marks.contains(.inDoubt)
    case .undoing, .redoing: true
    case .applied, .undone, .leaving: false
    }
  }
}

extension HistoryTable.Settlement {
  fileprivate var isEffect: Bool {
    if case .hadEffect = self { true } else { false }
  }
}
