import Foundation
import Synchronization
import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// An indicator that a page shows is on while something runs or waits, and off afterwards: when a
/// call is superseded, dropped, cancelled or fails, under every policy.
@Suite(.mustEnd) @MainActor
struct IndicatorTests {
  struct Offline: Error, CustomStringConvertible {
    let description = "You are offline."
  }

  typealias Server = ControlledUseCase<String, [String]>
  typealias Operation = UseCaseOperation<String, [String]>

  /// An example of a page: how it executes, and whether its indicator is on.
  @MainActor
  struct Example {
    let type: (String) -> Operation
    let isOn: () -> Bool
  }

  enum Page: CaseIterable {
    case readme, model, activities, handler, tutorial
  }

  private func example(_ page: Page, _ server: Server) -> Example {
    example(page, AnyUseCase(server))
  }

  private func example(_ page: Page, _ search: AnyUseCase<String, [String]>) -> Example {
    switch page {
    case .readme:
      let screen = ReadmeCode.SearchScreen(search: search)
      return Example(type: { screen.type($0) }, isOn: { screen.isSpinning })
    case .model:
      let search = UseCaseModel(search)
      return Example(type: { search.execute($0) }, isOn: { search.isRunning })
    case .activities:
      let screen = FollowingScreen(search: search)
      let following = Task { await screen.follow() }
      return Example(
        type: { search.execute($0) },
        isOn: {
          _ = following
          return screen.spinner.isAnimating
        })
    case .handler:
      let screen = AskingScreen(search: search)
      return Example(type: { screen.type($0) }, isOn: { screen.spinner.isAnimating })
    case .tutorial:
      let model = TutorialTests.SearchModel(search: search)
      return Example(type: { model.type($0) }, isOn: { model.isSearching })
    }
  }

  /// Waits for the main actor to hear of the newest activity, where an example follows a stream.
  private func becomes(_ isOn: Bool, _ example: Example) async {
    while example.isOn() != isOn { await Task.yield() }
  }

  @Test(arguments: Page.allCases)
  func `a superseded call leaves the indicator on`(page: Page) async throws {
    let server = Server(queue: UseCaseQueue(.cancelPrevious))
    let example = example(page, server)
    let old = example.type("s")
    _ = try await server.next()
    let new = example.type("sw")
    await old.ended()
    await becomes(true, example)
    #expect(server.queue.isBusy && example.isOn())
    try await server.next().succeed([])
    await new.ended()
    await becomes(false, example)
  }

  @Test(arguments: Page.allCases)
  func `a dropped call leaves the indicator on`(page: Page) async throws {
    let server = Server(queue: UseCaseQueue(.dropWhileBusy))
    let example = example(page, server)
    let first = example.type("s")
    let call = try await server.next()
    await becomes(true, example)
    await example.type("sw").ended()
    #expect(example.isOn())
    call.succeed([])
    await first.ended()
    await becomes(false, example)
  }

  @Test(arguments: Page.allCases)
  func `a failed or cancelled call turns the indicator off`(page: Page) async throws {
    let server = Server(queue: UseCaseQueue(.serial))
    let example = example(page, server)
    let failing = example.type("s")
    try await server.next().fail(Offline())
    await failing.ended()
    await becomes(false, example)
    let cancelled = example.type("s")
    await becomes(true, example)
    cancelled.cancel()
    await cancelled.ended()
    await becomes(false, example)
  }

  @Test(arguments: Page.allCases)
  func `a call whose time has passed leaves the indicator on until its body returns`(
    page: Page
  ) async throws {
    let (clock, gate) = (ManualClock(), Gate())
    let queue = UseCaseQueue(.cancelPrevious, clock: clock)
    // The body never looks at its cancellation.
    let search = AnyUseCase<String, [String]>(queue: queue, timeout: .seconds(1)) { text in
      await gate.passIgnoringCancellation()
      return [text]
    }
    let example = example(page, search)
    let operation = example.type("s")
    await becomes(true, example)
    try await clock.sleeping()
    await clock.advance(by: .seconds(1))
    await #expect(throws: UseCaseTimeout.self) { try await operation.value }
    if page == .model {
      // A model shows what became of an operation, and it has failed.
      await becomes(false, example)
    } else {
      for _ in 1...20 { await Task.yield() }
      #expect(example.isOn() && queue.isBusy)
    }
    gate.open()
    await operation.ended()
    await becomes(false, example)
  }

  @Test(arguments: Page.allCases, [true, false])
  func `an answer on its way that is cancelled or superseded leaves the indicator right`(
    page: Page, isSuperseded: Bool
  ) async {
    let gate = Gate()
    let search = AnyUseCase<String, [String]>(queue: UseCaseQueue(.cancelPrevious)) { text in
      if text == "sw" { await gate.passIgnoringCancellation() }
      return [text]
    }
    let example = example(page, search)
    let old = example.type("s")
    // The main actor is busy meanwhile, so the answer can only be on its way.
    while old.state != .finished { sched_yield() }
    guard isSuperseded else {
      old.cancel()
      await old.ended()
      return await becomes(false, example)
    }
    let new = example.type("sw")
    await old.ended()
    await becomes(true, example)
    gate.open()
    await new.ended()
    await becomes(false, example)
  }

  @Test(arguments: Page.allCases)
  func `one of two calls that ends leaves the indicator on`(page: Page) async throws {
    for policy in [UseCaseQueue.Policy.unlimited, .serial, .keepLatest] {
      let server = Server(queue: UseCaseQueue(policy))
      let example = example(page, server)
      let operations = [example.type("s"), example.type("sw")]
      try await server.next().succeed([])
      while operations.allSatisfy({ $0.outcome == nil }) { await Task.yield() }
      let ended = operations[0].outcome == nil ? 1 : 0
      await operations[ended].ended()
      await becomes(true, example)
      #expect(example.isOn())
      try await server.next().succeed([])
      await operations[1 - ended].ended()
      await becomes(false, example)
    }
  }

  @Test func `the screen of the README shows an error in words`() async throws {
    let server = Server()
    let screen = ReadmeCode.SearchScreen(search: server)
    let operation = screen.type("s")
    try await server.next().fail(Offline())
    await operation.ended()
    #expect(screen.lines == ["You are offline."])
  }
}

@MainActor
final class Spinner {
  var isAnimating = false
}

@MainActor
private final class FollowingScreen {
  let search: AnyUseCase<String, [String]>
  let spinner = Spinner()

  init(search: AnyUseCase<String, [String]>) { self.search = search }

  func follow() async {
    for await activity in search.queue.activities() {
      spinner.isAnimating = !activity.isIdle
    }
  }
}

@MainActor
private final class AskingScreen {
  let search: AnyUseCase<String, [String]>
  let spinner = Spinner()

  init(search: AnyUseCase<String, [String]>) { self.search = search }

  func type(_ text: String) -> UseCaseOperation<String, [String]> {
    spinner.isAnimating = true
    return search.execute(text)
      .finally { self.spinner.isAnimating = self.search.queue.isBusy }
  }
}
