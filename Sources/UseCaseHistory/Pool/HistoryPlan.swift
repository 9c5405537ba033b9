import UseCaseInternals

/// The steps of an undo, a redo, a move or a roll-back, and how far it has come. It is handed on and
/// never copied.
///
/// Undo goes through the steps of a group backwards and redo forwards, so that the applied steps of
/// a record are a prefix.
struct HistoryPlan<Step: Sendable>: ~Copyable, Sendable {
  typealias Record = HistoryRecord<Step>

  let isRedo: Bool
  /// In the order in which they are undone or redone. Redone records are here as they are now.
  private(set) var records: Few<Record>
  /// How many of the records have been undone or redone.
  private(set) var moved = 0
  /// How many steps of the next record are applied.
  private(set) var applied: Int
  private let appliedAtFirst: Int
  /// The steps of the next record, if it is a group that has begun.
  private var steps: [Step] = []

  /// `applied` steps of the first of the records are applied.
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

  /// Returns the step to undo or redo next. Tell the plan when it is.
  mutating func next() -> Step? {
    guard isIncomplete else { return nil }
    if case .single(let step) = records[moved].content { return step }
    if steps.isEmpty { steps = records[moved].steps }
    return steps[isRedo ? applied : applied - 1]
  }

  mutating func undid() {
    applied -= 1
    if applied == 0 { advance() }
  }

  /// The step has been redone, and `step` is what has become of it.
  mutating func redid(_ step: Step) {
    applied += 1
    if steps.isEmpty {
      records[moved] = Record(id: records[moved].id, content: .single(step))
      advance()
    } else {
      steps[applied - 1] = step
      guard applied == steps.count else { return }
      records[moved] = records[moved].replacing(steps)
      advance()
    }
  }

  private mutating func advance() {
    moved += 1
    steps = []
    applied = isRedo || moved == records.count ? 0 : records[moved].size
  }

  /// No more is done. A group in which it has stopped becomes what it is now.
  mutating func close() {
    if !steps.isEmpty { records[moved] = records[moved].replacing(steps) }
  }

  /// Puts `record` in the place of the one at `index`, which is let go of with the plan.
  mutating func swap(_ record: Record, at index: Int) -> Record {
    defer { records[index] = record }
    return records[index]
  }
}
