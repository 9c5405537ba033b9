/// The groups that have not ended, as far as a journal has been told, and the roll-backs of them.
struct ReplayedGroups<Step: Sendable>: ~Copyable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>

  private struct OpenGroup {
    let title: String
    let parent: ID?
    var parts: [Record]
    /// The history was cleared meanwhile.
    var isLost = false
    var rollBack: RollBack?

    /// Nil if it is empty.
    func record(_ id: ID) -> Record? { Record(group: id, title, parts, place: .of(id)) }
  }

  /// The undo of the parts of a group, which is over when the group is.
  private final class RollBack {
    var plan: HistoryPlan<Step>
    init(_ record: Record) { plan = .init(isRedo: false, [record]) }
  }

  /// A group that is over.
  struct Closed {
    let parent: ID?
    let isLost: Bool
    let rest: HistoryResidue<Step>
  }

  private var groups: [ID: OpenGroup] = [:]

  var ids: [ID] { groups.keys.sorted() }

  func isOpen(_ id: ID) -> Bool { groups[id] != nil }

  mutating func open(_ id: ID, in parent: ID?, title: String, parts: [Record] = []) {
    groups[id] = OpenGroup(title: title, parent: parent, parts: parts)
  }

  /// Returns false if there is no such group.
  mutating func add(_ part: Record, to group: ID) -> Bool {
    groups[group]?.parts.append(part)
    return isOpen(group)
  }

  /// The history is cleared.
  mutating func clear() {
    for id in groups.keys { groups[id]?.isLost = true }
  }

  /// Returns the group, which ends, nil if there is none.
  mutating func close(_ id: ID) -> Closed? {
    guard let group = groups.removeValue(forKey: id) else { return nil }
    let rest = group.rollBack.map { HistoryResidue(of: &$0.plan) }
    return Closed(
      parent: group.parent, isLost: group.isLost,
      rest: rest ?? HistoryResidue(kept: group.record(id)))
  }
}

// MARK: - Rolling back

extension ReplayedGroups {
  /// Returns the part with this id, if it is the next to be undone in its group.
  mutating func next(_ id: ID) -> Record? { rollBack(of: id)?.plan.next() }

  mutating func undid(_ id: ID) { rollBack(of: id)?.plan.undid() }

  /// The part can never be undone. The rest of its group is another `place`.
  mutating func lose(_ id: ID, as place: ID) {
    _ = rollBack(of: id)?.plan.lose(HistoryObsolete(), as: place)
  }

  /// Returns the roll-back of which this part is the next. It begins with the last part of a group.
  private mutating func rollBack(of part: ID) -> RollBack? {
    for (id, group) in groups {
      if let rollBack = group.rollBack {
        if rollBack.plan.next()?.id == part { return rollBack }
      } else if group.parts.last?.leaves.last?.id == part {
        groups[id]?.rollBack = group.record(id).map { RollBack($0) }
        return groups[id]?.rollBack
      }
    }
    return nil
  }
}
