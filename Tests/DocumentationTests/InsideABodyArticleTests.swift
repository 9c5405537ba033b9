import TestSupport
import Testing
import UseCase

/// The code of “Inside a body”.
@Suite(.mustEnd)
struct InsideABodyArticleTests {
  private let queue = UseCaseQueue(.serial)
  private var save: AnyUseCase<String, Int> {
    AnyUseCase(queue: queue) { [queue] text in
      #expect(queue.activity.running == 1)
      return text.count
    }
  }

  @Test func `a use case may call another one of its serial queue`() async throws {
    #expect(try await Publish(queue: queue, save: save).execute("abc").value == "version 3")
    #expect(queue.activity.executed == 1)
  }

  @Test func `an operation that a body executes runs when the body is over`() async throws {
    let backUp = try await Close(queue: queue, backUp: save).execute("abc").value
    #expect(try await backUp.value == 3)
    #expect(queue.activity.executed == 2)
  }

  @Test
  func `awaiting an operation inside the body that holds its slot is a deadlock`()
    async
  {
    let (queue, save) = (queue, save)
    let stuck = AnyUseCase<String, Int>(queue: queue) { text in
      #expect(queue.isHeldHere)
      return try await save.execute(text).value
    }
    await #expect(throws: UseCaseDeadlock.self) { try await stuck("abc") }
    await queue.idle()
    #expect(!queue.isHeldHere)
  }
}

struct Publish: UseCase {
  let queue: UseCaseQueue
  let save: AnyUseCase<String, Int>

  func main(_ text: String) async throws -> String {
    let version = try await save(text)
    return "version \(version)"
  }
}

struct Close: UseCase {
  let queue: UseCaseQueue
  let backUp: AnyUseCase<String, Int>

  func main(
    _ text: String
  ) async throws -> UseCaseOperation<String, Int> {
    backUp.execute(text)
  }
}
