/// An entry, as the history keeps it.
///
/// Undo goes through the steps of a group strictly backwards and redo strictly forwards, so that
/// what is applied of a record is always a prefix of its steps: a number says it all.
struct HistoryRecord<Step: Sendable>: Sendable {
  enum Content: Sendable {
    case single(Step)
    case group(HistoryGroup<Step>)
  }

  let id: HistoryEntry.ID
  let content: Content

  /// Where the history is when this is its newest applied record. A group that has lost some of
  /// its parts is another place, though the same entry.
  var place: HistoryPlace {
    switch content {
    case .single: .behind(id)
    case .group(let group): group.place
    }
  }

  var size: Int {
    switch content {
    case .single: 1
    case .group(let group): group.size
    }
  }

  var steps: [Step] {
    switch content {
    case .single(let step): [step]
    case .group(let group): group.parts.flatMap(\.steps)
    }
  }

  /// Returns the same record with other steps in place of its own.
  func replacing(_ steps: [Step]) -> Self {
    var steps = steps.makeIterator()
    return replacing(&steps)
  }

  private func replacing(_ steps: inout some IteratorProtocol<Step>) -> Self {
    switch content {
    case .single:
      guard let step = steps.next() else { preconditionFailure("There is a step for each part.") }
      return Self(id: id, content: .single(step))
    case .group(let group):
      let parts = group.parts.map { $0.replacing(&steps) }
      let replaced = HistoryGroup(title: group.title, parts: parts, place: group.place)
      return Self(id: id, content: .group(replaced))
    }
  }

  /// Returns the record as it is with only its first `count` steps, which is then another place,
  /// and the rest.
  func split(at count: Int, place: HistoryPlace) -> (kept: Self?, rest: Self?) {
    guard case .group(let group) = content, count > 0, count < size else {
      return count > 0 ? (self, nil) : (nil, self)
    }
    var (kept, rest): ([Self], [Self]) = ([], [])
    var left = count
    for part in group.parts {
      let parts = part.split(at: left, place: place)
      if let part = parts.kept { kept.append(part) }
      if let part = parts.rest { rest.append(part) }
      left = max(0, left - part.size)
    }
    func record(_ parts: [Self]) -> Self {
      let group = HistoryGroup(title: group.title, parts: parts, place: place)
      return Self(id: id, content: .group(group))
    }
    return (record(kept), record(rest))
  }

  /// Returns what clients see of the record, of which `applied` steps are applied.
  func entry(applied: Int, title: (Step) -> String) -> HistoryEntry {
    switch content {
    case .single(let step):
      return HistoryEntry(id: id, title: title(step), isApplied: applied > 0, children: [])
    case .group(let group):
      var left = applied
      let children = group.parts.map { part in
        defer { left = max(0, left - part.size) }
        return part.entry(applied: left, title: title)
      }
      return HistoryEntry(
        id: id, title: group.title, isApplied: applied > 0, children: children)
    }
  }
}

/// The parts of a group that has ended.
final class HistoryGroup<Step: Sendable>: Sendable {
  let title: String
  let parts: [HistoryRecord<Step>]
  let place: HistoryPlace
  let size: Int

  init(title: String, parts: [HistoryRecord<Step>], place: HistoryPlace) {
    self.title = title
    self.parts = parts
    self.place = place
    size = parts.reduce(0) { $0 + $1.size }
  }
}
