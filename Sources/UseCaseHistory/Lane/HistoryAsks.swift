import UseCase

/// The requests of the operations on the lane, in the order of their admission: an
/// execution, a group, an undo, a redo or a move.
///
/// An execution may be described later: by the things that it is going to touch.
struct HistoryAsks: Sendable {
  typealias ID = HistoryEntry.ID

  struct Element: Sendable {
    let id: ID
    /// Nil for an execution or a group, which may become an entry.
    let move: HistoryMove?
    /// The entry that an undo or a redo is bound to. Nil if it finds nothing.
    var target: ID?
    /// The operation, if it is an execution or a group. The line only hands it on.
    var operation: (any AdmittedOperation)?
    /// The things that an execution is going to touch, as far as it is known.
    var footprint = HistoryFootprint.everything
    var asked: MergeWindow.Asked
    /// Whether it may record nothing though it succeeds, because no recorded body has begun in it, and
    /// it is no recorded use case itself.
    var isUncertain = false
    /// Whether it was cancelled while others around it wait.
    var isGone = false

    /// Whether it may change the history.
    var hasEffect: Bool {
      switch move {
      case .undo, .redo, .undoIn, .redoIn: target != nil
      case nil, .move, .undoEntry, .redoEntry: true
      }
    }
  }

  /// Their ids grow from `head` on. The asks before it have left.
  private var asks: [Element] = []
  private var head = 0
  /// The executions up to this one have been asked what they are going to touch, and so many in the
  /// line have not.
  private var (described, undescribedCount) = (ID(number: 0), 0)
  /// The footprints of operations that have left. They are not released under the lock.
  private var leftFootprints: [HistoryFootprint] = []
}

extension HistoryAsks: RandomAccessCollection, MutableCollection {
  var startIndex: Int { head }
  var endIndex: Int { asks.count }

  subscript(index: Int) -> Element {
    get { asks[index] }
    set { asks[index] = newValue }
  }

  func index(of id: ID) -> Int? {
    let index = asks[head...].partitioningIndex { $0.id >= id }
    guard index < endIndex, asks[index].id == id, !asks[index].isGone else { return nil }
    return index
  }
}

// MARK: - Coming and going

extension HistoryAsks {
  mutating func append(_ ask: consuming Element) {
    if ask.operation != nil, ask.id > described { undescribedCount += 1 }
    asks.append(ask)
  }

  mutating func insertFirst(_ ask: Element) { asks.insert(ask, at: head) }

  /// An operation leaves. An ask in the middle stays until all before or behind it have gone, too.
  mutating func remove(at index: Int) {
    asks[index].isGone = true
    if asks[index].operation.take() != nil, asks[index].id > described { undescribedCount -= 1 }
    if asks[index].footprint != .everything {
      leftFootprints.append(asks[index].footprint)
      asks[index].footprint = .everything
    }
    while !isEmpty, asks[head].isGone { head += 1 }
    while !isEmpty, asks[asks.count - 1].isGone { asks.removeLast() }
    if isEmpty {
      asks.removeAll(keepingCapacity: head <= 64)
      head = 0
    } else if head > 64, head > asks.count / 2 {
      asks.removeSubrange(..<head)
      head = 0
    }
  }

  /// Returns all, to be appended again.
  mutating func takeAll() -> ArraySlice<Element> {
    defer { (asks, head, undescribedCount) = ([], 0, 0) }
    return asks[head...]
  }

  /// The newest executions were asked for at this time.
  mutating func time(_ now: Duration) {
    for index in indices.reversed() {
      if asks[index].asked.time != nil { return }
      asks[index].asked.time = now
    }
  }
}

// MARK: - What they are going to touch

extension HistoryAsks {
  /// The executions that have not been asked yet what they are going to touch.
  var undescribed: [(id: ID, operation: any AdmittedOperation)] {
    guard undescribedCount > 0 else { return [] }
    let index = asks[head...].partitioningIndex { $0.id > described }
    return asks[index...].compactMap { ask in ask.operation.map { (ask.id, $0) } }
  }

  /// Executions are going to touch these, if they are still there. Returns whether one of them touches
  /// less than was known.
  mutating func describe(_ footprints: [(id: ID, footprint: HistoryFootprint)]) -> Bool {
    var touchesLess = false
    for (id, footprint) in footprints where id > described {
      described = id
      guard let index = index(of: id) else { continue }
      undescribedCount -= 1
      if footprint == .everything { continue }
      asks[index].footprint = footprint
      touchesLess = true
    }
    return touchesLess
  }

  /// Returns the footprints of operations that have left, to be released.
  mutating func takeLeftFootprints() -> [HistoryFootprint] {
    defer { leftFootprints = [] }
    return leftFootprints
  }
}
