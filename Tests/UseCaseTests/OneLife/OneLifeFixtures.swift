import Dispatch
import Foundation
import TestSupport
import Testing
import UseCase

/// How often a test tries: a run by default tries less often than one that is asked for more.
func tries(_ name: String, or count: Int) -> Int {
  ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? count
}

/// Holds the main thread until the condition holds, so that no other code of the main actor runs
/// in between.
///
/// - Returns: Whether it came to hold. Ten minutes are time enough on a busy machine.
@MainActor func comes(within limit: Duration = .seconds(600), _ condition: () -> Bool) -> Bool {
  let end = ContinuousClock.now + limit
  while !condition() {
    if ContinuousClock.now > end { return false }
    yieldThread()
  }
  return true
}

/// Gives the main actor to others until the condition holds.
///
/// - Returns: Whether it came to hold. Ten minutes are time enough on a busy machine.
@MainActor func isReached(
  within limit: Duration = .seconds(600), _ condition: () -> Bool
) async -> Bool {
  let end = ContinuousClock.now + limit
  while !condition() {
    if ContinuousClock.now > end { return false }
    await Task.yield()
  }
  return true
}

/// Runs the jobs of an actor on a thread of its own, or one by one when a test asks for them.
final class SteppedExecutor: SerialExecutor {
  private struct Jobs {
    var isHeld = false
    var kept: [UnownedJob] = []
  }

  private let thread = DispatchQueue(label: "stepped")
  private let jobs = Watched(Jobs())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.update { jobs in
      if jobs.isHeld { jobs.kept.append(job) } else { schedule(job) }
    }
  }

  /// Keeps the jobs that come.
  func hold() { jobs.update { $0.isHeld = true } }

  /// Returns once that many jobs are kept.
  func jobs(atLeast count: Int) async { await jobs.wait { $0.kept.count >= count } }

  /// Runs the first of the kept jobs, and returns when it has run.
  func step() async {
    guard let job = jobs.update({ $0.kept.isEmpty ? nil : $0.kept.removeFirst() }) else { return }
    await withUnsafeContinuation { continuation in
      thread.async {
        job.runSynchronously(on: self.asUnownedSerialExecutor())
        continuation.resume()
      }
    }
  }

  /// Runs the kept jobs, and those that come.
  func release() {
    jobs.update { jobs in
      for job in jobs.kept { schedule(job) }
      jobs = Jobs()
    }
  }

  private func schedule(_ job: UnownedJob) {
    thread.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

/// An actor that writes down what its handlers do.
actor Desk {
  nonisolated let executor = SteppedExecutor()
  nonisolated let log = Log<String>()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  private func note(_ line: String) { log.append(line) }

  /// Attaches one handler of each kind but `onStart`, which all run here.
  func record(_ operation: Operation) {
    operation
      .then { self.note("then \($0)") }
      .catch { _ in self.note("catch") }
      .common { self.note("common") }
      .onCancel { self.note("onCancel \($0)") }
      .finally { self.note("finally") }
  }

  /// Attaches a `then` that runs here.
  func attachThen(to operation: Operation, _ handler: @escaping @Sendable (Int) -> Void) {
    operation.then { response in
      self.note("then \(response)")
      handler(response)
    }
  }

  /// Executes with updates that arrive here.
  func count(_ counting: Counting, upTo limit: Int) -> Operation {
    counting.execute(limit) { self.note("update \($0)") }
  }

  /// Attaches an `onStart` that runs here.
  func attachStart(to operation: Operation) {
    operation.onStart { self.note("start") }
  }

  /// Attaches a `finally` that runs here.
  func attachFinally(to operation: Operation) {
    operation.finally { self.note("finally") }
  }

  /// Does something as a job of its own.
  func act(_ line: String, _ body: @Sendable () -> Void) {
    note(line)
    body()
  }
}

/// The policies with one slot, by name.
let policiesWithOneSlot: [UseCaseQueue.Policy] = [
  .serial, .cancelPrevious, .cancelPreviousAndWait, .dropWhileBusy, .keepLatest,
  .limit(1, waiting: 0), .limit(1, waiting: 2), .serial.byPriority,
]
