import UseCaseInternals

/// The steps of an undo, a redo, a move or a roll-back, and how far it has come. It is handed on and
/// never copied.
///
/// Undo goes through the leaves of a group backwards and redo forwards, so that the applied leaves
/// of a record are a prefix.
struct HistoryPlan<Step: Sendable>: ~Copyable, Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>

  let isRedo: Bool
  /// In the order in which they are undone or redone. Redone records are here as they are now, and
  /// those that have lost parts as well.
  private(set) var records: Few<Record>
  /// How many of the records are done with.
  private(set) var moved = 0
  /// How many leaves of the next record are applied. As long as the plan is open, lost ones count.
  private(set) var applied: Int
  private let appliedAtFirst: Int
  /// The leaves of the next record, if it is a group that has begun. Nil for a lost one.
  private var leaves: [Record?] = []
  /// How many leaves of the next record are lost.
  private var lost = 0
  /// The name of the place that the next record is since it has lost leaves.
  private var place: ID?

  /// The parts that can never be undone or redone, and have left their groups.
  private(set) var obsoleteParts: [Record] = []
  /// The indices of the records that can never be undone or redone. The last may be that of the next
  /// record: then it is a single one, and the plan ends there.
  private(set) var obsolete: [Int] = []

  /// `applied` leaves of the first of the records are applied.
  init(isRedo: Bool, _ records: Few<Record>, applied: Int) {
    self.isRedo = isRedo
    self.records = records
    self.applied = applied
    appliedAtFirst = applied
  }

  /// Whether there is something left to do.
  var isIncomplete: Bool { moved < records.count }

  /// Whether anything has been undone or redone.
  var hasMoved: Bool { moved > 0 || applied != appliedAtFirst }

  /// Whether it has undone or redone a record.
  var hasResult: Bool { moved > obsolete.count }

  /// Whether groups have lost parts.
  var hasLost: Bool { !obsoleteParts.isEmpty }

  /// Returns the leaf to undo or redo next. Tell the plan what becomes of it.
  mutating func next() -> Record? {
    guard isIncomplete else { return nil }
    guard case .group = records[moved].content else { return records[moved] }
    if leaves.isEmpty { leaves = records[moved].leaves }
    return leaves[isRedo ? applied : applied - 1]
  }

  mutating func undid() {
    applied -= 1
    if applied == 0 { advance() }
  }

  /// The leaf has been redone, and `content` is what has become of it.
  mutating func redid(_ content: Record.Content) {
    applied += 1
    if leaves.isEmpty {
      records[moved] = Record(id: records[moved].id, content: content)
      advance()
    } else {
      leaves[applied - 1] = leaves[applied - 1].map { Record(id: $0.id, content: content) }
      if applied == leaves.count { advance() }
    }
  }

  /// The leaf can never be undone or redone, and what is left of its group is another `place`.
  /// Returns whether the plan goes on.
  mutating func lose(as place: ID) -> Bool {
    if leaves.isEmpty {
      obsolete.append(moved)
      return false
    }
    let index = isRedo ? applied : applied - 1
    if let leaf = leaves[index].take() { obsoleteParts.append(leaf) }
    lost += 1
    self.place = place
    applied += isRedo ? 1 : -1
    if applied == (isRedo ? leaves.count : 0) { advance() }
    return true
  }

  private mutating func advance() {
    if !update() { obsolete.append(moved) }
    moved += 1
    (leaves, lost, place) = ([], 0, nil)
    applied = isRedo || moved == records.count ? 0 : records[moved].size
  }

  /// The next record becomes what its leaves are now. Returns false if none is left.
  private mutating func update() -> Bool {
    guard !leaves.isEmpty, isRedo || lost > 0 else { return true }
    guard let record = records[moved].replacing(leaves, place: place.map { .of($0) })
    else { return false }
    records[moved] = record
    return true
  }

  /// No more is done. A group in which it has stopped becomes what it is now.
  mutating func close() {
    _ = update()
    if isRedo { applied -= lost }
  }

  /// Puts `record` in the place of the one at `index`, which is let go of with the plan.
  mutating func swap(_ record: Record, at index: Int) -> Record {
    defer { records[index] = record }
    return records[index]
  }
}
