import Dispatch
import UseCaseInternals

/// Lets so many tests run at a time; the others wait for their turn.
final class Turns: Sendable {
  static let shared = Turns(6)
  static let computing = Turns(1)

  private struct State {
    var free: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Lock<State>

  init(_ count: Int) { state = Lock(State(free: count)) }

  /// Returns when it is the caller's turn.
  func take() async {
    await withCheckedContinuation { caller in
      let isTurn = state.withLock { state in
        guard state.free == 0 else {
          state.free -= 1
          return true
        }
        state.waiting.append(caller)
        return false
      }
      if isTurn { caller.resume() }
    }
  }

  /// Hands the turn to whoever waits for the longest time.
  func giveBack() {
    let next: CheckedContinuation<Void, Never>? = state.withLock { state in
      guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
      state.free += 1
      return nil
    }
    next?.resume()
  }
}

/// The thread of tests that only compute.
final class ComputingThread: TaskExecutor {
  static let shared = ComputingThread()
  private let queue = DispatchQueue(label: "computing")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
