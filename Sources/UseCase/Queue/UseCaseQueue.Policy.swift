extension UseCaseQueue {
  /// How many operations of a queue run at a time, and what becomes of a newcomer when that
  /// many do.
  ///
  /// The set of policies is that of ember-concurrency, with debounce and one that never overlaps
  /// added:
  ///
  /// | policy | a newcomer that finds the queue busy |
  /// |---|---|
  /// | ``unlimited`` | never does |
  /// | ``serial``, ``limit(_:)`` | waits; first come, first served |
  /// | ``cancelPrevious`` | cancels the oldest and starts at once |
  /// | ``cancelPreviousAndWait`` | cancels the oldest and starts when its body has returned |
  /// | ``dropWhileBusy`` | is cancelled itself |
  /// | ``keepLatest`` | takes the one place to wait in from whoever sits there |
  public struct Policy: Hashable, Sendable {
    /// What becomes of a newcomer that finds all slots taken.
    public enum WhenBusy: Hashable, Sendable {
      /// The newcomer waits: first come, first served.
      case wait

      /// The oldest operations give way, as ``UseCaseCancellation/superseded``. The newcomer
      /// starts at once, while the bodies of the old ones may still be unwinding.
      case cancelPrevious

      /// The oldest operations give way, as ``UseCaseCancellation/superseded``. The newcomer
      /// starts when a body has returned, so that bodies never overlap beyond the limit.
      case cancelPreviousAndWait

      /// The newcomer is cancelled, as ``UseCaseCancellation/dropped``.
      case drop

      /// The newcomer takes the only place to wait in. Who sat there is cancelled, as
      /// ``UseCaseCancellation/superseded``, and never starts.
      case keepLatest
    }

    let limit: Int
    let whenBusy: WhenBusy
    let debounce: Duration?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - limit: How many operations may run at a time, at least 1; anything less is a
    ///     programmer error and traps.
    ///   - whenBusy: What becomes of a newcomer when that many run.
    /// - Complexity: O(1).
    public init(limit: Int, whenBusy: WhenBusy) {
      self.init(limit: limit, whenBusy: whenBusy, debounce: nil)
    }

    private init(limit: Int, whenBusy: WhenBusy, debounce: Duration?) {
      guard limit >= 1 else {
        fatalError(
          "A queue lets at least 1 operation run, and its limit is \(limit). To let none start, "
            + "suspend it.")
      }
      self.limit = limit
      self.whenBusy = whenBusy
      self.debounce = debounce
    }

    /// Everything runs at once.
    ///
    /// - Complexity: O(1).
    public static let unlimited = Policy(limit: .max, whenBusy: .wait)

    /// One runs at a time, the others wait: first come, first served.
    ///
    /// - Complexity: O(1).
    public static let serial = Policy(limit: 1, whenBusy: .wait)

    /// The newest runs; the one before it is cancelled. For search as you type.
    ///
    /// - Complexity: O(1).
    public static let cancelPrevious = Policy(limit: 1, whenBusy: .cancelPrevious)

    /// The newest runs, once the body of the one before it, which is cancelled, has returned.
    ///
    /// - Complexity: O(1).
    public static let cancelPreviousAndWait = Policy(limit: 1, whenBusy: .cancelPreviousAndWait)

    /// While one runs, newcomers are cancelled. For a button that must not fire twice.
    ///
    /// - Complexity: O(1).
    public static let dropWhileBusy = Policy(limit: 1, whenBusy: .drop)

    /// One runs and the newest waits. For saving a document that keeps changing.
    ///
    /// - Complexity: O(1).
    public static let keepLatest = Policy(limit: 1, whenBusy: .keepLatest)

    /// At most `limit` run at a time, the others wait: first come, first served.
    ///
    /// - Parameter limit: At least 1; anything less is a programmer error and traps.
    /// - Returns: The policy.
    /// - Complexity: O(1).
    public static func limit(_ limit: Int) -> Policy {
      Policy(limit: limit, whenBusy: .wait)
    }

    /// The newest runs, after `debounce` without a newer one; the one before it is cancelled at
    /// once.
    ///
    /// - Parameter debounce: Measured on the queue's clock, from `execute`. Not negative, or it
    ///   traps.
    /// - Returns: The policy.
    /// - Complexity: O(1).
    public static func cancelPrevious(debounce: Duration) -> Policy {
      guard debounce >= .zero else {
        fatalError("A debounce of \(debounce) ends before it begins. Give one of zero or more.")
      }
      return Policy(limit: 1, whenBusy: .cancelPrevious, debounce: debounce)
    }
  }
}

extension UseCaseQueue.Policy {
  /// What a newcomer does, and how many others, the oldest first, give way to it.
  struct Decision: Equatable, Sendable {
    enum Admission: Equatable, Sendable {
      case start, wait, refuse
    }

    var admission: Admission
    var supersededLive = 0
    var supersededWaiting = 0
  }

  /// Decides about a newcomer from counts alone.
  ///
  /// - Parameters:
  ///   - holding: How many operations hold a slot, also those that unwind after a cancellation.
  ///   - live: How many of these have no outcome yet.
  ///   - waiting: How many wait.
  ///   - isSuspended: Whether nothing may start.
  /// - Returns: What the newcomer does, and how many give way.
  func decision(holding: Int, live: Int, waiting: Int, isSuspended: Bool) -> Decision {
    let hasRoom = !isSuspended && holding < limit
    switch whenBusy {
    case .wait:
      return Decision(admission: hasRoom ? .start : .wait)
    case .cancelPrevious, .cancelPreviousAndWait:
      let excess = max(0, live + waiting - limit + 1)
      let overlaps = whenBusy == .cancelPrevious && !isSuspended && debounce == nil
      return Decision(
        admission: hasRoom && debounce == nil || overlaps ? .start : .wait,
        supersededLive: min(excess, live),
        supersededWaiting: max(0, excess - live))
    case .drop:
      guard holding + waiting < limit else { return Decision(admission: .refuse) }
      return Decision(admission: hasRoom ? .start : .wait)
    case .keepLatest:
      return hasRoom
        ? Decision(admission: .start) : Decision(admission: .wait, supersededWaiting: waiting)
    }
  }

  /// Whether the one that has waited longest may start.
  func mayStart(holding: Int) -> Bool {
    whenBusy == .cancelPrevious || holding < limit
  }
}
