/// The entries of a history, each in its state: the one truth of which everything else is read.
///
/// Between two events:
///
/// - The applied rows and the undone rows are in the order of their stamps. The last of the undone
///   rows is the next to be redone.
/// - Only the newest applied row can be half undone, and rows that are `interrupted`.
/// - Equal places mean equal documents: so the history knows that it is clean.
struct HistoryTable<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Row = HistoryRow<Step>
  typealias Drop = HistoryDrop<Step>

  /// All that the history is, apart from its rows.
  struct Head: Equatable, Sendable {
    var limit: Int?
    var saved: HistoryPlace? = .beginning
    var rowless = RowlessEffects()
  }

  private(set) var applied = RowStack<Step>()
  private(set) var undone = RowStack<Step>()
  /// The execution or the group that has the lane.
  var running: Row?
  /// The undo, redo or move that has the lane, or the roll-back of a group.
  var walk: Walk?
  var head = Head()
  /// The sum of the places of all rows, and of the uncertain ones.
  private var live = HistoryPlace.beginning
  var stamp: UInt64 = 0
  /// How many applied rows do not count for the limit.
  private(set) var uncounted = 0
  /// The rows that differ from those in the journal, without their parts; nil for one that is gone.
  /// Nil without a journal.
  var changed: [ID: Row?]?
  /// Rows that `discard` has not been called for, with a journal.
  var leaving: [Row] = []
  /// Whether something in the running group can never be undone, so its effect stays above others.
  private var hasLostParts = false
  /// Rows that have left, of which the use cases are to be told. With a journal, they are in `leaving`
  /// instead.
  private var drops: [Drop] = []
  /// Not to be released under a lock.
  var trash: [Row] = []
  /// The rows of an execution, an undo or a redo that no use case of this app can answer for. They are
  /// left as they were written.
  private var uncertain: Set<ID> = []
  /// The entries of a journal, until they are put to their places.
  var opened: [Row] = []

  init(limit: Int?) { head.limit = limit }

  /// How many groups can be in each other.
  static var deepest: Int { 1_000 }
}

// MARK: - Reading

extension HistoryTable {
  /// Where a row is.
  enum Spot: Equatable {
    case applied(Int)
    case undone(Int)
    /// In the hand of a move, since the history was cleared.
    case held(Int)
    case running
  }

  subscript(spot: Spot) -> Row {
    get {
      switch spot {
      case .applied(let index): return applied[index]
      case .undone(let index): return undone[index]
      case .held(let index): if let walk { return walk.held[index] }
      case .running: if let running { return running }
      }
      preconditionFailure("There is no row at \(spot).")
    }
    _modify {
      switch spot {
      case .applied(let index): yield &applied[index]
      case .undone(let index): yield &undone[index]
      // In place: to take the row out and put it back would copy its parts.
      case .held(let index):
        // swift-format-ignore: NeverForceUnwrap
        yield &walk!.held[index]
      case .running:
        // swift-format-ignore: NeverForceUnwrap
        yield &running!
      }
    }
  }

  /// Returns the row, or a part of it.
  func row(at spot: Spot, part: Int?) -> Row {
    part.map { self[spot].parts[$0] } ?? self[spot]
  }

  /// Changes the row, or a part of it. As an accessor, that would allocate.
  mutating func change(_ spot: Spot, part: Int?, _ body: (inout Row) -> Void) {
    if let part { body(&self[spot].parts[part]) } else { body(&self[spot]) }
  }

  /// Returns where the entry is, nil if there is none.
  func spot(of id: ID, near index: Int? = nil) -> Spot? {
    if let index, applied.indices.contains(index), applied[index].id == id {
      return .applied(index)
    }
    if let index, undone.indices.contains(index), undone[index].id == id { return .undone(index) }
    if applied.last?.id == id { return .applied(applied.count - 1) }
    if undone.last?.id == id { return .undone(undone.count - 1) }
    return applied.position(of: id).map { .applied($0) }
      ?? undone.position(of: id).map { .undone($0) }
  }

  func row(of id: ID) -> (row: Row, isApplied: Bool)? {
    switch spot(of: id) {
    case .applied(let index): (applied[index], true)
    case .undone(let index): (undone[index], false)
    case .held, .running, nil: nil
    }
  }

  /// Returns the entry, or the part of one, with this id.
  func rowOrPart(_ id: ID) -> Row? {
    if let (row, _) = row(of: id) { return row }
    return Self.part(id, in: applied) ?? Self.part(id, in: undone)
  }

