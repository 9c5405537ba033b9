import TestSupport
import Testing
import UseCase

/// A queue that is made anew at each access limits nothing.
@Suite(.mustEnd)
struct ComputedQueueTests {
  private struct Computed: UseCase {
    var queue: UseCaseQueue { UseCaseQueue(.serial) }
    func main(_ request: Int) async -> Int { request }
  }

  private struct ComputedCount: ReportingUseCase {
    var queue: UseCaseQueue { UseCaseQueue(.serial) }
    func main(_ request: Int, report: @escaping @Sendable (Int) -> Void) async -> Int { request }
  }

  private struct Shared: UseCase {
    static let queue = UseCaseQueue(.serial)
    var queue: UseCaseQueue { Self.queue }
    func main(_ request: Int) async -> Int { request }
  }

  #if DEBUG && (os(Linux) || os(macOS))
    @Test(.holds("Computed queues"))
    func `to execute on a queue that is made anew at each access traps and says so`() async {
      let result = await #expect(
        processExitsWith: .failure, observing: [\.standardErrorContent]
      ) {
        Computed().execute(1)
      }
      let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
      #expect(message?.contains("Computed.queue gives another queue at each access") == true)
      #expect(message?.contains("Store it: `let queue = UseCaseQueue(…)`") == true)
      #expect(message?.contains("a `static let`, and return that from `queue`") == true)
    }

    @Test func `to call, or to execute with updates, on such a queue is a trap, too`() async {
      await #expect(processExitsWith: .failure) { _ = try await Computed()(1) }
      await #expect(processExitsWith: .failure) { ComputedCount().execute(1) { _ in } }
    }
  #endif

  @Test(.holds("Computed queues"))
  func `a queue that is stored, shared or the default one is no mistake`() async throws {
    let held = Held(.serial)
    let before = Shared.queue.activity.succeeded
    held.open(1...2)
    #expect(try await held.execute(1).value == 1)
    #expect(try await held(2) == 2)
    #expect(try await Shared().execute(3).value == 3)
    #expect(try await Shared()(4) == 4)
    #expect(try await AnyUseCase { (number: Int) in number }(5) == 5)
    #expect(Shared.queue.activity.succeeded == before + 2)
  }
}
