/// The entries in line, and the cursor among them, as they will be when everything asked for has
/// run.
///
/// The line is the applied entries of the pool, the undone ones from the next to redo, and then the
/// new ones, each with a number. The forecast keeps ranges of these numbers, so its size does not
/// depend on how many entries there are.
struct HistoryForecast: Sendable {
  typealias ID = HistoryEntry.ID

  private var ranges: [Range<Int>]
  private var new: [(id: ID, footprint: HistoryFootprint)] = []
  /// How many entries there are, and how many of them are applied, or evicted.
  private var count: Int
  private var cursor: Int
  private var evicted = 0
  /// How many of the last undone ones will have survived a recording.
  private var survivors = 0
  private var isPartial: Bool

  /// Creates the forecast that holds when nothing waits.
  init<Step>(of pool: HistoryPool<Step>) {
    (count, cursor) = (pool.entryCount, pool.applied.count)
    ranges = [0..<count]
    isPartial = pool.partial != nil
  }

  /// Returns the entry of the document that an undo is for.
  func undoTarget<Step>(
    in document: HistoryFootprint = .everything, of pool: HistoryPool<Step>
  ) -> ID? {
    if document == .everything {
      return cursor > evicted ? entry(at: cursor - 1, in: pool) : nil
    }
    return last(overlapping: document, in: evicted..<max(evicted, cursor), of: pool)
      .map { entry(at: $0, in: pool) }
  }

  /// Returns the entry of the document that a redo is for, and whether it was undone behind all new
  /// ones.
  func redoTarget<Step>(
    in document: HistoryFootprint = .everything, of pool: HistoryPool<Step>
  ) -> (id: ID, isFresh: Bool)? {
    if isPartial, let id = undoTarget(of: pool), let record = pool.record(of: id)?.record,
      document == .everything || record.footprint.overlaps(document)
    {
      return (id, true)
    }
    let index =
      document == .everything
      ? (cursor < count ? cursor : nil) : first(overlapping: document, in: cursor..<count, of: pool)
    return index.map { (entry(at: $0, in: pool), $0 < count - survivors) }
  }

  /// Returns the entry that a move is for, if it is bound to one.
  func target<Step>(of move: HistoryMove, in pool: HistoryPool<Step>) -> ID? {
    switch move {
    case .undo: undoTarget(of: pool)
    case .redo: redoTarget(of: pool)?.id
    case .undoIn(let document): undoTarget(in: document, of: pool)
    case .redoIn(let document): redoTarget(in: document, of: pool)?.id
    case .move, .undoEntry, .redoEntry: nil
    }
  }

  /// An execution will become this entry, which drops what it contradicts.
  mutating func record<Step>(
    _ entry: ID, touching footprint: HistoryFootprint, in pool: HistoryPool<Step>
  ) {
    if footprint == .everything { truncate() } else { drop(contradicted(by: footprint, in: pool)) }
    survivors = count - cursor
    let number = pool.entryCount + new.count
    new.append((entry, footprint))
    if cursor == count, let last = ranges.last, last.upperBound == number {
      ranges[ranges.count - 1] = last.lowerBound..<number + 1
    } else {
      insert(number, at: cursor)
    }
    count += 1
    cursor += 1
    isPartial = false
    if let limit = pool.limit { evicted = max(evicted, cursor - limit) }
  }

  /// An undo, a redo or a move will run. Out of turn it will change nothing.
  mutating func foresee<Step>(
    _ move: HistoryMove, for target: ID?, isRunning: Bool, in pool: HistoryPool<Step>
  ) {
    switch move {
    case .undo:
      guard let target, target == undoTarget(of: pool) else { return }
      cursor -= 1
      isPartial = false
    case .redo:
      guard let target, target == redoTarget(of: pool)?.id else { return }
      redo(target, in: pool)
    case .move(nil):
      cursor = evicted
      isPartial = false
    case .move(let id?):
      // If the entry of a move that runs has left, the move still goes there.
      guard let goal = index(of: id, in: pool) ?? (isRunning ? cursor - pool.heldCount - 1 : nil)
      else { return }
      cursor = goal + 1
      survivors = min(survivors, count - cursor)
      isPartial = false
    case .undoEntry(let id): undo(id, in: pool)
    case .redoEntry(let id): redo(id, in: pool)
    case .undoIn: if let target { undo(target, in: pool) }
    case .redoIn: if let target { redo(target, in: pool) }
    }
  }

  private mutating func undo<Step>(_ id: ID, in pool: HistoryPool<Step>) {
    guard let index = index(of: id, in: pool), index < cursor, !isPartial || index == cursor - 1
    else { return }
    cursor -= 1
    let number = take(at: index)
    insert(number, at: cursor)
    isPartial = false
  }

  private mutating func redo<Step>(_ id: ID, in pool: HistoryPool<Step>) {
    guard let index = index(of: id, in: pool), isPartial ? index == cursor - 1 : index >= cursor
    else { return }
    isPartial = false
    if index < cursor { return }
    if index >= count - survivors { survivors -= 1 }
    let number = take(at: index)
    insert(number, at: cursor)
    cursor += 1
  }
}

// MARK: - The branch

