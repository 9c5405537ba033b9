/// The error of awaiting an operation that waits for a slot which only the awaiting body holds.
///
/// Awaiting would never end: the operation waits for the slot, and the slot for the body. Use the
/// call form, `try await useCase(request)`, which runs inside the slot that the body holds.
///
/// It is also the error of a body that awaits the shared run that it is a part of.
///
/// A `Task { }` made in the body counts as a part of it, even if the body does not wait for it.
/// Make a detached task to await such an operation from there.
public struct UseCaseDeadlock: Error, Hashable, CustomStringConvertible {
  /// Creates the error, for a fake in a test.
  public init() {}

  /// A sentence for a log.
  public var description: String {
    "The awaited operation waits for the slot that the awaiting body holds, or shares its run. Use "
      + "the call form, `try await useCase(request)`, which runs inside that slot, or another request."
  }
}
