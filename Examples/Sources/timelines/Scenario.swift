import UseCase

/// What is done to a queue, and when.
struct Scenario: Sendable {
  let name: String
  let code: String
  let sentence: String
  let policy: UseCaseQueue.Policy
  var hasDebounce = false
  var steps = Self.sixCalls

  struct Step: Sendable {
    let tick: Int
    let action: Action
  }

  /// Operations are numbered from 1, in order of `execute`.
  enum Action: Sendable {
    case execute, cancel(Int), suspend, resume
  }

  /// A body works for so many ticks; when it is cancelled it takes so many more to return.
  static let work = 12
  static let unwinding = 7

  /// The body of this operation throws when its work is done.
  static let failing = 3

  /// Five calls in a row, and later one more, which is cancelled while it runs or waits.
  private static let sixCalls =
    [0, 2, 4, 6, 8, 28].map { Step(tick: $0, action: .execute) }
    + [Step(tick: 34, action: .cancel(6))]
}

extension Scenario {
  static let all = [
    Scenario(
      name: "unlimited", code: ".unlimited", sentence: "Everything runs at once.",
      policy: .unlimited),
    Scenario(
      name: "serial", code: ".serial",
      sentence: "One runs, the others wait: first come, first served.",
      policy: .serial),
    Scenario(
      name: "limit", code: ".limit(2)", sentence: "Two run at a time, the others wait.",
      policy: .limit(2)),
    Scenario(
      name: "cancel-previous", code: ".cancelPrevious",
      sentence: "The newest runs at once, and the one before it is superseded.",
      policy: .cancelPrevious),
    Scenario(
      name: "cancel-previous-and-wait", code: ".cancelPreviousAndWait",
      sentence: "The newest runs when the body before it has returned.",
      policy: .cancelPreviousAndWait),
    Scenario(
      name: "drop-while-busy", code: ".dropWhileBusy",
      sentence: "While one runs, newcomers are dropped.", policy: .dropWhileBusy),
    Scenario(
      name: "keep-latest", code: ".keepLatest",
      sentence: "One runs, and only the newest of the others waits.", policy: .keepLatest),
    Scenario(
      name: "debounce", code: ".cancelPrevious(debounce: .milliseconds(300))",
      sentence: "The newest runs after a pause.",
      policy: .cancelPrevious(debounce: .milliseconds(300)), hasDebounce: true,
      steps: [0, 2, 4, 16, 40].map { Step(tick: $0, action: .execute) }
        + [Step(tick: 43, action: .cancel(5))]),
    Scenario(
      name: "suspension", code: ".limit(2)",
      sentence: "Suspended: what runs goes on, nothing starts.",
      policy: .limit(2),
      steps: [0, 2, 6, 8, 10].map { Step(tick: $0, action: .execute) }
        + [
          Step(tick: 4, action: .suspend), Step(tick: 18, action: .cancel(4)),
          Step(tick: 22, action: .resume),
        ]),
  ]
}

extension Scenario {
  /// Runs the scenario on a real queue, with a clock that is not real.
  func run() async -> Timeline {
    let stage = Stage(hasDebounce: hasDebounce)
    let queue = UseCaseQueue(policy, clock: stage) { stage.observe($0) }
    let useCase = AnyUseCase(queue: queue) { number in try await Self.body(number, on: stage) }
    var operations: [UseCaseOperation<Int, Void>] = []
    var suspension: (Int, Int)?

    for step in steps.sorted(by: { $0.tick < $1.tick }) {
      await stage.advance(to: Stage.Instant(offset: Timeline.tickLength * step.tick))
      switch step.action {
      case .execute:
        let number = operations.count + 1
        operations.append(Stage.$lane.withValue(number - 1) { useCase.execute(number) })
      case .cancel(let number):
        stage.noteCancel(of: number - 1)
        operations[number - 1].cancel()
      case .suspend:
        suspension = (step.tick, step.tick)
        queue.suspend()
      case .resume:
        suspension?.1 = step.tick
        queue.resume()
      }
    }
    await stage.advance(to: nil)
    return Timeline(
      code: code, sentence: sentence, lanes: stage.lanes,
      suspension: suspension.map { $0.0..<$0.1 })
  }

  private static func body(_ number: Int, on clock: Stage) async throws {
    do {
      try await clock.sleep(for: Timeline.tickLength * work)
    } catch {
      // What unwinds does not look at its cancellation any more: a task of its own has none.
      try await Task { try await clock.sleep(for: Timeline.tickLength * unwinding) }.value
      throw error
    }
    if number == failing { throw Refusal() }
  }
}

/// What a body throws that fails.
struct Refusal: Error {}
