import Testing

@testable import timelines

struct TraceTests {
  @Test func `a trace is a tree with times, and says why an operation has failed`() async throws {
    #expect(
      try await Purchase.trace() == """
        Checkout              0–320 ms     succeeded
          Step                0–80 ms      succeeded
          Pay                 80–200 ms    failed: The card was declined.
            Step              80–200 ms    succeeded
          Pay                 200–320 ms   succeeded
            Step              200–320 ms   succeeded

        """)
  }
}
