public import Observation

/// The state of a history, for views.
///
/// ```swift
/// Button("Undo \(model.state.undoTitle ?? "")") { model.undo() }
///   .disabled(!model.state.canUndo)
/// ```
@MainActor @Observable
public final class HistoryModel {
  /// What the history can do now. A view that reads it is drawn again after each change.
  public var state: HistoryState {
    _ = version
    return history.state
  }

  private let history: UseCaseHistory
  private var version: UInt64
  @ObservationIgnored private var following: Task<Void, Never>?

  /// Creates a model of `history`, which it keeps.
  ///
  /// - Parameter history: What the views show and change.
  public init(_ history: UseCaseHistory) {
    self.history = history
    version = history.state.version
    let states = history.states()
    following = Task { [weak self] in
      for await state in states { self?.version = state.version }
    }
  }

  deinit { following?.cancel() }

  /// Undoes the newest entry, and tells nobody if that fails: to show a failure, attach a `catch`
  /// to ``UseCaseHistory/undo()``.
  public func undo() { history.undo() }

  /// Redoes the next undone entry, and tells nobody if that fails: to show a failure, attach a
  /// `catch` to ``UseCaseHistory/redo()``.
  public func redo() { history.redo() }
}
