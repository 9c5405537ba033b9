/// A consistent snapshot of what a history can do, for buttons, menus and badges.
///
/// ```swift
/// let state = history.state
/// print(state.canUndo, state.undoTitle ?? "")  // true Rename
/// ```
public struct HistoryState: Hashable, Sendable {
  /// Whether ``UseCaseHistory/undo()`` called now would have a target.
  public var canUndo: Bool

  /// Whether ``UseCaseHistory/redo()`` called now would have a target that stays. False while a
  /// recorded execution waits or runs: it is about to drop the undone entries.
  public var canRedo: Bool

  /// Whether something that was asked of the history waits or runs.
  public var isBusy: Bool

  /// Whether the newest applied entry is the saved one, while nothing waits or runs that is to be
  /// recorded, and no undo, redo or move runs.
  public var isClean: Bool

  /// The title of what `undo()` would undo, also while its execution waits or runs. Nil if there
  /// is nothing, or if the execution belongs to a wrapper, of which the title is known only once it
  /// is recorded.
  public var undoTitle: String?

  /// The title of what `redo()` would redo.
  public var redoTitle: String?

  /// How many entries are applied.
  public var undoCount: Int

  /// How many entries are undone.
  public var redoCount: Int

  /// Grows with each change.
  public var version: UInt64
}
