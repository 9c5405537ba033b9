/// The delivery of the handlers of one operation: one task at a time runs them, in order.
///
///     idle ⇄ delivering
///       ↓        ↓
///     ended ⇄ deliveringAfterEnd
///
/// The handlers themselves stand in a list of their own, because they know the type of the
/// response. This machine counts them. A `cancel()` that comes when the operation has a verdict
/// *silences* the handlers that have not begun: they are treated as those of a cancelled operation.
struct HandlerDelivery: Sendable {
  private enum Phase {
    case idle, delivering, ended, deliveringAfterEnd
  }

  private var phase = Phase.idle
  /// How many handlers have been neither taken nor forgotten.
  private var left: Int32 = 0
  /// How many handlers there are for each of these verdicts, and how many have begun.
  private var attached: (success: Int32, failure: Int32) = (0, 0)
  private var begun: Int32 = 0
  /// Why the handlers that have not begun are treated as those of a cancelled operation.
  private(set) var silence: UseCaseCancellation?

  var hasHandlers: Bool { left > 0 }

  var isDelivering: Bool {
    switch phase {
    case .delivering, .deliveringAfterEnd: true
    case .idle, .ended: false
    }
  }

  var hasEnded: Bool {
    switch phase {
    case .ended, .deliveringAfterEnd: true
    case .idle, .delivering: false
    }
  }

  /// Returns whether the caller is the one to deliver.
  mutating func begin() -> Bool {
    switch phase {
    case .idle: phase = .delivering
    case .ended: phase = .deliveringAfterEnd
    case .delivering, .deliveringAfterEnd: return false
    }
    return true
  }

  /// The task that delivers has nothing to do at present.
  mutating func pause() {
    switch phase {
    case .delivering: phase = .idle
    case .deliveringAfterEnd: phase = .ended
    case .idle, .ended: preconditionFailure("Only a delivery that has begun can pause.")
    }
  }

  /// Every handler attached so far has run.
  mutating func end() {
    switch phase {
    case .idle: phase = .ended
    case .delivering: phase = .deliveringAfterEnd
    case .ended, .deliveringAfterEnd: break
    }
  }

  /// A handler was added to the list.
  mutating func attach(_ branch: HandlerBranch) {
    left += 1
    switch branch {
    case .success: attached.success += 1
    case .failure: attached.failure += 1
    case .common:
      attached.success += 1
      attached.failure += 1
    case .cancellation, .always: break
    }
  }

  /// Takes the next handler for a verdict.
  ///
  /// - Parameters:
  ///   - kind: The verdict of the operation.
  ///   - take: Takes the handler from the list.
  /// - Returns: The verdict that the handler is for, and whether it asks on its own isolation if
  ///   it may `begin`; nil if no handler is left for the verdict.
  @inline(__always)
  mutating func next(
    for kind: Verdict.Kind, take: (Verdict.Kind, _ isLast: Bool) -> TakenHandler
  ) -> (kind: Verdict.Kind, isIsolated: Bool)? {
    guard left > 0 else { return nil }
    let kind = silence == nil ? kind : .cancelled
    switch take(kind, left == 1) {
    case .free(let branch):
      left -= 1
      _ = begin(branch)
      return (kind, false)
    case .isolated:
      left -= 1
      return (kind, true)
    case .none:
      return nil
    }
  }

  /// The handlers for other verdicts, which are passed over, are forgotten.
  mutating func forget() { left = 0 }

  /// A handler is about to begin on its isolation. Returns whether it may.
  mutating func begin(_ branch: HandlerBranch) -> Bool {
    switch branch {
    case .success, .failure, .common:
      begun += 1
      return silence == nil
    case .cancellation, .always:
      return true
    }
  }

  /// The operation is cancelled though it has a verdict: leaves out the handlers that have not
  /// begun, unless all of them have.
  mutating func silence(_ reason: UseCaseCancellation, after verdict: Verdict.Kind) {
    let expected: Int32
    switch verdict {
    case .success: expected = attached.success
    case .failure: expected = attached.failure
    case .cancelled: return
    }
    let hasRunAll = begun == expected && (expected > 0 || hasEnded && !isDelivering)
    guard silence == nil, !hasRunAll else { return }
    silence = reason
  }
}
