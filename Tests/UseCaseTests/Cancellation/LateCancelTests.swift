import TestSupport
import Testing
import UseCase

/// A `cancel()` after the success, while a `finally` is on its way to its actor.
@Suite(.mustEnd)
struct LateCancelTests {
  private let log = Log<String>()
  private let held = Held()

  @Test(.holds("finally with the outcome"))
  func `a finally on its way is told of the cancellation`() async {
    let screen = Screen(log: log)
    let operation = held.execute(1)
    await screen.attachFinally(to: operation)
    await cancel(operation, whileOnItsWayTo: screen)
    #expect(log.elements == ["finally requested"])
    #expect(operation.fate == "+")
  }

  @Test(.holds("Order of handlers"))
  func `an onCancel attached before a finally on its way runs before it`() async {
    let screen = Screen(log: log)
    let operation = held.execute(1)
    operation.onCancel { [log] _ in log.append("onCancel") }
      .catch { [log] _ in log.append("catch") }
    await screen.attachFinally(to: operation)
    operation.onCancel { [log] _ in log.append("late onCancel") }
    await cancel(operation, whileOnItsWayTo: screen)
    #expect(log.elements == ["onCancel", "late onCancel", "finally requested"])
  }

  @Test func `a finally on its way is told of the success that every then has seen`() async {
    let screen = Screen(log: log)
    let operation = held.execute(1)
    operation.then { [log] _ in log.append("then") }
      .onCancel { [log] _ in log.append("onCancel") }
    await screen.attachFinally(to: operation)
    operation.then { [log] _ in log.append("late then") }
    await cancel(operation, whileOnItsWayTo: screen)
    #expect(log.elements == ["then", "late then", "finally, not cancelled"])
  }

  @Test(.holds("Two moments"), arguments: 0...2)
  func `handlers attached while a finally is on its way run before it`(earlier: Int) async {
    let screen = Screen(log: log)
    let operation = held.execute(1)
    for number in 0..<earlier { operation.finally { [log] in log.append("earlier \(number)") } }
    await screen.attachFinally(to: operation)
    await cancel(operation, whileOnItsWayTo: screen) {
      operation.then { [log] _ in log.append("then") }
        .onCancel { [log] _ in log.append("onCancel") }
        .finally { [log] in log.append("finally") }
    }
    #expect(
      log.elements == (0..<earlier).map { "earlier \($0)" }
        + ["onCancel", "finally requested", "finally"])
  }

  @Test func `a cancel in the last finally runs no onCancel`() async {
    held.open(1)
    let operation = held.execute(1)
    operation.onCancel { [log] _ in log.append("onCancel") }
      .finally { [log] in
        log.append("finally")
        operation.cancel()
      }
    await operation.ended()
    #expect(log.elements == ["finally"])
  }

  @Test func `a cancel right after the end keeps no later handler back`() async {
    held.open(1)
    for _ in 1...200 {
      let operation = held.execute(1)
      await operation.ended()
      operation.cancel()
      operation.then { [log] _ in log.append("then") }
      await operation.ended()
    }
    #expect(log.count == 200)
  }

  /// Lets the body return, and cancels when the first job waits for the actor.
  private func cancel(
    _ operation: Operation, whileOnItsWayTo screen: Screen, after attach: () -> Void = {}
  ) async {
    screen.executor.hold()
    held.open(1)
    await screen.executor.firstJob()
    attach()
    operation.cancel()
    screen.executor.release()
    await operation.ended()
  }

  private actor Screen {
    nonisolated let executor = HeldExecutor()
    private let log: Log<String>

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(log: Log<String>) {
      self.log = log
    }

    func attachFinally(to operation: Operation) {
      operation.finally { outcome in
        if case .cancelled(let reason) = outcome {
          self.log.append("finally \(reason)")
        } else {
          self.log.append("finally, not cancelled")
        }
      }
    }
  }

  /// Keeps jobs back on demand. Otherwise, a job runs at once, so only one task may use it.
  private final class HeldExecutor: SerialExecutor {
    /// The jobs that are kept back; nil if none is.
    private let jobs = Watched<[UnownedJob]?>(nil)

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let isHeld = jobs.update { jobs in
        jobs?.append(job)
        return jobs != nil
      }
      if !isHeld { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    func hold() { jobs.update { $0 = [] } }

    func firstJob() async { await jobs.wait { $0?.isEmpty == false } }

    func release() {
      let held = jobs.update { jobs in
        defer { jobs = nil }
        return jobs ?? []
      }
      for job in held { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
  }
}
