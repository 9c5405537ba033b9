/// Maps each merged execution to its entry.
///
/// The ids of an entry that leaves stay, until there are more ids than entries, and twice as many as
/// after the last removal. So a merge costs O(1), and leaving costs nothing.
struct MergedIDs: Sendable {
  typealias ID = HistoryEntry.ID

  private var entries: [ID: ID] = [:]
  private var limit = 64

  /// The entry that the execution went into. It may have left since.
  subscript(execution: ID) -> ID? { entries[execution] }

  /// The execution has become a part of the entry. Returns whether to call `keep`.
  mutating func add(_ execution: ID, to entry: ID) -> Bool {
    entries[execution] = entry
    return entries.count > limit
  }

  mutating func keep(_ present: Set<ID>) {
    entries = entries.filter { present.contains($0.value) }
    limit = max(64, 2 * entries.count, present.count)
  }
}