  /// Returns the row or the part with this id that the journal has, or is to have.
  func journaledRow(_ id: ID) -> Row? {
    func row(in rows: [Row]) -> Row? { rows.first { $0.id == id } ?? Self.part(id, in: rows) }
    return rowOrPart(id) ?? row(in: leaving) ?? row(in: running.map { [$0] } ?? [])
      ?? row(in: walk?.held ?? [])
  }

  private static func part(_ id: ID, in rows: some Sequence<Row>) -> Row? {
    for row in rows where !row.parts.isEmpty {
      if let part = row.parts.first(where: { $0.id == id }) { return part }
    }
    return nil
  }

  /// The index of the newest applied row that undo does not pass over.
  var newest: Int? {
    if let last = applied.last, !last.isDoubtfulExecution { return applied.count - 1 }
    return applied.lastIndex { !$0.isDoubtfulExecution }
  }

  /// The newest applied row, if it is half undone: it comes before all others.
  var half: Row? {
    // A group is half undone on the way, too.
    if let walk, !walk.isRollBack, walk.half == nil { return nil }
    guard let newest, applied[newest].isGroup, !applied[newest].marks.contains(.interrupted),
      applied[newest].isPartial
    else { return nil }
    return applied[newest]
  }

  /// The entry that an undo takes.
  var undoID: ID? { newest.map { applied[$0].id } }

  /// The entry that a redo takes.
  var redoID: ID? { half?.id ?? undone.last?.id }

  /// The present place. Nil when a group is half undone.
  var place: HistoryPlace? {
    let isPartial = half != nil || uncounted > 0 && applied.contains(where: \.isPartial)
    return isPartial ? nil : live + head.rowless.sum
  }

  var isSaved: Bool { head.saved != nil && head.saved == place }

  var undoCount: Int {
    uncounted == 0 ? applied.count : applied.count { !$0.isDoubtfulExecution }
  }

  /// Returns the later entries that overlap an applied one, the oldest first. A half undone group is
  /// undone or redone before all others.
  func blockers(ofUndoing id: ID) -> [ID] {
    guard case .applied(let index)? = spot(of: id) else {
      return half.map { [$0.id] } ?? []
    }
    if let half { return half.id == id ? [] : [half.id] }
    if index == applied.count - 1 { return [] }
    let footprint = applied[index].footprint
    return applied[(index + 1)...]
      .filter { !$0.isDoubtfulExecution && $0.footprint.overlaps(footprint) }.map(\.id)
  }

  /// Returns the undone entries that would be redone before this one and overlap it, in that order.
  func blockers(ofRedoing id: ID) -> [ID] {
    if let half { return half.id == id ? [] : [half.id] }
    switch spot(of: id) {
    case .undone(let index):
      let row = undone[index]
      let sooner = undone[(index + 1)...].reversed().filter { $0.footprint.overlaps(row.footprint) }
      return interrupted(blocking: [row]) + sooner.map(\.id)
    // Later entries that overlap an interrupted group come before it.
    case .applied(let index): return index == newest ? [] : blockers(ofUndoing: id)
    case .held, .running, nil: return []
    }
  }
}

extension HistoryTable {
  /// Returns the interrupted groups for which the redo of these has to wait, the oldest first.
  func interrupted(blocking rows: some Collection<Row>) -> [ID] {
    if uncounted == 0 { return [] }
    return applied.filter { group in rows.contains { group.blocksRedo(of: $0.footprint) } }
      .map(\.id)
  }
}

extension HistoryRow {
  /// Whether it is an interrupted group that overlaps another entry, which has to wait for it. One that
  /// was never complete may have all of its parts, and no entry that it has dropped.
  fileprivate func blocksRedo(of footprint: HistoryFootprint) -> Bool {
    marks.contains(.interrupted) && (isPartial || marks.contains(.incomplete))
      && self.footprint.overlaps(footprint)
  }
}

// MARK: - Changing rows

extension HistoryTable {
  /// The journal has to know the row as it is now.
  mutating func note(_ row: consuming Row) {
    if changed == nil { return }
    row.parts = []
    let id = row.id
    becomesCertain(id)
    changed?[id] = .some(row)
  }

  mutating func note(_ spot: Spot, part: Int? = nil) {
    if changed != nil { note(row(at: spot, part: part)) }
  }

  mutating func noteGone(_ id: ID) {
    if changed == nil { return }
    becomesCertain(id)
    changed?[id] = .some(nil)
  }

