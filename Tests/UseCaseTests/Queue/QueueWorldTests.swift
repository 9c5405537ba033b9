import TestSupport
import Testing

@testable import UseCase

/// The machines of a queue and of its operations together, in every order of their locks.
@Suite(.computes)
struct QueueWorldTests {
  typealias Act = QueueWorld.Act

  private func explore(
    _ policy: UseCaseQueue.Policy, _ acts: Act..., executions: [Int: Int] = [:]
  ) throws {
    let world = QueueWorld(policy, operations: 3, executions: executions)
    let (worlds, orders) = try world.takeInEveryOrder(acts)
    #expect(worlds > 50 && orders > worlds, "There is too little to explore.")
  }

  /// An optimized build goes through all policies, which takes minutes in another one.
  #if DEBUG
    private static let busy = [UseCaseQueue.Policy.serial, .keepLatest, .cancelPrevious]
  #else
    private static let busy = [
      UseCaseQueue.Policy.serial, .dropWhileBusy, .limit(1, waiting: 1), .keepLatest,
      .cancelPrevious, .cancelPreviousAndWait, .throttle(.seconds(1)),
    ]
  #endif

  @Test(arguments: busy)
  func `three are executed`(policy: UseCaseQueue.Policy) throws {
    try explore(policy, .submit([0, 1, 2]))
  }

  @Test(arguments: [UseCaseQueue.Policy.limit(2), .cancelPrevious(debounce: .seconds(1))])
  func `two are executed on two threads`(policy: UseCaseQueue.Policy) throws {
    try explore(policy, .submit([0]), .submit([1]))
  }

  #if !DEBUG
    @Test(arguments: busy + [.cancelPrevious(debounce: .seconds(1))])
    func `one is cancelled while it waits`(policy: UseCaseQueue.Policy) throws {
      try explore(policy, .submit([0, 1]), .requested(1))
    }
  #endif

  @Test(arguments: busy)
  func `all are cancelled`(policy: UseCaseQueue.Policy) throws {
    try explore(policy, .submit([0, 1]), .cancelAll)
  }

  #if !DEBUG
    @Test(arguments: busy + [.limit(2)])
    func `the queue is suspended and resumed`(policy: UseCaseQueue.Policy) throws {
      try explore(policy, .suspend, .submit([0, 1]))
    }
  #endif

  #if !DEBUG
    @Test(arguments: [UseCaseQueue.Policy.throttle(.seconds(1)), .limit(1, waiting: 1)])
    func `three are executed on two threads`(policy: UseCaseQueue.Policy) throws {
      try explore(policy, .submit([0, 1]), .submit([2]))
    }
  #endif

  #if !DEBUG
    @Test(.holds("The interval"))
    func `a second passes while a throttled one waits, is cancelled or superseded`() throws {
      let throttle = UseCaseQueue.Policy.throttle(.seconds(1))
      try explore(throttle, .submit([0, 1]), .requested(1), .tick)
      try explore(throttle, .submit([0, 1]), .cancelAll, .tick)
      try explore(throttle, .submit([0, 1]), .suspend, .tick)
      try explore(throttle, .submit([0, 1, 2]), .tick)
    }
  #endif

  #if DEBUG
    private static let pausing = [
      UseCaseQueue.Policy.keepLatest.debounced(by: .seconds(1), atMost: .seconds(2))
    ]
  #else
    private static let pausing = [
      UseCaseQueue.Policy.keepLatest.debounced(by: .seconds(1), atMost: .seconds(2)),
      .cancelPreviousAndWait.debounced(by: .seconds(1)), .cancelPrevious.spaced(by: .seconds(1)),
      .serial.spaced(by: .seconds(1)),
      .unlimited.spaced(by: .seconds(1)), .cancelPrevious(debounce: .seconds(1)),
    ]
  #endif

  #if !DEBUG
    @Test(arguments: pausing)
    func `a second passes while one pauses, is cancelled or flushed`(
      policy: UseCaseQueue.Policy
    ) throws {
      try explore(policy, .submit([0, 1]), .requested(1))
      try explore(policy, .submit([0, 1]), .flush)
      try explore(policy, .submit([0, 1]), .tick)
    }
  #endif

  @Test func `a task waits until the queue is idle`() throws {
    try explore(.serial, .submit([0, 1]), .requested(1), .awaitIdle)
    try explore(.dropWhileBusy, .submit([0, 1]), .awaitIdle)
    try explore(.serial, .submit([0, 1]), .suspend, .awaitIdle)
  }

  #if !DEBUG
    @Test(arguments: busy + [.limit(2), .cancelPrevious(debounce: .seconds(1))])
    func `a handler executes another`(policy: UseCaseQueue.Policy) throws {
      try explore(policy, .submit([0, 1]), executions: [0: 2])
      try explore(policy, .submit([0]), .submit([1]), executions: [0: 2])
      try explore(policy, .submit([0]), .requested(0), executions: [0: 1, 1: 2])
    }
  #endif

}
