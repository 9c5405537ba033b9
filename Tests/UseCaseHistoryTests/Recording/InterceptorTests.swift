import TestSupport
import Testing
import UseCase

@testable import UseCaseHistory

/// The interceptors of a use case's own queue, around its recorded body, its undo and its redo.
@Suite(.mustEnd)
struct InterceptorTests {
  let desk = Desk()
  var history: UseCaseHistory { desk.history }
  var page: Page { desk.page }

  /// Notes what it sees, and does what the test says.
  struct Probe: UseCaseInterceptor {
    struct Sight: Equatable {
      let request: String
      let response: String
      let useCase: String
      let id: UseCaseOperationID
      let parent: UseCaseOperationID?
    }

    let seen = Log<Sight>()
    /// Runs before and after `next`.
    var before: @Sendable (String) throws -> String = { $0 }
    var after: @Sendable (any Sendable) throws -> any Sendable = { $0 }

    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      let text = try #require(request as? String)
      seen.append(
        Sight(
          request: text, response: "\(Response.self)", useCase: execution.useCase,
          id: execution.id, parent: execution.parent))
      let changed = try #require(try before(text) as? Request)
      return try #require(try await after(next(changed)) as? Response)
    }
  }

  private func edit(_ interceptors: any UseCaseInterceptor...) -> Edit {
    Edit(page: page, queue: UseCaseQueue(interceptors: interceptors))
  }

  /// Lets the action fail so often.
  private func fail(_ action: String, times: Int) {
    let left = Watched(times)
    page.script(action) {
      let isFailing = left.update { left in
        left -= 1
        return left >= 0
      }
      if isFailing { throw Failure(action) }
    }
  }

  @Test(.holds("Interceptors"), arguments: [false, true])
  func `a retry goes on working, around the body, the undo and the redo`(isErased: Bool) async {
    let recorded = edit(RetryInterceptor(attempts: 3)).recorded(in: history)
    for action in ["do A", "undo A1", "redo A1"] { fail(action, times: 2) }
    let operation = isErased ? AnyUseCase(recorded).execute("A") : recorded.execute("A")
    #expect(await operation.ended().value?.number == 1)
    #expect(history.layout == "[A |]")
    #expect(await history.undo().ended().value??.title == "A")
    #expect(history.layout == "[| A]*")
    #expect(await history.redo().ended().value??.title == "A")
    #expect(page.log.elements == ["do A", "undo A1", "redo A1"].flatMap { [$0, $0, $0] })
    #expect(history.layout == "[A |]")
  }

  @Test(.holds("Interceptors"))
  func `an interceptor sees each of the three, under the name of the use case`() async {
    let probe = Probe()
    let execution = history.execute(edit(probe), "A")
    await execution.ended()
    let (undo, redo) = (history.undo(), history.redo())
    await redo.ended()
    #expect(probe.seen.elements.map(\.request) == ["A", "A", "A"])
    #expect(probe.seen.elements.map(\.response) == ["Answer", "()", "Answer"])
    #expect(probe.seen.elements.map(\.useCase) == ["Edit", "Edit", "Edit"])
    #expect(probe.seen.elements.map(\.id) == [execution.id, undo.id, redo.id])
    #expect(probe.seen.elements.map(\.parent) == [nil, nil, nil])
  }

  @Test(.holds("Interceptors"))
  func `parts and calls in a body are intercepted, too, and know their callers`() async {
    let probe = Probe()
    let recorded = edit(probe).recorded(in: history)
    page.script("do A") { _ = try await recorded("inner") }
    let group = history.group("G") { _ = try await recorded("A") }
    await group.ended()
    #expect(probe.seen.elements.map(\.request) == ["A", "inner"])
    #expect(
      probe.seen.elements.map(\.parent) == [group.id, probe.seen.elements.first?.id])
    #expect(history.layout == "[G(A) |]")
    await history.back(1)
    #expect(probe.seen.elements.map(\.response) == ["Answer", "Answer", "()"])
  }

  @Test(.holds("The effect"))
  func `the entry keeps the request asked for, and the response of the body`() async throws {
    let token = page.lifetime.track()
    let probe = Probe(
      before: { $0 + "!" },
      after: { $0 is Answer ? Answer(number: 99, token: token) : $0 })
    let operation = history.execute(edit(probe), "A")
    #expect(try await operation.value.number == 99)
    let entry = try #require(history.entries.first)
    #expect(entry.title == "A")
    let kept = try #require(history.execution(entry.id, by: Edit.self))
    #expect(kept.request == "A" && kept.response.number == 1)
    await history.back(1)
    await history.forth(1)
    await history.back(1)
    #expect(page.log.elements == ["do A!", "undo A!1", "redo A!1", "undo A!2"])
  }

  @Test(.holds("The effect"))
  func `an error that comes after the body, the undo or the redo takes no effect back`() async {
    let isFailing = Watched(true)
    let probe = Probe(after: { if isFailing.value { throw Failure("after") } else { $0 } })
    let operation = history.execute(edit(probe), "A")
    #expect(await operation.ended().failure == Failure("after"))
    #expect(history.layout == "[A |]")
    #expect(await history.undo().ended().failure == Failure("after"))
    #expect(history.layout == "[| A]*")
    #expect(await history.redo().ended().failure == Failure("after"))
    #expect(history.layout == "[A |]")
    isFailing.update { $0 = false }
    await history.back(1)
    #expect(page.log.elements == ["do A", "undo A1", "redo A1", "undo A2"])
    #expect(history.layout == "[| A]*")
  }

  @Test(.holds("The effect"))
  func `a jump ends at a step after which an interceptor throws`() async {
    let isFailing = Watched(false)
    let probe = Probe(after: { if isFailing.value { throw Failure("after") } else { $0 } })
    for text in ["A", "B", "C"] { await history.execute(edit(probe), text).ended() }
    isFailing.update { $0 = true }
    #expect(await history.move(to: nil).ended().failure == Failure("after"))
    #expect(history.layout == "[A B | C]")
  }

  /// Answers in place of the redo and the body.
  private struct Cache: UseCaseInterceptor {
    let answer: any Sendable

    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      if let answer = answer as? Response { return answer }
      return try await next(request)
    }
  }

  @Test(.holds("The effect"))
  func `what an interceptor answers in place of the use case has no effect`() async {
    let answer = Answer(number: 7, token: page.lifetime.track())
    await history.run(page, "A")
    await history.back(1)
    let gate = page.hold("redo A1")
    let redo = history.redo()
    let operation = history.execute(edit(Cache(answer: answer)), "B")
    let undo = history.undo()
    gate.open()
    await redo.ended()
    #expect(await operation.ended().value?.number == 7)
    #expect(await undo.ended().historyError == .outOfTurn)
    #expect(history.layout == "[A |]")
  }

  @Test(.holds("The effect"))
  func `a redo or an undo that an interceptor has answered is cancelled`() async {
    let answer = Watched<(any Sendable)?>(nil)
    struct Late: UseCaseInterceptor {
      let answer: Watched<(any Sendable)?>
      func intercept<Request: Sendable, Response: Sendable>(
        _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
      ) async throws -> Response {
        if let answer = answer.value as? Response { return answer }
        return try await next(request)
      }
    }
    await history.execute(edit(Late(answer: answer)), "A").ended()
    answer.update { $0 = () }
    #expect(await history.undo().ended().isCancelled)
    #expect(history.layout == "[A |]")
    answer.update { $0 = nil }
    await history.back(1)
    #expect(history.layout == "[| A]*")
  }

  /// Throws at once, and leaves the call behind.
  private struct Impatient: UseCaseInterceptor {
    let page: Page

    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      Task { _ = try await next(request) }
      await page.began("do A")
      throw Failure("impatient")
    }
  }

  @Test(.holds("The effect"))
  func `a body that an interceptor has left behind has its effect all the same`() async {
    let gate = page.hold("do A")
    let operation = history.execute(edit(Impatient(page: page)), "A")
    await page.began("do A")
    gate.open()
    #expect(await operation.ended().failure == Failure("impatient"))
    #expect(history.layout == "[A |]")
  }

  @Test(.holds("The effect"))
  func `an attempt that begins when the last one is known has no effect`() async throws {
    let attempts = Attempts()
    let step = RecordedStep(
      Edit(page: page), nil, "A", Answer(number: 1, token: page.lifetime.track()))
    _ = try await attempts.run { step }
    #expect(await attempts.lastStep() === step)
    await #expect(throws: CancellationError.self) {
      try await attempts.run {
        Issue.record("The body runs, and nobody records it.")
        return step
      }
    }
  }

  @Test(.holds("Interceptors"))
  func `delays of a retry are measured by the clock of the use case's own queue`() async throws {
    let clock = ManualClock()
    let retry = RetryInterceptor(attempts: 2, delay: .constant(.seconds(5)))
    fail("do A", times: 1)
    let own = UseCaseQueue(clock: clock, interceptors: [retry])
    let operation = history.execute(Edit(page: page, queue: own), "A")
    try await clock.sleeping(for: .seconds(5))
    await clock.advance(by: .seconds(5))
    #expect(try await operation.value.number == 1)
  }
}
