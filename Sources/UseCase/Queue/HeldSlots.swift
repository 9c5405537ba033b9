/// The slots that the running code holds.
@usableFromInline
package enum HeldSlots {
  /// The operation whose body or handler runs here.
  ///
  /// A type of its own, because an `Optional` is copied by way of its metadata. Of a handler it keeps
  /// only the identity: a task that a handler has made must keep nothing of the operation.
  @usableFromInline
  struct Holder: Sendable {
    /// The operation whose body runs here.
    let member: (any QueueMember)?
    /// The operation whose handler runs here.
    fileprivate let handled: UseCaseOperationID?
    /// The task in which it runs: of a handler, and of a body in a debug build. Code in another task
    /// has inherited the holder.
    fileprivate let task: Int

    init(bodyOfMember member: any QueueMember) {
      (self.member, handled) = (member, nil)
      var task = 0
      assert({ task = currentTask }() == ())
      self.task = task
    }

    init(handlerOf id: UseCaseOperationID) {
      (member, handled, task) = (nil, id, currentTask)
    }

    private init() { (member, handled, task) = (nil, nil, 0) }

    @usableFromInline static var nobody: Holder { Holder() }
  }

  /// The callers of the operation whose body runs here are a chain behind it.
  @usableFromInline static let local = TaskLocal(wrappedValue: Holder.nobody)

  /// The place of the running code in a history: its frame, if it belongs to a recorded body. A handler
  /// never does.
  package static let frame = TaskLocal<(any AnyObject & Sendable)?>(wrappedValue: nil)

  private static var currentTask: Int { withUnsafeCurrentTask { $0?.hashValue ?? 0 } }

  /// The operation whose body runs here.
  static var innermost: (any QueueMember)? { local.get().member }

  @usableFromInline static var hasHolder: Bool { innermost != nil }

  /// Whether the running code is a body itself, and not a task that a body has made. Known in a debug
  /// build.
  static var isBodyHere: Bool {
    let holder = local.get()
    return holder.member != nil && holder.task == currentTask
  }

  /// Runs handlers of the operation, outside of all bodies.
  static func inHandler<Value>(of id: UseCaseOperationID, _ body: () -> Value) -> Value {
    local.withValue(Holder(handlerOf: id)) {
      frame.get() == nil ? body() : frame.withValue(nil, operation: body)
    }
  }

  /// Runs handlers of the operation, outside of all bodies.
  nonisolated(nonsending) static func inHandler(
    of id: UseCaseOperationID, _ body: nonisolated(nonsending) () async -> Void
  ) async {
    await local.withValue(Holder(handlerOf: id)) {
      if frame.get() == nil {
        await body()
      } else {
        await frame.withValue(nil) { await body() }
      }
    }
  }

  /// The operation whose handler the running code is.
  static var handled: UseCaseOperationID? {
    let holder = local.get()
    return holder.handled != nil && holder.task == currentTask ? holder.handled : nil
  }

  /// Returns the nearest member whose slot is occupied: one of this queue if a queue is given.
  static func holder(in queue: UseCaseQueue? = nil) -> (any QueueMember)? {
    first { member in member.isOccupied && queue.map(member.queue.isInside) ?? true }
  }

  /// Whether the running code is a part of the body of this member, which waits for it.
  static func isAwaitedHere(_ member: any QueueMember) -> Bool {
    first { $0 === member }?.isOccupied ?? false
  }

  /// Returns the first member that fits: the innermost, or a caller or host of one that does not.
  private static func first(where fits: (any QueueMember) -> Bool) -> (any QueueMember)? {
    var (next, others, hosts) = (innermost, [any QueueMember](), Set<UseCaseOperationID>())
    while let member = next ?? others.popLast() {
      if fits(member) { return member }
      let context = member.context
      next = context?.caller
      // A host keeps its slot, and its value, until its guests have left, even after its caller has
      // stopped awaiting it.
      if let host = context?.host, host.id != next?.id, hosts.insert(host.id).inserted {
        others.append(host)
      }
    }
    return nil
  }

  /// A call that the running code awaits was cancelled. If the body that awaits it then throws
  /// `CancellationError`, its operation is cancelled for the reason of the last such call.
  @usableFromInline
  static func noteCancellation(ofCall reason: UseCaseCancellation) {
    innermost?.noteCancellation(ofCall: reason)
  }

  /// A call that the running code awaits was cancelled or timed out while its body ran.
  @usableFromInline
  static func noteInterruption() { innermost?.noteInterruption() }

  /// Why the running code, the body of an operation, must not execute a use case of this type. Nil if it
  /// may.
  @usableFromInline
  static func objection(to useCase: Any) -> String? {
    guard let delegate = innermost?.queue.delegate else { return nil }
    let described = useCase as? any DescribedUseCase
    return delegate.objection(to: described?.baseType ?? type(of: useCase))
  }

  /// Enters the slot of this queue that the running code holds, as a guest.
  ///
  /// - Returns: The host, which has this slot. Nil if the running code holds none.
  static func enter(_ queue: UseCaseQueue) -> (any QueueMember)? {
    // A host whose last body exits at this moment is not found again.
    while let host = holder(in: queue) {
      if host.enter() { return host }
    }
    return nil
  }
}
