/// The fate of a group that the end of the process has interrupted.
public enum HistoryInterruption: Hashable, Sendable {
  /// Its parts are undone when the history is opened again, as if its body had thrown.
  case compensate

  /// The parts that had an effect are an entry.
  case keep
}
