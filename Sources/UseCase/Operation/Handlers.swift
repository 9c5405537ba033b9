import UseCaseInternals

/// The outcomes that a handler is for.
@usableFromInline
enum HandlerBranch: Sendable {
  /// Hears of every outcome, before all others.
  case settlement
  case success, failure, common, cancellation
  /// A `finally`, which comes after all others.
  case always
}

extension Verdict.Kind {
  /// Whether a handler of this branch comes in the turn of the verdict. Settlements come before it,
  /// and each `finally` after it.
  func takes(_ branch: HandlerBranch) -> Bool {
    switch branch {
    case .success: self == .success
    case .failure: self == .failure
    case .common: self != .cancelled
    case .cancellation: self == .cancelled
    case .settlement, .always: false
    }
  }
}

/// A closure that a client attached, or that receives an update, with its isolation.
@usableFromInline
struct Callback: Sendable {
  /// Must be called on the isolation. The verdict is nil for an update. Returns whether the closure
  /// takes notice of a failure.
  @usableFromInline
  typealias Call = @Sendable (Verdict?) -> Bool

  let isolation: (any Actor)?
  let call: Call

  init(isolation: (any Actor)?, call: @escaping Call) {
    self.isolation = isolation
    self.call = call
  }
}

/// Returns the closure of a client as code on its isolation calls it: without an `await`.
///
/// With an `await`, other code of the isolation might come between the question whether the closure
/// may run and its call: nobody promises that a hop to the same actor does not suspend.
///
/// The cast is the one of `assumeIsolated` in the standard library. The isolation is a value beside
/// the code of the closure. It tells the caller where to go, and changes nothing of the call.
@inlinable
func onIsolation<Argument>(
  _ closure: @escaping @isolated(any) @Sendable (Argument) -> Void
) -> @Sendable (Argument) -> Void {
  unsafeBitCast(Isolated(closure: closure), to: Plain.self).closure
}

/// Returns a closure without a parameter likewise.
func onIsolation(
  _ closure: @escaping @isolated(any) @Sendable () -> Void
) -> @Sendable () -> Void {
  struct Isolated {
    let closure: @isolated(any) @Sendable () -> Void
  }
  struct Plain {
    let closure: @Sendable () -> Void
  }
  return unsafeBitCast(Isolated(closure: closure), to: Plain.self).closure
}

/// A closure in a struct is cast as it is. Alone it would get a thunk for each of the two types.
@usableFromInline
struct Isolated<Argument> {
  @usableFromInline let closure: @isolated(any) @Sendable (Argument) -> Void

  @inlinable
  init(closure: @escaping @isolated(any) @Sendable (Argument) -> Void) {
    self.closure = closure
  }
}

@usableFromInline
struct Plain<Argument> {
  @usableFromInline let closure: @Sendable (Argument) -> Void
}

/// A callback for the outcomes of one branch.
@usableFromInline
struct Handler<Callback: Sendable>: Sendable {
  let branch: HandlerBranch
  /// Whether it runs on an actor, where it asks first whether it may begin.
  let isIsolated: Bool
  let callback: Callback
}

extension Handler<Callback> {
  init(_ branch: HandlerBranch, on isolation: (any Actor)?, _ call: @escaping Callback.Call) {
    self.init(
      branch: branch, isIsolated: isolation != nil,
      callback: Callback(isolation: isolation, call: call))
  }
}

/// The handlers of an operation that have not run, in the order in which they were attached.
///
/// Three positions move through the list: for the settlements, for the handlers of the outcome, and
/// for each `finally`. A handler that was taken leaves a gap. So all calls of a method together
/// cost O(*n*) for *n* handlers, `append` aside.
struct Handlers<Callback: Sendable>: Sendable {
  private var list = Few<Handler<Callback>?>.none
  /// How many have not been taken.
  private(set) var count: Int32 = 0
  /// How many settlements have not been taken.
  private var settlements: Int32 = 0
  private var settlementPosition: Int32 = 0
  /// Handlers of the outcome before this one were taken, or are for another verdict.
  private var position: Int32 = 0
  /// Each `finally` before this one was taken.
  private var lastPosition: Int32 = 0
  /// How many have not begun that run after a success, and how many after a failure. `common` counts
  /// in both, settlements and `finally` in neither.
  private var left: (success: Int32, failure: Int32) = (0, 0)

  mutating func append(_ handler: consuming Handler<Callback>) {
    noteLeft(handler.branch, 1)
    if handler.branch == .settlement { settlements += 1 }
    list.append(handler)
    count += 1
  }

  private mutating func noteLeft(_ branch: HandlerBranch, _ number: Int32) {
    switch branch {
    case .success: left.success += number
    case .failure: left.failure += number
    case .common:
      left.success += number
      left.failure += number
    case .settlement, .cancellation, .always: break
    }
  }

  /// A handler of this branch has begun.
  mutating func noteBegin(_ branch: HandlerBranch) { noteLeft(branch, -1) }

  /// Whether a `then`, `catch` or `common` for the verdict has not begun.
  func isLeft(for kind: Verdict.Kind) -> Bool {
    switch kind {
    case .success: left.success > 0
    case .failure: left.failure > 0
    case .cancelled: false
    }
  }

  /// Takes the next settlement.
  mutating func takeFirst() -> Handler<Callback>? {
    if settlements == 0 { return nil }
    settlements -= 1
    while list[Int(settlementPosition)]?.branch != .settlement { settlementPosition += 1 }
    count -= 1
    return list.exchange(nil, at: Int(settlementPosition))
  }

  /// Whether a settlement is left, or a handler of the outcome for a verdict of this kind.
  mutating func hasNext(for kind: Verdict.Kind) -> Bool {
    if settlements > 0 { return true }
    while position < list.count {
      if let handler = list[Int(position)], kind.takes(handler.branch) { return true }
      position += 1
    }
    return false
  }

  /// Takes the next handler of the outcome for a verdict of this kind.
  mutating func takeNext(for kind: Verdict.Kind) -> Handler<Callback>? {
    while position < list.count {
      position += 1
      // Taken out to be looked at, which copies nothing.
      let handler = list.exchange(nil, at: Int(position) - 1)
      if let handler, kind.takes(handler.branch) {
        count -= 1
        return handler
      }
      _ = list.exchange(handler, at: Int(position) - 1)
    }
    return nil
  }

  /// Takes the next `finally`.
  mutating func takeLast() -> Handler<Callback>? {
    while lastPosition < list.count {
      lastPosition += 1
      if list[Int(lastPosition) - 1]?.branch == .always {
        count -= 1
        return list.exchange(nil, at: Int(lastPosition) - 1)
      }
    }
    return nil
  }

  /// Puts the `finally` that was taken last back in its place.
  mutating func putBack(_ handler: Handler<Callback>) {
    lastPosition -= 1
    _ = list.exchange(handler, at: Int(lastPosition))
    count += 1
  }

  /// The verdict turns into a cancellation, whose handlers were passed over.
  mutating func rewind() { position = 0 }

  /// Forgets the handlers that were passed over, and returns them to be let go.
  mutating func removeAll() -> [Handler<Callback>] {
    if count == 0 {
      if case .none = list { return [] }
      self = Self()
      return []
    }
    defer { self = Self() }
    return list.compactMap { $0 }
  }
}
