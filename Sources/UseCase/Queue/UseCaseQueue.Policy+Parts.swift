import UseCaseInternals

// A policy is a limit, a rule for operations that arrive when the limit is reached, and pauses.

extension UseCaseQueue.Policy {
  /// The same policy with a bounded line: further operations are dropped.
  ///
  /// At most `count` operations wait, for a slot or for the pause of a ``rate(_:per:)``. They start
  /// in the order of the line. If no place is free, the incoming operation is
  /// ``UseCaseCancellation/dropped`` before `execute` returns. While the queue is suspended, it
  /// holds up to `limit + count` operations, running and waiting together.
  ///
  /// ```swift
  /// let uploads = UseCaseQueue(.limit(2).waiting(atMost: 100).byPriority)
  /// ```
  ///
  /// With 0, nothing waits: an operation that arrives at the limit is dropped.
  ///
  /// - Parameter count: 0 or more. Anything less is a programmer error and traps, and so is a policy
  ///   in which operations don't wait in a line.
  /// - Returns: The policy.
  public func waiting(atMost count: Int) -> Self {
    guard count >= 0 else {
      fatalError(
        "`waiting` must be 0 or more, but it is \(count). With 0, an operation that arrives at the "
          + "limit is dropped.")
    }
    requireLine("bounded")
    var policy = self
    policy.waitingLimit = count
    return policy
  }

  /// The same policy with a line in the order of priority, and of the calls among equal priorities.
  ///
  /// ```swift
  /// let load = LoadImage(queue: UseCaseQueue(.limit(4).byPriority))
  /// load.execute(prefetched, priority: .background)
  /// load.execute(visible, priority: .userInitiated)  // goes first
  /// ```
  ///
  /// The priority is that of the operation: see ``UseCaseOperation/priority``. An operation that is
  /// raised while it waits moves forward.
  ///
  /// - Precondition: Operations wait in a line: the policy is ``serial`` or ``limit(_:)``, with or
  ///   without ``waiting(atMost:)`` and ``rate(_:per:)``.
  public var byPriority: Self {
    requireLine("ordered by priority")
    var policy = self
    policy.isByPriority = true
    return policy
  }

  /// The same policy with a debounce: what arrives waits until `pause` has passed without a newer
  /// operation.
  ///
  /// Without a longest wait, operations that keep arriving keep each other from starting. With one,
  /// an operation starts after `longest` at the latest, counted from the first that has arrived
  /// since the last start. This time begins anew when nothing waits any more.
  ///
  /// ```swift
  /// let autosave = UseCaseQueue(
  ///   .keepLatest.debounced(by: .seconds(1), atMost: .seconds(10)))
  /// ```
  ///
  /// This queue waits for a pause in the typing, saves every ten seconds if there is none, and never
  /// cancels or overlaps a save. The last text is always saved.
  ///
  /// With a ``rate(_:per:)``, an operation waits for the later end of both. Applied twice, the later
  /// debounce counts. With 0, the policy has no debounce.
  ///
  /// - Parameters:
  ///   - pause: Measured on the queue's clock, from `execute`. Anything less than 0 is a programmer
  ///     error and traps.
  ///   - longest: The longest time that a burst of operations waits for a pause, `nil` for no bound.
  ///     Anything less than `pause` is a programmer error and traps. So is a policy other than
  ///     ``keepLatest``, ``cancelPrevious`` or ``cancelPreviousAndWait``, or one with a limit other
  ///     than 1.
  /// - Returns: The policy.
  public func debounced(by pause: Duration, atMost longest: Duration? = nil) -> Self {
    guard pause >= .zero else {
      fatalError("The pause of a debounce must be 0 or more, but it is \(pause).")
    }
    if let longest, longest < pause {
      fatalError(
        "`atMost` must not be shorter than the pause of the debounce, but \(longest) is shorter "
          + "than \(pause). Leave it out if a burst may wait for any length of time.")
    }
    switch whenBusy {
    case .keepLatest, .cancelPrevious, .cancelPreviousAndWait: break
    case .wait:
      fatalError(
        "Nothing is left out of a line, so it cannot be debounced. To run only the newest "
          + "operation after a pause, take `.keepLatest.debounced(by:)`. To run each of them, at "
          + "intervals, take `spaced(by:)`.")
    case .drop:
      fatalError(
        "A policy that drops the newest operation cannot be debounced: that runs the newest. Take "
          + "`.keepLatest.debounced(by:)`. To drop what follows too soon after a start, take "
          + "`.dropWhileBusy.spaced(by:)`.")
    }
    guard limit == 1 else {
      fatalError(
        "Only the newest operation starts after a debounce, so the limit must be 1, but it is "
          + "\(limit). Take `.keepLatest.debounced(by:)` or `.cancelPrevious.debounced(by:)`.")
    }
    var policy = self
    policy.debounce = min(pause, .century)
    policy.longestDebounce = pause == .zero ? .century : min(longest ?? .century, .century)
    return policy
  }

