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
