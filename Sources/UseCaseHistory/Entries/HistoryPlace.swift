/// A fingerprint of the state of the document: of the set of applied executions.
///
/// It is a sum, to which each applied execution adds a number of its own. So it is the same in
/// whatever order entries that have nothing to do with each other are undone and redone. The numbers
/// are as good as random: that two sums are equal by mistake happens once in 2⁶⁴ times.
struct HistoryPlace: Hashable, Sendable {
  var sum: UInt64 = 0

  /// The place of an empty history.
  static let beginning = Self()

  /// The number of an execution.
  static func of(_ execution: HistoryEntry.ID) -> Self { Self(sum: mixed(execution.number)) }

  /// The number of a thing that has no id. Give each a number of its own.
  static func unknown(_ number: UInt64) -> Self { Self(sum: mixed(mixed(~number))) }

  static func + (lhs: Self, rhs: Self) -> Self { Self(sum: lhs.sum &+ rhs.sum) }
  static func += (lhs: inout Self, rhs: Self) { lhs.sum &+= rhs.sum }
  static func -= (lhs: inout Self, rhs: Self) { lhs.sum &-= rhs.sum }

  /// The finish of SplitMix64.
  private static func mixed(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9e37_79b9_7f4a_7c15
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// The state of the document when saving began.
///
/// ```swift
/// let point = history.savePoint()
/// try await shelf.save()
/// history.markSaved(point)
/// ```
///
/// Edits made while the document is being saved stay unsaved changes: see
/// ``UseCaseHistory/savePoint()`` and ``UseCaseHistory/markSaved(_:)``.
public struct HistorySavePoint: Hashable, Sendable {
  /// The history that it was taken from.
  let history: HistoryEntry.ID

  /// Nil for no place at all, which is never clean: in a group that is half undone, or while a
  /// body, an undo, a redo, a move or a group runs.
  let place: HistoryPlace?
}
