/// The slots that the running code holds.
@usableFromInline
enum Slot {
  /// An enum of its own, because an `Optional` is copied by way of its metadata.
  @usableFromInline
  enum Holder: Sendable {
    case nobody
    case operation(any AnyOperation)
  }

  /// The operation whose body runs here. Its callers are a chain behind it.
  @usableFromInline static let local = TaskLocal(wrappedValue: Holder.nobody)

  @inlinable static var isHeld: Bool {
    switch local.get() {
    case .nobody: false
    case .operation: true
    }
  }

  static var held: (any AnyOperation)? {
    switch local.get() {
    case .nobody: nil
    case .operation(let operation): operation
    }
  }

  /// Returns the nearest operation in the chain of callers that holds a slot, of `queue` if one is
  /// given.
  static func holder(
    in queue: UseCaseQueue? = nil, from caller: (any AnyOperation)? = held
  ) -> (any AnyOperation)? {
    var next = caller
    while let operation = next {
      let isHolder = operation.withCore { core in
        (queue == nil || core.queue === queue) && core.holdsSlot
      }
      if isHolder { return operation }
      next = operation.withCore { $0.caller }
    }
    return nil
  }

  /// Enters the slot of `queue` that the running code holds, if it does.
  static func join(_ queue: UseCaseQueue) -> Bool {
    // One that leaves just now is no holder any more when it is looked for again.
    while let host = holder(in: queue) {
      if host.withCore({ $0.join() }) { return true }
    }
    return false
  }
}
