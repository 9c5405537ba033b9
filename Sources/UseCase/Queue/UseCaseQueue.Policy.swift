import UseCaseInternals

extension UseCaseQueue {
  /// A limit on concurrent operations, and a rule for operations that arrive at that limit.
  ///
  /// The policies are those of ember-concurrency, with a debounce, a throttle, a line with an end, and
  /// one that never overlaps:
  ///
  /// | policy | an incoming operation that finds the queue busy |
  /// |---|---|
  /// | ``unlimited`` | never finds it busy |
  /// | ``serial``, ``limit(_:)`` | waits; first in, first out |
  /// | ``cancelPrevious`` | supersedes the oldest and starts at once |
  /// | ``cancelPrevious(debounce:)`` | supersedes the previous one and starts after a pause |
  /// | ``cancelPreviousAndWait`` | supersedes the oldest and starts when its body has returned |
  /// | ``dropWhileBusy`` | is dropped |
  /// | ``limit(_:waiting:)`` | waits, or is dropped if that many wait already |
  /// | ``keepLatest`` | takes the only place to wait in, and supersedes the one waiting there |
  /// | ``throttle(_:)`` | does the same, also if the last start is too recent |
  public struct Policy: Hashable, Sendable {
    /// The rule for an incoming operation that finds all slots taken.
    public enum WhenBusy: Hashable, Sendable {
      /// The incoming operation waits: first in, first out.
      case wait

      /// The oldest operations are cancelled, as ``UseCaseCancellation/superseded``. The incoming
      /// one starts at once, while the old bodies may still be unwinding.
      case cancelPrevious

      /// The oldest operations are cancelled, as ``UseCaseCancellation/superseded``. The incoming
      /// one starts when a body has returned: bodies never overlap beyond the limit.
      case cancelPreviousAndWait

      /// The incoming operation is cancelled, as ``UseCaseCancellation/dropped``.
      case drop

      /// The incoming operation takes the only place to wait in. An operation that waited there is
      /// cancelled, as ``UseCaseCancellation/superseded``, and never starts.
      case keepLatest
    }

    /// The time that has to pass before an operation starts.
    enum Pause: Hashable, Sendable {
      case sinceExecute(Duration)
      case sinceLastStart(Duration)
    }

    let limit: Int
    let whenBusy: WhenBusy
    /// How many may run and wait before `drop` drops.
    let places: Int
    let pause: Pause?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - limit: How many operations may run at a time, at least 1; anything less is a
    ///     programmer error and traps.
    ///   - whenBusy: The rule for an incoming operation when that many run.
    public init(limit: Int, whenBusy: WhenBusy) {
      self.init(limit: limit, whenBusy: whenBusy, waiting: 0)
    }

    private init(limit: Int, whenBusy: WhenBusy, waiting: Int = 0, pause: Pause? = nil) {
      guard limit >= 1 else {
        fatalError(
          "A queue lets at least 1 operation run, and its limit is \(limit). To let none start, "
            + "suspend it.")
      }
      self.limit = limit
      self.whenBusy = whenBusy
      places = limit + min(waiting, .max - limit)
      self.pause = pause
    }

    /// Everything runs at once.
    public static let unlimited = Policy(limit: .max, whenBusy: .wait)

    /// Operations run one at a time, and the others wait: first in, first out.
    public static let serial = Policy(limit: 1, whenBusy: .wait)

    /// The newest runs; the one before it is cancelled. For search as you type.
    public static let cancelPrevious = Policy(limit: 1, whenBusy: .cancelPrevious)

    /// The newest runs, once the body of the one before it, which is cancelled, has returned.
    public static let cancelPreviousAndWait = Policy(limit: 1, whenBusy: .cancelPreviousAndWait)

    /// While one runs, incoming operations are dropped. For a button that must not fire twice.
    public static let dropWhileBusy = Policy(limit: 1, whenBusy: .drop)

    /// An operation runs, and only the newest waits. For saving a document that keeps changing.
    public static let keepLatest = Policy(limit: 1, whenBusy: .keepLatest)

    /// At most `limit` run at a time, the others wait: first in, first out.
    ///
    /// - Parameter limit: At least 1; anything less is a programmer error and traps.
    /// - Returns: The policy.
    public static func limit(_ limit: Int) -> Policy {
      Policy(limit: limit, whenBusy: .wait)
    }

