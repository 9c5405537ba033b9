/// An entry, as the history keeps it.
///
/// Undo goes through the steps of a group strictly backwards and redo strictly forwards, so that
/// what is applied of a record is always a prefix of its steps: a number says it all.
struct HistoryRecord<Step: Sendable>: Sendable {
  enum Content: Sendable {
    /// It touches everything, as most do.
    case single(Step)
    case keyed(HistoryKeyed<Step>)
    case group(HistoryParts<Step>)

    init(_ step: Step, touching footprint: HistoryFootprint) {
      self = footprint == .everything ? .single(step) : .keyed(HistoryKeyed(step, footprint))
    }

    /// Nil for a group.
    var step: Step? {
      switch self {
      case .single(let step): step
      case .keyed(let keyed): keyed.step
      case .group: nil
      }
    }

    var footprint: HistoryFootprint {
      switch self {
      case .single: .everything
      case .keyed(let keyed): keyed.footprint
      case .group(let group): group.footprint
      }
    }
  }

  let id: HistoryEntry.ID
  let content: Content
  /// Its number in the stack where it is, which is greater than that of each record below.
  var order = 0

  init(id: HistoryEntry.ID, content: Content) {
    (self.id, self.content) = (id, content)
  }

  /// The number that it adds to the place of the history when it is applied. A group that has lost
  /// some of its parts has another one, though it is the same entry.
  var place: HistoryPlace {
    switch content {
    case .single, .keyed: .of(id)
    case .group(let group): group.place
    }
  }

  var footprint: HistoryFootprint { content.footprint }

  var size: Int {
    switch content {
    case .single, .keyed: 1
    case .group(let group): group.size
    }
  }

  /// Returns the part with this id, at any depth.
  func part(_ id: HistoryEntry.ID) -> Self? {
    var rest = parts
    while let part = rest.popLast() {
      if part.id == id { return part }
      rest += part.parts
    }
    return nil
  }

  private var parts: [Self] {
    if case .group(let group) = content { group.parts } else { [] }
  }

  /// The executions in it, in order.
  var leaves: [Self] {
    var (leaves, rest) = ([Self](), [self])
    while let record = rest.popLast() {
      if case .group(let group) = record.content {
        rest += group.parts.reversed()
      } else {
        leaves.append(record)
      }
    }
    return leaves
  }

  /// Makes a value of each leaf, in order, and one of each group of those of its parts. Without
  /// recursion, because groups may be in many others, and threads have small stacks.
  private func fold<Value>(
    leaf: (Self) -> Value, group: (Self, HistoryParts<Step>, [Value]) -> Value
  ) -> Value {
    guard case .group(let root) = content else { return leaf(self) }
    var path = [(record: self, content: root, next: 0, values: [Value]())]
    while var (record, content, next, values) = path.popLast() {
      while next < content.parts.count {
        let part = content.parts[next]
        next += 1
        if case .group(let inner) = part.content {
          path.append((record, content, next, values))
          (record, content, next, values) = (part, inner, 0, [])
        } else {
          values.append(leaf(part))
        }
      }
      let value = group(record, content, values)
      if path.isEmpty { return value }
      path[path.count - 1].values.append(value)
    }
    preconditionFailure("The last group of the path is this record.")
  }

  /// Returns the same record with others in place of its leaves. Parts leave where there is none;
  /// then it is another `place`. Nil if nothing is left.
  func replacing(_ leaves: [Self?], place: HistoryPlace? = nil) -> Self? {
    var leaves = leaves.makeIterator()
    return fold { _ in
      guard let leaf = leaves.next() else { preconditionFailure("There is one for each leaf.") }
      return leaf
    } group: { record, group, parts -> Self? in
      Self(
        group: record.id, group.title, parts.compactMap { $0 }, place: place ?? group.place)
    }
  }

  /// Returns the record as it is with only its first `count` steps, which is then another place,
  /// and the rest.
  func split(at count: Int, place: HistoryPlace) -> (kept: Self?, rest: Self?) {
    var left = count
    return fold { leaf in
      left -= 1
      return left >= 0 ? (leaf, nil) : (nil, leaf)
    } group: { record, group, parts -> (kept: Self?, rest: Self?) in
      let (kept, rest) = (parts.compactMap(\.kept), parts.compactMap(\.rest))
      if kept.isEmpty || rest.isEmpty { return rest.isEmpty ? (record, nil) : (nil, record) }
      return (
        Self(group: record.id, group.title, kept, place: place),
        Self(group: record.id, group.title, rest, place: place)
      )
    }
  }

  /// Returns the record as clients see it, with so many steps applied.
  func entry(
    applied: Int, title: (Step) -> String,
    standing: (Step) -> HistoryEntry.Standing = { _ in .normal }
  ) -> HistoryEntry {
    var left = applied
    return fold { leaf in
      left -= 1
      guard let step = leaf.content.step else { preconditionFailure("A leaf is a step.") }
      return leaf.single(title(step), standing(step), isApplied: left >= 0)
    } group: { record, group, children in
      HistoryEntry(
        id: record.id, title: group.title, isApplied: children[0].isApplied, children: children,
        standing: .worst(of: children.map(\.standing)))
    }
  }

  private func single(
    _ title: String, _ standing: HistoryEntry.Standing, isApplied: Bool
  ) -> HistoryEntry {
    HistoryEntry(
      id: id, title: title, isApplied: isApplied, children: [], standing: standing)
  }
}

extension HistoryRecord {
  /// A group of these parts, nil if there is none.
  init?(group id: HistoryEntry.ID, _ title: String, _ parts: [Self], place: HistoryPlace) {
    if parts.isEmpty { return nil }
    self.init(id: id, content: .group(HistoryParts(title: title, parts: parts, place: place)))
  }
}

/// A step that touches keys.
final class HistoryKeyed<Step: Sendable>: Sendable {
  let step: Step
  let footprint: HistoryFootprint

  init(_ step: Step, _ footprint: HistoryFootprint) {
    (self.step, self.footprint) = (step, footprint)
  }
}

/// The parts of a group that has ended.
final class HistoryParts<Step: Sendable>: Sendable {
  /// How many groups can be in each other. To release an entry takes stack for each of them.
  static var deepest: Int { 1_000 }

  let title: String
  let parts: [HistoryRecord<Step>]
  let place: HistoryPlace
  let size: Int
  let footprint: HistoryFootprint

  init(title: String, parts: [HistoryRecord<Step>], place: HistoryPlace) {
    self.title = title
    self.parts = parts
    self.place = place
    size = parts.reduce(0) { $0 + $1.size }
    footprint = .union(of: parts.map(\.footprint))
  }
}
