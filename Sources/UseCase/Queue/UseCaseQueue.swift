import Synchronization
import UseCaseInternals

/// Decides which operations run now, which wait and which are cancelled.
///
/// ```swift
/// struct Search: UseCase {
///   let queue = UseCaseQueue(.cancelPrevious)
///   func main(_ text: String) async throws -> [String] { ["\(text)!"] }
/// }
/// ```
///
/// A queue is a reference: copies of a use case share it, and several use cases may share one on
/// purpose. `execute` decides on the caller's thread, before it returns, and the order of calls
/// is the order of admission.
public final class UseCaseQueue: Sendable {
  typealias Machine = QueueMachine<any AnyOperation, UnsafeContinuation<Void, Never>>

  /// An unlimited queue for the whole process, where use cases without one of their own run.
  ///
  /// - Complexity: O(1).
  public static let `default` = UseCaseQueue()

  /// How many operations run at a time, and what becomes of the others.
  ///
  /// - Complexity: O(1).
  public let policy: Policy

  let clock: any Clock<Duration>
  let interceptors: [any UseCaseInterceptor]
  let observer: (@Sendable (UseCaseEvent) -> Void)?
  let isObserved: Bool
  /// Whether bodies run as they are, with nothing around them.
  @usableFromInline let isPlain: Bool
  let keeper: (any QueueKeeper)?
  private let machine: Lock<Machine>

  /// Creates a queue.
  ///
  /// - Parameters:
  ///   - policy: How many operations run at a time, and what becomes of the others.
  ///   - clock: Measures debounce and time-outs. Give your own in a test.
  ///   - interceptors: Wrapped around every body of the queue, the first outermost.
  ///   - observer: Hears of every change in the life of an operation, for one operation always in
  ///     order. It is called on no particular isolation, outside of any lock: what `execute` and
  ///     `cancel()` decide at once on the caller's thread before they return, unless another
  ///     thread is just telling an earlier change of the same operation and goes on with this one.
  /// - Complexity: O(1).
  public convenience init(
    _ policy: Policy = .unlimited, clock: any Clock<Duration> = ContinuousClock(),
    interceptors: [any UseCaseInterceptor] = [],
    observer: (@Sendable (UseCaseEvent) -> Void)? = nil
  ) {
    self.init(policy, clock: clock, interceptors: interceptors, observer: observer, keeper: nil)
  }

  init(
    _ policy: Policy, clock: any Clock<Duration>, interceptors: [any UseCaseInterceptor],
    observer: (@Sendable (UseCaseEvent) -> Void)?, keeper: (any QueueKeeper)?
  ) {
    self.policy = policy
    self.clock = clock
    self.interceptors = interceptors
    self.observer = observer
    isObserved = observer != nil
    isPlain = interceptors.isEmpty
    self.keeper = keeper
    machine = Lock(Machine(policy: policy))
  }

  /// What the queue is doing and has done: one consistent snapshot.
  ///
  /// - Complexity: O(1).
  public var activity: UseCaseActivity { machine.withLock { $0.activity } }

  /// Whether the queue admits operations but starts none.
  ///
  /// - Complexity: O(1).
  public var isSuspended: Bool { machine.withLock { $0.isSuspended } }

  /// Lets no waiting operation start until ``resume()``. Running ones go on, and the policy
  /// holds: newcomers wait, are refused, or take the place of others. What waits in a queue that
  /// is never resumed waits for ever: cancel it.
  ///
  /// - Complexity: O(1).
  public func suspend() { machine.withLock { $0.suspend() } }

  /// Starts the waiting operations that may, in order.
  ///
  /// - Complexity: O(*n*) in the number of operations that start.
  public func resume() { change { $0.resume() } }

  /// Cancels everything that runs or waits, as ``UseCaseCancellation/requested``. The handlers of
  /// an operation that has succeeded or failed and is no longer in the queue still run.
  ///
  /// - Complexity: O(*n*) in the number of operations.
  public func cancelAll() {
    let (operations, release) = machine.withLock { machine in
      let (operations, release) = machine.cancelAll()
      if let keeper {
        for operation in operations {
          let ticket = operation.withCore { $0.ticket }
          if !machine.holds(ticket) { keeper.left(UseCaseOperationID(number: ticket.id)) }
        }
        tellStarted(release, to: keeper)
      }
      return (operations, release)
    }
    keeper?.unlocked()
    for operation in operations {
      operation.withCore { $0.end(.cancelled(.requested), isFromQueue: true) }
    }
    act(on: release)
  }

