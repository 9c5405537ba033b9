public import Observation
public import UseCase

/// A history, as a view sees it.
///
/// ```swift
/// Button("Undo \(model.undoTitle ?? "")") { model.undo() }
///   .disabled(!model.canUndo)
/// ```
///
/// A view that reads one of the properties is drawn again after each change.
@MainActor @Observable
public final class HistoryModel {
  /// The state of the history, or of the document of the model.
  public var state: HistoryState {
    _ = version
    return history.state(in: document)
  }

  /// All entries: the applied ones, then the undone ones.
  ///
  /// - Complexity: O(*n*) in the number of entries.
  public var entries: [HistoryEntry] {
    _ = version
    return history.entries
  }

  /// Returns the entries that block ``undo(_:)`` of `entry` at present. Use it to disable rows in a
  /// list of entries.
  ///
  /// - Parameter entry: An applied entry.
  /// - Returns: The later entries that overlap `entry`, the oldest first, as
  ///   ``UseCaseHistory/blockers(of:)`` of the history returns them.
  public func blockers(of entry: HistoryEntry.ID) -> [HistoryEntry.ID] {
    _ = version
    return history.blockers(of: entry)
  }

  /// Whether ``undo()`` called now would have an entry to undo.
  public var canUndo: Bool { state.canUndo }

  /// Whether to enable a button for redo: see ``HistoryState/canRedo``.
  public var canRedo: Bool { state.canRedo }

  /// The title of the entry that `undo()` would undo, `nil` if there is none.
  public var undoTitle: String? { state.undoTitle }

  /// The title of the entry that `redo()` would redo, `nil` if ``canRedo`` is `false`.
  public var redoTitle: String? { state.redoTitle }

  /// Whether an execution, an undo, a redo, a move or a group of the history waits or runs.
  public var isBusy: Bool { state.isBusy }

  /// Whether there are no unsaved changes: see ``HistoryState/isClean`` of the state.
  public var isClean: Bool { state.isClean }

  private let history: UseCaseHistory
  private let document: HistoryFootprint
  private var version: UInt64
  @ObservationIgnored private var following: Task<Void, Never>?

  /// Creates a model of `history`. The model holds a strong reference to the history.
  ///
  /// ```swift
  /// let model = HistoryModel(history, in: .keys(note.id))
  /// ```
  ///
  /// - Parameters:
  ///   - history: The history that the views show and change.
  ///   - document: The document whose state, ``undo()`` and ``redo()`` the model has. The default is
  ///     the whole history.
  public init(_ history: UseCaseHistory, in document: HistoryFootprint = .everything) {
    (self.history, self.document) = (history, document)
    version = history.state.version
    let states = history.states()
    following = Task { [weak self] in
      for await state in states { self?.version = state.version }
    }
  }

  deinit { following?.cancel() }

  /// Undoes the newest applied entry of the document, as ``UseCaseHistory/undo(in:)`` of the history
  /// does.
  ///
  /// - Returns: The operation, to show a failure with `catch`.
  @discardableResult
  public func undo() -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    history.undo(in: document)
  }

  /// Redoes the next undone entry of the document, as ``UseCaseHistory/redo(in:)`` of the history
  /// does.
  ///
  /// - Returns: The operation, to show a failure with `catch`.
  @discardableResult
  public func redo() -> UseCaseOperation<HistoryMove, HistoryEntry?> {
    history.redo(in: document)
  }

  /// Undoes this entry, wherever it is, as ``UseCaseHistory/undo(_:)`` of the history does.
  ///
  /// - Parameter entry: The entry.
  /// - Returns: The operation, to show a failure with `catch`.
  @discardableResult
  public func undo(
    _ entry: HistoryEntry.ID
  ) -> UseCaseOperation<HistoryMove, HistoryEntry?> { history.undo(entry) }

  /// Undoes or redoes until `entry` is the newest applied one, as ``UseCaseHistory/move(to:)`` of
  /// the history does.
  ///
  /// - Parameter entry: The entry, or `nil` to undo all.
  /// - Returns: The operation, to show a failure with `catch`.
  /// - Complexity: O(*n*) in the number of entries to undo or redo.
  @discardableResult
  public func move(
    to entry: HistoryEntry.ID?
  ) -> UseCaseOperation<HistoryMove, [HistoryEntry]> { history.move(to: entry) }
}