  mutating func nextStamp() -> UInt64 {
    stamp += 1
    return stamp
  }

  /// Returns the rows that have left. Nobody is told of them again.
  mutating func takeDrops() -> [Drop] {
    if drops.isEmpty { return [] }
    defer { drops = [] }
    return drops
  }

  /// Rows leave. With a journal, they wait there for `discard`.
  mutating func drop(
    _ rows: [Row], _ reason: HistoryDiscardReason, isReversed: Bool = false
  ) {
    if rows.isEmpty { return }
    guard changed != nil else {
      return drops.append(Drop(rows: rows, reason: reason, isReversed: isReversed))
    }
    for row in isReversed ? rows.reversed() : rows {
      if row.isGroup { noteGone(row.id) }
      for part in row.parts where part.isGroup { noteGone(part.id) }
      for var leaf in row.leaves {
        (leaf.state, leaf.reason, leaf.marks) = (.leaving, reason, leaf.marks.intersection(.keyed))
        leaving.append(leaf)
        note(leaf)
      }
    }
  }

  /// Parts leave, and the groups that have none left.
  mutating func removeParts(
    of spot: Spot, where leaves: (Row) -> Bool
  ) -> [Row] {
    let groups = changed == nil ? [] : self[spot].parts.filter(\.isGroup).map(\.id)
    let left = self[spot].removeParts(where: leaves)
    if !groups.isEmpty {
      let kept = Set(self[spot].parts.map(\.id))
      for group in groups where !kept.contains(group) { noteGone(group) }
    }
    renewFootprint(of: spot)
    return left
  }

  /// The group touches what its executions touch. The keys that only it knew are not released here.
  mutating func renewFootprint(of spot: Spot) {
    trash.append(Row(id: .nobody, title: "", step: nil, footprint: self[spot].footprint))
    self[spot].footprint = .union(of: self[spot].leaves.map(\.footprint))
  }

  /// An execution in a row of this stamp was undone.
  mutating func wasUndone(_ leaf: ID, in stamp: UInt64) {
    live -= .of(leaf)
    head.rowless.noteUndo(in: stamp)
  }

  mutating func wasRedone(_ leaf: ID) { live += .of(leaf) }

  /// An applied execution in a row of this stamp can never be undone.
  mutating func wasLost(_ leaf: ID, in stamp: UInt64) {
    live -= .of(leaf)
    head.rowless.add(.of(leaf), above: stamp)
  }

  /// A part of the running group can never be undone.
  mutating func partWasLost(_ leaf: ID) {
    head.rowless.add(.of(leaf), above: stamp)
    hasLostParts = true
  }

  /// The running group is over. What it has lost lies above it.
  mutating func coverLosses() {
    if hasLostParts { head.rowless.cover(stamp) }
    hasLostParts = false
  }

  /// Whether an execution, an undo or a redo of an earlier process took effect is unknown, and a later
  /// version of the app may know.
  mutating func becomesUncertain(_ row: Row) {
    live += .unknown(~row.id.number)
    uncertain.insert(row.id)
    head.rowless.cover(row.state == .redoing ? stamp : row.stamp)
  }

  /// The row is written anew, or goes. The next launch does not know that it was uncertain.
  private mutating func becomesCertain(_ row: ID) {
    if uncertain.isEmpty || uncertain.remove(row) == nil { return }
    live -= .unknown(~row.number)
    head.rowless.add(.unknown(~row.number), above: 0)
  }

  mutating func push(_ row: consuming Row) {
    willAdd(row)
    applied.append(row)
  }

  mutating func pushUndone(_ row: consuming Row) {
    live += row.place
    undone.append(row)
  }

  mutating func takeApplied(at index: Int) -> Row {
    let row = applied.remove(at: index)
    hasRemoved(row)
    return row
  }

  private mutating func takeApplied(where leaves: (Row) -> Bool) -> [Row] {
    let rows = applied.remove(where: leaves)
    for row in rows { hasRemoved(row) }
    return rows
  }

  mutating func takeUndone(at index: Int) -> Row {
    let row = undone.remove(at: index)
    live -= row.place
    return row
  }

  private mutating func willAdd(_ row: borrowing Row) {
    live += row.place
    if row.isUncounted { uncounted += 1 }
  }

  private mutating func hasRemoved(_ row: borrowing Row) {
    live -= row.place
    if row.isUncounted { uncounted -= 1 }
  }

