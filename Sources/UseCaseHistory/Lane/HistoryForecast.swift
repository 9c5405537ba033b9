/// The entries in line, and the cursor among them, as they will be when everything asked for has
/// run.
///
/// The line is the applied entries of the pool, the undone ones from the next to redo, and then the
/// new ones, each with a number. The forecast keeps ranges of these numbers, so its size does not
/// depend on how many entries there are.
struct HistoryForecast: Sendable {
  typealias ID = HistoryEntry.ID

  private var ranges: [Range<Int>]
  private var new: [ID] = []
  /// How many entries there are, and how many of them are applied, or evicted.
  private var count: Int
  private var cursor: Int
  private var evicted = 0
  private var isPartial: Bool

  /// Creates the forecast that holds when nothing waits.
  init<Step>(of pool: HistoryPool<Step>) {
    (count, cursor) = (pool.applied.count + pool.undone.count, pool.applied.count)
    ranges = [0..<count]
    isPartial = pool.partial != nil
  }

  func undoTarget<Step>(in pool: HistoryPool<Step>) -> ID? {
    cursor > evicted ? entry(at: cursor - 1, in: pool) : nil
  }

  func redoTarget<Step>(in pool: HistoryPool<Step>) -> ID? {
    if isPartial { return undoTarget(in: pool) }
    return cursor < count ? entry(at: cursor, in: pool) : nil
  }

  /// An execution will become this entry.
  mutating func record<Step>(_ entry: ID, in pool: HistoryPool<Step>) {
    while let last = ranges.last, count > cursor {
      let kept = last.dropLast(count - cursor)
      count -= last.count - kept.count
      ranges[ranges.count - 1] = kept
      if kept.isEmpty { ranges.removeLast() }
    }
    let number = pool.applied.count + pool.undone.count + new.count
    new.append(entry)
    if let last = ranges.last, last.upperBound == number {
      ranges[ranges.count - 1] = last.lowerBound..<number + 1
    } else {
      ranges.append(number..<number + 1)
    }
    count += 1
    cursor += 1
    isPartial = false
    if let limit = pool.limit { evicted = max(evicted, cursor - limit) }
  }

  /// An undo, a redo or a move will run. Out of turn it will change nothing.
  mutating func run<Step>(
    _ move: HistoryMove, for target: ID?, isRunning: Bool, in pool: HistoryPool<Step>
  ) {
    switch move {
    case .undo:
      guard let target, target == undoTarget(in: pool) else { return }
      cursor -= 1
    case .redo:
      guard let target, target == redoTarget(in: pool) else { return }
      if !isPartial { cursor += 1 }
    case .move(nil): cursor = evicted
    case .move(let id?):
      // If the entry of a move that runs has left, the move still goes there.
      guard let goal = index(of: id, in: pool) ?? (isRunning ? cursor - pool.heldCount - 1 : nil)
      else { return }
      cursor = goal + 1
    case .undoEntry(let id):
      guard let index = index(of: id, in: pool), index < cursor,
        !isPartial || index == cursor - 1
      else { return }
      cursor -= 1
      let number = take(at: index)
      insert(number, at: cursor)
    }
    isPartial = false
  }
}

// MARK: - The line

extension HistoryForecast {
  private func entry<Step>(at index: Int, in pool: HistoryPool<Step>) -> ID {
    var start = count
    for range in ranges.reversed() {
      start -= range.count
      if index >= start { return entry(numbered: range.lowerBound + index - start, in: pool) }
    }
    preconditionFailure("There is no entry at \(index) in \(self).")
  }

  private func entry<Step>(numbered number: Int, in pool: HistoryPool<Step>) -> ID {
    let (applied, undone) = (pool.applied.count, pool.undone.count)
    if number < applied { return pool.applied[number].id }
    if number < applied + undone { return pool.undone[undone - 1 - (number - applied)].id }
    return new[number - applied - undone]
  }

  /// Returns the index of an entry that will be there.
  private func index<Step>(of id: ID, in pool: HistoryPool<Step>) -> Int? {
    let (applied, undone) = (pool.applied.count, pool.undone.count)
    let number: Int
    if let index = new.lastIndex(of: id) {
      number = applied + undone + index
    } else {
      switch pool.spot(of: id) {
      case .applied(let position): number = position
      case .undone(let position): number = applied + undone - 1 - position
      case nil: return nil
      }
    }
    var start = 0
    for range in ranges {
      if range.contains(number) {
        let index = start + number - range.lowerBound
        return index < evicted ? nil : index
      }
      start += range.count
    }
    return nil
  }

  /// Takes an entry out, and returns its number.
  private mutating func take(at index: Int) -> Int {
    split(at: index + 1)
    let range = split(at: index)
    return ranges.remove(at: range).lowerBound
  }

  private mutating func insert(_ number: Int, at index: Int) {
    ranges.insert(number..<number + 1, at: split(at: index))
  }

  /// Lets a range begin at the index. Returns which range that is.
  @discardableResult
  private mutating func split(at index: Int) -> Int {
    var start = 0
    for (position, range) in ranges.enumerated() {
      if start == index { return position }
      let middle = range.lowerBound + index - start
      if middle < range.upperBound {
        ranges.replaceSubrange(
          position...position, with: [range.lowerBound..<middle, middle..<range.upperBound])
        return position + 1
      }
      start += range.count
    }
    return ranges.count
  }
}
