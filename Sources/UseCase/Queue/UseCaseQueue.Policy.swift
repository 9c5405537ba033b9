import UseCaseInternals

extension UseCaseQueue {
  /// A limit on concurrent operations, and a rule for operations that arrive when the limit is
  /// reached.
  ///
  /// Pass a policy to the queue: `UseCaseQueue(.cancelPrevious)`. <doc:ChoosingAPolicy> shows each
  /// policy in a picture.
  ///
  /// | policy | an operation at the limit |
  /// |---|---|
  /// | ``unlimited`` | starts at once: there is no limit |
  /// | ``serial``, ``limit(_:)`` | waits; first in, first out |
  /// | ``limit(_:waiting:)`` | waits, or is dropped if `waiting` operations wait already |
  /// | ``cancelPrevious`` | supersedes the previous one and starts at once |
  /// | ``cancelPrevious(debounce:)`` | supersedes the previous one; starts after a pause |
  /// | ``cancelPreviousAndWait`` | supersedes the previous one; starts when the old body returns |
  /// | ``dropWhileBusy`` | is dropped |
  /// | ``keepLatest`` | waits, and supersedes the operation that was waiting |
  /// | ``throttle(_:)`` | as ``keepLatest``; starts are at least the interval apart |
  ///
  /// Most policies come from ember-concurrency, a JavaScript library. Added here are a debounce, a
  /// throttle, a bounded number of waiting operations, and ``cancelPreviousAndWait``.
  public struct Policy: Hashable, Sendable {
    /// The rule for an incoming operation that finds all slots taken.
    public enum WhenBusy: Hashable, Sendable {
      /// The incoming operation waits: first in, first out.
      case wait

      /// The oldest operation is cancelled, for the reason ``UseCaseCancellation/superseded``. The
      /// incoming operation starts at once, although the old body may not have returned yet. Only
      /// the newest operations deliver: see ``UseCaseQueue/Policy/cancelPrevious``.
      case cancelPrevious

      /// The oldest operation is cancelled, for the reason ``UseCaseCancellation/superseded``. The
      /// incoming operation starts when a body has returned: bodies never overlap beyond the limit.
      case cancelPreviousAndWait

      /// The incoming operation is cancelled, for the reason ``UseCaseCancellation/dropped``.
      case drop

      /// The incoming operation waits. An operation that was already waiting never starts: it is
      /// cancelled, for the reason ``UseCaseCancellation/superseded``.
      case keepLatest
    }

    let limit: Int
    var whenBusy: WhenBusy
    /// How many may wait in line before an operation is dropped.
    var waitingLimit: Int
    var isByPriority = false
    /// How long an operation waits for a newer one, and a burst of them at the most.
    var (debounce, longestDebounce) = (Duration.zero, Duration.century)
    /// At most so many start in any time of this length.
    var (starts, interval) = (1, Duration.zero)

    /// Creates a policy from a limit and a rule.
    ///
    /// - Parameters:
    ///   - limit: How many operations may run at a time, at least 1; anything less is a
    ///     programmer error and traps.
    ///   - whenBusy: The rule for an incoming operation when `limit` operations run.
    public init(limit: Int, whenBusy: WhenBusy) {
      guard limit >= 1 else {
        fatalError(
          "The limit of a queue must be at least 1 operation, but it is \(limit). To keep "
            + "operations from starting, suspend the queue.")
      }
      self.limit = limit
      self.whenBusy = whenBusy
      waitingLimit = whenBusy == .drop ? 0 : .max
    }

    /// All operations run at once.
    public static let unlimited = Policy(limit: .max, whenBusy: .wait)

    /// One operation runs at a time, until its handlers have run. Later operations wait: first in,
    /// first out.
    public static let serial = Policy(limit: 1, whenBusy: .wait)

    /// The newest operation runs, and the previous one is cancelled. Use it for search as you type.
    ///
    /// Only the newest operation delivers. If the previous one has its outcome already, no `then`,
    /// `catch` or `common` of it begins on the actor that calls `execute` once that has returned.
    /// Its `onCancel` and `finally` run instead, for the reason
    /// ``UseCaseCancellation/superseded``.
    public static let cancelPrevious = Policy(limit: 1, whenBusy: .cancelPrevious)

    /// The newest operation cancels the previous one, and starts when that one has ended.
    public static let cancelPreviousAndWait = Policy(limit: 1, whenBusy: .cancelPreviousAndWait)

    /// While an operation runs, incoming operations are dropped. Use it for a button that must not
    /// fire twice.
    public static let dropWhileBusy = Policy(limit: 1, whenBusy: .drop)

    /// An operation runs, and only the newest waits. Use it to save a document that keeps changing.
    public static let keepLatest = Policy(limit: 1, whenBusy: .keepLatest)

    /// At most `limit` operations run at a time. Later operations wait: first in, first out.
    ///
    /// - Parameter limit: At least 1; anything less is a programmer error and traps.
    /// - Returns: The policy.
    public static func limit(_ limit: Int) -> Policy {
      Policy(limit: limit, whenBusy: .wait)
    }

