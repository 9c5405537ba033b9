/// The records that a move has in its hands: the next ones at the cursor, or one below.
struct HistoryHand: Sendable {
  typealias ID = HistoryEntry.ID

  struct Held {
    /// The positions of the applied ones.
    fileprivate(set) var applied: Range<Int>
    /// The positions of the undone ones.
    fileprivate(set) var undone: Range<Int>
    /// Whether the limit was lowered meanwhile.
    fileprivate(set) var evictsWhenOver = false
    /// The entries among them that leave when the move is over.
    fileprivate(set) var forgotten: [ID] = []
  }

  private enum State {
    /// Next is `holding`.
    case empty
    /// Next is `empty`, or `cleared`.
    case holding(Held)
    /// The history was cleared meanwhile. Next is `empty`.
    case cleared
  }

  private var state = State.empty

  var isEmpty: Bool {
    if case .empty = state { true } else { false }
  }

  var held: Held? {
    if case .holding(let held) = state { held } else { nil }
  }

  mutating func hold(applied: Range<Int>, undone: Range<Int>) {
    guard isEmpty else { preconditionFailure("One move runs at a time.") }
    state = .holding(Held(applied: applied, undone: undone))
  }

  /// The move takes more.
  mutating func extend(applied: Range<Int>, undone: Range<Int>) {
    guard var held else { return }
    (held.applied, held.undone) = (applied, undone)
    state = .holding(held)
  }

  /// An entry in the hands of the move leaves when the move is over. Returns whether it is there.
  mutating func forget<Step>(_ id: ID, at spot: HistoryStacks<Step>.Spot) -> Bool {
    guard var held else { return false }
    switch spot {
    case .applied(let position) where held.applied.contains(position): break
    case .undone(let position) where held.undone.contains(position): break
    case .applied, .undone: return false
    }
    held.forgotten.append(id)
    state = .holding(held)
    return true
  }

  /// The limit was lowered.
  mutating func evictWhenOver() {
    guard var held else { return }
    held.evictsWhenOver = true
    state = .holding(held)
  }

  /// The history is cleared. Returns the records of the move, nil if no move runs.
  mutating func clear() -> Held? {
    defer { if !isEmpty { state = .cleared } }
    return held
  }

  /// The move is over. Returns its records, nil if the history was cleared meanwhile.
  mutating func open() -> Held? {
    if isEmpty { preconditionFailure("A move ends once.") }
    defer { state = .empty }
    return held
  }
}
