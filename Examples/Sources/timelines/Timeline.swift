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
  enum Mark: Hashable, Sendable {
    case succeeded, failed, cancelled(UseCaseCancellation)
  }

  var executed: Int { moments.first?.tick ?? 0 }
  var ended: Int { tick { $0 == .ended } ?? executed }
  var hasRun: Bool { tick { $0 == .running } != nil }

  /// What became of the operation, and when.
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

extension Timeline.Lane.Mark {
  /// What stands in the lane.
  var name: String {
    switch self {
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .cancelled(let reason): "\(reason)"
    }
  }

  /// What stands in the legend.
  var meaning: String {
    switch self {
    case .succeeded, .failed, .cancelled(.scopeEnded), .cancelled(.thrown): name
    case .cancelled(.requested): "requested by cancel()"
    case .cancelled(.superseded): "superseded by a newer one"
    case .cancelled(.dropped): "dropped by a busy queue"
    }
  }
}

extension Timeline {
  /// The marks that occur, each once, in the order of the lanes.
  var marks: [Lane.Mark] {
    lanes.map(\.outcome.mark).reduce(into: []) { marks, mark in
      if !marks.contains(mark) { marks.append(mark) }
    }
  }
}
