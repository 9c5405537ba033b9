/// The steps of an undo, a redo, a move or a roll-back, and how far it has come. It is handed on
/// and never copied.
///
/// Undo goes through the leaves of a group backwards and redo forwards, so that the applied leaves
/// of a record are a prefix.
struct HistoryPlan<Step: Sendable>: ~Copyable, Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>

  let isRedo: Bool
  /// Whether anything has been undone or redone.
  private(set) var hasMoved = false
  /// In the order in which they are undone or redone. Redone records are here as they are now, and
  /// those that have lost parts as well.
  private(set) var records: [Record]
  /// How many of the records are done with.
  private(set) var moved = 0
  /// How many leaves of the next record are applied. Lost leaves count until the plan is closed.
  private(set) var applied: Int
  /// The leaves of the next record, if it is a group that has changed. Nil for a lost one.
  private var leaves: [Record?] = []
  /// In the order of their records. Few plans have any.
  private var losses: [Loss] = []
  /// Whether groups have lost parts.
  private(set) var hasLost = false
  /// Records as they were before they lost parts.
  private var replaced: [Record] = []

  /// Something that can never be undone or redone.
  private struct Loss: Sendable {
    /// The index of its record.
    let index: Int
    /// A part that leaves its group; nil for a record that leaves. That may be the next record:
    /// then it is a single one, and the plan ends there.
    let part: Record?
    /// The id of the place of the group without the part.
    let place: ID
    let error: HistoryObsolete
  }

  /// If the first of the records is half undone, `partial` of its leaves are applied.
  init(isRedo: Bool, _ records: [Record], partial: Int? = nil) {
    applied = partial ?? (isRedo ? 0 : records.first?.size ?? 0)
    self.isRedo = isRedo
    self.records = records
  }

  /// More records follow.
  mutating func append(_ more: some Sequence<Record>) {
    for record in more { records.append(record) }
  }

  /// How many leaves of the next record were listed, to be replaced one by one.
  var listed: Int { leaves.count }

  /// Whether there is something left to do.
  var isIncomplete: Bool { moved < records.count }

  /// Whether it has undone or redone a record.
  var hasResult: Bool { moved > losses.count { $0.part == nil } }

  /// The parts that can never be undone or redone, and have left their groups.
  var obsoleteParts: [Record] { losses.compactMap(\.part) }

  /// The first error of something that can never be undone or redone.
  var obsolete: HistoryObsolete? { losses.first?.error }

  /// Whether the record can never be undone or redone.
  func isObsolete(_ index: Int) -> Bool {
    // The last of its losses: a group leaves when all of its parts have.
    let next = losses[...].partitioningIndex { $0.index > index }
    return next > 0 && losses[next - 1].index == index && losses[next - 1].part == nil
  }

  /// Returns the leaf to undo or redo next. Tell the plan what becomes of it.
  mutating func next() -> Record? {
    guard isIncomplete else { return nil }
    // Once, because a copy of a record is counted.
    let record = records[moved]
    guard case .group(let group) = record.content else { return record }
    let index = isRedo ? applied : applied - 1
    // Most groups are of leaves only. Then a move that comes no further than one of them does not
    // list all: an undo that fails part after part is tried again at each.
    if leaves.isEmpty, group.size == group.parts.count, group.parts[index].content.step != nil {
      return group.parts[index]
    }
    listLeaves()
    return leaves[index]
  }

  /// Lists the leaves of the next record, if it is a group.
  private mutating func listLeaves() {
    if leaves.isEmpty, case .group = records[moved].content { leaves = records[moved].leaves }
  }

  mutating func undid() {
    hasMoved = true
    applied -= 1
    if applied == 0 { advance() }
  }

  /// The leaf has been redone, and `content` is what has become of it.
  mutating func redid(_ content: Record.Content) {
    hasMoved = true
    applied += 1
    listLeaves()
    if leaves.isEmpty {
      let id = records[moved].id
      records[moved] = Record(id: id, content: content)
      advance()
    } else {
      leaves[applied - 1] = leaves[applied - 1].map { Record(id: $0.id, content: content) }
      if applied == leaves.count { advance() }
    }
  }

  /// The leaf can never be undone or redone, and what is left of its group is another `place`.
  /// Returns whether the plan goes on.
  mutating func lose(_ error: HistoryObsolete, as place: ID) -> Bool {
    listLeaves()
    if leaves.isEmpty {
      losses.append(Loss(index: moved, part: nil, place: place, error: error))
      return false
    }
    let part = leaves[isRedo ? applied : applied - 1].take()
    losses.append(Loss(index: moved, part: part, place: place, error: error))
    hasLost = true
    applied += isRedo ? 1 : -1
    if applied == (isRedo ? leaves.count : 0) { advance() }
    return true
  }

  private mutating func advance() {
    if !update(), let loss = losses.last {
      losses.append(Loss(index: moved, part: nil, place: loss.place, error: loss.error))
    }
    moved += 1
    leaves = []
    applied = isRedo || moved == records.count ? 0 : records[moved].size
  }

  /// The next record becomes what its leaves are now. Returns false if none is left.
  private mutating func update() -> Bool {
    guard !leaves.isEmpty, isRedo || lost > 0 else { return true }
    let place = lost > 0 ? losses.last?.place : nil
    guard let record = records[moved].replacing(leaves, place: place.map { .of($0) })
    else { return false }
    records[moved] = record
    return true
  }

  /// How many leaves the next record has lost.
  private var lost: Int {
    losses.reversed().prefix { $0.index == moved }.count { $0.part != nil }
  }

  /// No more is done. A group in which it has stopped becomes what it is now.
  mutating func close() {
    _ = update()
    if isRedo { applied -= lost }
  }

  /// Returns what `record`, the one at `index`, has become. The old record is released with the
  /// plan.
  mutating func exchange(_ record: consuming Record, at index: Int) -> Record {
    if hasLost {
      replaced.append(record)
      return records[index]
    }
    if !isRedo { return record }
    swap(&records[index], &record)
    return record
  }
}

/// The rest of a group whose parts were undone, because its body has thrown.
struct HistoryResidue<Step: Sendable>: Sendable {
  typealias Record = HistoryRecord<Step>

  /// The parts that are still applied, nil if none is.
  var kept: Record?
  /// The parts that were undone, nil if none was.
  var undone: Record?
  /// The parts that can never be undone.
  var obsolete: [Record] = []
}

extension HistoryResidue {
  /// Creates the rest of the group that the plan has undone as far as it could.
  init(of plan: inout HistoryPlan<Step>) {
    plan.close()
    obsolete = plan.obsoleteParts
    if plan.isObsolete(0) { return }
    let group = plan.records[0]
    (kept, undone) = group.split(at: plan.applied, place: .of(group.id))
  }
}
