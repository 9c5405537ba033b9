/// Decides what a history does: what is recorded, where the cursor is, what an undo is for.
///
/// The machine decides and its owner acts once the lock is released: what has to be discarded
/// comes back as ``HistoryDrop``s. `Step` is an execution that can be undone, `Operation` the id of
/// an operation on the lane, `Waiter` a group that waits for its parts; in the tests all three are
/// plain values. What is asked often is `mutating`, though it changes nothing: any other method is
/// given a copy of the machine.
///
/// Applied and undone records are two stacks with the cursor between them. So an undo takes from
/// one and gives to the other, and dropping a branch of any size is an exchange of two words.
struct HistoryMachine<Step: Sendable, Operation: Comparable & Sendable, Waiter: Sendable> {
  typealias ID = HistoryEntry.ID
  typealias Record = HistoryRecord<Step>
  typealias Drops = [HistoryDrop<Step>]

  // Entries
  var applied = HistoryStack<Record>()
  /// The last one is the next to be redone.
  var undone = HistoryStack<Record>()
  /// How many steps of the newest applied record are applied, if not all of them.
  var partial: Int?
  /// How many records have left at the front, so that positions stay what they are.
  var evicted = 0
  var limit: Int?

  // Clean point
  /// The place before the oldest record that is kept.
  var bottom: ID
  private var saved: ID?

  // Merging
  private let mergeWindow: Duration
  private var lastRecording: Duration?
  private var barrier = 0

  // Lane
  var pending = HistoryStack<Pending>()
  /// What the groups among them are called.
  var titles = HistoryStack<(operation: Operation, title: String)>()
  /// Who holds the lane, or held it last.
  var holder: Operation?
  /// How many recorded bodies run in the slot of the holder: one, or more if a wrapper says so.
  var bodies = 0
  /// How many executions wait or run.
  var executions = 0
  /// How many undos, redos and moves with something to do wait or run.
  var moves = 0
  /// These are being undone or redone.
  var moving: ClosedRange<ID>?
  /// Whether the limit was lowered meanwhile.
  var evictsWhenOver = false
  /// Whether a clear() came while the holder was running.
  var isCleared = false
  /// Whether the holder itself called clear().
  var clearsWhenOver = false
  var forecast: Forecast?
  /// The executions in the forecast that are to become entries.
  var expected = HistoryStack<Operation>()
  /// Up to this one, nothing that waits to undo or redo finds anything.
  var unbound: Operation?
  /// What became of executions that were bound as targets before they were recorded.
  var resolved = HistoryStack<Resolution>()

  // Groups
  var groups: [Int: OpenGroup] = [:]
  var lastGroup = 0

  var version: UInt64 = 0

  init(limit: Int?, mergeWindow: Duration, beginning: ID = .next()) {
    bottom = beginning
    saved = beginning
    self.limit = limit
    self.mergeWindow = mergeWindow
  }

  /// Where the history is. Nil inside of a group that is half undone.
  var place: ID? { partial == nil ? applied.last?.place ?? bottom : nil }

  var isClean: Bool { executions == 0 && saved != nil && saved == place }

  mutating func markSaved(_ place: ID?) {
    saved = place
    version += 1
  }

  /// Nothing that comes later merges into what is there.
  mutating func breakMerging() {
    lastRecording = nil
    barrier += 1
  }
}

// MARK: - Recording

extension HistoryMachine {
  /// With whom a step that is recorded at `now` may merge. Ask it outside of the lock, and give
  /// the answer to `record` together with `barrier`.
  mutating func mergeCandidate(at now: Duration) -> (step: Step, barrier: Int)? {
    guard let lastRecording, now - lastRecording <= mergeWindow, !isOver,
      case .single(let step)? = applied.last?.content
    else { return nil }
    return (step, barrier)
  }

