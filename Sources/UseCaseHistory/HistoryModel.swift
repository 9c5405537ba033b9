public import Observation

/// The state of a history, for views.
///
/// ```swift
/// Button("Undo \(model.state.undoTitle ?? "")") { model.undo() }
///   .disabled(!model.state.canUndo)
/// ```
@MainActor @Observable
public final class HistoryModel {
  /// What the history can do. It follows the history on the main actor.
  public private(set) var state: HistoryState

  private let history: UseCaseHistory
  @ObservationIgnored private var following: Task<Void, Never>?

  /// Creates a model of `history`, which it keeps.
  ///
  /// - Parameter history: What the views show and change.
  /// - Complexity: O(1).
  public init(_ history: UseCaseHistory) {
    self.history = history
    state = history.state
    let states = history.states()
    following = Task { [weak self] in
      for await state in states { self?.state = state }
    }
  }

  deinit { following?.cancel() }

  /// Undoes the newest entry. See ``UseCaseHistory/undo()``.
  ///
  /// - Complexity: O(1).
  public func undo() { history.undo() }

  /// Redoes the next undone entry. See ``UseCaseHistory/redo()``.
  ///
  /// - Complexity: O(1).
  public func redo() { history.redo() }
}
