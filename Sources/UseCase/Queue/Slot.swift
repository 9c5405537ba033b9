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

  /// Returns the nearest member, from `member` on, whose slot is occupied: one of this queue if a
  /// queue is given.
  static func holder(
    in queue: ObjectIdentifier? = nil, from member: (any QueueMember)? = innermost
  ) -> (any QueueMember)? {
    nearest(from: member) { (queue == nil || $0.queueID == queue) && $0.isOccupied }
  }

  /// Whether the operation waits for the running code, which is its own body, a call from that, or
  /// a run that these share.
  static func isAwaited(by operation: UseCaseOperationID) -> Bool {
    isAwaited(innermost, by: operation)
  }

  private static func isAwaited(
    _ member: (any QueueMember)?, by operation: UseCaseOperationID
  ) -> Bool {
    nearest(from: member) { $0.id == operation } != nil
  }

  /// Whether a call from the operation waits for a slot that the running code holds.
  ///
  /// - Complexity: O(*n*) in the number of operations that wait for such a slot.
  static func isNeeded(by operation: UseCaseOperationID) -> Bool {
    nearest { $0.isOccupied && $0.nextInLine.contains { isAwaited($0, by: operation) } } != nil
  }

  /// Returns the nearest member that `isWanted`: `member` itself, its caller, its host, its riders
  /// if it is a run, or a member that waits for one of these.
  private static func nearest(
    from member: (any QueueMember)? = innermost, where isWanted: (any QueueMember) -> Bool
  ) -> (any QueueMember)? {
    var (next, others) = (member, [any QueueMember]())
    var (hosts, runs) = (Set<UseCaseOperationID>(), Set<UseCaseOperationID>())
    while let member = next ?? others.popLast() {
      if isWanted(member) { return member }
      let dependents = member.dependents
      next = dependents?.caller
      // A host keeps its slot, and its value, until its guests have left, even after its caller has
      // stopped awaiting it.
      if let host = dependents?.host, host.id != next?.id,
        hosts.insert(host.id).inserted
      {
        others.append(host)
      }
      // A body that awaits its own run rides it until this is found.
      if let riders = dependents?.riders, runs.insert(member.id).inserted {
        others += riders()
      }
    }
    return nil
  }

  /// A call that the running code awaits was cancelled. If its body ends with `CancellationError`,
  /// it is cancelled for the reason of the last such call.
  @usableFromInline @inline(never)
  static func noteCancellation(ofCall reason: UseCaseCancellation) {
    innermost?.noteCancellation(ofCall: reason)
  }

  /// Enters the slot of this queue that the running code holds, as a guest.
  ///
  /// - Returns: The host, which has this slot. Nil if the running code holds none.
  static func enter(_ queue: ObjectIdentifier) -> (any QueueMember)? {
    // A host whose last body exits at this moment is not found again.
    while let host = holder(in: queue) {
      if host.enter() { return host }
    }
    return nil
  }
}
