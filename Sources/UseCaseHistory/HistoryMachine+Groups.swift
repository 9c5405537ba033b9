extension HistoryMachine {
  /// A group whose body runs, or whose parts do.
  struct OpenGroup: Sendable {
    let title: String
    let parent: Int?
    var parts: [Record] = []
    /// How many parts and groups have begun in it and not ended.
    var open = 0
    var waiter: Waiter?
  }

  struct GroupEnd: Sendable {
    var drops: Drops = []
    /// The entry that it has become.
    var entry: ID?
    /// The parent waits no longer.
    var waiter: Waiter?
  }

  /// Returns the number of the new group.
  mutating func openGroup(_ title: String) -> Int {
    open(OpenGroup(title: title, parent: nil))
  }

  /// Returns the number of the new group, nil if its parent has ended.
  mutating func openGroup(_ title: String, in parent: Int) -> Int? {
    openPart(in: parent) ? open(OpenGroup(title: title, parent: parent)) : nil
  }

  private mutating func open(_ group: OpenGroup) -> Int {
    lastGroup += 1
    groups[lastGroup] = group
    return lastGroup
  }

  /// Returns false if the group has ended.
  mutating func openPart(in group: Int) -> Bool {
    groups[group]?.open += 1
    return groups[group] != nil
  }

  /// The part has ended: with a response, or without.
  mutating func closePart(_ step: Step?, in group: Int) -> Waiter? {
    close(step.map { Record(id: .next(), content: .single($0)) }, in: group)
  }

  private mutating func close(_ part: Record?, in group: Int) -> Waiter? {
    if let part { groups[group]?.parts.append(part) }
    groups[group]?.open -= 1
    return groups[group]?.open == 0 ? groups[group]?.waiter.take() : nil
  }

  /// Returns the waiter if nothing is open in the group, and keeps it otherwise.
  mutating func wait(_ waiter: Waiter, for group: Int) -> Waiter? {
    guard let open = groups[group]?.open, open > 0 else { return waiter }
    groups[group]?.waiter = waiter
    return nil
  }

  /// Returns the group, to which nothing can be added from now on; nil if something is open.
  mutating func closeGroup(_ group: Int) -> OpenGroup? {
    guard groups[group]?.open == 0 else { return nil }
    return groups.removeValue(forKey: group)
  }

  /// The group is over: its body has returned, or has thrown and then only the first `applied` of
  /// its steps are still there.
  mutating func end(_ group: OpenGroup, applied count: Int?) -> GroupEnd {
    var end = GroupEnd()
    var kept: Record?
    if !group.parts.isEmpty {
      let id = ID.next()
      let parts = HistoryGroup(title: group.title, parts: group.parts, place: id)
      let record = Record(id: id, content: .group(parts))
      let (applied, rest) = record.split(at: count ?? record.size, place: id)
      kept = applied
      end.entry = applied?.id
      if let rest { end.drops.append(drop([rest], .truncated)) }
    }
    if let parent = group.parent {
      end.waiter = close(kept, in: parent)
    } else {
      end.drops += record(kept, asForecast: count == nil)
    }
    return end
  }

  private mutating func record(_ group: Record?, asForecast: Bool) -> Drops {
    breakMerging()
    var drops = endHolder()
    if let group, isCleared {
      drops.append(drop([group], .cleared))
      bottom = group.id
    } else if let group {
      truncate(into: &drops)
      append(group, dropping: &drops)
      if asForecast { resolve(to: group.id) }
    }
    leave(asForecast: asForecast && group != nil && !isCleared)
    return drops
  }
}