  /// Takes marks from a row, wherever it is.
  mutating func unmark(_ spot: Spot, _ marks: Row.Marks) {
    if self[spot].unmark(marks), case .applied = spot { uncounted -= 1 }
  }

  /// A row has left the applied ones. Its effect stays.
  mutating func leaveEffect(of row: Row) {
    head.rowless.add(row.place, above: row.stamp)
  }

  /// Only the newest group may be half undone, but for interrupted ones. One whose undo has failed
  /// before the group above it was interrupted becomes one of those, which nobody carries on unasked.
  /// So does one below an entry of which this opening has found that it was redone: such entries have
  /// stamps above `written`.
  mutating func settleHalves(above written: UInt64) throws {
    var isBelow = false
    for index in applied.indices.reversed() {
      let row = applied[index]
      if row.isUncounted { continue }
      if row.isPartial {
        if isBelow { throw Damage(id: row.id) }
        if index != newest {
          applied[index].marks.formUnion([.interrupted, .redo])
          uncounted += 1
          note(.applied(index))
        }
      }
      if row.stamp <= written { isBelow = true }
    }
  }

  /// The rows that were to leave later leave now, except these.
  mutating func leaveNow(except staying: Set<ID>) {
    func leaves(_ row: Row) -> Bool {
      row.marks.contains(.leavesLater) && !staying.contains(row.id)
    }
    for row in takeApplied(where: leaves) {
      leaveEffect(of: row)
      drop([row], row.reason)
    }
    for row in undone.remove(where: leaves) { drop([row], row.reason) }
  }
}

// MARK: - Recording

extension HistoryTable {
  /// Puts a row behind the newest applied one, after the entries that it contradicts have left, and
  /// before those over the limit leave.
  mutating func record(_ row: consuming Row) {
    truncate(row.footprint)
    row.stamp = nextStamp()
    row.state = .applied
    push(row)
    note(.applied(applied.count - 1))
    evict()
  }

  /// The newest applied entry becomes `merged`, and `later` goes.
  mutating func merge(
    into merged: Row, _ later: consuming Row
  ) {
    truncate(.union(of: [later.footprint, merged.footprint]))
    let index = newestSingle(for: later.id)
    trash.append(applied[index])
    applied[index].step = merged.step
    applied[index].title = merged.title
    applied[index].footprint = merged.footprint
    applied[index].marks = merged.marks
    note(.applied(index))
    drop([later], .merged)
  }

  /// The newest applied entry and `later` cancel each other out.
  mutating func annul(_ later: consuming Row) {
    truncate(later.footprint)
    let earlier = takeApplied(at: newestSingle(for: later.id))
    drop([earlier, later], .annulled)
  }

  private func newestSingle(for later: ID) -> Int {
    guard let newest, !applied[newest].isGroup else {
      preconditionFailure("\(later) has no applied entry to merge with.")
    }
    return newest
  }

  /// The row has an effect, and is not recorded: the history was cleared meanwhile.
  mutating func lose(_ row: consuming Row) {
    head.rowless.add(row.place, above: stamp)
    drop([row], .cleared)
  }

  /// Drops the undone parts of a half undone group, and the undone entries that a new one with this
  /// footprint contradicts.
  private mutating func truncate(_ footprint: HistoryFootprint) {
    var wave = HistoryFootprint.Wave(footprint)
    if half != nil { dropUndoneParts(&wave) }
    // The whole branch goes, with the entries that touch nothing.
    if footprint == .everything {
      drop(undone.removeAll(), .truncated, isReversed: true)
    } else {
      dropContradicted(&wave)
    }
  }

  /// Drops the undone parts of the half undone group. What they touch is contradicted, too.
  private mutating func dropUndoneParts(
    _ wave: inout HistoryFootprint.Wave, at stamp: UInt64 = .max
  ) {
    guard let newest else { return }
    let parts = removeParts(of: .applied(newest)) { $0.state == .undone }
    note(.applied(newest))
    for part in parts { wave.insert(part.footprint, at: stamp) }
    drop(parts, .truncated)
  }

  /// Drops the undone entries that something of a later stamp overlaps, and all before `end`. A dropped
  /// entry takes along those that overlap it and would be redone after it.
  private mutating func dropContradicted(
    _ wave: inout HistoryFootprint.Wave, allBefore end: UInt64 = 0
  ) {
    var dropped: Set<ID> = []
    for row in undone.reversed() {
      let stamp = max(wave.latest(overlapping: row.footprint), end)
      guard stamp > row.stamp else { continue }
      dropped.insert(row.id)
      wave.insert(row.footprint, at: stamp)
    }
    if dropped.isEmpty { return }
    drop(undone.remove { dropped.contains($0.id) }, .truncated, isReversed: true)
  }