  /// The same policy with at least `interval` between two starts. It is a ``rate(_:per:)`` of 1.
  ///
  /// ```swift
  /// let likes = UseCaseQueue(.dropWhileBusy.spaced(by: .seconds(1)))  // leading edge only
  /// ```
  ///
  /// Applied twice, or after ``rate(_:per:)``, the later one counts. With 0, the policy has no
  /// interval.
  ///
  /// - Parameter interval: Measured on the queue's clock, from one start to the next. Anything less
  ///   than 0 is a programmer error and traps.
  /// - Returns: The policy.
  public func spaced(by interval: Duration) -> Self { rate(1, per: interval) }

  /// The same policy with at most `starts` operations started in any time of length `interval`.
  ///
  /// ```swift
  /// let requests = UseCaseQueue(.limit(4).rate(10, per: .seconds(1)))
  /// ```
  ///
  /// The rule of the policy says what happens to an operation that arrives too early. With
  /// ``serial`` or ``limit(_:)`` it waits, and none is lost. With ``dropWhileBusy`` it is dropped.
  /// With ``keepLatest`` only the newest waits. With ``cancelPrevious`` the previous one gives way
  /// at once, and the newest starts when the window allows.
  ///
  /// A start is a call of `main`. So each attempt of a ``RetryInterceptor`` counts, and waits for the
  /// window, ahead of the operations that wait for a slot; the timeout goes on. An operation that has
  /// its slot and hasn't called `main` yet counts, too. A call inside a held slot doesn't.
  ///
  /// The window slides: it is counted back from each moment. Cancelled operations that never
  /// started don't count. Applied twice, the later one counts. With an interval of 0, the policy has
  /// no rate.
  ///
  /// - Parameters:
  ///   - starts: At least 1; anything less is a programmer error and traps.
  ///   - interval: Measured on the queue's clock. Anything less than 0 is a programmer error and
  ///     traps.
  /// - Returns: The policy.
  public func rate(_ starts: Int, per interval: Duration) -> Self {
    guard starts >= 1 else {
      fatalError(
        "A rate must allow at least 1 start, but it is \(starts). To keep operations from "
          + "starting, suspend the queue.")
    }
    guard interval >= .zero else {
      fatalError("The interval between starts must be 0 or more, but it is \(interval).")
    }
    var policy = self
    policy.interval = min(interval, .century)
    policy.starts = interval == .zero ? 1 : starts
    return policy
  }

  private func requireLine(_ quality: String) {
    switch whenBusy {
    case .wait: break
    case .drop:
      fatalError(
        "Nothing waits in a policy that drops, so it has no line to be \(quality). Take "
          + "`.limit(\(limit)).waiting(atMost:)`, which drops only what finds the line full.")
    case .keepLatest, .cancelPrevious, .cancelPreviousAndWait:
      fatalError(
        "Only the newest operations wait in a policy like `.keepLatest` or `.cancelPrevious`, so "
          + "it has no line to be \(quality). Take `.limit(\(limit))`, in which each operation "
          + "waits for its turn.")
    }
  }
}
