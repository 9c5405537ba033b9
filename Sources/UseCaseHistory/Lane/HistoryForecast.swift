/// The undo stack as it will be when everything asked for has run: the records of the pool up to
/// `kept`, then the executions that are to become entries, and the cursor among them.
struct HistoryForecast: Sendable {
  typealias ID = HistoryEntry.ID

  private var cursor: Int
  private var oldest: Int
  private var kept: Int
  private var isPartial: Bool
  private var expected = HistoryStack<ID>()

  /// Creates the forecast that holds when nothing waits.
  init<Step>(of pool: HistoryPool<Step>) {
    (cursor, oldest, kept) = (pool.cursor, pool.start, pool.end)
    isPartial = pool.isPartial
  }

  private var end: Int { kept + expected.count }

  func undoTarget<Step>(in pool: HistoryPool<Step>) -> ID? {
    cursor > oldest ? id(at: cursor - 1, in: pool) : nil
  }

  func redoTarget<Step>(in pool: HistoryPool<Step>) -> ID? {
    if isPartial { return undoTarget(in: pool) }
    return cursor < end ? id(at: cursor, in: pool) : nil
  }

  private func id<Step>(at position: Int, in pool: HistoryPool<Step>) -> ID {
    position < kept ? pool.id(at: position) : expected[position - kept]
  }

  /// An execution will become this entry.
  mutating func record(_ entry: ID, limit: Int?) {
    kept = min(kept, cursor)
    while end > cursor { _ = expected.popLast() }
    expected.append(entry)
    cursor += 1
    isPartial = false
    if let limit { oldest = max(oldest, cursor - limit) }
  }

  /// An undo, a redo or a move will run. Out of turn it will change nothing.
  mutating func move<Step>(by ask: HistoryAsk, isRunning: Bool, in pool: HistoryPool<Step>) {
    switch ask {
    case .recording: preconditionFailure("A recording is forecast by its entry.")
    case .undo(let target):
      guard let target, target == undoTarget(in: pool) else { return }
      cursor -= 1
    case .redo(let target):
      guard let target, target == redoTarget(in: pool) else { return }
      cursor += isPartial ? 0 : 1
    case .move(let id):
      if let id, let position = pool.position(of: id) {
        guard position < kept, position >= oldest else { return }
        cursor = position + 1
      } else {
        // A lower limit may have dropped the goal of a move that runs, and it still goes there.
        guard id == nil || isRunning else { return }
        cursor = oldest
      }
    }
    isPartial = false
  }

  /// The execution has become the entry that was expected first.
  mutating func arrived(_ entry: ID) {
    guard expected.first == entry else { return }
    _ = expected.popFirst()
    kept += 1
  }
}
