/// The groups that have not ended, as far as a journal has been told, and the roll-backs of them.
///
/// A group that has ended in another one stays here as a part of it, so that each fact is told at
/// the same cost, however many parts there are.
struct ReplayedGroups<Step: Sendable> {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>
  typealias Malformed = HistoryFact.Malformed

  private enum Part {
    case leaf(Record)
    case group(ID)
  }

  private struct OpenGroup {
    let title: String
    let parent: ID?
    let depth: Int
    /// How often the history had been cleared when it began.
    let clears: Int
    var parts: [Part] = []
    var isOpen = true
    /// How many executions and groups in it have not ended.
    var running = 0
    /// The group, in this one or itself, that has the last leaf. Nil if there is none.
    var tip: ID?
    /// Whether its parts are being undone. None is added then.
    var isRollingBack = false
    /// The parts that were undone, the last one first.
    var undone: [Record] = []
    /// The parts that can never be undone.
    var obsolete: [Record] = []
    /// The id of the place of the group without these.
    var place: ID?
  }

  /// A group that is over.
  struct Closed {
    let isLost: Bool
    /// Nil for an empty group, and for one that is a part of its parent now.
    let kept: Record?
    /// In order.
    let undone: [Record]
    let obsolete: [Record]
  }

  private var groups: [ID: OpenGroup] = [:]
  /// The open groups by their last leaves.
  private var byLastLeaf: [ID: ID] = [:]
  private var clears = 0

  /// The history is cleared.
  mutating func noteClear() { clears += 1 }

  /// The open groups. Nested ones come first.
  var open: [ID] {
    groups.filter(\.value.isOpen).sorted { $0.value.depth > $1.value.depth }.map(\.key)
  }
}

// MARK: - Parts

extension ReplayedGroups {
  mutating func open(_ id: ID, in parent: ID?, title: String) throws {
    try begin(in: parent)
    let depth = parent.flatMap { groups[$0]?.depth } ?? 0
    guard depth < HistoryParts<Step>.deepest else { throw Malformed("Group \(id) is too deep.") }
    groups[id] = OpenGroup(title: title, parent: parent, depth: depth + 1, clears: clears)
  }

  /// An execution or a group begins in this group.
  mutating func begin(in id: ID?) throws {
    guard let id else { return }
    guard let group = groups[id], group.isOpen else { throw Malformed("No group \(id) runs.") }
    guard !group.isRollingBack else { throw Malformed("Group \(id) is being undone.") }
    groups[id]?.running += 1
  }

  /// An execution in this group has ended, with nothing to keep if it is nil.
  mutating func end(_ part: Record?, in id: ID) {
    groups[id]?.running -= 1
    guard let part else { return }
    change(id) { groups in
      groups[id]?.parts.append(.leaf(part))
      groups[id]?.tip = id
    }
  }

  /// Puts a group there that an earlier launch has found interrupted.
  mutating func restore(_ record: Record) throws {
    guard case .group(let root) = record.content else {
      throw Malformed("Entry \(record.id) is no group.")
    }
    groups[record.id] = OpenGroup(title: root.title, parent: nil, depth: 1, clears: clears)
    // Without recursion, and each group behind the parts before it.
    var rest = [(parent: record.id, parts: root.parts[...])]
    while let (parent, parts) = rest.popLast() {
      guard let part = parts.first else {
        if let above = groups[parent]?.parent { Self.adopt(parent, in: above, of: &groups) }
        continue
      }
      rest.append((parent, parts.dropFirst()))
      guard case .group(let group) = part.content else {
        groups[parent]?.parts.append(.leaf(part))
        groups[parent]?.tip = parent
        continue
      }
      groups[part.id] = OpenGroup(
        title: group.title, parent: parent, depth: 1, clears: clears, isOpen: false)
      rest.append((part.id, group.parts[...]))
    }
    if let last = lastLeaf(of: record.id) { byLastLeaf[last.id] = record.id }
  }

  private static func adopt(_ child: ID, in parent: ID, of groups: inout [ID: OpenGroup]) {
    guard let tip = groups[child]?.tip else {
      groups[child] = nil
      return
    }
    groups[parent]?.parts.append(.group(child))
    groups[parent]?.tip = tip
  }

