import UseCase

/// The moments of the operations of one queue, ready to be drawn.
struct Timeline: Equatable, Sendable {
  let scenario: Scenario.Caption
  let lanes: [Lane]

  /// The responses that `then` received, in this order.
  let shown: [String]

  /// From when to when the queue was suspended.
  var suspension: Range<Int>?

  /// How much time a tick is: the unit of all times in a drawing.
  static let tickLength = Duration.milliseconds(25)
  static let ticksPerHalfSecond = 20

  static func tick(at offset: Duration) -> Int { Int(offset / tickLength) }

  /// When the queue is busy: from a call until all bodies have returned.
  var busy: [Range<Int>] {
    lanes.reduce(into: []) { spans, lane in
      if let last = spans.last, lane.executed <= last.upperBound {
        spans[spans.count - 1] = last.lowerBound..<max(last.upperBound, lane.ended)
      } else {
        spans.append(lane.executed..<lane.ended)
      }
    }
  }

  /// The lane whose response the screen shows in the end although it answers an older keystroke
  /// than the newest. Only keystrokes make an answer stale: images and uploads may end in any order.
  var staleLane: Int? {
    guard scenario.calls == Words.keystrokes, let last = shown.last else { return nil }
    return lanes.dropLast().firstIndex { $0.text == last }
  }

  /// When the last operation has ended.
  var end: Int { lanes.map(\.ended).max() ?? 0 }

  /// One operation.
  struct Lane: Equatable, Sendable {
    /// The request.
    let text: String

    var moments: [Moment] = []

    /// The lane of the incoming operation that superseded it.
    var superseder: Int?

    /// Whether it waits for the end of a pause instead of a slot.
    var pauses = false
  }

  /// A change that the observer of the queue was told of.
  struct Moment: Equatable, Sendable {
    let tick: Int
    let kind: UseCaseEvent.Kind
  }
}

extension Timeline.Lane {
  enum Mark: Hashable, Sendable {
    case succeeded, failed, cancelled(UseCaseCancellation)
  }

  var executed: Int { moments.first?.tick ?? 0 }
  var ended: Int { tick { $0 == .ended } ?? executed }
  var hasRun: Bool { tick { $0 == .running } != nil }

  /// The outcome of the operation, and its time.
  var outcome: (tick: Int, mark: Mark) {
    for moment in moments {
      switch moment.kind {
      case .waiting, .running, .ended: continue
      case .succeeded: return (moment.tick, .succeeded)
      case .failed: return (moment.tick, .failed)
      case .cancelled(let reason): return (moment.tick, .cancelled(reason))
      }
    }
    preconditionFailure("Draw a lane after the end of its operation.")
  }

  var waiting: Range<Int> { executed..<(tick { $0 == .running } ?? outcome.tick) }
  var running: Range<Int> { waiting.upperBound..<outcome.tick }

  /// The body has not returned yet, although there is an outcome.
  var unwinding: Range<Int> { outcome.tick..<ended }

  private func tick(_ isMeant: (UseCaseEvent.Kind) -> Bool) -> Int? {
    moments.first { isMeant($0.kind) }?.tick
  }
}
