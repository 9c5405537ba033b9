/// The state of a history without its titles, and the sources of the titles.
struct HistorySnapshot<Step: Sendable>: Sendable {
  /// The source of the title of an entry. The title is made outside of the lock.
  enum Label: Sendable {
    case step(Step)
    case group(String)
    /// An execution that waits or runs.
    case pending(HistoryLane.Operation)
  }

  var state: HistoryState
  var undo: Label?
  var redo: Label?
}
