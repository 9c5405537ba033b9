import Synchronization
import UseCase
import UseCaseTesting

/// A trace: what a queue's observer has heard, as a tree with times.
///
/// The observer needs no more than the events: `parent` makes the tree, and `error` says why an
/// operation has failed.
final class Trace: Sendable {
  private struct Span {
    let name: String
    let parent: UseCaseOperationID?
    let begin: Duration
    var end: Duration
    var fate = ""
  }

  private let spans = Mutex([UseCaseOperationID: Span]())
  private let clock: ManualClock

  init(clock: ManualClock) {
    self.clock = clock
  }

  /// Takes an event of the observer.
  func hear(_ event: UseCaseEvent) {
    let now = clock.now.offset
    spans.withLock { spans in
      var span =
        spans[event.id]
        ?? Span(name: "\(event.useCase)", parent: event.parent, begin: now, end: now)
      switch event.kind {
      case .waiting, .running, .ended: break
      case .succeeded: span.fate = "succeeded"
      case .failed: span.fate = "failed: \(event.error.map { "\($0)" } ?? "")"
      case .cancelled(let reason): span.fate = "cancelled: \(reason)"
      }
      if event.kind != .ended { span.end = now }
      spans[event.id] = span
    }
  }

  /// The tree, a line for each operation, children below their parent in order of `execute`.
  var text: String {
    let spans = spans.withLock { $0 }
    return lines(of: nil, in: spans, indent: "").joined(separator: "\n") + "\n"
  }

  private func lines(
    of parent: UseCaseOperationID?, in spans: [UseCaseOperationID: Span], indent: String
  ) -> [String] {
    spans.filter { $0.value.parent == parent }.sorted { $0.key < $1.key }.flatMap { id, span in
      let name = (indent + span.name).padded(to: 22)
      let times = "\(span.begin.milliseconds)–\(span.end.milliseconds) ms".padded(to: 13)
      return ["\(name)\(times)\(span.fate)"] + lines(of: id, in: spans, indent: indent + "  ")
    }
  }
}

extension Duration {
  fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
}

/// A purchase whose first payment is declined, traced on a clock that is not real.
enum Purchase {
  private struct Declined: Error, CustomStringConvertible {
    var description: String { "The card was declined." }
  }

  private struct Step: UseCase {
    let queue: UseCaseQueue
    let clock: ManualClock

    func main(_ duration: Duration) async throws { try await clock.sleep(for: duration) }
  }

  private struct Pay: UseCase {
    let queue: UseCaseQueue
    let authorize: Step

    func main(_ card: String) async throws {
      try await authorize(.milliseconds(120))
      if card == "old card" { throw Declined() }
    }
  }

  private struct Checkout: UseCase {
    let queue: UseCaseQueue
    let loadCart: Step
    let pay: Pay

    func main(_ cards: [String]) async throws -> String {
      try await loadCart(.milliseconds(80))
      for card in cards {
        do {
          try await pay(card)
          return card
        } catch is Declined {}
      }
      throw Declined()
    }
  }

  /// Runs the purchase, and returns its trace.
  static func trace() async throws -> String {
    let clock = ManualClock()
    let trace = Trace(clock: clock)
    let queue = UseCaseQueue(clock: clock) { trace.hear($0) }
    let step = Step(queue: queue, clock: clock)
    let checkout = Checkout(
      queue: queue, loadCart: step, pay: Pay(queue: queue, authorize: step))
    let operation = checkout.execute(["old card", "new card"])
    for duration in [80, 120, 120] {
      try await clock.sleeping()
      await clock.advance(by: .milliseconds(duration))
    }
    await operation.ended()
    return trace.text
  }
}
