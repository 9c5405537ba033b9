/// A closure that a client attached, and the outcome that it is for.
@usableFromInline
enum Handler<Response: Sendable>: Sendable {
  case then(@isolated(any) @Sendable (Response) -> Void)
  case failure(@isolated(any) @Sendable (any Error) -> Void)
  indirect case typedFailure((any Actor)?, @Sendable (any Error) async -> Void)
  case common(@isolated(any) @Sendable () -> Void)
  case cancellation(@isolated(any) @Sendable (UseCaseCancellation) -> Void)
  case finally(@isolated(any) @Sendable () -> Void)
  /// Instead of an `Optional`, which is copied by way of its metadata.
  case none

  @usableFromInline typealias Branch = OperationCore.Branch

  @inlinable var branch: Branch {
    switch self {
    case .then: .success
    case .failure, .typedFailure: .failure
    case .common: .common
    case .cancellation: .cancellation
    case .finally: .always
    case .none: .none
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
    case .none: nil
    }
  }

  /// Leaves none.
  @inlinable
  mutating func take() -> Self {
    let handler = self
    self = .none
    return handler
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
    case (.then, _), (.failure, _), (.typedFailure, _), (.cancellation, _), (.none, _): break
    }
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

  /// Those before it have run, or were passed over because their branch is another.
  @usableFromInline var position: Int32 = 0

  @usableFromInline var others: [Handler<Response>] = []

  @inlinable init() {}

  @inlinable var count: Int { hasFirst ? others.count + 1 : 0 }

  @inlinable
  mutating func append(_ handler: Handler<Response>) {
    if hasFirst { others.append(handler) } else { first = handler }
    hasFirst = true
  }

  /// Takes the next handler for a verdict.
  ///
  /// When a verdict turns into a cancellation, those for it that were passed over get their turn.
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

  /// Takes the next handler for a verdict, and returns what the machine wants to know of it.
  ///
  /// With the last one that is left go the places of those before it.
  @inlinable
  mutating func take(
    _ handler: inout Handler<Response>, for kind: Verdict.Kind, isLast: Bool
  ) -> OperationHandler {
    handler = next(for: kind)
    let branch = handler.branch
    guard branch != .none else { return .passed }
    if isLast, !others.isEmpty {
      others = []
      hasFirst = false
      position = 0
    }
    return handler.isolation == nil ? .free(branch) : .isolated
  }

  /// Forgets those that were passed over, and returns them to be let go.
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
  func takes(_ branch: OperationCore.Branch) -> Bool {
    switch branch {
    case .always: true
    case .success: self == .success
    case .failure: self == .failure
    case .common: self != .cancelled
    case .cancellation: self == .cancelled
    case .update, .none: false
    }
  }
}
