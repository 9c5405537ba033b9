import UseCase
import UseCaseInternals

/// The parts of a group that is held open. They wait until the group has the lane, and then each runs
/// in a task that the body of the group makes, so that it has the place of the group.
final class HeldParts: Sendable {
  typealias Job = @Sendable () -> Void

  let queue: UseCaseQueue
  private let machine = Lock(HeldPartsMachine<UnsafeContinuation<Job?, Never>, Job>())

  /// The clock measures the timeouts of the parts.
  init(clock: any Clock<Duration>) {
    queue = UseCaseQueue(.serial, clock: clock)
    queue.suspend()
  }

  /// Returns the number of the next part, nil after the end. Say then how to cancel it.
  func admit() -> Int? { machine.withLock { $0.admit() } }

  func admitted(_ number: Int, _ cancel: @escaping Job) {
    act(on: machine.withLock { $0.admitted(number, cancel) })
  }

  func close() { act(on: machine.withLock { $0.close(as: .closed, isForced: false) }) }

  /// Returns whether the body of the group never begins. If it is not forced, a group that is closed
  /// stays so.
  func cancel(isForced: Bool = false) -> Bool {
    let action = machine.withLock { $0.close(as: .cancelled, isForced: isForced) }
    act(on: action)
    return action.neverBegins
  }

  private func act(on action: HeldPartsMachine<UnsafeContinuation<Job?, Never>, Job>.Ending) {
    for cancel in action.cancels { cancel() }
    guard action.isLast else { return }
    Task {
      await queue.idle()
      machine.withLock { $0.finish() }?.resume(returning: nil)
    }
  }

  /// The body of the group.
  func hold() async throws {
    act(on: machine.withLock { $0.begin() })
    queue.resume()
    await withTaskCancellationHandler {
      while let job = await next() { job() }
    } onCancel: {
      _ = cancel(isForced: true)
    }
    if machine.withLock({ $0.isCancelled }) { throw CancellationError() }
  }

  private func next() async -> Job? {
    await withUnsafeContinuation { waiter in
      switch machine.withLock({ $0.next(waiter) }) {
      case .wait: break
      case .go(let job): waiter.resume(returning: job)
      }
    }
  }

  /// Runs the body of a part where the group is.
  func run<Value: Sendable>(
    _ number: Int, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    machine.withLock { $0.start(number) }
    let task = await withUnsafeContinuation { starter in
      let job: Job = { starter.resume(returning: Task { try await body() }) }
      machine.withLock { $0.hand(job) }?.resume(returning: job)
    }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}

/// The life of a group that is held open, as its parts see it.
struct HeldPartsMachine<Waiter: Sendable, Job: Sendable>: Sendable {
  enum Phase: Sendable { case open, closed, cancelled }

  struct Ending: Sendable {
    /// Cancel these parts, which have not begun.
    var cancels: [Job] = []
    /// Wait until all parts have ended, and tell the machine.
    var isLast = false
    /// Whether the group was cancelled before its body began.
    let neverBegins: Bool
  }

  enum Next: Sendable {
    case wait
    /// The body of the group starts the part, or ends if it is nil.
    case go(Job?)
  }

  private var phase = Phase.open
  private var hasBegun = false
  private var isEnding = false
  private var isOver = false
  private var last = 0
  /// The parts that have begun before it was said how to cancel them.
  private var early: Set<Int> = []
  /// How many parts have a number, and are not on their queue yet.
  private var coming = 0
  /// The parts that wait, each to be cancelled so.
  private var waiting: [Int: Job] = [:]
  private var job: Job?
  private var waiter: Waiter?

  var isCancelled: Bool { phase == .cancelled }

  mutating func admit() -> Int? {
    guard phase == .open else { return nil }
    (last, coming) = (last + 1, coming + 1)
    return last
  }

  mutating func admitted(_ number: Int, _ cancel: Job) -> Ending {
    coming -= 1
    var ending = ending()
    if early.remove(number) != nil { return ending }
    if isCancelled { ending.cancels.append(cancel) } else { waiting[number] = cancel }
    return ending
  }

  mutating func start(_ number: Int) {
    if waiting.removeValue(forKey: number) == nil { early.insert(number) }
  }

  /// The body of the group begins.
  mutating func begin() -> Ending {
    hasBegun = true
    return ending()
  }

  mutating func close(as end: Phase, isForced: Bool) -> Ending {
    if phase == .open || isForced { phase = end }
    var ending = ending()
    if isCancelled {
      ending.cancels = Array(waiting.values)
      waiting = [:]
    }
    return ending
  }

  private mutating func ending() -> Ending {
    let isLast = hasBegun && phase != .open && coming == 0 && !isEnding
    if isLast { isEnding = true }
    return Ending(isLast: isLast, neverBegins: isCancelled && !hasBegun)
  }

  /// The last part has ended. Returns the body of the group, if it waits.
  mutating func finish() -> Waiter? {
    isOver = true
    return waiter.take()
  }

  /// A part has the turn. Returns the body of the group, if it waits, to give it the part.
  mutating func hand(_ job: Job) -> Waiter? {
    if let waiter = waiter.take() { return waiter }
    self.job = job
    return nil
  }

  mutating func next(_ waiter: Waiter) -> Next {
    if let job = job.take() { return .go(job) }
    if isOver { return .go(nil) }
    self.waiter = waiter
    return .wait
  }
}
