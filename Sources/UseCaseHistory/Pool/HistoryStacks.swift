import UseCaseInternals

/// The applied and the undone records, with the cursor between them.
///
/// An undo takes from one stack and gives to the other, and dropping a branch of any size is an
/// exchange of two words. An undo of one entry takes it out of the middle, and a hole remains in
/// its position.
struct HistoryStacks<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>

  /// The stack and the position of an entry.
  enum Spot {
    case applied(at: Int)
    case undone(at: Int)
  }

  var applied = HistoryApplied<Step>()
  /// The last one is the next to be redone.
  var undone = HistoryStack<Record>()
  /// How many leaves of the newest applied record are applied, if not all of them.
  var partial: Int?
  private var merged = MergedIDs()

  /// The entry that an undo takes.
  var undoID: ID? { applied.last?.id }

  /// The entry that a redo takes.
  var redoID: ID? { partial == nil ? undone.last?.id : undoID }

  /// The newest applied entry, if it is a single step.
  var newestStep: Step? { applied.last?.content.step }

  /// How many records a redo can take. A half undone group counts among the undone ones.
  var redoable: Int { undone.count + (partial == nil ? 0 : 1) }

  private func record(at spot: Spot) -> Record? {
    switch spot {
    case .applied(let position): applied[position]
    case .undone(let position): undone[at: position]
    }
  }

  /// Returns where the entry is, nil if there is none. The search begins at the cursor.
  ///
  /// - Complexity: O(1) for an applied entry with a footprint of keys. For another entry, O(*n*) in
  ///   the distance from the cursor.
  func spot(of id: ID) -> Spot? {
    if let position = applied.position(of: id) { return .applied(at: position) }
    let (oldest, last) = (applied.positions.lowerBound, undone.positions.lowerBound)
    var (below, above) = (applied.positions.upperBound, undone.positions.upperBound)
    while below > oldest || above > last {
      (below, above) = (below - 1, above - 1)
      if applied[below]?.id == id { return .applied(at: below) }
      if undone[at: above]?.id == id { return .undone(at: above) }
    }
    return nil
  }

  /// Returns the entry, and how many of its leaves are applied.
  func record(of id: ID) -> (record: Record, applied: Int)? {
    guard let spot = spot(of: id), let record = record(at: spot) else { return nil }
    if case .undone = spot { return (record, 0) }
    return (record, id == undoID ? partial ?? record.size : record.size)
  }

  /// Returns the entry that the execution has become, and how many of its leaves are applied.
  func entry(of execution: ID) -> (record: Record, applied: Int)? {
    record(of: execution) ?? merged[execution].flatMap { entry(of: $0) }
  }

  /// The execution has become a part of the entry.
  mutating func noteMerge(of execution: ID, into entry: ID) {
    guard merged.add(execution, to: entry) else { return }
    merged.keep(Set(applied.records.elements.map(\.id)))
  }

  /// Returns an applied entry, and the later ones to undo before it: some for certain, and others
  /// if their footprints overlap. Nil if the entry is not applied.
  func rivals(of id: ID) -> (position: Int, record: Record, certain: [ID], possible: [Record])? {
    guard case .applied(let position) = spot(of: id), let record = applied[position] else {
      return nil
    }
    // A group that is half undone is undone or redone first, so that there is one at most.
    if partial != nil, let newest = undoID, newest != id { return (position, record, [newest], []) }
    return (position, record, [], applied.rivals(of: position))
  }

  /// Returns the entry, or the part of one, with this id.
  ///
  /// - Complexity: O(*n*) for a part, and as that of `spot(of:)` for an entry.
  func recordOrPart(_ id: ID) -> Record? {
    if let spot = spot(of: id) { return record(at: spot) }
    for record in applied.records.elements + undone.elements {
      if let part = record.part(id) { return part }
    }
    return nil
  }

  /// Returns how many records lie between the cursor and behind the entry, below 0 if they are to
  /// be undone. A half undone group counts among the undone ones. Nil if there is no such entry.
  func distance(to id: ID) -> Int? {
    switch spot(of: id) {
    case .applied(let position):
      let distance = -applied.records.count(in: position + 1..<applied.positions.upperBound)
      return distance < 0 || partial == nil ? distance : 1
    case .undone(let position):
      return undone.count(in: position..<undone.positions.upperBound) + (partial == nil ? 0 : 1)
    case nil: return nil
    }
  }

  /// Puts each applied record, in order, below those that were asked for later.
  mutating func insert(_ records: [Record]) {
    var later: [Record] = []
    for record in records.reversed() {
      // Only the newest one can be half undone.
      while let newest = applied.last, newest.id > record.id || (partial != nil && later.isEmpty),
        let newest = applied.popLast()
      {
        later.append(newest)
      }
      later.append(record)
    }
    for record in later.reversed() { applied.append(record) }
  }

  /// So many leaves of the newest applied record are applied. Returns false if it has no more.
  mutating func restore(partial count: Int) -> Bool {
    guard let newest = applied.last, count > 0, count < newest.size else { return false }
    partial = count
    return true
  }

  /// Returns the next records of a move, and their positions in each stack.
  @inline(__always)
  func next(
    _ count: Int, isRedo: Bool
  ) -> (records: Few<Record>, applied: Range<Int>, undone: Range<Int>) {
    let fromApplied = !isRedo ? count : partial != nil ? 1 : 0
    let fromUndone = count - fromApplied
    var records = applied.records.newest(fromApplied)
    if fromApplied == 0 {
      records = undone.newest(fromUndone)
    } else if fromUndone > 0 {
      undone.newest(fromUndone).forEach { records.append($0) }
    }
    return (
      records, applied.records.newestPositions(fromApplied), undone.newestPositions(fromUndone)
    )
  }

  /// Takes the next record of a move out of its stack. The move has the applied records in the
  /// positions `held`. The record was applied, or at least half of it, if `isApplied` is true.
  mutating func take(
    _ isRedo: Bool, from held: Range<Int>
  ) -> (record: Record, isApplied: Bool, position: Int) {
    let isApplied = partial.take() != nil || !isRedo
    let isMiddle = held.upperBound < applied.positions.upperBound
    let position = isMiddle ? held.lowerBound : applied.positions.upperBound - 1
    let record =
      !isApplied ? undone.popLast() : isMiddle ? applied.take(position) : applied.popLast()
    guard let record else { preconditionFailure("The records of a move are in the stacks.") }
    return (record, isApplied, position)
  }
}
