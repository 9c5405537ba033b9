/// The executions and groups of a journal that was written anew, which come before it is known what
/// they are.
struct ReplayedPieces<Step: Sendable> {
  typealias Record = HistoryRecord<Step>
  typealias Malformed = HistoryFact.Malformed

  private var records: [(record: Record, depth: Int)] = []

  var isEmpty: Bool { records.isEmpty }

  mutating func add(_ record: Record) { records.append((record, 0)) }

  /// Makes the last `count` of them a group.
  mutating func bundle(
    _ id: HistoryEntry.ID, _ title: String, _ count: Int, place: HistoryPlace
  ) throws {
    guard count <= records.count else { throw Malformed("Parts of group \(id) are not there.") }
    let depth = 1 + (records.suffix(count).map(\.depth).max() ?? 0)
    let parts = records.suffix(count).map(\.record)
    guard let group = Record(group: id, title, parts, place: place) else {
      throw Malformed("Group \(id) is empty.")
    }
    guard depth <= HistoryParts<Step>.deepest else { throw Malformed("Group \(id) is too deep.") }
    records.removeLast(count)
    records.append((group, depth))
  }

  /// Takes the last one.
  mutating func take() throws -> Record {
    guard let (record, _) = records.popLast() else { throw Malformed("An entry is not there.") }
    return record
  }
}

/// The steps that have left a history, and for which `discard` has not returned.
struct ReplayedDrops<Step> {
  typealias ID = HistoryEntry.ID
  typealias Drop = (step: Step, reason: HistoryDiscardReason)

  private var drops: [Drop?] = []
  private var indices: [ID: Int] = [:]

  mutating func add(_ id: ID, _ step: Step, _ reason: HistoryDiscardReason) {
    indices[id] = drops.count
    drops.append((step, reason))
  }

  /// `discard` has returned for it.
  mutating func remove(_ id: ID) {
    if let index = indices.removeValue(forKey: id) { drops[index] = nil }
  }

  var all: [Drop] { drops.compactMap { $0 } }
}

extension HistoryReplay {
  /// Makes steps and titles of their bytes.
  struct Making {
    let content: (ID, HistoryPair) -> Record.Content
    let pair: (Step) -> (id: ID, pair: HistoryPair)
    /// From now on it is in doubt, or no longer.
    let doubt: (Step, Bool) -> Void
    let title: ([UInt8]) throws -> String
  }
}
