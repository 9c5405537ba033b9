/// The place where an undo stack is, and the one where it was saved.
struct HistoryPlaces: Sendable {
  /// The sum of all entries with an effect, also of those that have left with their effect.
  var sum = HistoryPlace.beginning
  var saved: HistoryPlace? = .beginning
  /// Above the applied positions below this one there is an effect that has no entry any more. An
  /// entry undone there and redone comes to lie above the effect, and that is another place.
  private(set) var covered = 0
  private var lastNumber: UInt64 = 0

  /// Returns a place where the history has never been.
  mutating func unknown() -> HistoryPlace {
    lastNumber &+= 1
    return .unknown(lastNumber)
  }

  mutating func cover(below position: Int) { covered = max(covered, position) }

  /// The applied records end at this position.
  mutating func trim(to position: Int) { covered = min(covered, position) }
}

// MARK: - Writing it down and making it again

extension HistoryPlaces {
  /// Returns the needs of a journal besides the saved place. So many applied records are covered.
  func marks(covered: Int) -> HistoryMarks {
    HistoryMarks(sum: sum, lastNumber: lastNumber, covered: covered)
  }

  init(_ marks: HistoryMarks) {
    (sum, lastNumber, covered) = (marks.sum, marks.lastNumber, marks.covered)
  }
}

/// The places that a pool knows besides the saved one and those of its records.
struct HistoryMarks: Equatable, Sendable {
  let sum: HistoryPlace
  let lastNumber: UInt64
  /// How many of the oldest applied records are below an effect that has no entry any more.
  let covered: Int
}
