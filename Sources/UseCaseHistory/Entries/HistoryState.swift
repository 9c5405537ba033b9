/// A consistent snapshot of what a history can do, for buttons and menus.
///
/// Read ``UseCaseHistory/state``, or follow ``UseCaseHistory/states()``:
///
/// ```swift
/// let state = history.state
/// print(state.canUndo, state.undoTitle ?? "")  // true Rename
/// ```
public struct HistoryState: Hashable, Sendable {
  /// Whether ``UseCaseHistory/undo()`` called now would have an entry to undo, which can be read and is
  /// blocked by no other one.
  public var canUndo: Bool

  /// Whether there is an entry to redo, which is not blocked, and no execution or group waits or runs.
  ///
  /// An execution or a group discards undone entries when it is recorded. While it waits or
  /// runs, `canRedo` is `false`, but a call of `redo()` may still find an entry to redo.
  public var canRedo: Bool

  /// Whether an execution, an undo, a redo, a move or a group of the history waits or runs. Handlers
  /// don't count.
  public var isBusy: Bool

  /// Whether there are no unsaved changes: the document is in the saved state, no execution or
  /// group waits or runs, and no undo, redo or move runs.
  public var isClean: Bool

  /// The title of the entry that `undo()` would undo, even while its execution waits or runs.
  ///
  /// It is `nil` if ``canUndo`` is `false`.
  public var undoTitle: String?

  /// The title of the entry that `redo()` would redo, `nil` if ``canRedo`` is `false`.
  public var redoTitle: String?

  /// How many entries are applied, without executions in doubt, which can't be undone.
  public var undoCount: Int

  /// How many entries are undone.
  public var redoCount: Int

  /// A number that grows with each change.
  public var version: UInt64
}

/// The request of an undo, a redo or a move.
public enum HistoryMove: Hashable, Sendable {
  /// Undo the newest applied entry.
  case undo

  /// Redo the next undone entry.
  case redo

  /// Undo or redo until this entry is the newest applied one; `nil` to undo all.
  case move(HistoryEntry.ID?)

  /// Undo this entry, wherever it is.
  case undoEntry(HistoryEntry.ID)

  /// Redo this entry, wherever it is.
  case redoEntry(HistoryEntry.ID)

  /// Undo the newest applied entry of this document.
  case undoIn(HistoryFootprint)

  /// Redo the next undone entry of this document.
  case redoIn(HistoryFootprint)
}
