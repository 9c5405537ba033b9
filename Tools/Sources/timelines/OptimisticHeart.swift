import Synchronization
import UseCase

/// Taps on a heart of which the server refuses the last one: the screen and the server over time,
/// ready to be drawn.
struct OptimisticHeart: Equatable, Sendable {
  static let name = "optimistic-heart"
  static let title = "OptimisticValue"
  static let sentence = "Each tap shows at once. The refused one is taken back."

  /// The requests.
  let timeline: Timeline
  let screen: [Moment]
  let server: [Moment]

  /// From then on the heart is liked, or isn't.
  struct Moment: Equatable, Sendable {
    let tick: Int
    let isLiked: Bool
  }

  private static let taps = zip([6, 14, 22], ["like", "unlike", "like"]).map { tick, text in
    Scenario.Step(
      tick: tick, action: .execute(Scenario.Call(text: text, work: 12, fails: tick == 22)))
  }

  private static let caption = Scenario.Caption(
    code: title, sentence: Phrase(sentence, sentence), gist: Phrase(title, title),
    calls: Phrase("each tap calls `change`", "cada toque llama a `change`"))

  /// Taps a real heart, on a queue whose clock is not real.
  @MainActor static func run() async -> OptimisticHeart {
    let stage = Stage(pause: nil)
    let queue = UseCaseQueue(.serial, clock: stage) { stage.observe($0) }
    stage.attach(queue)
    let start = Moment(tick: 0, isLiked: false)
    let server = Mutex([start])
    let like = AnyUseCase<Scenario.Call, Void>(queue: queue) { call in
      try await stage.sleep(for: Timeline.tickLength * call.work)
      if call.fails { throw Refusal() }
      let moment = Moment(tick: stage.tick, isLiked: call.text == "like")
      server.withLock { $0.append(moment) }
    }
    let heart = OptimisticValue(start.isLiked)
    let screen = Screen(start)

    for (lane, tap) in taps.enumerated() {
      guard case .execute(let call) = tap.action else { continue }
      await stage.advance(to: Stage.Instant(offset: Timeline.tickLength * tap.tick))
      stage.prepare(call.text)
      let operation = Stage.$lane.withValue(lane) { like.execute(call) }
      heart.change(operation) { $0 = call.text == "like" }
        .common { screen.show(heart.value, at: stage.tick) }
      screen.show(heart.value, at: stage.tick)
    }
    await stage.advance(to: nil)
    return OptimisticHeart(
      timeline: Timeline(scenario: caption, lanes: stage.lanes, shown: []),
      screen: screen.moments, server: server.withLock { $0 })
  }

  /// A view that reads the heart.
  @MainActor private final class Screen {
    private(set) var moments: [Moment]

    init(_ start: Moment) { moments = [start] }

    func show(_ isLiked: Bool, at tick: Int) {
      if moments.last?.isLiked != isLiked {
        moments.append(Moment(tick: tick, isLiked: isLiked))
      }
    }
  }
}

extension Stage {
  fileprivate var tick: Int { Timeline.tick(at: now.offset) }
}
