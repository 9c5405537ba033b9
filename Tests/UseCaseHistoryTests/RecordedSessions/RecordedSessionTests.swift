#if os(Linux) || os(macOS)
  import Foundation
  import TestSupport
  import Testing

  /// Sessions that another implementation of the history has recorded, step by step.
  ///
  /// `SESSIONS=folder swift test --filter RecordedSessionTests` repeats those of another folder.
  @Suite(.mustEnd)
  struct RecordedSessionTests {
    @Test func `recorded sessions go as they went`() async throws {
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
      ) {
        let (isGood, report) = try SessionFolder.replay()
        print(report)
        exit(isGood ? 0 : 1)
      }
      let report = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
      print(report)
      if !report.contains(" 0 sessions differ") {
        Issue.record(
          "\(report)\(String(decoding: result?.standardErrorContent ?? [], as: UTF8.self))")
      }
    }
  }
#endif
