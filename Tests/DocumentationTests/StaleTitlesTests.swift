import Foundation
import TestSupport
import Testing
import UseCase

/// Each search of the pages, under fire: the answer to the old text is decided before the next key.
/// From then on, no screen shows the old title, not even for a frame.
@Suite(.mustEnd) @MainActor
struct StaleTitlesTests {
  /// How the answer to the new text comes.
  enum Answer: CaseIterable {
    case instantly, fromACache, later
  }

  /// A search of a page: what a keystroke does, and the titles that a user sees.
  @MainActor
  struct Screen {
    let type: (String) -> Void
    let titles: () -> [String]
  }

  enum Page: CaseIterable {
    case readme, cancellation, whyNotJustTask, gettingStarted, tutorial, model
  }

  private func screen(_ page: Page, _ search: AnyUseCase<String, [String]>) -> Screen {
    switch page {
    case .readme:
      let screen = ReadmeCode.SearchScreen(search: search)
      return Screen(type: { screen.type($0) }, titles: { screen.lines })
    case .cancellation:
      let screen = SearchScreen(search: search)
      return Screen(type: { screen.type($0) }, titles: { screen.titles })
    case .whyNotJustTask:
      let screen = WhyNotJustTaskScreen(search: search)
      return Screen(type: { screen.type($0) }, titles: { screen.titles })
    case .gettingStarted:
      let screen = GettingStartedTests.SearchModel(search: search)
      return Screen(type: { screen.type($0) }, titles: { screen.titles })
    case .tutorial:
      let screen = TutorialTests.SearchModel(search: search)
      return Screen(type: { screen.type($0) }, titles: { screen.titles })
    case .model:
      let search = UseCaseModel(search)
      return Screen(type: { search.execute($0) }, titles: { search.value ?? [] })
    }
  }

  /// Answers a text that begins with "cached" without a body.
  private struct Cache: UseCaseInterceptor {
    func intercept<Request: Sendable, Response: Sendable>(
      _ request: Request, of execution: UseCaseExecution, next: UseCaseNext<Request, Response>
    ) async throws -> Response {
      if let text = request as? String, text.hasPrefix("cached"),
        let titles = [text] as? Response
      {
        return titles
      }
      return try await next(request)
    }
  }

  @Test(.holds("Only the newest deliver"), arguments: Page.allCases, Answer.allCases)
  func `no search of the pages shows an old title after the next key`(
    page: Page, answer: Answer
  ) async {
    let queue = UseCaseQueue(
      .cancelPrevious, interceptors: answer == .fromACache ? [Cache()] : [])
    let (gate, answered) = (Watched(Gate()), Watched(0))
    let search = AnyUseCase<String, [String]>(queue: queue) { text in
      if text.hasPrefix("late") { await gate.value.passIgnoringCancellation() }
      answered.update { $0 += 1 }
      return [text]
    }
    let screen = screen(page, search)
    var stale = 0
    for round in 1...(page == .readme ? 4_000 : 1_000) {
      let before = answered.value
      screen.type("old \(round)")
      // The main actor is busy meanwhile, so the old titles can only be on their way.
      while answered.value == before { yieldThread() }
      let new =
        switch answer {
        case .instantly: "new \(round)"
        case .fromACache: "cached \(round)"
        case .later: "late \(round)"
        }
      if answer == .later { gate.update { $0 = Gate() } }
      screen.type(new)
      if answer == .later {
        // Nothing else is shown until the new answer comes.
        for _ in 1...3 {
          stale += screen.titles() == ["old \(round)"] ? 1 : 0
          await Task.yield()
        }
        gate.value.open()
      }
      while screen.titles() != [new] {
        stale += screen.titles() == ["old \(round)"] ? 1 : 0
        await Task.yield()
      }
      stale += screen.titles() == ["old \(round)"] ? 1 : 0
    }
    #expect(stale == 0)
  }
}

private func yieldThread() { sched_yield() }
