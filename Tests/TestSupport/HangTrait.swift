public import Testing

/// Ends the whole run, with a message that names the test, when a test does not end.
///
/// The time limit of Swift Testing only cancels a test, which frees nobody who waits for
/// something that never comes.
public struct HangTrait: SuiteTrait, TestTrait, TestScoping {
  /// Each test of a suite has the time for itself.
  public var isRecursive: Bool { true }

  /// Runs the test, and stops the process if that takes too long.
  ///
  /// - Throws: What the test throws.
  public func provideScope(
    for test: Test, testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    try await stopUnlessItEnds(test.name, within: .seconds(1_800), function)
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
  /// A test that has not ended after half an hour stops the run.
  ///
  /// All tests begin at the same time and share the cores: each may take as long as all of them
  /// do, under the thread sanitizer on a machine that is busy with other things.
  public static var mustEnd: HangTrait { HangTrait() }
}
