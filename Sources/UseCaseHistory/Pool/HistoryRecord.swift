/// An entry, as the history keeps it.
///
/// Undo goes through the steps of a group strictly backwards and redo strictly forwards, so that
/// what is applied of a record is always a prefix of its steps: a number says it all.
struct HistoryRecord<Step: Sendable>: Sendable {
  enum Content: Sendable {
    /// It touches everything, as most do. It needs no marks.
    case single(Step)
    case marked(HistoryMarked<Step>)
    case group(HistoryGroup<Step>)

    /// `marks` are those of its footprint.
    init(_ step: Step, marks: [Int]?) {
      self = marks.map { .marked(HistoryMarked(step, $0)) } ?? .single(step)
    }

    /// Nil for a group.
    var step: Step? {
      switch self {
      case .single(let step): step
      case .marked(let marked): marked.step
      case .group: nil
      }
    }
  }

  let id: HistoryEntry.ID
  let content: Content

  /// The number that it adds to the place of the history when it is applied. A group that has lost
  /// some of its parts has another one, though it is the same entry.
  var place: HistoryPlace {
    switch content {
    case .single, .marked: .of(id)
    case .group(let group): group.place
    }
  }

  /// The marks of its footprint, nil for everything.
  var marks: [Int]? {
    switch content {
    case .single: nil
    case .marked(let marked): marked.marks
    case .group(let group): group.marks
    }
  }

  var size: Int {
    switch content {
    case .single, .marked: 1
    case .group(let group): group.size
    }
  }

  /// Returns the part with this id, at any depth.
  func part(_ id: HistoryEntry.ID) -> Self? {
    guard case .group(let group) = content else { return nil }
    for part in group.parts {
      if let found = part.id == id ? part : part.part(id) { return found }
    }
    return nil
  }

  /// The executions in it, in order.
  var leaves: [Self] {
    switch content {
    case .single, .marked: [self]
    case .group(let group): group.parts.flatMap(\.leaves)
    }
  }

  /// Returns the same record with others in place of its leaves. Parts leave where there is none;
  /// then it is another `place`. Nil if nothing is left.
  func replacing(_ leaves: [Self?], place: HistoryPlace? = nil) -> Self? {
    var leaves = leaves.makeIterator()
    return replacing(&leaves, place: place)
  }

  private func replacing(_ leaves: inout some IteratorProtocol<Self?>, place: HistoryPlace?)
    -> Self?
  {
    switch content {
    case .single, .marked:
      guard let leaf = leaves.next() else { preconditionFailure("There is one for each leaf.") }
      return leaf
    case .group(let group):
      let parts = group.parts.compactMap { $0.replacing(&leaves, place: place) }
      return Self(group: id, group.title, parts, place: place ?? group.place)
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
    return (
      Self(group: id, group.title, kept, place: place),
      Self(group: id, group.title, rest, place: place)
    )
  }

  /// Returns the record as clients see it, with so many steps applied.
  func entry(
    applied: Int, title: (Step) -> String,
    standing: (Step) -> HistoryEntry.Standing = { _ in .normal }
  ) -> HistoryEntry {
    switch content {
    case .single(let step): return single(title(step), standing(step), applied: applied)
    case .marked(let marked):
      return single(title(marked.step), standing(marked.step), applied: applied)
    case .group(let group):
      var left = applied
      let children = group.parts.map { part in
        defer { left = max(0, left - part.size) }
        return part.entry(applied: left, title: title, standing: standing)
      }
      return HistoryEntry(
        id: id, title: group.title, isApplied: applied > 0, children: children,
        standing: .worst(of: children.map(\.standing)))
    }
  }

  private func single(
    _ title: String, _ standing: HistoryEntry.Standing, applied: Int
  ) -> HistoryEntry {
    HistoryEntry(
      id: id, title: title, isApplied: applied > 0, children: [], standing: standing)
  }
}

extension HistoryRecord {
  /// A group of these parts, nil if there is none.
  init?(group id: HistoryEntry.ID, _ title: String, _ parts: [Self], place: HistoryPlace) {
    if parts.isEmpty { return nil }
    self.init(id: id, content: .group(HistoryGroup(title: title, parts: parts, place: place)))
  }
}

/// A step with the marks of its footprint.
final class HistoryMarked<Step: Sendable>: Sendable {
  let step: Step
  let marks: [Int]

  init(_ step: Step, _ marks: [Int]) {
    (self.step, self.marks) = (step, marks)
  }
}

/// The parts of a group that has ended.
final class HistoryGroup<Step: Sendable>: Sendable {
  /// How many groups can be in each other. Some methods go through them by recursion.
  static var deepest: Int { 1_000 }

  let title: String
  let parts: [HistoryRecord<Step>]
  let place: HistoryPlace
  let size: Int
  /// The marks of its parts, nil for everything.
  let marks: [Int]?

  init(title: String, parts: [HistoryRecord<Step>], place: HistoryPlace) {
    self.title = title
    self.parts = parts
    self.place = place
    size = parts.reduce(0) { $0 + $1.size }
    let marks = parts.compactMap(\.marks)
    self.marks = marks.count == parts.count ? Array(Set(marks.joined())) : nil
  }
}
