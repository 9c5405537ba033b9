extension UseCaseHistory {
  /// The present state of the history.
  public var state: HistoryState { lane.state(in: .everything) }

  /// Returns the state of a document: what ``undo(in:)`` and ``redo(in:)`` would undo and redo now,
  /// their titles, and how many entries of the document there are.
  ///
  /// `canUndo` and `canRedo` are false if another entry blocks the undo or the redo. `isBusy`,
  /// `isClean` and `version` are those of the history.
  ///
  /// An execution that waits or runs will discard the undone entries that it contradicts. Of a document,
  /// `canRedo` and `redoTitle` say what is left then, as far as the footprints tell. Of the whole
  /// history, `canRedo` is false until the execution has ended.
  ///
  /// - Parameter document: The keys of the document. ``HistoryFootprint/everything`` is the whole
  ///   history.
  /// - Returns: The state.
  /// - Complexity: O(*n*) in the number of entries and of operations that wait.
  public func state(in document: HistoryFootprint) -> HistoryState { lane.state(in: document) }

  /// Returns the present state, and then the new state after each change. A slow reader skips to
  /// the newest state.
  ///
  /// - Returns: A stream that ends when the history is deallocated.
  public func states() -> AsyncStream<HistoryState> {
    lane.states()
  }

  /// Returns a save point: the present state of the document, as the history knows it.
  ///
  /// Take a save point when saving begins, and pass it to ``markSaved(_:)`` when saving has
  /// succeeded. Changes made meanwhile are unsaved.
  ///
  /// Await ``idle()`` first. While a body, an undo, a redo, a move or a group runs, the state of
  /// the document is uncertain. If you mark a save point that you took at such a time, the history
  /// is not clean until the next save.
  ///
  /// - Returns: The save point.
  public func savePoint() -> HistorySavePoint {
    HistorySavePoint(history: lane.history, place: lane.change { $0.savePoint() })
  }

  /// Marks the state at `point` as saved. From then on, the history is clean whenever undo and redo
  /// have restored this state.
  ///
  /// - Parameter point: A save point that ``savePoint()`` of this history returned. Passing a save
  ///   point of another history is a programmer error and traps.
  public func markSaved(_ point: HistorySavePoint) {
    guard point.history == lane.history else {
      fatalError(
        "A save point belongs to the history that it was taken from: mark it as saved there.")
    }
    lane.change { $0.markSaved(point.place) }
    lane.journal?.start(lane)
  }
}
