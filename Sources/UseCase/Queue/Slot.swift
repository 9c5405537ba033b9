/// The slots that the running code holds.
@usableFromInline
enum Slot {
  /// An enum of its own, because an `Optional` is copied by way of its metadata.
  @usableFromInline
  enum Holder: Sendable {
    case nobody
    case member(any QueueMember)
  }

  /// The operation whose body runs here. Its callers are a chain behind it.
  @usableFromInline static let local = TaskLocal(wrappedValue: Holder.nobody)

  @inlinable static var hasHolder: Bool {
    switch local.get() {
    case .nobody: false
    case .member: true
    }
  }

  static var innermost: (any QueueMember)? {
    switch local.get() {
    case .nobody: nil
    case .member(let member): member
    }
  }

  /// Returns the nearest member, from `caller` on, whose slot is occupied: one of this queue if a
  /// queue is given.
  static func holder(
    in queue: ObjectIdentifier? = nil, from caller: (any QueueMember)? = innermost
  ) -> (any QueueMember)? {
    var next = caller
    while let member = next {
      if queue == nil || member.queueID == queue, member.isOccupied { return member }
      next = member.dependents?.caller
    }
    return nil
  }

  /// Whether the operation waits for the running code, which is its own body, a call from that, or
  /// a run that these share.
  static func isAwaited(by operation: UseCaseOperationID) -> Bool {
    var (found, next) = (Set<UseCaseOperationID>(), [innermost])
    while let member = next.popLast() {
      guard let member, found.insert(member.ticket.id).inserted else { continue }
      if member.ticket.id == operation { return true }
      next.append(member.dependents?.caller)
      next += member.dependents?.riders?() ?? []
    }
    return false
  }

  /// A call that the running code awaits was cancelled. If its body ends with `CancellationError`, it
  /// is cancelled for the reason of the last such call.
  @usableFromInline @inline(never)
  static func noteCancellation(ofCall reason: UseCaseCancellation) {
    innermost?.noteCancellation(ofCall: reason)
  }

  /// Enters the slot of this queue that the running code holds, as a guest.
  ///
  /// - Returns: False if the running code holds none.
  static func enter(_ queue: ObjectIdentifier) -> Bool {
    // A host whose last body exits at this moment is not found again.
    while let host = holder(in: queue) {
      if host.enter() { return true }
    }
    return false
  }
}
