import UseCaseInternals

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
