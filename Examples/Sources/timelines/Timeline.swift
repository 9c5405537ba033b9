import UseCase

/// What the operations of one queue went through, ready to be drawn.
struct Timeline: Equatable, Sendable {
  /// How the policy is written.
  let code: String

  /// What it does, in one sentence.
  let sentence: String

  let lanes: [Lane]

  /// From when to when the queue was suspended.
  var suspension: Range<Int>?

  /// How much time a tick is: the unit of all times in a drawing.
  static let tickLength = Duration.milliseconds(50)

  static func tick(at offset: Duration) -> Int { Int(offset / tickLength) }

  /// A change that the observer of the queue was told of.
  struct Moment: Equatable, Sendable {
    let tick: Int
    let kind: UseCaseEvent.Kind
  }

  /// One operation.
  struct Lane: Equatable, Sendable {
    var moments: [Moment] = []

    /// When somebody called `cancel()`.
    var cancelled: Int?
  }
}

extension Timeline.Lane {
  typealias Outcome = (tick: Int, name: String, mark: Mark)

  enum Mark { case succeeded, failed, cancelled }

  var executed: Int { moments.first?.tick ?? 0 }
  var ended: Int { tick { $0 == .ended } ?? executed }
  var hasRun: Bool { tick { $0 == .running } != nil }

  /// What became of the operation, and why.
  var outcome: Outcome {
    for moment in moments {
      switch moment.kind {
      case .waiting, .running, .ended: continue
      case .succeeded: return (moment.tick, "succeeded", .succeeded)
      case .failed: return (moment.tick, "failed", .failed)
      case .cancelled(let reason): return (moment.tick, "\(reason)", .cancelled)
      }
    }
    return (ended, "", .cancelled)
  }

  var waiting: Range<Int> { executed..<(tick { $0 == .running } ?? outcome.tick) }
  var running: Range<Int> { waiting.upperBound..<outcome.tick }

  /// The body has not returned yet, although there is an outcome.
  var unwinding: Range<Int> { outcome.tick..<ended }

  private func tick(_ isMeant: (UseCaseEvent.Kind) -> Bool) -> Int? {
    moments.first { isMeant($0.kind) }?.tick
  }
}
