/// One row of the table: an execution, or a group of them.
///
/// The parts of a group stand in its row, those of the groups in it, too: each names its parent, and
/// comes behind it. So nothing here needs recursion, however deep the groups are.
struct HistoryRow<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID

  /// The raw values stand in journals, and never change.
  enum State: UInt8 {
    /// Its body runs, or has run and is in doubt. Next is `applied`, or the row goes. A group has parts
    /// meanwhile.
    case executing = 0
    /// Next is `undoing`, or `leaving`.
    case applied = 1
    /// Its undo runs. Next is `undone`, or `applied` if that fails.
    case undoing = 2
    /// Next is `redoing`, or `leaving`.
    case undone = 3
    /// Its redo runs. Next is `applied`, or `undone` if that fails.
    case redoing = 4
    /// It is no entry any more. The row goes when `discard` has returned.
    case leaving = 5
  }

  /// The raw values stand in journals, and never change.
  struct Marks: OptionSet {
    let rawValue: UInt8

    static var group: Self { Self(rawValue: 1) }
    /// Whether its last execution, undo or redo took effect is unknown.
    static var inDoubt: Self { Self(rawValue: 2) }
    /// The end of a process, or a failed recovery, has left the group half done.
    static var interrupted: Self { Self(rawValue: 4) }
    /// The group was never complete: once its parts are undone, it is no entry.
    static var incomplete: Self { Self(rawValue: 8) }
    /// It leaves when what runs is over, for the reason of the row.
    static var leavesLater: Self { Self(rawValue: 16) }
    /// The footprint is not everything, so ask the use case for it.
    static var keyed: Self { Self(rawValue: 32) }
    /// The interrupted group is carried on only if asked: its redo was interrupted, or its undo failed,
    /// and a later entry was interrupted.
    static var redo: Self { Self(rawValue: 64) }
    /// No use case can read it. A journal keeps no such mark: another version of the app may read it.
    static var unreadable: Self { Self(rawValue: 128) }
  }

  let id: ID
  /// The group that it is a part of, `nobody` for an entry.
  var parent = ID.nobody
  /// The order of parts, and of the entries on one side. An entry that changes sides gets a new one.
  var stamp: UInt64 = 0
  var state = State.applied
  var marks: Marks = []
  /// Why it leaves.
  var reason = HistoryDiscardReason.cleared
  /// How many undos of a recovery have begun and not come back.
  var tries: UInt8 = 0
  var title: String
  /// Nil for a group, and for an execution that has no response yet.
  var step: Step?
  var footprint = HistoryFootprint.everything
  var parts: [Self] = []

  init(id: ID, title: String, step: Step?, footprint: HistoryFootprint = .everything) {
    (self.id, self.title, self.step, self.footprint) = (id, title, step, footprint)
  }

  /// A group in which nothing has happened yet.
  init(group id: ID, in parent: ID = .nobody, title: String) {
    (self.id, self.parent, self.title) = (id, parent, title)
    (state, marks, footprint) = (.executing, .group, .keys())
  }

  var isGroup: Bool { marks.contains(.group) }

  /// Whether it does not count for the limit.
  var isUncounted: Bool { isDoubtfulExecution || marks.contains(.interrupted) }

  /// Its execution or redo has made this step, which touches this.
  mutating func apply(_ step: Step, _ footprint: HistoryFootprint) {
    (self.step, self.footprint, state) = (step, footprint, .applied)
  }

  /// Takes marks from the row. Returns whether it counts for the limit by that.
  mutating func unmark(_ marks: Marks) -> Bool {
    let wasUncounted = isUncounted
    self.marks.subtract(marks)
    return wasUncounted && !isUncounted
  }

  /// An execution that may have had an effect: undo and redo pass over it.
  var isDoubtfulExecution: Bool { state == .executing && marks.contains(.inDoubt) }

  /// Whether it has an effect, so that it counts for the place of the history.
  fileprivate var hasEffect: Bool { !isGroup && (state == .applied || state == .undoing) }

  /// The numbers that it adds to the place of the history.
  var place: HistoryPlace {
    if !isGroup { return hasEffect ? .of(id) : .beginning }
    return parts.reduce(into: .beginning) { if $1.hasEffect { $0 += .of($1.id) } }
  }

  /// Whether a group is half undone or half redone.
  var isPartial: Bool {
    guard isGroup, let first = parts.first(where: { !$0.isGroup }) else { return false }
    // As a rule, the last one says it.
    if let last = parts.last, !last.isGroup, last.hasEffect != first.hasEffect { return true }
    return parts.contains { !$0.isGroup && $0.hasEffect != first.hasEffect }
  }

  var standing: HistoryEntry.Standing {
    marks.contains(.unreadable)
      ? .unreadable
      : marks.contains(.inDoubt)
        ? .inDoubt : marks.contains(.interrupted) ? .interrupted : .normal
  }

  /// The standing of the entry, with its parts.
  var worstStanding: HistoryEntry.Standing {
    parts.isEmpty ? standing : .worst(of: [standing] + parts.map(\.standing))
  }

  /// The executions in it, in order.
  var leaves: [Self] { isGroup ? parts.filter { !$0.isGroup } : [self] }

  /// Removes the executions that are not meant to stay, and the groups that have ended and have none
  /// left. Returns the former.
  mutating func removeParts(where leaves: (Self) -> Bool) -> [Self] {
    var (left, kept, alive) = ([Self](), [Self](), Set<ID>())
    for part in parts.reversed() {
      let goes =
        part.isGroup
        ? part.state != .executing && !alive.contains(part.id) : leaves(part)
      if goes {
        if !part.isGroup { left.append(part) }
      } else {
        alive.insert(part.parent)
        kept.append(part)
      }
    }
    parts = kept.reversed()
    return left.reversed()
  }

  /// Returns this group, the row itself or one in it, and all groups in that.
  func groups(in root: ID) -> Set<ID> {
    parts.reduce(into: [root]) { found, part in
      if part.isGroup, found.contains(part.parent) { found.insert(part.id) }
    }
  }
}

