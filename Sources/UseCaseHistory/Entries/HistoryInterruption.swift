/// The fate of a group that the end of the process has interrupted.
public enum HistoryInterruption: Hashable, Sendable {
  /// The parts of the group are undone when the history is opened again, as if its body had thrown.
  case compensate

  /// The parts that took effect stay, and become one entry.
  case keep
}
