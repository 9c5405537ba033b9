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
    stamp = max(rows.last?.stamp ?? 0, head.rowless.covered)
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
    for index in opened.indices { try Self.check(&opened[index]) }
  }

  /// Checks an entry with its parts.
  private static func check(_ row: inout Row) throws {
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
    // The redo is that of a half undone group.
    let isRedone = row.state == .redoing && row.marks.contains(.interrupted)
    if row.state == .applied || isRedone, leaves[0].state != .applied { throw Damage(id: row.id) }
    try checkGroups(in: row)
    row.footprint = .union(of: leaves.map(\.footprint))
  }

  /// A group in another one runs, or has ended and has parts.
  private static func checkGroups(in row: Row) throws {
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

  /// Where a row goes.
  private enum Rest {
    case applied
    case undone
    /// It becomes an entry now, and is noted then.
    case recorded
    case gone
  }

  /// Puts all rows to their places.
  mutating func finishOpening(
    _ answers: [ID: Settlement], keepsGroups: Bool
  ) throws -> Interrupted {
    var interrupted = Interrupted()
    let written = stamp
    var (applied, undone, recorded) = ([Row](), [Row](), [Row]())
    var undoneAt: [ID: UInt64] = [:]
    for var row in opened {
      let rest: Rest
      if row.isGroup {
        let written = row
        applied += settleParts(of: &row, answers)
        rest = settle(&row, keepsGroups, &interrupted)
        if rest == .applied || rest == .undone { noteIfChanged(row, from: written) }
      } else {
        let stamp = row.stamp
        rest = settle(&row, answers[row.id])
        if rest == .undone, row.stamp > stamp { undoneAt[row.id] = stamp }
      }
      switch rest {
      case .applied: applied.append(row)
      case .undone: undone.append(row)
      case .recorded: recorded.append(row)
      case .gone: break
      }
    }
    opened = []
    for row in applied.sorted(by: { $0.stamp < $1.stamp }) { push(row) }
    for row in undone.sorted(by: { $0.stamp < $1.stamp }) { pushUndone(row) }
    try settleHalves(above: written)
    for row in recorded where row.marks.contains(.leavesLater) {
      head.rowless.add(row.place, above: stamp)
      drop([row], row.reason)
    }
    insertOpened(recorded.filter { !$0.marks.contains(.leavesLater) })
    dropContradicted(undoneAt: undoneAt)
    if !recorded.isEmpty { evict() }
    // A row that is to be recovered leaves when that is over.
    var tried = Set(interrupted.recoverable)
    for row in applied where row.reasonNotToTry != nil { tried.remove(row.id) }
    leaveNow(except: tried)
    return interrupted
  }

  private mutating func noteIfChanged(_ row: Row, from old: Row) {
    if row.state != old.state || row.marks != old.marks || row.stamp != old.stamp { note(row) }
  }

  // MARK: Executions

  private mutating func settle(_ row: inout Row, _ answer: Settlement?) -> Rest {
    let written = row.state
    if row.isTransient {
      guard let answer else { return leaveUnsettled(&row) }
      guard end(&row, answer, in: row.stamp) else { return .gone }
      switch (written, row.state) {
      case (.executing, .applied): return .recorded
      case (.undoing, .undone), (.redoing, .applied): row.stamp = nextStamp()
      default: break
      }
      note(row)
    }
    return row.state == .undone ? .undone : .applied
  }

  /// No use case of this app can answer for the execution, the undo or the redo. A later version of
  /// the app may, so the row stays as it was written.
  private mutating func leaveUnsettled(_ row: inout Row) -> Rest {
    row.marks.formUnion([.inDoubt, .unreadable])
    becomesUncertain(row)
    switch row.state {
    case .undoing: row.state = .applied
    case .redoing: row.state = .undone
    case .executing, .applied, .undone, .leaving: break
    }
    return row.state == .undone ? .undone : .applied
  }

  /// The execution, undo or redo that was interrupted has ended like this, in an entry of this stamp.
  /// Returns false if nothing is left of it.
  private mutating func end(_ row: inout Row, _ answer: Settlement, in stamp: UInt64) -> Bool {
    switch (row.state, answer) {
    case (.executing, .hadNoEffect):
      noteGone(row.id)
      return false
    case (.undoing, .hadNoEffect): row.state = .applied
    case (.redoing, .hadNoEffect): row.state = .undone
    case (.undoing, .hadEffect):
      row.state = .undone
      row.marks.remove(.inDoubt)
      head.rowless.noteUndo(in: stamp)
    case (_, .hadEffect(let step, let footprint)):
      row.apply(step, footprint)
      row.marks.remove(.inDoubt)
    case (let state, .unknown):
      // A redone execution lies above all that is applied.
      head.rowless.addUnknown(above: state == .redoing ? self.stamp : stamp)
      if state != .executing { row.state = state == .undoing ? .applied : .undone }
      row.marks.insert(.inDoubt)
    case (_, .hadNoEffect): break
    }
    return true
  }

  // MARK: Groups

  /// Takes the answers for the parts. Returns the executions in doubt, which are entries of their own.
  private mutating func settleParts(of row: inout Row, _ answers: [ID: Settlement]) -> [Row] {
    var doubtful: [Row] = []
    let stamp = row.stamp
    for index in row.parts.indices where !row.parts[index].isGroup {
      let wasExecuting = row.parts[index].state == .executing
      guard let answer = answers[row.parts[index].id],
        end(&row.parts[index], answer, in: stamp)
      else { continue }
      // Parts that overlap are in the order of their ends, and this one ends now.
      if wasExecuting, row.parts[index].state == .applied { row.parts[index].stamp = nextStamp() }
      var part = row.parts[index]
      if part.state == .executing {
        part.parent = .nobody
        // The group was cleared while it ran.
        if row.marks.contains(.leavesLater) {
          part.marks.insert(.leavesLater)
          part.reason = row.reason
        }
        doubtful.append(part)
      }
      note(part)
    }
    _ = row.removeParts { $0.state == .executing }
    row.parts.sort { $0.stamp < $1.stamp }
    row.footprint = .union(of: row.leaves.map(\.footprint))
    return doubtful
  }

  private mutating func settle(
    _ row: inout Row, _ keepsGroups: Bool, _ interrupted: inout Interrupted
  ) -> Rest {
    // A roll-back that had begun is carried on.
    let isKept = keepsGroups && !row.marks.contains(.incomplete)
    let leaves = row.leaves
    switch row.state {
    case .executing:
      endBody(of: &row)
      if row.parts.isEmpty {
        noteGone(row.id)
        return .gone
      }
      if isKept {
        interrupted.kept.append(row.id)
        return .recorded
      }
      row.marks.formUnion([.interrupted, .incomplete])
      (row.state, row.stamp) = (.applied, nextStamp())
      interrupted.recoverable.append(row.id)
      return .applied
    case .undoing:
      if leaves.allSatisfy({ $0.state == .undone }) {
        row.stamp = nextStamp()
        return wasUndone(&row)
      }
      row.state = .applied
      // The undo is carried on, whatever was interrupted before.
      row.marks.remove(.redo)
      if !isKept {
        row.marks.insert(.interrupted)
        interrupted.recoverable.append(row.id)
      } else if leaves.contains(where: { $0.state == .undone }) {
        row.marks.insert(.interrupted)
        interrupted.kept.append(row.id)
      }
      return .applied
    case .redoing:
      if leaves.allSatisfy({ $0.state == .undone }) {
        row.state = .undone
        return .undone
      }
      (row.state, row.stamp) = (.applied, nextStamp())
      if leaves.contains(where: { $0.state == .undone }) {
        row.marks.formUnion([.interrupted, .redo])
      } else {
        row.marks.subtract([.interrupted, .incomplete, .redo])
      }
      return .applied
    case .applied:
      if row.marks.contains(.interrupted), !row.marks.contains(.redo), !keepsGroups {
        interrupted.recoverable.append(row.id)
      }
      return .applied
    case .undone: return wasUndone(&row)
    case .leaving: return .gone
    }
  }

  /// The body of the group was interrupted: what is undone is no part any more, and the groups in it
  /// have ended.
  private mutating func endBody(of row: inout Row) {
    let groups = Set(row.parts.filter(\.isGroup).map(\.id))
    let undone = row.removeParts { $0.state == .undone }
    drop(undone, .truncated)
    for index in row.parts.indices where row.parts[index].isGroup {
      row.parts[index].state = .applied
      note(row.parts[index])
    }
    _ = row.removeParts { _ in false }
    for group in groups.subtracting(row.parts.map(\.id)) { noteGone(group) }
    row.footprint = .union(of: row.leaves.map(\.footprint))
  }

  /// All parts of the group are undone: one that was never complete is no entry.
  private mutating func wasUndone(_ row: inout Row) -> Rest {
    if row.marks.contains(.incomplete) {
      drop([row], .truncated)
      return .gone
    }
    row.state = .undone
    row.marks.subtract([.interrupted, .redo])
    return .undone
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

  /// Whether its execution, undo or redo runs, or was interrupted.
  var isTransient: Bool {
    switch state {
    case .executing: !marks.contains(.inDoubt)
    case .undoing, .redoing: true
    case .applied, .undone, .leaving: false
    }
  }
}