    /// At most `limit` run at a time, at most `waiting` wait: first in, first out. The others are
    /// dropped. For a line that must not grow.
    ///
    /// ```swift
    /// let uploads = UseCaseQueue(.limit(2, waiting: 100))
    /// ```
    ///
    /// An operation that finds the line full is ``UseCaseCancellation/dropped`` before `execute`
    /// returns. While the queue is suspended, as many wait as otherwise run and wait.
    /// `limit(1, waiting: 0)` is ``dropWhileBusy``.
    ///
    /// - Parameters:
    ///   - limit: At least 1; anything less is a programmer error and traps.
    ///   - waiting: Zero or more, or it traps.
    /// - Returns: The policy.
    public static func limit(_ limit: Int, waiting: Int) -> Policy {
      guard waiting >= 0 else {
        fatalError(
          "A line has no room for \(waiting) operations. Let zero or more wait: with zero, an "
            + "operation that finds the queue busy is dropped.")
      }
      return Policy(limit: limit, whenBusy: .drop, waiting: waiting)
    }

    /// The newest runs, after `debounce` without a newer one; the one before it is cancelled at
    /// once.
    ///
    /// - Parameter debounce: Measured on the queue's clock, from `execute`. Not negative, or it
    ///   traps.
    /// - Returns: The policy.
    public static func cancelPrevious(debounce: Duration) -> Policy {
      guard debounce >= .zero else {
        fatalError("A debounce of \(debounce) ends before it begins. Give one of zero or more.")
      }
      return Policy(
        limit: 1, whenBusy: .cancelPrevious, pause: .sinceExecute(min(debounce, .century)))
    }

    /// One runs at a time, at least `interval` lies between two starts, and only the newest waits.
    /// For work that follows what changes all the time: a preview, a position, a progress.
    ///
    /// ```swift
    /// let preview = UseCaseQueue(.throttle(.milliseconds(100)))
    /// ```
    ///
    /// It is ``keepLatest`` with a pause. The first operation starts at once; the newest one starts
    /// when the interval is over and the body before it has returned. So the last one of a burst
    /// always runs. An operation starts when it gets its slot: one that is cancelled or superseded
    /// while it waits has not started. Combine's `throttle(for:scheduler:latest:)` does this with
    /// `latest: true`, except that bodies never overlap here.
    ///
    /// - Parameter interval: Measured on the queue's clock, from one start to the next. Zero or more,
    ///   or it traps; zero is ``keepLatest``.
    /// - Returns: The policy.
    public static func throttle(_ interval: Duration) -> Policy {
      guard interval >= .zero else {
        fatalError("No interval between two starts is \(interval). Give one of zero or more.")
      }
      return Policy(
        limit: 1, whenBusy: .keepLatest,
        pause: interval == .zero ? nil : .sinceLastStart(min(interval, .century)))
    }
  }
}

extension UseCaseQueue.Policy {
  /// The fate of an incoming operation, and how many older ones, the oldest first, it supersedes.
  struct Decision: Equatable, Sendable {
    enum Entry: Equatable, Sendable {
      case start, wait, drop
    }

    var entry: Entry
    var supersededLive = 0
    var supersededWaiting = 0
  }

  /// Decides about an incoming operation from counts alone.
  ///
  /// - Parameters:
  ///   - holding: How many operations hold a slot, also those that unwind after a cancellation.
  ///   - live: How many of these have no outcome yet.
  ///   - waiting: How many wait.
  ///   - isHeldBack: Whether it may not start now: the queue is suspended, or a pause is not over.
  /// - Returns: The fate of the incoming operation.
  func decision(holding: Int, live: Int, waiting: Int, isHeldBack: Bool) -> Decision {
    let hasSlot = !isHeldBack && holding < limit
    switch whenBusy {
    case .wait:
      return Decision(entry: hasSlot ? .start : .wait)
    case .cancelPrevious, .cancelPreviousAndWait:
      let excess = max(0, live + waiting - limit + 1)
      let overlaps = whenBusy == .cancelPrevious && !isHeldBack
      return Decision(
        entry: hasSlot || overlaps ? .start : .wait,
        supersededLive: min(excess, live),
        supersededWaiting: max(0, excess - live))
    case .drop:
      guard holding + waiting < places else { return Decision(entry: .drop) }
      return Decision(entry: hasSlot ? .start : .wait)
    case .keepLatest:
      return Decision(entry: hasSlot ? .start : .wait, supersededWaiting: waiting)
    }
  }

  /// Returns the end of the pause of an operation that is executed now, nil if it has none.
  func endOfPause(at now: Duration, nextStart: Duration) -> Duration? {
    switch pause {
    case nil: nil
    case .sinceExecute(let debounce): now + debounce
    case .sinceLastStart: now < nextStart ? nextStart : nil
    }
  }

  /// Whether the operation that has waited longest may start.
  func mayStart(holding: Int) -> Bool {
    whenBusy == .cancelPrevious || holding < limit
  }

  /// Whether an operation that waits for a slot waits for one body alone.
  var isSerial: Bool { limit == 1 && whenBusy != .cancelPrevious }
}
