public import Testing

/// Gives each test a turn, and ends the whole run, with a message that names the test, when one
/// does not end.
///
/// The time limit of Swift Testing only cancels a test, which frees nobody who waits for
/// something that never comes.
public struct HangTrait: SuiteTrait, TestTrait, TestScoping {
  let turns: Turns
  let executor: (any TaskExecutor)?

  /// Each test of a suite has the time for itself.
  public var isRecursive: Bool { true }

  /// Waits for a turn, runs the test, and stops the process if that takes too long.
  ///
  /// - Throws: What the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    await turns.take()
    defer { turns.giveBack() }
    try await stopUnlessItEnds(test.name, within: .seconds(1_800)) {
      try await withTaskExecutorPreference(executor, operation: function)
    }
  }
}

/// Runs the body, and stops the process, with a message, if it has not ended within the limit.
///
/// - Throws: What the body throws.
public func stopUnlessItEnds(
  _ name: String, within limit: Duration, _ body: () async throws -> Void
) async throws {
  let watch = Task.detached {
    try await ContinuousClock().sleep(for: limit)
    fatalError("“\(name)” hangs: it has not ended within \(limit).")
  }
  defer { watch.cancel() }
  try await body()
}

extension Trait where Self == HangTrait {
  /// A test that runs beside five others, and stops the run if it has not ended after half an hour.
  ///
  /// Beside all others a test of a millisecond lasts as long as all of them do, and its time-outs
  /// expire.
  public static var mustEnd: HangTrait { HangTrait(turns: .shared, executor: nil) }

  /// A test that must end and only computes, for seconds: it runs on a thread of its own.
  ///
  /// On a thread that tasks share, every other test would wait for that.
  public static var computes: HangTrait {
    HangTrait(turns: .computing, executor: ComputingThread.shared)
  }
}
