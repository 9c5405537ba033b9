import Foundation
import TestSupport
import Testing

/// The history against the reference, in sessions of random steps.
///
/// `HISTORY_SEED=7 swift test` runs other ones, `HISTORY_STEPS=1000000` more of them.
@Suite(.mustEnd)
struct RandomModelTests {
  private static func number(_ name: String) -> UInt64? {
    ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
  }

  private static let seed = number("HISTORY_SEED") ?? 1
  private static let total = Int(number("HISTORY_STEPS") ?? 2_000)

  @Test(.holds("Against a model"))
  func `a history does what the reference does`() async { await compare(isJournaled: false) }

  @Test(.holds("Against a model"))
  func `a history that processes open one after the other does what the reference does`() async {
    await compare(isJournaled: true)
  }

  private func compare(isJournaled: Bool) async {
    var random = SeededGenerator(seed: Self.seed)
    var taken = 0
    while taken < Self.total {
      let steps = (0..<Int.random(in: 5...150, using: &random)).map { _ in
        RandomStep.random(&random)
      }
      taken += steps.count
      // One that differs is asked again, and has time to do so.
      let differs = await Self.difference(in: steps, isJournaled, isPatient: false) != nil
      guard differs, let difference = await Self.difference(in: steps, isJournaled)
      else { continue }
      let shortest = await Self.shorten(steps, isJournaled)
      let last = await Self.difference(in: shortest, isJournaled) ?? difference
      let trace = shortest.map { "\($0)" }.joined(separator: "\n")
      Issue.record("Seed \(Self.seed): \(last)\nafter\n\(trace)")
      return
    }
  }

  @Test func `a half undone group above a hole is where the forecast has it`() async {
    let difference = await Self.difference(in: Self.found)
    #expect(difference == nil)
  }

  /// A session that once differed from the reference.
  private static let found: [RandomStep] = [
    .group(seed: 1_934_268_001_712_305_127), .edit, .succeed, .succeed, .succeed, .succeed, .edit,
    .group(seed: 4_106_935_128_432_781_727), .succeed, .undo, .succeed,
    .group(seed: 7_830_080_792_844_626_679), .forget(888), .succeed, .succeed, .succeed, .succeed,
    .fail, .type(6), .edit, .forget(754), .undo, .undo,
  ]

  private static func difference(
    in steps: [RandomStep], _ isJournaled: Bool = false, isPatient: Bool = true
  ) async -> String? {
    do {
      try await RandomSession(isJournaled: isJournaled, isPatient: isPatient).run(steps)
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// Leaves out as many steps as it can, in ever smaller pieces.
  private static func shorten(
    _ steps: [RandomStep], _ isJournaled: Bool
  ) async -> [RandomStep] {
    var steps = steps
    var size = steps.count / 2
    while size > 0 {
      var start = 0
      while start < steps.count {
        var fewer = steps
        fewer.removeSubrange(start..<min(start + size, steps.count))
        let isShorter = await difference(in: fewer, isJournaled, isPatient: false) != nil
        if isShorter { steps = fewer } else { start += size }
      }
      size /= 2
    }
    return steps
  }
}