  /// Changes the parts of an open group, which may have another last leaf then.
  private mutating func change(_ id: ID, _ body: (inout [ID: OpenGroup]) -> Void) {
    if let last = lastLeaf(of: id) { byLastLeaf[last.id] = nil }
    body(&groups)
    if let last = lastLeaf(of: id) { byLastLeaf[last.id] = id }
  }

  /// Returns the part of an open group that a roll-back undoes next.
  func lastLeaf(of id: ID) -> Record? {
    guard let tip = groups[id]?.tip, case .leaf(let leaf) = groups[tip]?.parts.last else {
      return nil
    }
    return leaf
  }

  /// Ends a group. One that the end of a process has interrupted may have parts that run.
  mutating func close(_ id: ID, isInterrupted: Bool = false) throws -> Closed {
    guard let group = groups[id], group.isOpen else { throw Malformed("No group \(id) runs.") }
    guard isInterrupted || group.running == 0 else {
      throw Malformed("Something runs in group \(id).")
    }
    if let last = lastLeaf(of: id) { byLastLeaf[last.id] = nil }
    groups[id]?.isOpen = false
    // A group of which parts were undone is another thing than one that has lost parts only.
    if !group.undone.isEmpty { groups[id]?.place = nil }
    var kept: Record?
    if let parent = group.parent {
      change(parent) { groups in
        groups[parent]?.running -= 1
        Self.adopt(id, in: parent, of: &groups)
      }
    } else {
      kept = take(id)
    }
    return Closed(
      isLost: group.clears < clears, kept: kept,
      undone: group.undone.reversed(), obsolete: group.obsolete)
  }

  /// Removes a group, and returns it as a record. Nil if it is empty.
  private mutating func take(_ root: ID) -> Record? {
    // Without recursion: a group is made when its parts are.
    var (path, made) = ([(id: root, next: 0)], [[Record]()])
    while let (id, next) = path.popLast() {
      guard let group = groups[id] else { continue }
      if next < group.parts.count {
        path.append((id, next + 1))
        switch group.parts[next] {
        case .leaf(let leaf): made[made.count - 1].append(leaf)
        case .group(let child):
          path.append((child, 0))
          made.append([])
        }
      } else {
        groups[id] = nil
        let parts = made.removeLast()
        guard
          let record = Record(group: id, group.title, parts, place: .of(group.place ?? id))
        else { return nil }
        if path.isEmpty { return record }
        made[made.count - 1].append(record)
      }
    }
    return nil
  }
}

// MARK: - Rolling back

extension ReplayedGroups {
  /// Returns the part with this id, if it is the next to be undone in its group.
  func next(_ id: ID) -> Record? { byLastLeaf[id].flatMap { lastLeaf(of: $0) } }

  /// The undo of the part begins.
  mutating func rollBack(_ id: ID) throws {
    guard let group = byLastLeaf[id] else { throw Malformed("Step \(id) is not next.") }
    guard groups[group]?.running == 0 else { throw Malformed("Something runs in group \(group).") }
    groups[group]?.isRollingBack = true
  }

  mutating func undid(_ id: ID) {
    guard let (group, part) = pop(id) else { return }
    groups[group]?.undone.append(part)
  }

  /// The part can never be undone. The rest of its group is another `place`.
  mutating func lose(_ id: ID, as place: ID) {
    guard let (group, part) = pop(id) else { return }
    groups[group]?.obsolete.append(part)
    groups[group]?.place = place
  }

  private mutating func pop(_ leaf: ID) -> (group: ID, part: Record)? {
    guard let group = byLastLeaf.removeValue(forKey: leaf), var tip = groups[group]?.tip,
      case .leaf(let part) = groups[tip]?.parts.popLast()
    else { return nil }
    // A part without parts is none.
    while groups[tip]?.parts.isEmpty == true, tip != group, let parent = groups[tip]?.parent {
      groups[tip] = nil
      _ = groups[parent]?.parts.popLast()
      tip = parent
    }
    switch groups[tip]?.parts.last {
    case .leaf: groups[group]?.tip = tip
    case .group(let child):
      let last = groups[child]?.tip
      groups[group]?.tip = last
    case nil: groups[group]?.tip = nil
    }
    if let last = lastLeaf(of: group) { byLastLeaf[last.id] = group }
    return (group, part)
  }
}
