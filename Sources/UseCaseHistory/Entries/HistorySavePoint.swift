/// The state of the document when saving began, as ``UseCaseHistory/savePoint()`` returned it.
public struct HistorySavePoint: Hashable, Sendable {
  /// The history that it was taken from.
  let history: HistoryEntry.ID

  /// Nil for no place at all, which is never clean: in a group that is half undone, or while a
  /// body, an undo, a redo, a move or a group runs.
  let place: HistoryPlace?
}
