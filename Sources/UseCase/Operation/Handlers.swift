/// The outcomes that a handler is for.
@usableFromInline
enum HandlerBranch: Sendable {
  case success, failure, common, cancellation, always
}

/// The handler that was taken from the list for a verdict, as far as a machine needs to know it.
@usableFromInline
enum TakenHandler: Equatable, Sendable {
  /// It runs on no actor, and begins at once.
  case free(HandlerBranch)
  /// It runs on an actor, where it asks first whether it may begin.
  case isolated
  /// None is left: the others are for other verdicts.
  case none
}

/// A closure that a client attached.
@usableFromInline
enum Handler<Response: Sendable>: Sendable {
  /// Runs on the isolation of its caller, so no other code comes in between. Returns whether the
  /// error is of its type.
  @usableFromInline
  typealias ErrorHandler = nonisolated(nonsending) @Sendable (any Error) async -> Bool

  case then(@isolated(any) @Sendable (Response) -> Void)
  case failure(@isolated(any) @Sendable (any Error) -> Void)
  indirect case typedFailure((any Actor)?, ErrorHandler)
  case common(@isolated(any) @Sendable () -> Void)
  case cancellation(@isolated(any) @Sendable (UseCaseCancellation) -> Void)
  case finally(@isolated(any) @Sendable () -> Void)
  case outcome(@isolated(any) @Sendable (UseCaseOutcome<Response>) -> Void)
  /// In place of an `Optional`, which is copied by way of its metadata.
  case none

  @inlinable var branch: HandlerBranch? {
    switch self {
    case .then: .success
    case .failure, .typedFailure: .failure
    case .common: .common
    case .cancellation: .cancellation
    case .finally, .outcome: .always
    case .none: nil
    }
  }

  @inlinable var isolation: (any Actor)? {
    switch self {
    case .then(let handler): handler.isolation
    case .failure(let handler): handler.isolation
    case .typedFailure(let isolation, _): isolation
    case .common(let handler): handler.isolation
    case .cancellation(let handler): handler.isolation
    case .finally(let handler): handler.isolation
    case .outcome(let handler): handler.isolation
    case .none: nil
    }
  }

  /// Returns the handler, and leaves `none` in its place.
  @inlinable
  mutating func take() -> Self {
    let handler = self
    self = .none
    return handler
  }

  /// Calls the handler if it is for this outcome, from the isolation of the caller.
  ///
  /// - Parameter outcome: The outcome of the operation.
  /// - Returns: Whether the handler takes notice of a failure.
  @inlinable @inline(__always)
  nonisolated(nonsending) func call(with outcome: UseCaseOutcome<Response>) async -> Bool {
    switch (self, outcome) {
    case (.then(let handler), .success(let response)): await handler(response)
    case (.failure(let handler), .failure(let error)):
      await handler(error)
      return true
    case (.typedFailure(_, let handler), .failure(let error)): return await handler(error)
    case (.cancellation(let handler), .cancelled(let reason)): await handler(reason)
    case (.common(let handler), _), (.finally(let handler), _): await handler()
    case (.outcome(let handler), _):
      await handler(outcome)
      return true
    case (.then, _), (.failure, _), (.typedFailure, _), (.cancellation, _), (.none, _): break
    }
    return false
  }
}

/// The handlers of an operation that have not run, in the order in which they were attached.
///
/// The first one, which often is the only one, needs no array.
@usableFromInline
struct Handlers<Response: Sendable>: Sendable {
  @usableFromInline var first = Handler<Response>.none

  /// Whether there was a first one.
  @usableFromInline var hasFirst = false

  /// Whether the handlers that were passed over have been looked through for a cancellation.
  @usableFromInline var isCancelled = false

  /// The handlers before this one have run, or were passed over for another verdict.
  @usableFromInline var position: Int32 = 0

  @usableFromInline var others: [Handler<Response>] = []

  @inlinable init() {}

  @inlinable var count: Int { hasFirst ? others.count + 1 : 0 }

  @inlinable
  mutating func append(_ handler: Handler<Response>) {
    if hasFirst { others.append(handler) } else { first = handler }
    hasFirst = true
  }

  /// Takes the next handler for a verdict into `handler`.
  ///
  /// The storage is released with the last handler that is left. When a verdict turns into a
  /// cancellation, the handlers of a cancellation that were passed over get their turn.
  @inlinable
  mutating func take(
    _ handler: inout Handler<Response>, for kind: Verdict.Kind, isLast: Bool
  ) -> TakenHandler {
    handler = next(for: kind)
    guard let branch = handler.branch else { return .none }
    if isLast, !others.isEmpty {
      others = []
      position = 1
    }
    return handler.isolation == nil ? .free(branch) : .isolated
  }

  @inlinable
  mutating func next(for kind: Verdict.Kind) -> Handler<Response> {
    if kind == .cancelled, !isCancelled {
      isCancelled = true
      position = 0
    }
    while position < count {
      let index = Int(position)
      position += 1
      if index == 0 {
        if kind.takes(first.branch) { return first.take() }
      } else if kind.takes(others[index - 1].branch) {
        return others[index - 1].take()
      }
    }
    return .none
  }

  /// Puts the handler that was taken last back in its place.
  mutating func putBack(_ handler: Handler<Response>) {
    position -= 1
    if position == 0 { first = handler } else { others[Int(position) - 1] = handler }
  }

  /// Forgets the handlers that were passed over, and returns them to be let go.
  @inlinable
  mutating func forget() -> Handlers {
    var rest = Handlers()
    rest.isCancelled = isCancelled
    for index in Int(position)..<count {
      rest.append(index == 0 ? first : others[index - 1])
    }
    let passed = self
    self = rest
    return passed
  }
}

extension Verdict.Kind {
  @inlinable
  func takes(_ branch: HandlerBranch?) -> Bool {
    switch branch {
    case .always: true
    case .success: self == .success
    case .failure: self == .failure
    case .common: self != .cancelled
    case .cancellation: self == .cancelled
    case nil: false
    }
  }
}
