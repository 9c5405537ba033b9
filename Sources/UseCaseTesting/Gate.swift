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
  private let machine: Lock<GateMachine>

  /// Creates a gate.
  ///
  /// - Parameter isOpen: Whether the gate is open from the start. The default is `false`.
  public init(isOpen: Bool = false) {
    machine = Lock(isOpen ? .open : .closed(waiters: []))
  }

  /// Lets every task through, now and later, in the order in which they came.
  ///
  /// Opening an open gate changes nothing.
  ///
  /// - Complexity: O(*n*), where *n* is the number of tasks that wait.
  public func open() {
    for waiter in machine.withLock({ $0.open() }) { waiter.fulfill(()) }
  }

  /// Waits until the gate is open.
  ///
  /// - Throws: `CancellationError`, promptly, when the calling task is cancelled before the gate
  ///   lets it through. A task that is already cancelled throws at an open gate, too.
  public func pass() async throws {
    try await machine.wait(enter: { $0.add($1) }, leave: { $0.remove($1) })
  }

  /// Whether the gate is open.
  package var isOpen: Bool {
    machine.withLock { if case .open = $0 { true } else { false } }
  }

  /// Returns once the gate is open, whatever happens to the calling task, for the package's own
  /// tests.
  package func opened() async {
    let waiter = Promise<Void?>()
    if machine.withLock({ $0.add(waiter) }) == nil { _ = await waiter.value }
  }
}

/// The life of one gate: closed, then open.
private enum GateMachine {
  /// Tasks wait. Next is `open`.
  case closed(waiters: [Promise<Void?>])

  /// Tasks go straight through. Final.
  case open

  /// Lets the task pass, or keeps the waiter and returns `nil`.
  mutating func add(_ waiter: Promise<Void?>) -> Void? {
    switch self {
    case .closed(let waiters):
      self = .closed(waiters: waiters + [waiter])
      return nil
    case .open:
      return ()
    }
  }

  /// Returns whether the waiter was there.
  mutating func remove(_ waiter: Promise<Void?>) -> Bool {
    switch self {
    case .closed(var waiters):
      guard let index = waiters.firstIndex(where: { $0 === waiter }) else { return false }
      waiters.remove(at: index)
      self = .closed(waiters: waiters)
      return true
    case .open:
      return false
    }
  }

  /// Returns the waiters to resume, in the order in which they came.
  mutating func open() -> [Promise<Void?>] {
    switch self {
    case .closed(let waiters):
      self = .open
      return waiters
    case .open:
      return []
    }
  }
}
