import UseCase

/// The acts on a queue, and their times.
struct Scenario: Sendable {
  let name: String
  let caption: Caption
  let policy: UseCaseQueue.Policy
  var pause: Stage.Pause?
  var steps = Self.typing

  /// The words above the picture of a scenario.
  struct Caption: Equatable, Sendable {
    /// How the policy is written.
    let code: String

    /// A sentence on the policy.
    let sentence: Phrase

    /// The same in a few words, for a picture of many policies.
    let gist: Phrase

    /// The name of the calls.
    var calls = Words.keystrokes
  }

  struct Step: Sendable {
    let tick: Int
    let action: Action
  }

  enum Action: Sendable {
    case execute(Call)
    /// Operations are numbered from 0, in order of `execute`.
    case cancel(Int)
    case suspend, resume
  }

  /// A request, and what its body makes of it.
  struct Call: Sendable {
    let text: String
    /// How many ticks the body works.
    var work = 17
    /// Whether the body throws when its work is done.
    var fails = false
    var priority: TaskPriority?
  }

  /// A body that is cancelled takes so many ticks to return.
  static let unwinding = 9

  /// A keystroke every 200 ms. The answer to the last but one is slow: it comes after the last.
  static let typing = zip(0..., ["s", "sw", "swi", "swif", "swift"]).map { index, text in
    Step(tick: 8 * index, action: .execute(Call(text: text, work: text == "swif" ? 27 : 17)))
  }
}

extension Scenario {
  /// Runs the scenario on a real queue, with a clock that is not real.
  func run() async -> Timeline {
    let stage = Stage(pause: pause)
    let queue = UseCaseQueue(policy, clock: stage) { stage.observe($0) }
    stage.attach(queue)
    let useCase = AnyUseCase<Call, String>(queue: queue) { call in
      try await Self.body(call, on: stage)
    }
    var operations: [UseCaseOperation<Call, String>] = []
    var suspension: (Int, Int)?

    for step in steps.sorted(by: { $0.tick < $1.tick }) {
      await stage.advance(to: Stage.Instant(offset: Timeline.tickLength * step.tick))
      switch step.action {
      case .execute(let call):
        let lane = operations.count
        stage.prepare(call.text)
        let operation = Stage.$lane.withValue(lane) {
          useCase.execute(call, priority: call.priority)
        }
        operations.append(operation.then { text in stage.show(text) })
      case .cancel(let lane):
        operations[lane].cancel()
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
      scenario: caption, lanes: stage.lanes, shown: stage.shown,
      suspension: suspension.map { $0.0..<$0.1 })
  }

  private static func body(_ call: Call, on clock: Stage) async throws -> String {
    do {
      try await clock.sleep(for: Timeline.tickLength * call.work)
    } catch {
      // A body that unwinds ignores its cancellation from now on: a task of its own has none.
      try await Task { try await clock.sleep(for: Timeline.tickLength * unwinding) }.value
      throw error
    }
    if call.fails { throw Refusal() }
    return call.text
  }
}

/// The error of a body that fails.
struct Refusal: Error {}