extension HistoryForecast {
  /// Returns the indices of the undone entries that a new one with this footprint drops, in order:
  /// those that it overlaps, and behind each of them those that overlap that one, and so on.
  func contradicted<Step>(
    by footprint: HistoryFootprint, in pool: HistoryPool<Step>
  ) -> [Int] {
    let footprint = isPartial ? pool.withUndoneLeaves(footprint) : footprint
    if footprint.isEmpty { return [] }
    // The first that touches everything is dropped, and all behind it.
    let wall =
      footprint == .everything
      ? cursor : first(overlapping: .elsewhere, in: cursor..<count, of: pool) ?? count
    var found: Set<Int> = []
    /// The keys that something in front of the index touches that is dropped.
    var rest = (footprint.keys ?? []).map { (key: $0, start: cursor) }
    var starts: [ObjectIdentifier: Int] = [:]
    while let (key, start) = rest.popLast() {
      let end = starts[key.address] ?? wall
      if start >= end { continue }
      starts[key.address] = start
      for index in indices(overlapping: .key(key), in: start..<end, of: pool)
      where found.insert(index).inserted {
        rest += (self.footprint(at: index, in: pool).keys ?? []).map { ($0, index + 1) }
      }
    }
    return found.sorted() + indices(overlapping: .everything, in: wall..<count, of: pool)
  }

  private mutating func truncate() {
    while let last = ranges.last, count > cursor {
      let kept = last.dropLast(count - cursor)
      count -= last.count - kept.count
      ranges[ranges.count - 1] = kept
      if kept.isEmpty { ranges.removeLast() }
    }
  }

  /// Takes out the undone entries at these indices.
  private mutating func drop(_ indices: [Int]) {
    var (kept, start, rest) = ([Range<Int>](), 0, indices[...])
    for range in ranges {
      var range = range
      let offset = range.lowerBound - start
      start += range.count
      while let index = rest.first, index < start {
        kept.append(range.lowerBound..<index + offset)
        range = index + offset + 1..<range.upperBound
        rest.removeFirst()
      }
      kept.append(range)
    }
    ranges = kept.filter { !$0.isEmpty }
    count -= indices.count
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
    let firstNew = pool.entryCount
    return number < firstNew ? pool[number].id : new[number - firstNew].id
  }

  private func footprint<Step>(at index: Int, in pool: HistoryPool<Step>) -> HistoryFootprint {
    let number = segments(index..<index + 1)[0].numbers.lowerBound
    let firstNew = pool.entryCount
    return number < firstNew ? pool[number].footprint : new[number - firstNew].footprint
  }

  /// Returns the numbers of the entries at these indices, and of each range its first index.
  private func segments(_ indices: Range<Int>) -> [(start: Int, numbers: Range<Int>)] {
    var (segments, start) = ([(start: Int, numbers: Range<Int>)](), 0)
    for range in ranges {
      let found = indices.clamped(to: start..<start + range.count)
      let offset = range.lowerBound - start
      if !found.isEmpty {
        let numbers = found.lowerBound + offset..<found.upperBound + offset
        segments.append((found.lowerBound, numbers))
      }
      start += range.count
    }
    return segments
  }

  private func indices<Step>(
    overlapping footprint: HistoryFootprint, in indices: Range<Int>, of pool: HistoryPool<Step>
  ) -> [Int] {
    segments(indices).flatMap { start, numbers in
      let found =
        pool.numbers(overlapping: footprint, in: numbers)
        + newNumbers(in: numbers, of: pool).filter { isNew($0, overlapping: footprint, in: pool) }
      return found.map { start + $0 - numbers.lowerBound }
    }
  }

  private func first<Step>(
    overlapping footprint: HistoryFootprint, in indices: Range<Int>, of pool: HistoryPool<Step>
  ) -> Int? {
    for (start, numbers) in segments(indices) {
      let number =
        pool.first(overlapping: footprint, in: numbers)
        ?? newNumbers(in: numbers, of: pool).first {
          isNew($0, overlapping: footprint, in: pool)
        }
      if let number { return start + number - numbers.lowerBound }
    }
    return nil
  }

  private func last<Step>(
    overlapping footprint: HistoryFootprint, in indices: Range<Int>, of pool: HistoryPool<Step>
  ) -> Int? {
    for (start, numbers) in segments(indices).reversed() {
      let number =
        newNumbers(in: numbers, of: pool).last { isNew($0, overlapping: footprint, in: pool) }
        ?? pool.last(overlapping: footprint, in: numbers)
      if let number { return start + number - numbers.lowerBound }
    }
    return nil
  }

  private func newNumbers<Step>(
    in numbers: Range<Int>, of pool: HistoryPool<Step>
  ) -> Range<Int> {
    let first = pool.entryCount
    return numbers.clamped(to: first..<first + new.count)
  }

  private func isNew<Step>(
    _ number: Int, overlapping footprint: HistoryFootprint, in pool: HistoryPool<Step>
  ) -> Bool {
    new[number - pool.entryCount].footprint.overlaps(footprint)
  }

  /// Returns the index of an entry that will be there.
  private func index<Step>(of id: ID, in pool: HistoryPool<Step>) -> Int? {
    let newIndex = new.lastIndex { $0.id == id }
    guard let number = newIndex.map({ pool.entryCount + $0 }) ?? pool.number(of: id)
    else { return nil }
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
