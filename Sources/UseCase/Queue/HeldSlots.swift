/// The slots that the running code holds.
@usableFromInline
enum HeldSlots {
  /// A type of its own, because an `Optional` is copied by way of its metadata.
  @usableFromInline
  struct Holder: Sendable {
    let member: (any QueueMember)?

    init(member: (any QueueMember)?) {
      self.member = member
    }

    @usableFromInline static var nobody: Holder { Holder(member: nil) }
  }

  /// The operation whose body runs here. Its callers are a chain behind it.
  @usableFromInline static let local = TaskLocal(wrappedValue: Holder.nobody)

  static var innermost: (any QueueMember)? { local.get().member }

  @usableFromInline static var hasHolder: Bool { innermost != nil }

  /// Returns the nearest member whose slot is occupied: one of this queue if a queue is given.
  static func holder(in queue: ObjectIdentifier? = nil) -> (any QueueMember)? {
    var found: (any QueueMember)?
    visit { member in
      guard queue == nil || member.queueID == queue, member.isOccupied else { return .goOn }
      found = member
      return .stop
    }
    return found
  }

  /// The runs that the running code is a part of: those that are nearest on each way.
  static var runs: [any SharedRunning] {
    var runs: [any SharedRunning] = []
    visit { member in
      guard let run = member.dependents?.run else { return .goOn }
      runs.append(run)
      return .turnBack
    }
    return runs
  }

  private enum AfterVisit {
    case goOn
    /// Leave out the caller and the host of this member.
    case turnBack
    case stop
  }

  /// Visits the innermost member, and each caller and host of a visited one.
  private static func visit(_ body: (any QueueMember) -> AfterVisit) {
    var (next, others, hosts) = (innermost, [any QueueMember](), Set<UseCaseOperationID>())
    while let member = next ?? others.popLast() {
      next = nil
      switch body(member) {
      case .stop: return
      case .turnBack: continue
      case .goOn: break
      }
      let dependents = member.dependents
      next = dependents?.caller
      // A host keeps its slot, and its value, until its guests have left, even after its caller has
      // stopped awaiting it.
      if let host = dependents?.host, host.id != next?.id,
        hosts.insert(host.id).inserted
      {
        others.append(host)
      }
    }
  }

  /// A call that the running code awaits was cancelled. If its body ends with `CancellationError`,
  /// it is cancelled for the reason of the last such call.
  @usableFromInline
  static func noteCancellation(ofCall reason: UseCaseCancellation) {
    innermost?.noteCancellation(ofCall: reason)
  }

  /// Returns the line in which an operation waits that the running code executes on this queue. Nil if
  /// it waits in the queue.
  static func line(in queue: UseCaseQueue) -> UseCaseQueue? {
    queue.hasDelegate && hasHolder ? queue.delegate?.lineHere() : nil
  }

  /// Whether the running code is a guest that has had its turn in this line.
  static func isHeld(inLine line: UseCaseQueue) -> Bool {
    var isHeld = false
    visit { member in
      isHeld = member.dependents?.line === line && member.isOccupied
      return isHeld ? .stop : .goOn
    }
    return isHeld
  }

  /// Why the running code, the body of an operation, must not execute a use case of this type. Nil if it
  /// may.
  @usableFromInline
  static func objection(to useCase: Any) -> String? {
    guard let delegate = innermost?.delegate else { return nil }
    let described = useCase as? any DescribedUseCase
    return delegate.objection(to: described?.baseType ?? type(of: useCase))
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
