import Synchronization
import UseCase

/// A queue under one policy, and what a screen would show of its answers.
///
/// Everything that happens is told in the form `[milliseconds, row, keystroke, word]`.
struct PolicyRow: Sendable {
  /// More than this in flight, and a row lets a keystroke pass: a queue without a bound would grow
  /// for as long as somebody types.
  static let capacity = 100

  private let search: Search
  private let tap: Tap

  /// The latest keystroke whose answer the screen has shown, 0 for none.
  private var latest = 0

  init(number: Int, policy: UseCaseQueue.Policy, clock: SessionClock, log: EventLog) {
    let tap = Tap(number: number, clock: clock, log: log)
    self.tap = tap
    search = Search(queue: UseCaseQueue(policy) { event in tap.hear(event) })
  }

  /// Returns when the observer has heard of the end of each search.
  func ended() async { await tap.ended() }

  func cancelAll() { search.queue.cancelAll() }

  /// Executes a search, unless there are too many.
  func execute(
    _ keystroke: Keystroke, priority: TaskPriority?
  ) -> UseCaseOperation<Keystroke, String>? {
    let activity = search.queue.activity
    guard activity.running + activity.waiting < Self.capacity else {
      tap.tell(keystroke.number, "skipped")
      return nil
    }
    tap.tell(keystroke.number, "executed")
    let operation = search.execute(keystroke, priority: priority)
    tap.follow(operation.id, keystroke.number)
    return operation
  }

  /// Shows an answer, which is stale if the screen has shown that of a later keystroke.
  mutating func show(_ number: Int) {
    tap.tell(number, number < latest ? "stale" : "shown")
    latest = max(latest, number)
  }

  /// Shows that there is no answer.
  mutating func showFailure(_ number: Int) {
    tap.tell(number, "alert")
    latest = max(latest, number)
  }
}

/// Tells the log what the observer of a queue hears, by the number of the keystroke.
private final class Tap: Sendable {
  private struct State {
    var numbers: [UseCaseOperationID: Int] = [:]
    /// Heard before `execute` has returned.
    var early: [UseCaseOperationID: [(time: Int, event: UseCaseEvent)]] = [:]
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let number: Int
  private let clock: SessionClock
  private let log: EventLog
  private let state = Mutex(State())

  init(number: Int, clock: SessionClock, log: EventLog) {
    (self.number, self.clock, self.log) = (number, clock, log)
  }

  func tell(_ keystroke: Int, _ word: String) { tell(keystroke, word, at: clock.milliseconds) }

  private func tell(_ keystroke: Int, _ word: String, at time: Int) {
    log.add("[\(time),\(number),\(keystroke),\"\(word)\"]")
  }

  func hear(_ event: UseCaseEvent) {
    let time = clock.milliseconds
    state.withLock { state in
      guard let keystroke = state.numbers[event.id] else {
        state.early[event.id, default: []].append((time, event))
        return
      }
      tell(keystroke, event.kind.word, at: time)
      guard event.kind == .ended else { return }
      state.numbers[event.id] = nil
      guard state.numbers.isEmpty else { return }
      for waiter in state.waiters { waiter.resume() }
      state.waiters = []
    }
  }

  /// Returns when the end of each operation that is followed is told.
  func ended() async {
    await withCheckedContinuation { waiter in
      state.withLock { state in
        if state.numbers.isEmpty { waiter.resume() } else { state.waiters.append(waiter) }
      }
    }
  }

  func follow(_ id: UseCaseOperationID, _ keystroke: Int) {
    state.withLock { state in
      let early = state.early.removeValue(forKey: id) ?? []
      for (time, event) in early { tell(keystroke, event.kind.word, at: time) }
      if early.last?.event.kind != .ended { state.numbers[id] = keystroke }
    }
  }
}

extension UseCaseEvent.Kind {
  fileprivate var word: String {
    switch self {
    case .waiting: "waiting"
    case .running: "running"
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .cancelled(.superseded): "superseded"
    case .cancelled(.dropped): "dropped"
    case .cancelled(.requested), .cancelled(.scopeEnded), .cancelled(.closed), .cancelled(.thrown):
      "cancelled"
    case .ended: "ended"
    }
  }
}