  /// The body of the holder has returned a response.
  mutating func record(
    _ step: Step, merge: HistoryMerging<Step> = .separate, barrier: Int = -1, at now: Duration
  ) -> Drops {
    var drops = endHolder()
    let id = ID.next()
    if isCleared {
      drops.append(drop([Record(id: id, content: .single(step))], .cleared))
      bottom = id
    } else {
      let mayMerge = barrier == self.barrier
      truncate(into: &drops)
      switch merge {
      case .merged(let merged) where mayMerge:
        if let earlier = applied.popLast() {
          applied.append(Record(id: earlier.id, content: .single(merged)))
          drops.append(drop([Record(id: id, content: .single(step))], .merged))
          resolve(to: earlier.id)
        }
        forecast = nil
      case .annul where mayMerge:
        let later = Record(id: id, content: .single(step))
        drops.append(drop([applied.popLast(), later].compactMap(\.self), .annulled))
        forecast = nil
      case .separate, .merged, .annul:
        append(Record(id: id, content: .single(step)), dropping: &drops)
        resolve(to: id)
      }
      lastRecording = now
      self.barrier += 1
      if case .annul = merge, mayMerge { lastRecording = nil }
    }
    leave(asForecast: !isCleared)
    return drops
  }

  /// The body of the holder has thrown.
  mutating func fail() -> Drops {
    breakMerging()
    let drops = endHolder()
    leave(asForecast: false)
    return drops
  }

  /// Adds a record behind the newest applied one.
  mutating func append(_ record: Record, dropping drops: inout Drops) {
    applied.append(record)
    evict(into: &drops)
  }

  /// Drops the undone records, and the undone steps of a record that is half undone.
  mutating func truncate(into drops: inout Drops) {
    if let count = partial.take(), let newest = applied.popLast() {
      let (kept, rest) = newest.split(at: count, place: .next())
      if let kept { applied.append(kept) }
      if let rest { drops.append(drop([rest], .truncated)) }
    }
    if !undone.isEmpty {
      drops.append(HistoryDrop(records: undone, reason: .truncated, isReversed: true))
      undone = HistoryStack()
    }
  }

  func drop(_ records: [Record], _ reason: HistoryDiscardReason) -> HistoryDrop<Step> {
    HistoryDrop(records: HistoryStack(records), reason: reason)
  }
}

// MARK: - Limit and clear

extension HistoryMachine {
  mutating func setLimit(_ limit: Int?) -> Drops {
    var drops: Drops = []
    let isLower = limit.map { $0 < self.limit ?? .max } ?? false
    self.limit = limit
    forecast = nil
    version += 1
    if isLower {
      evictsWhenOver = moving != nil
      evict(into: &drops)
    }
    return drops
  }

  /// Drops the oldest records over the limit, but none that is being undone or redone.
  mutating func evict(into drops: inout Drops) {
    guard let limit, applied.count > limit else { return }
    var count = applied.count - limit
    if let moving { count = min(count, applied.firstIndex(behind: { $0.id >= moving.lowerBound })) }
    guard count > 0 else { return }
    bottom = count == applied.count ? place ?? .next() : applied[count - 1].place
    evicted += count
    if count == applied.count {
      partial = nil
      breakMerging()
    }
    if count == 1, let oldest = applied.popFirst() {
      drops.append(drop([oldest], .evicted))
    } else {
      drops.append(HistoryDrop(records: applied.removeFirst(count), reason: .evicted))
    }
  }

  /// `isInside` says that the holder itself asks, in whose hands the records are: then it takes
  /// effect when the holder is over, if it is not yet.
  mutating func clear(isInside: Bool) -> Drops {
    guard !isInside || !isHolderPending else {
      clearsWhenOver = true
      return []
    }
    isCleared = isHolderPending
    return clear()
  }

  mutating func clear() -> Drops {
    bottom = place ?? .next()
    var applied = HistoryDrop(records: applied, reason: .cleared)
    var undone = HistoryDrop(records: undone, reason: .cleared, isReversed: true)
    applied.spared = moving
    undone.spared = moving
    evicted += self.applied.count
    self.applied = HistoryStack()
    self.undone = HistoryStack()
    partial = nil
    breakMerging()
    unbind()
    version += 1
    return [applied, undone].filter { !$0.records.isEmpty }
  }

  /// The holder is about to be over: what it has asked for takes effect.
  mutating func endHolder() -> Drops {
    bodies -= 1
    guard clearsWhenOver, bodies <= 0 else { return [] }
    clearsWhenOver = false
    isCleared = true
    return clear()
  }

  /// Whether what the holder does will not be recorded.
  private var isOver: Bool { isCleared || clearsWhenOver }
}
