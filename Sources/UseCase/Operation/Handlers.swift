/// A closure that a client attached, and the outcome that it is for.
@usableFromInline
enum Handler<Response: Sendable>: Sendable {
  case then(@isolated(any) @Sendable (Response) -> Void)
  case failure(@isolated(any) @Sendable (any Error) -> Void)
  case typedFailure((any Actor)?, @Sendable (any Error) async -> Void)
  case common(@isolated(any) @Sendable () -> Void)
  case cancellation(@isolated(any) @Sendable (UseCaseCancellation) -> Void)
  case finally(@isolated(any) @Sendable () -> Void)

  @usableFromInline typealias Branch = OperationCore.Branch

  @inlinable var branch: Branch {
    switch self {
    case .then: .success
    case .failure, .typedFailure: .failure
    case .common: .common
    case .cancellation: .cancellation
    case .finally: .always
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
    }
  }

  /// Calls the handler if it is for this outcome.
  @inlinable @inline(__always)
  func call(with outcome: UseCaseOutcome<Response>) async {
    switch (self, outcome) {
    case (.then(let handler), .success(let response)): await handler(response)
    case (.failure(let handler), .failure(let error)): await handler(error)
    case (.typedFailure(_, let handler), .failure(let error)): await handler(error)
    case (.cancellation(let handler), .cancelled(let reason)): await handler(reason)
    case (.common(let handler), _), (.finally(let handler), _): await handler()
    case (.then, _), (.failure, _), (.typedFailure, _), (.cancellation, _): break
    }
  }
}

/// The handlers of an operation that have not run, in the order in which they were attached.
///
/// The first one, which often is the only one, needs no array.
@usableFromInline
struct Handlers<Response: Sendable>: Sendable {
  @usableFromInline var first: Handler<Response>?

  /// Whether the handlers that were passed over have been looked through for a cancellation.
  @usableFromInline var isCancelled = false

  @usableFromInline var count: Int32 = 0

  /// Those before it have run, or were passed over because their branch is another.
  @usableFromInline var position: Int32 = 0

  @usableFromInline var others: [Handler<Response>?] = []

  @inlinable init() {}

  @inlinable
  mutating func append(_ handler: Handler<Response>) {
    if count == 0 { first = handler } else { others.append(handler) }
    count += 1
  }

  /// Returns the next handler for the verdict.
  ///
  /// When a verdict turns into a cancellation, those for it that were passed over get their turn.
  @inlinable
  mutating func next(for verdict: Verdict) -> Handler<Response>? {
    if case .cancelled = verdict, !isCancelled {
      isCancelled = true
      position = 0
    }
    while position < count {
      let index = Int(position)
      position += 1
      if index == 0 {
        if let branch = first?.branch, verdict.takes(branch) { return first.take() }
      } else if let branch = others[index - 1]?.branch, verdict.takes(branch) {
        return others[index - 1].take()
      }
    }
    return nil
  }

  /// Whether there is nothing to forget.
  @inlinable var isEmpty: Bool { first == nil && others.count == 0 }

  /// Forgets those that were passed over, and returns them to be let go.
  @inlinable
  mutating func forget() -> Handlers {
    var rest = Handlers()
    rest.isCancelled = isCancelled
    for index in Int(position)..<Int(count) {
      if let handler = index == 0 ? first : others[index - 1] { rest.append(handler) }
    }
    let passed = self
    self = rest
    return passed
  }
}

extension Verdict {
  @inlinable
  func takes(_ branch: OperationCore.Branch) -> Bool {
    switch (self, branch) {
    case (_, .always): true
    case (.success, .success), (.success, .common): true
    case (.failure, .failure), (.failure, .common): true
    case (.cancelled, .cancellation): true
    default: false
    }
  }
}
