/// The effects in the document that have no row: of entries that have left, and of what nobody knows.
struct RowlessEffects: Equatable, Sendable {
  private(set) var sum = HistoryPlace.beginning
  /// How many unknown effects there were.
  private(set) var unknowns: UInt64 = 0
  /// One of the effects lies above the applied rows up to this stamp. A row of these that is undone
  /// and redone comes to lie above the effect, and that is another place.
  private(set) var covered: UInt64 = 0

  /// An effect has no row any more. It lies above the applied rows up to this stamp.
  mutating func add(_ place: HistoryPlace, above stamp: UInt64) {
    if place == .beginning { return }
    sum += place
    cover(stamp)
  }

  /// Whether something has an effect is unknown. So the history is where it has never been.
  mutating func addUnknown(above stamp: UInt64) {
    unknowns += 1
    add(.unknown(unknowns), above: stamp)
  }

  /// One of the effects lies above the applied rows up to this stamp.
  mutating func cover(_ stamp: UInt64) { covered = max(covered, stamp) }

  /// Something in an applied row of this stamp was undone.
  mutating func noteUndo(in stamp: UInt64) {
    if stamp <= covered { addUnknown(above: 0) }
  }
}
