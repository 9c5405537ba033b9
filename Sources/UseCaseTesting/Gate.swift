import UseCaseInternals

/// A door that holds tasks until a test opens it.
///
/// Put it into a body, and the body waits where the test wants it to. A gate opens once and stays
/// open.
///
/// ```swift
/// let gate = Gate()
/// let search = AnyUseCase<String, [String]>(queue: .init(.serial)) { text in
///   try await gate.pass()
///   return [text]
/// }
/// let operation = search.execute("swift")
/// print(operation.state)  // running
///
/// gate.open()
/// print(try await operation.value)  // ["swift"]
/// ```
///
/// All members can be called from any isolation.
public final class Gate: Sendable {
  /// The tasks that wait, in the order in which they came. Nil once the gate is open.
  private let waiters: Lock<[Promise<Void?>]?>

  /// Creates a gate.
  ///
  /// - Parameter isOpen: Whether the gate is open from the start. The default is `false`.
  public init(isOpen: Bool = false) { waiters = Lock(isOpen ? nil : []) }

  /// Lets every task through, now and later, in the order in which they came.
  ///
  /// Opening an open gate changes nothing.
  ///
  /// - Complexity: O(*n*), where *n* is the number of tasks that wait.
  public func open() {
    for waiter in waiters.withLock({ $0.take() }) ?? [] { waiter.fulfill(()) }
  }

  /// Waits until the gate is open.
  ///
  /// - Throws: `CancellationError`, promptly, when the calling task is cancelled before the gate
  ///   lets it through. A task that is already cancelled throws at an open gate, too.
  public func pass() async throws {
    try await waiters.wait(enter: Self.enter) { waiters, waiter in
      guard let index = waiters?.firstIndex(where: { $0 === waiter }) else { return false }
      waiters?.remove(at: index)
      return true
    }
  }

  /// Keeps the waiter and returns `nil`, unless the gate is open.
  private static func enter(_ waiters: inout [Promise<Void?>]?, _ waiter: Promise<Void?>) -> Void? {
    waiters?.append(waiter) == nil ? () : nil
  }

  /// Whether the gate is open.
  package var isOpen: Bool { waiters.withLock { $0 == nil } }

  /// Returns once the gate is open, whatever happens to the calling task, for the package's own
  /// tests.
  package func opened() async {
    let waiter = Promise<Void?>()
    if waiters.withLock({ Self.enter(&$0, waiter) }) == nil { _ = await waiter.value }
  }
}
