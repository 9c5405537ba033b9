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

extension InsideABodyArticleTests {
  @Test func `a body of the main actor may use what lives there`() async throws {
    let page = Page()
    #expect(try await Edit(page: page)("abc") == 3)
    #expect(await page.text == "abc")
  }

  @Test func `a body that ends with the cancellation of a call has its reason`() async {
    let (queue, gate) = (UseCaseQueue(.cancelPrevious), Gate())
    let save = AnyUseCase<String, Int>(queue: queue) { text in
      try await gate.pass()
      return text.count
    }
    let publishing = Publish(queue: UseCaseQueue(.serial), save: save).execute("abc")
    while queue.activity.running == 0 { await Task.yield() }
    save.execute("abcd")
    guard case .cancelled(.superseded) = await publishing.ended() else {
      return #expect(Bool(false), "superseded")
    }
    gate.open()
    await queue.idle()
  }
}

@MainActor
final class Page {
  var text = ""
}

@MainActor
struct Edit: UseCase {
  let page: Page

  func main(_ text: String) async throws -> Int {
    page.text += text  // `page` is on the main actor, too
    return page.text.count
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
