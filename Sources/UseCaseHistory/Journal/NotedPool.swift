/// The undo stack, with notes of its changes for a journal.
struct NotedPool<Step: Sendable>: Sendable {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>
  typealias Plan = HistoryPlan<Step>
  typealias Drop = HistoryDrop<Step>

  private(set) var pool: HistoryPool<Step>
  /// Executions that may have had an effect.
  private(set) var inDoubt: [Record] = []
  private var window: MergeWindow
  /// The changes that the journal does not have yet. Nil without a journal.
  private var facts: [HistoryFact]?
  /// Grows with each change that is not the result of an operation on the lane.
  private(set) var version: UInt64 = 0

  init(limit: Int?, mergeWindow: Duration) {
    pool = HistoryPool(limit: limit)
    window = MergeWindow(length: mergeWindow)
  }
}

// MARK: - Notes

extension NotedPool {
  /// Takes over a restored history, and notes each change from now on.
  mutating func open(_ pool: HistoryPool<Step>, inDoubt: [Record]) {
    (self.pool, self.inDoubt) = (pool, inDoubt)
    facts = []
    version += 1
  }

  mutating func note(_ fact: @autoclosure () -> HistoryFact) {
    if facts != nil { facts?.append(fact()) }
  }

  /// Returns the facts since the last call, nil if there are none.
  mutating func takeFacts() -> [HistoryFact]? {
    guard let noted = facts, !noted.isEmpty else { return nil }
    facts = []
    return noted
  }

  /// Notes a change that is not the result of an operation.
  private mutating func change(_ fact: @autoclosure () -> HistoryFact) {
    note(fact())
    version += 1
  }
}

// MARK: - Recording

extension NotedPool {
  /// The step with which an execution that is recorded at `now` may merge.
  func mergeCandidate(at now: Duration) -> (step: Step, ticket: MergeWindow.Ticket)? {
    guard let ticket = window.ticket(at: now), let step = pool.stacks.newestStep else { return nil }
    return (step, ticket)
  }

  /// Keeps the next execution from merging.
  mutating func breakMerging() { window.close() }

  /// Records an execution. Returns the entry that it has become, nil if it is annulled.
  mutating func record(
    _ record: consuming Record, _ merging: HistoryMerging<Record.Content> = .separate,
    _ ticket: MergeWindow.Ticket? = nil, at now: Duration, into drops: inout [Drop]
  ) -> ID? {
    let id = record.id
    switch window.isValid(ticket) ? merging : .separate {
    case .separate:
      note(.ended(id, .recorded))
      pool.record(record, into: &drops)
      window.open(at: now)
      return id
    case .merged(let merged):
      note(.ended(id, .merged))
      pool.merge(into: merged, record, into: &drops)
      window.open(at: now)
      return pool.stacks.undoID
    case .annul:
      note(.ended(id, .annulled))
      pool.annul(record, into: &drops)
      window.close()
      return nil
    }
  }

  /// The execution has an effect, and cannot be recorded.
  mutating func lose(_ record: Record, into drops: inout [Drop]) {
    window.close()
    note(.ended(record.id, .lost))
    pool.lose(record, into: &drops)
  }

  /// The execution had no effect.
  mutating func fail(_ id: ID) {
    window.close()
    note(.failed(id))
  }

  /// Records the rest of a group that is over. Returns its entry, nil if there is none.
  mutating func close(
    _ group: ID, as record: Record?, isLost: Bool, into drops: inout [Drop]
  ) -> ID? {
    window.close()
    note(.closed(group, isLost: isLost))
    guard let record else { return nil }
    if isLost { pool.lose(record, into: &drops) } else { pool.record(record, into: &drops) }
    return isLost ? nil : record.id
  }

  /// The part has left its group. Its step has noted that before.
  mutating func lose(obsolete part: Record, into drops: inout [Drop]) {
    pool.lose(part, .obsolete, into: &drops)
  }
}

// MARK: - Moving the cursor

extension NotedPool {
  /// Undoes or redoes so many entries. They are to be undone if `distance` is below 0.
  mutating func begin(by distance: Int) -> Plan {
    window.close()
    note(.moves(isRedo: distance > 0, count: abs(distance)))
    return pool.begin(isRedo: distance > 0, count: abs(distance))
  }

  mutating func begin(undoing id: ID, at position: Int) -> Plan {
    window.close()
    note(.undoes(id))
    return pool.begin(undoing: position)
  }

  mutating func finish(_ plan: inout Plan, into drops: inout [Drop]) {
    note(.moved)
    pool.finish(&plan, into: &drops)
  }
}

// MARK: - Limit, clear, forget and save

extension NotedPool {
  mutating func setLimit(_ limit: Int?, into drops: inout [Drop]) {
    change(.limited(limit))
    pool.setLimit(limit, into: &drops)
    if pool.stacks.applied.isEmpty { window.close() }
  }

  mutating func clear(into drops: inout [Drop]) {
    window.close()
    change(.cleared)
    inDoubt = []
    pool.clear(into: &drops)
  }

  /// Returns whether there was such an entry.
  mutating func forget(_ entry: ID, into drops: inout [Drop]) -> Bool {
    guard pool.stacks.spot(of: entry) != nil || inDoubt.contains(where: { $0.id == entry }) else {
      return false
    }
    window.close()
    change(.forgot(entry))
    inDoubt.removeAll { $0.id == entry }
    pool.forget(entry, into: &drops)
    return true
  }

  /// Returns whether entries have other positions now.
  mutating func compact() -> Bool { pool.compact() }

  mutating func markSaved(_ place: HistoryPlace?) {
    change(.saved(place))
    pool.saved = place
  }
}