    /// At most `limit` operations run at a time, and at most `waiting` wait. Further operations are
    /// dropped.
    ///
    /// The waiting operations start in the order in which they arrived. Use this policy when the
    /// number of waiting operations must be bounded.
    ///
    /// ```swift
    /// let uploads = UseCaseQueue(.limit(2, waiting: 100))
    /// ```
    ///
    /// If no place is free, the incoming operation is ``UseCaseCancellation/dropped`` before
    /// `execute` returns. While the queue is suspended, it holds up to `limit + waiting`
    /// operations, running and waiting together.
    ///
    /// - Parameters:
    ///   - limit: At least 1; anything less is a programmer error and traps.
    ///   - waiting: The greatest number of waiting operations, 0 or more; anything less is a
    ///     programmer error and traps.
    /// - Returns: The policy.
    public static func limit(_ limit: Int, waiting: Int) -> Policy {
      Policy.limit(limit).waiting(atMost: waiting)
    }

    /// The newest operation runs after `debounce` has passed without a newer operation. The
    /// previous operation is cancelled at once.
    ///
    /// - Parameter debounce: Measured on the queue's clock, from `execute`. Anything less than 0 is
    ///   a programmer error and traps.
    /// - Returns: The policy.
    public static func cancelPrevious(debounce: Duration) -> Policy {
      cancelPrevious.debounced(by: debounce)
    }

    /// One operation runs at a time, two starts are at least `interval` apart, and only the newest
    /// operation waits.
    ///
    /// Use it for work that follows a value that changes all the time, such as a preview, a
    /// position or a progress bar.
    ///
    /// ```swift
    /// let preview = UseCaseQueue(.throttle(.milliseconds(100)))
    /// ```
    ///
    /// This is ``keepLatest`` with a pause. The first operation starts at once. The newest
    /// operation starts when the interval is over and the running one has ended, so the last
    /// operation of a burst always runs. An interval begins when an operation gets its slot. An
    /// operation that is cancelled while it waits doesn't begin one. Combine's
    /// `throttle(for:scheduler:latest:)` does this with `latest: true`, except that bodies never
    /// overlap here.
    ///
    /// - Parameter interval: Measured on the queue's clock, from one start to the next. Anything
    ///   less than 0 is a programmer error and traps. With 0, the policy is ``keepLatest``.
    /// - Returns: The policy.
    public static func throttle(_ interval: Duration) -> Policy {
      keepLatest.spaced(by: interval)
    }
  }
}

/// The fate of an incoming operation.
@usableFromInline
enum Admission: Equatable, Sendable {
  case start, wait
  case refuse(UseCaseCancellation)
}

extension UseCaseQueue.Policy {
  /// Decides about an incoming operation from counts alone.
  ///
  /// - Parameters:
  ///   - holding: How many operations hold a slot, also those that unwind after a cancellation.
  ///   - live: How many of these have no early outcome.
  ///   - waiting: How many wait.
  ///   - isSuspended: Whether the queue is suspended.
  ///   - isPausing: Whether the operation waits for a pause of the policy.
  /// - Returns: The admission of the operation, and how many older ones it supersedes.
  func decision(
    holding: Int, live: Int, waiting: Int, isSuspended: Bool, isPausing: Bool
  ) -> (admission: Admission, superseded: Int) {
    let isHeldBack = isSuspended || isPausing
    let hasSlot = !isHeldBack && holding < limit
    switch whenBusy {
    case .wait, .drop:
      // A suspended queue holds both those that are to run and those that are to wait. A sum of the
      // two limits could overflow.
      let line = isPausing && !isSuspended ? waiting : holding + waiting - limit
      guard line < waitingLimit else { return (.refuse(.dropped), 0) }
      // When all lanes are resumed, one after the other, those that wait go first.
      return (hasSlot && waiting == 0 ? .start : .wait, 0)
    case .cancelPrevious, .cancelPreviousAndWait:
      let overlaps = whenBusy == .cancelPrevious && !isHeldBack
      return (hasSlot || overlaps ? .start : .wait, max(0, live + waiting - limit + 1))
    case .keepLatest:
      return (hasSlot ? .start : .wait, waiting)
    }
  }

  /// Whether all wait for a slot in the order of the calls, and nothing else is asked for.
  package var isPlain: Bool { self == Self(limit: limit, whenBusy: .wait) }

  /// Whether the clock matters.
  var pauses: Bool { debounce > .zero || interval > .zero }

  /// Whether the queue counts the calls of `main` in a window of time.
  var countsStarts: Bool { interval > .zero }

  /// Whether the operation that is the next to start has a slot.
  func mayStart(holding: Int) -> Bool {
    whenBusy == .cancelPrevious || holding < limit
  }

  /// Whether an incoming operation settles which older ones may still deliver.
  var deliversOnlyNewest: Bool {
    switch whenBusy {
    case .cancelPrevious, .cancelPreviousAndWait: true
    case .wait, .drop, .keepLatest: false
    }
  }

  /// Whether an operation that waits for a slot waits for one body alone.
  var isSerial: Bool { limit == 1 && whenBusy != .cancelPrevious }

  /// Whether the priority of an operation that waits matters.
  var usesPriority: Bool { isByPriority || isSerial }
}