extension HistoryRow<any HistoryStep> {
  /// The title for a user. A step that was read from a journal knows its own.
  var titleForUser: String { title.isEmpty ? step?.title ?? "" : title }

  /// The row as clients see it, on this side of the cursor.
  func entry(isApplied: Bool) -> HistoryEntry {
    var children: [ID: [HistoryEntry]] = [:]
    // A group comes before its parts, so backwards its children are there before it.
    for part in parts.reversed() {
      let own = children.removeValue(forKey: part.id) ?? []
      let isApplied = part.isGroup ? own.last?.isApplied ?? isApplied : part.hasEffect
      children[part.parent, default: []].append(part.entry(own.reversed(), isApplied))
    }
    return entry((children[id] ?? []).reversed(), isApplied)
  }

  private func entry(_ children: [HistoryEntry], _ isApplied: Bool) -> HistoryEntry {
    HistoryEntry(
      id: id, title: titleForUser, isApplied: isApplied, children: children,
      standing: .worst(of: [standing] + children.map(\.standing)))
  }
}

/// Rows on one side of the cursor, in the order of their stamps.
///
/// Rows leave at the end, and at the beginning with a limit: neither moves the others.
struct RowStack<Step: Sendable>: RandomAccessCollection, Sendable {
  private var rows: [HistoryRow<Step>] = []
  /// So many places at the beginning are empty.
  private var head = 0

  var startIndex: Int { 0 }
  var endIndex: Int { rows.count - head }

  subscript(index: Int) -> HistoryRow<Step> {
    get { rows[head + index] }
    _modify { yield &rows[head + index] }
  }

  mutating func append(_ row: consuming HistoryRow<Step>) { rows.append(row) }

  /// Puts rows to the places of their stamps.
  mutating func insert(_ new: [HistoryRow<Step>]) {
    rows += new
    rows.sort { $0.stamp < $1.stamp }
  }

  mutating func remove(at index: Int) -> HistoryRow<Step> {
    if index == 0, count > 1 { return removeFirst() }
    return index == count - 1 ? rows.removeLast() : rows.remove(at: head + index)
  }

  private mutating func removeFirst() -> HistoryRow<Step> {
    var row = HistoryRow<Step>(id: .nobody, title: "", step: nil)
    swap(&row, &rows[head])
    head += 1
    if head > rows.count / 2 {
      rows.removeFirst(head)
      head = 0
    }
    return row
  }

  /// Removes the rows that are not meant to stay, and returns them in order.
  mutating func remove(where leaves: (HistoryRow<Step>) -> Bool) -> [HistoryRow<Step>] {
    if !contains(where: leaves) { return [] }
    var (left, kept) = ([HistoryRow<Step>](), [HistoryRow<Step>]())
    for row in self { if leaves(row) { left.append(row) } else { kept.append(row) } }
    (rows, head) = (kept, 0)
    return left
  }

  mutating func removeAll() -> [HistoryRow<Step>] {
    defer { (rows, head) = ([], 0) }
    return head == 0 ? rows : Array(rows[head...])
  }

  /// The newest ones are asked for most.
  func position(of id: HistoryEntry.ID) -> Int? { lastIndex { $0.id == id } }
}

/// Rows that leave the history for good, for one reason.
struct HistoryDrop<Step: Sendable>: Sendable {
  var rows: [HistoryRow<Step>]
  let reason: HistoryDiscardReason
  /// Whether the last row goes first.
  var isReversed = false
}

extension [HistoryDrop<any HistoryStep>] {
  /// Tells the use cases, and lets go of each row at once.
  mutating func discardAll() {
    for index in indices {
      let reason = self[index].reason
      let count = self[index].rows.count
      for number in 0..<count {
        let row = self[index].isReversed ? count - 1 - number : number
        var dropped = HistoryRow<any HistoryStep>(id: .nobody, title: "", step: nil)
        swap(&dropped, &self[index].rows[row])
        for leaf in dropped.leaves { leaf.step?.discard(reason) }
      }
    }
    self = []
  }
}
