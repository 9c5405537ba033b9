import Dispatch
public import Testing

/// Runs tests that only compute on a thread of their own.
///
/// Each of them keeps its thread for seconds. On the threads that tasks share, every other test
/// would wait for that.
public struct ComputingTrait: SuiteTrait, TestTrait, TestScoping {
  /// Each test of a suite runs there.
  public var isRecursive: Bool { true }

  /// Runs the test with that thread as the one that its tasks prefer.
  ///
  /// - Throws: The error of the test.
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    try await withTaskExecutorPreference(ComputingThread.shared, operation: function)
  }
}

private final class ComputingThread: TaskExecutor {
  static let shared = ComputingThread()
  private let queue = DispatchQueue(label: "computing")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

extension Trait where Self == ComputingTrait {
  /// A test that only computes, for seconds.
  public static var computes: ComputingTrait { ComputingTrait() }
}
