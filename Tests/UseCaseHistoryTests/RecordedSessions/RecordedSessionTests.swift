#if os(Linux) || os(macOS)
  import Foundation
  import TestSupport
  import Testing

  /// Sessions that another implementation of the history has recorded, step by step.
  ///
  /// `SESSIONS=folder swift test --filter RecordedSessionTests` repeats those of another folder. If
  /// the process of the sessions ends in their midst, `SESSIONS_TRACE=file` tells where.
  @Suite(.mustEnd)
  struct RecordedSessionTests {
    @Test func `recorded sessions go as they went`() async throws {
      let result = await #expect(
        processExitsWith: .success, observing: [\.standardOutputContent]
      ) {
        print(try SessionFolder.replay())
        exit(0)
      }
      let report = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
      print(report)
      #expect(report.contains(" 0 sessions differ"), "\(report)")
    }
  }
#endif
