public import Testing

/// Ends the whole run, with a message that names the test, when a test does not end.
///
/// The time limit of Swift Testing only cancels a test, which frees nobody who waits for
/// something that never comes.
public struct HangTrait: SuiteTrait, TestTrait, TestScoping {
  let limit: Duration

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
    try await stopUnlessItEnds(test.name, within: limit, function)
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
  /// A test that has not ended after five minutes stops the run: all tests share two cores, and a
  /// test waits while the heavy ones run, much longer under the thread sanitizer.
  public static var mustEnd: HangTrait { HangTrait(limit: .seconds(300)) }

  /// A test that has not ended after that time stops the run.
  public static func mustEnd(within limit: Duration) -> HangTrait { HangTrait(limit: limit) }
}
