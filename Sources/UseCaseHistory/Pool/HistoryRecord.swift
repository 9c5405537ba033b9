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

    /// The hashes are those of the keys of its footprint, nil for everything.
    init(_ step: Step, hashes: [Int]?) {
      self = hashes.map { .keyed(HistoryKeyed(step, $0)) } ?? .single(step)
    }

    /// Nil for a group.
    var step: Step? {
      switch self {
      case .single(let step): step
      case .keyed(let keyed): keyed.step
      case .group: nil
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

  /// The hashes of the keys of its footprint, nil for everything.
  var hashes: [Int]? {
    switch content {
    case .single: nil
    case .keyed(let keyed): keyed.hashes
    case .group(let group): group.hashes
    }
  }

  var size: Int {
    switch content {
    case .single, .keyed: 1
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
    case .single, .keyed: [self]
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
    case .single, .keyed:
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
    case .keyed(let keyed):
      return single(title(keyed.step), standing(keyed.step), applied: applied)
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
    self.init(id: id, content: .group(HistoryParts(title: title, parts: parts, place: place)))
  }
}

/// A step with the hashes of the keys of its footprint.
final class HistoryKeyed<Step: Sendable>: Sendable {
  let step: Step
  let hashes: [Int]

  init(_ step: Step, _ hashes: [Int]) {
    (self.step, self.hashes) = (step, hashes)
  }
}

/// The parts of a group that has ended.
final class HistoryParts<Step: Sendable>: Sendable {
  let title: String
  let parts: [HistoryRecord<Step>]
  let place: HistoryPlace
  let size: Int
  /// The hashes of the keys of its parts, nil for everything.
  let hashes: [Int]?

  init(title: String, parts: [HistoryRecord<Step>], place: HistoryPlace) {
    self.title = title
    self.parts = parts
    self.place = place
    size = parts.reduce(0) { $0 + $1.size }
    let hashes = parts.compactMap(\.hashes)
    self.hashes = hashes.count == parts.count ? Array(Set(hashes.joined())) : nil
  }
}
