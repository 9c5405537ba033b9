import UseCaseInternals

/// The calls that the lane has not carried out, in their order: executions, groups, undos, redos
/// and moves.
struct HistoryAsks: Sendable {
  typealias ID = HistoryEntry.ID

  struct Element: Sendable {
    /// The entry that an execution or a group may become.
    let id: ID
    /// Nil for an execution or a group.
    let move: HistoryMove?
    /// The entry that an undo or a redo is bound to. Nil if it finds nothing.
    var target: ID?
    var title = ""
    /// The things that it is going to touch, as far as they are known.
    var footprint = HistoryFootprint.everything
    let asked: MergeWindow.Asked
    /// Whether it has left while others around it wait.
    fileprivate(set) var isGone = false

    init(_ id: ID, _ move: HistoryMove?, target: ID? = nil, _ asked: MergeWindow.Asked) {
      (self.id, self.move, self.target, self.asked) = (id, move, target, asked)
    }

    /// The entry that an undo or a redo is for.
    var entry: ID? {
      switch move {
      case .undo, .redo, .undoIn, .redoIn: target
      case .undoEntry(let id), .redoEntry(let id): id
      case nil, .move: nil
      }
    }

    /// Whether it may change the history.
    var hasEffect: Bool {
      switch move {
      case .undo, .redo, .undoIn, .redoIn: target != nil
      case nil, .move, .undoEntry, .redoEntry: true
      }
    }
  }

  /// Their ids grow.
  private var asks: [Element] = []
  /// How many at the beginning have left.
  private var head = 0
  private(set) var isEmpty = true

  /// The asks that are there, in order.
  var present: some Sequence<Element> { asks[head...].lazy.filter { !$0.isGone } }

  var first: Element? { isEmpty ? nil : asks[head] }

  private func index(of id: ID) -> Int? {
    if !isEmpty, asks[head].id == id { return head }
    var (low, high) = (head, asks.count)
    while low < high {
      let middle = (low + high) / 2
      if asks[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < asks.count && asks[low].id == id && !asks[low].isGone ? low : nil
  }

  subscript(id: ID) -> Element? { index(of: id).map { asks[$0] } }

  mutating func append(_ ask: consuming Element) {
    isEmpty = false
    asks.append(ask)
  }

  /// Returns the ask, which is not to be released under a lock.
  mutating func remove(_ id: ID) -> Element? {
    guard let index = index(of: id) else { return nil }
    var gone = Element(id, nil, asks[index].asked)
    gone.isGone = true
    swap(&gone, &asks[index])
    while head < asks.count, asks[head].isGone { head += 1 }
    isEmpty = head == asks.count
    if isEmpty || head > 32 && head > asks.count / 2 {
      asks.removeFirst(head)
      head = 0
    }
    return gone
  }

  /// Undos and redos that are bound to an entry are bound to another from now on, or to none.
  mutating func rebind(from old: ID? = nil, to new: ID?, except ask: ID? = nil) {
    for index in asks.indices[head...] where asks[index].id != ask {
      if asks[index].target != nil, old == nil || asks[index].target == old {
        asks[index].target = new
      }
    }
  }
}
