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

  @Test(arguments: found)
  func `a session that once differed from the reference`(_ steps: [RandomStep]) async {
    let difference = await Self.difference(in: steps, true)
    #expect(difference == nil)
  }

  private static let found: [[RandomStep]] = [
    // A half undone group above a hole.
    [
      .group(seed: 1_934_268_001_712_305_127), .edit, .succeed, .succeed, .succeed, .succeed, .edit,
      .group(seed: 4_106_935_128_432_781_727), .succeed, .undo, .succeed,
      .group(seed: 7_830_080_792_844_626_679), .forget(888), .succeed, .succeed, .succeed, .succeed,
      .fail, .type(6), .edit, .forget(754), .undo, .undo,
    ],
    // A group that is redone, and is asked to be redone once more behind an execution.
    [
      .group(seed: 13_245_275_061_493_251_003, holds: true), .succeed, .succeed, .undoIn(978),
      .succeed, .succeed, .move(287), .edit, .succeed, .redoEntry(277),
    ],
    // An entry that is forgotten while a move undoes it.
    [.type(0), .edit, .succeed, .edit, .succeed, .succeed, .move(570), .forget(291)],
    // A history that is cleared when nothing is applied, in a group that is taken back.
    [
      .type(4), .type(3), .lose, .succeed, .undo, .succeed,
      .group(seed: 16_229_221_090_611_039_085), .clear, .succeed, .succeed,
      .reopen(Reopening(hadEffect: true, keepsGroups: false, verdicts: [.success, .obsolete])),
    ],
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
