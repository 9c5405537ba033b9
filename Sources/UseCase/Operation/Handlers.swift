/// The outcomes that a handler is for.
@usableFromInline
enum HandlerBranch: Sendable {
  case success, failure, common, cancellation
  /// A `finally`, which comes after all others.
  case always
}

extension Verdict.Kind {
  /// Whether a handler of this branch is for the verdict. A `finally` is for each, and comes later.
  func takes(_ branch: HandlerBranch) -> Bool {
    switch branch {
    case .success: self == .success
    case .failure: self == .failure
    case .common: self != .cancelled
    case .cancellation: self == .cancelled
    case .always: false
    }
  }
}

/// A closure that a client attached, or that receives an update, on its isolation.
@usableFromInline
struct Callback: Sendable {
  /// Runs on the isolation that it is given, that of the closure, so no other code comes in between.
  /// The verdict is nil for an update. Returns whether the closure takes notice of a failure.
  @usableFromInline
  typealias Call = @Sendable (Verdict?, isolated (any Actor)?) async -> Bool

  let isolation: (any Actor)?
  let call: Call

  @usableFromInline
  init(isolation: (any Actor)?, call: @escaping Call) {
    self.isolation = isolation
    self.call = call
  }
}

/// A callback for the outcomes of one branch.
@usableFromInline
struct Handler<Callback: Sendable>: Sendable {
  let branch: HandlerBranch
  let callback: Callback
}

/// The handlers of an operation that have not run, in the order in which they were attached.
///
/// Two positions move through the list: one for the handlers of the outcome, and one for the
/// handlers that come last, each a `finally`. A handler that was taken leaves a gap. So each method
/// costs O(1) for each handler of the list, however often it is called, `append` aside.
struct Handlers<Callback: Sendable>: Sendable {
  private var list: [Handler<Callback>?] = []
  /// Handlers of the outcome before this one were taken, or are for another verdict.
  private var position: Int32 = 0
  /// Each `finally` before this one was taken.
  private var lastPosition: Int32 = 0
  /// How many have not been taken.
  private(set) var count: Int32 = 0

  mutating func append(_ handler: Handler<Callback>) {
    list.append(handler)
    count += 1
  }

  /// Whether a handler of the outcome is left for a verdict of this kind.
  mutating func hasNext(for kind: Verdict.Kind) -> Bool {
    while position < list.count {
      if let handler = list[Int(position)], kind.takes(handler.branch) { return true }
      position += 1
    }
    return false
  }

  /// Takes the next handler of the outcome for a verdict of this kind.
  mutating func takeNext(for kind: Verdict.Kind) -> Handler<Callback>? {
    guard hasNext(for: kind) else { return nil }
    position += 1
    return take(at: position - 1)
  }

  /// Takes the next `finally`.
  mutating func takeLast() -> Handler<Callback>? {
    while lastPosition < list.count {
      lastPosition += 1
      if list[Int(lastPosition) - 1]?.branch == .always { return take(at: lastPosition - 1) }
    }
    return nil
  }

  private mutating func take(at position: Int32) -> Handler<Callback>? {
    count -= 1
    return list[Int(position)].take()
  }

  /// Puts the `finally` that was taken last back in its place.
  mutating func putBack(_ handler: Handler<Callback>) {
    lastPosition -= 1
    list[Int(lastPosition)] = handler
    count += 1
  }

  /// The verdict turns into a cancellation, whose handlers were passed over.
  mutating func rewind() { position = 0 }

  /// Forgets the handlers that were passed over, and returns them to be let go.
  mutating func removeAll() -> [Handler<Callback>] {
    let passed = list.compactMap(\.self)
    self = Self()
    return passed
  }
}
