/// A door that opens once: it holds a body in the middle of its work until the test lets it go on.
///
/// A task that comes when it is open goes straight through.
public final class Gate: Sendable {
  private let opened = Watched(false)

  /// Creates a closed gate.
  public init() {}

  /// Whether the gate is open.
  public var isOpen: Bool { opened.value }

  /// Lets everybody through, now and later.
  public func open() {
    opened.update { $0 = true }
  }

  /// Returns once the gate is open, and ignores cancellation.
  public func pass() async {
    await opened.wait { $0 }
  }

  /// Returns once the gate is open.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func passUnlessCancelled() async throws {
    try await opened.waitUnlessCancelled { $0 }
  }
}
