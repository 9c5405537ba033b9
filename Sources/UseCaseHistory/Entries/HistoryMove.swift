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
