/// The groups whose bodies run, or whose parts do. A group is named by the entry it will be.
///
/// `Waiter` is the body of a group that waits for its parts.
struct OpenGroups<Step: Sendable, Waiter: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>

  struct Opened: Sendable {
    let id: ID
    let title: String
    var parent: ID?
    /// In how many groups it is.
    var depth = 0
    /// Whether the body of a group in another has begun. If it is cancelled before, it never does.
    var hasBegun = false
    var parts: [Record] = []
    /// How many parts and groups have begun in it and not ended.
    var running = 0
    var waiter: Waiter?

    /// The group as a record, nil if it is empty.
    var record: Record? { Record(group: id, title, parts, place: .of(id)) }
  }

  private var groups: [ID: Opened] = [:]

  mutating func open(_ id: ID, _ title: String) {
    groups[id] = Opened(id: id, title: title)
  }

  /// Returns false if the parent has ended.
  mutating func open(_ id: ID, _ title: String, in parent: ID) -> Bool {
    let depth = depth(below: parent)
    guard openPart(in: parent) else { return false }
    groups[id] = Opened(id: id, title: title, parent: parent, depth: depth)
    return true
  }

  /// Returns in how many groups another one would be, in this one.
  func depth(below group: ID) -> Int { (groups[group]?.depth ?? 0) + 1 }

  /// Returns the group in which this one is.
  func parent(of group: ID) -> ID? { groups[group]?.parent }

  /// The body of a group in another begins. Returns false if the group is gone.
  mutating func enter(_ group: ID) -> Bool {
    groups[group]?.hasBegun = true
    return groups[group] != nil
  }

  /// The group was cancelled. If its body never begins, this returns the waiter of its parent.
  mutating func abandon(_ group: ID) -> Waiter? {
    guard groups[group]?.hasBegun == false, let closed = close(group) else { return nil }
    return closed.parent.flatMap { closePart(nil, in: $0) }
  }

  /// Returns false if the group has ended.
  mutating func openPart(in group: ID) -> Bool {
    groups[group]?.running += 1
    return groups[group] != nil
  }

  /// A part has ended, with nothing to keep if it is nil. After the last part, this returns the
  /// waiter.
  mutating func closePart(_ part: Record?, in group: ID) -> Waiter? {
    guard let open = groups[group]?.running, open > 0 else {
      preconditionFailure("A part of \(group) ends, which has no open part: \(groups).")
    }
    if let part { groups[group]?.parts.append(part) }
    groups[group]?.running = open - 1
    return open == 1 ? groups[group]?.waiter.take() : nil
  }

  /// A part has left the line of the group, whether it has run or not. Then look for the waiter.
  ///
  /// A group that was over when the part came into its line was not kept open for it.
  mutating func leaveLine(of group: ID) { groups[group]?.running -= 1 }

  /// Returns the waiter, if nothing is open in the group.
  mutating func takeWaiter(of group: ID) -> Waiter? {
    groups[group]?.running == 0 ? groups[group]?.waiter.take() : nil
  }

  /// Keeps the waiter until nothing is open in the group. Returns it if that is so.
  mutating func wait(_ waiter: Waiter, for group: ID) -> Waiter? {
    guard let open = groups[group]?.running, open > 0 else { return waiter }
    groups[group]?.waiter = waiter
    return nil
  }

  /// Returns the group, to which nothing can be added from now on; nil if something is open.
  mutating func close(_ id: ID) -> Opened? {
    groups[id]?.running == 0 ? groups.removeValue(forKey: id) : nil
  }
}
