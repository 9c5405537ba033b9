import Synchronization

/// The least that somebody writes who needs one handler, or one task that awaits the value, and
/// no library: a lock for both, the task to cancel, the number of those that run, and a task-local
/// value that tells the body in whose slot it runs.
///
/// An operation pays for all that it has beside this: requests and responses of any type, a use
/// case that is called by way of its protocol, any number of handlers and of waiting tasks, in
/// order, each on its actor, cancellation that silences them, policies, ids, slots that calls in
/// the body share, updates, time-outs, interceptors, observers, and an end to await.
final class ByHand: Sendable {
  final class Queue: Sendable {
    let counts = Mutex((running: 0, done: 0))
  }

  @TaskLocal static var slot: ByHand?

  /// A closure in a struct: one that a lock returned as it is would get a box at each return.
  private struct Handler: Sendable {
    let call: @isolated(any) @Sendable (Int) -> Void
  }

  private struct State {
    var task: Task<Void, any Error>?
    var value: Int?
    var handler: Handler?
    var waiter: UnsafeContinuation<Int?, Never>?
    var isAbandoned = false
  }

  private let queue: Queue
  private let number: Int
  private let state = Mutex(State())

  init(_ number: Int, in queue: Queue) {
    self.number = number
    self.queue = queue
  }

  func execute() -> Self {
    queue.counts.withLock { $0.running += 1 }
    // One that may throw: around the closure of another, a second one would be made.
    let task = Task<Void, any Error> {
      let value = await Self.$slot.withValue(self) { await body() }
      queue.counts.withLock {
        $0.running -= 1
        $0.done += 1
      }
      let (handler, waiter) = state.withLock { state in
        state.task = nil
        state.value = value
        defer { (state.handler, state.waiter) = (nil, nil) }
        return (state.handler, state.waiter)
      }
      waiter?.resume(returning: value)
      if let handler { await handler.call(value) }
    }
    state.withLock { if $0.value == nil { $0.task = task } }
    return self
  }

  func cancel() { state.withLock { $0.task }?.cancel() }

  private func body() async -> Int { twice(number) }

  func then(_ handler: @escaping @isolated(any) @Sendable (Int) -> Void) {
    let value = state.withLock { state in
      precondition(state.handler == nil, "There is room for one handler.")
      if state.value == nil { state.handler = Handler(call: handler) }
      return state.value
    }
    if let value { Task { await handler(value) } }
  }

  var value: Int {
    get async throws {
      let value = await withTaskCancellationHandler {
        await withUnsafeContinuation { waiter in
          let (isOver, value) = state.withLock { state in
            let isOver = state.value != nil || state.isAbandoned
            precondition(state.waiter == nil, "There is room for one who waits.")
            if !isOver { state.waiter = waiter }
            return (isOver, state.value)
          }
          if isOver { waiter.resume(returning: value) }
        }
      } onCancel: {
        let waiter = state.withLock { state in
          state.isAbandoned = true
          return state.waiter.take()
        }
        waiter?.resume(returning: nil)
      }
      guard let value else { throw CancellationError() }
      return value
    }
  }
}

extension ByHand {
  /// Each cancels the one before.
  @Sendable static func storm(_ count: Int, _ client: Client) {
    let queue = Queue()
    var last: ByHand?
    for number in 0..<count {
      last?.cancel()
      let operation = ByHand(number, in: queue).execute()
      operation.then { client.take($0) }
      last = operation
    }
  }
}