  /// Returns when nothing runs and nothing waits, at once if that is so now. The cancellation of
  /// the awaiting task changes nothing.
  ///
  /// A body of this queue that awaits this waits for ever.
  ///
  /// - Complexity: O(1), the wait aside.
  public func idle() async {
    await withUnsafeContinuation { waiter in
      machine.withLock { $0.wait(waiter) }?.resume()
    }
  }

  /// Whether the running code holds a slot of this queue: in a body, in what the body calls with
  /// `try await useCase(request)`, and in their child tasks and `Task { }`, as long as the slot is
  /// held. Handlers run outside.
  ///
  /// - Complexity: O(*n*) in the depth of calls.
  public var isHeldHere: Bool { Slot.holder(in: self) != nil }
}

// MARK: - What operations ask

extension UseCaseQueue {
  @usableFromInline
  enum Admission {
    /// Make the task of the body.
    case run
    /// Make the task of the body, which waits for its slot first.
    case wait
    /// Make the task of the body, which sleeps, and waits for its slot, first.
    case debounce(@Sendable () async -> Void)
    case refuse
  }

  private static let lastID = Atomic<UInt64>(0)

  static func nextID() -> UInt64 {
    lastID.add(1, ordering: .relaxed).newValue
  }

  /// Admits the operation, gives it its ticket, and cancels those that give way to it.
  @inline(__always)
  func admit(
    _ operation: any AnyOperation, _ core: borrowing OperationCore, _ question: (any Sendable)?
  ) -> Policy.Decision.Admission {
    let admission = machine.withLock { machine in
      let admission = machine.submit(operation, id: Self.nextID())
      core.ticket = admission.ticket
      if let keeper {
        keeper.admitted(core.id, question)
        if admission.decision == .start { keeper.started(core.id) }
      }
      return admission
    }
    keeper?.unlocked()
    admission.superseded.forEach { operation in
      operation.withCore { $0.end(.cancelled(.superseded), isFromQueue: true) }
    }
    return admission.decision
  }

  /// Returns a sleep of the debounce, counted from now.
  func sleep() -> @Sendable () async -> Void {
    let sleep = clock.sleep(for: policy.debounce ?? .zero)
    return { try? await sleep() }
  }

  func ready(_ ticket: Machine.Ticket) {
    change { $0.ready(ticket) }
  }

  func cancel(_ ticket: Machine.Ticket) {
    change(leaving: ticket) { $0.cancel(ticket) }
  }

  @inline(__always)
  func finish(_ ticket: Machine.Ticket, as kind: Verdict.Kind) {
    change(leaving: ticket) { $0.finish(ticket, as: kind) }
  }

  /// Changes the machine, tells the keeper under the same lock, and acts once it is released.
  @inline(__always)
  private func change(
    leaving ticket: Machine.Ticket? = nil, _ body: (inout Machine) -> Machine.Release?
  ) {
    let release = machine.withLock { machine in
      guard let keeper else { return body(&machine) }
      let wasThere = ticket.map { machine.holds($0) } ?? false
      let release = body(&machine)
      if let ticket, wasThere, !machine.holds(ticket) {
        keeper.left(UseCaseOperationID(number: ticket.id))
      }
      tellStarted(release, to: keeper)
      return release
    }
    keeper?.unlocked()
    act(on: release)
  }

  private func tellStarted(_ release: Machine.Release?, to keeper: any QueueKeeper) {
    release?.started.forEach { operation in keeper.started(operation.withCore { $0.id }) }
  }

  /// Whether what waits for a slot of this queue waits for one body alone.
  var isSerial: Bool { policy.limit == 1 && policy.whenBusy != .cancelPrevious }

  @inline(__always)
  private func act(on release: consuming Machine.Release?) {
    guard let release = consume release else { return }
    release.started.forEach { operation in operation.withCore { $0.grant() } }
    release.idle.forEach { $0.resume() }
  }
}

extension Clock where Duration == Swift.Duration {
  /// Returns a sleep of `duration`, counted from now, but of no more than a hundred years: the
  /// clocks of the standard library trap at three hundred.
  func sleep(for duration: Duration) -> @Sendable () async throws -> Void {
    let deadline = now.advanced(by: min(duration, .seconds(100 * 365 * 86_400)))
    return { try await self.sleep(until: deadline, tolerance: nil) }
  }
}