  /// Executions of an earlier process become entries, at the places of their stamps. The entries
  /// that were undone before, and that they contradict, go.
  mutating func insertOpened(_ rows: [Row]) {
    if rows.isEmpty { return }
    let newest = applied.last?.stamp ?? 0
    var half = half?.stamp
    var wave = HistoryFootprint.Wave()
    var branchEnd: UInt64 = 0
    var inserted: [Row] = []
    for var row in rows {
      if let group = half, group < row.stamp {
        dropUndoneParts(&wave, at: row.stamp)
        half = nil
      }
      wave.insert(row.footprint, at: row.stamp)
      if row.footprint == .everything { branchEnd = row.stamp }
      if row.stamp < newest { head.rowless.cover(row.stamp) }
      row.state = .applied
      willAdd(row)
      note(row)
      inserted.append(row)
    }
    dropContradicted(&wave, allBefore: branchEnd)
    applied.insert(inserted)
  }

  /// Entries were undone at the end of an earlier process, when they had these stamps, and that is
  /// known only now. What was applied over one meanwhile contradicts it.
  mutating func dropContradicted(undoneAt stamps: [ID: UInt64]) {
    if stamps.isEmpty { return }
    var wave = HistoryFootprint.Wave()
    for row in applied where !row.isDoubtfulExecution {
      wave.insert(row.footprint, at: row.stamp)
    }
    let dropped = undone.remove { row in
      stamps[row.id].map { wave.latest(overlapping: row.footprint) > $0 } ?? false
    }
    drop(dropped, .truncated)
  }
}

// MARK: - Limit, clear and forget

extension HistoryTable {
  mutating func setLimit(_ limit: Int?) {
    let isLower = limit ?? .max < head.limit ?? .max
    head.limit = limit
    guard isLower else { return }
    walk?.evictsWhenOver = true
    evict()
  }

  /// Drops the oldest applied rows over the limit, but none that a move has in its hand.
  mutating func evict() {
    guard let limit = head.limit, applied.count - uncounted > limit else { return }
    let over = applied.count - uncounted - limit
    var left: [Row] = []
    while left.count < over, let first = applied.first, !first.isUncounted,
      walk?.oldest != first.id
    {
      left.append(takeApplied(at: 0))
    }
    if left.count < over, uncounted > 0 {
      let counted = applied.lazy.prefix { [walk] in walk?.oldest != $0.id }
        .filter { !$0.isUncounted }
      let ids = Set(counted.prefix(over - left.count).map(\.id))
      left += takeApplied { ids.contains($0.id) }
    }
    for row in left { leaveEffect(of: row) }
    drop(left, .evicted)
  }

  /// Drops all rows. The rows of a move go when it is over, and an execution that runs is not
  /// recorded.
  mutating func clear() {
    uncounted = 0
    var (applied, undone) = (applied.removeAll(), undone.removeAll())
    if walk?.isRollBack == false { walk?.hold(&applied, &undone) }
    for index in walk?.held.indices ?? 0..<0 { noteLeavesLater(.held(index), .cleared) }
    if running != nil { noteLeavesLater(.running, .cleared) }
    drop(applied, .cleared)
    drop(undone, .cleared, isReversed: true)
    head.rowless.add(live, above: stamp)
    live = .beginning
  }

  /// The entry leaves, and its effect stays, so the place does not change. An entry in the hand of a
  /// move leaves when the move is over.
  mutating func forget(
    _ id: ID, _ reason: HistoryDiscardReason = .forgotten
  ) {
    guard let spot = spot(of: id) else { return }
    if walk?.holds(id) == true { return noteLeavesLater(spot, reason) }
    switch spot {
    case .applied(let index):
      let row = takeApplied(at: index)
      leaveEffect(of: row)
      drop([row], reason)
    case .undone(let index): drop([takeUndone(at: index)], reason)
    case .held, .running: break
    }
  }

  private mutating func noteLeavesLater(_ spot: Spot, _ reason: HistoryDiscardReason) {
    walk?.mayLeave = true
    self[spot].marks.insert(.leavesLater)
    self[spot].reason = reason
    note(spot)
  }
}
