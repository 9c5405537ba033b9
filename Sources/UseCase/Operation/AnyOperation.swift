import UseCaseInternals

/// An operation whose types do not matter: what queues, scopes and slots see of it.
@usableFromInline
protocol AnyOperation: AnyObject, Sendable {
  func withCore<Result>(_ body: (borrowing OperationCore) -> Result) -> Result
  func deliver() async
}

/// An operation that calls another. Boxed, because the many that nobody calls keep a place for it.
@usableFromInline
final class Caller: Sendable {
  private let operation: Lock<(any AnyOperation)?>

  init(_ operation: any AnyOperation) {
    self.operation = Lock(operation)
  }

  /// The nearest in the chain of callers that holds a slot. Those before it have ended, and never
  /// hold one again: it lets go of them, or a chain of which each calls the next could only grow.
  var holder: (any AnyOperation)? {
    let first = operation.withLock { $0 }
    var next = first
    while let caller = next, !caller.withCore({ $0.holdsSlot }) {
      next = caller.withCore { $0.link?.operation.withLock { $0 } }
    }
    guard next !== first else { return first }
    // What is let go of is returned, to be released outside of the lock.
    _ = operation.withLock { operation in
      defer { operation = next }
      return operation
    }
    return next
  }
}

/// An update on its way to its receiver.
@usableFromInline
struct OperationUpdate: Sendable {
  @usableFromInline let isolation: (any Actor)?
  @usableFromInline let receive: @Sendable () async -> Void

  @inlinable
  init(
    isolation: (any Actor)?,
    receive: @escaping @Sendable () async -> Void
  ) {
    self.isolation = isolation
    self.receive = receive
  }
}

/// Who is told when an operation has ended.
@usableFromInline
enum OperationMark: Sendable {
  case task(UnsafeContinuation<Void, Never>)
  case scope(UseCaseScope.Members)

  @usableFromInline
  func tell(_ id: UseCaseOperationID) {
    switch self {
    case .task(let waiter): waiter.resume()
    case .scope(let members): members.remove(id)
    }
  }
}
