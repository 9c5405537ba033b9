@_exported public import UseCaseTesting

extension Gate {
  /// Returns once the gate is open, whatever happens to the calling task: for bodies that never
  /// look at their cancellation.
  public func passIgnoringCancellation() async {
    await opened()
  }
}
