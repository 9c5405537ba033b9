/// The stage of an operation: waiting, running, or finished.
public enum UseCaseOperationState: Hashable, Sendable {
  /// The operation waits for a slot of its queue.
  case waiting

  /// The operation holds a slot and has no outcome yet.
  case running

  /// The operation has an outcome. Its body may not have returned yet.
  case finished
}
