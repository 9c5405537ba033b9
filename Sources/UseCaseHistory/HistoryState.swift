/// What a history can do now: one consistent snapshot, for buttons, menus and badges.
///
/// ```swift
/// let state = history.state
/// print(state.canUndo ? "Undo \(state.undoTitle ?? "")" : "Nothing to undo")  // Undo Rename
/// ```
public struct HistoryState: Hashable, Sendable {
  /// Whether ``UseCaseHistory/undo()`` called now would have a target.
  ///
  /// - Complexity: O(1).
  public var canUndo: Bool

  /// Whether ``UseCaseHistory/redo()`` called now would have a target that stays. False while a
  /// recorded execution waits or runs: it is about to drop the undone entries.
  ///
  /// - Complexity: O(1).
  public var canRedo: Bool

  /// Whether something that was asked of the history waits or runs.
  ///
  /// - Complexity: O(1).
  public var isBusy: Bool

  /// Whether the newest applied entry is the saved one, and nothing waits or runs that is to be
  /// recorded.
  ///
  /// - Complexity: O(1).
  public var isClean: Bool

  /// The title of what `undo()` would undo. Nil if there is nothing, or its title is not known
  /// yet because its execution has not ended.
  ///
  /// - Complexity: O(1).
  public var undoTitle: String?

  /// The title of what `redo()` would redo.
  ///
  /// - Complexity: O(1).
  public var redoTitle: String?

  /// How many entries are applied.
  ///
  /// - Complexity: O(1).
  public var undoCount: Int

  /// How many entries are undone.
  ///
  /// - Complexity: O(1).
  public var redoCount: Int

  /// Grows with each change.
  ///
  /// - Complexity: O(1).
  public var version: UInt64
}

/// A place in a history, taken with ``UseCaseHistory/savePoint()`` when saving begins.
public struct HistorySavePoint: Hashable, Sendable {
  /// The beginning of its history.
  let history: HistoryEntry.ID

  /// Nil inside of a group that is half undone: such a place is never clean.
  let place: HistoryEntry.ID?
}
