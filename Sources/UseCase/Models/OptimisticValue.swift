public import Observation

/// A value that shows what the user has done before the server has agreed.
///
/// ```swift
/// let heart = OptimisticValue(Heart(isLiked: false))
///
/// heart.change(like.execute(true)) { $0.isLiked = true }
/// print(heart.value.isLiked)  // true
/// ```
///
/// Each change belongs to an operation. ``value`` is what the server has confirmed, and on top every
/// change that is not settled, in the order of the calls. When the operation succeeds, its change
/// becomes part of ``confirmed``. When the operation fails or is cancelled, its change goes, and the
/// others stay: no snapshot is ever restored, so no change is lost with another.
///
/// A success joins ``confirmed`` after the changes before it, so the screen doesn't go back and forth.
/// The value changes before any handler of the operation runs.
///
/// Execute the writes on a queue like ``UseCaseQueue/Policy/serial`` or
/// ``UseCaseQueue/Policy/keepLatest``. Under ``UseCaseQueue/Policy/cancelPrevious``, a write that gives
/// way may have reached the server, and nothing tells in which order two writes have arrived.
///
/// The idea is that of the optimistic updates of TanStack Query and Apollo, as a layer instead of a
/// snapshot.
@MainActor @Observable
public final class OptimisticValue<Value> {
  /// A moment in the life of a value, for ``OptimisticValue/confirm(_:since:)``.
  ///
  /// As long as you keep the mark, the value keeps the changes that have succeeded since.
  public final class Mark: Sendable {
    fileprivate let number: Int
    private let owner: ObjectIdentifier
    private let end: @Sendable (_ number: Int) -> Void

    fileprivate init(
      _ number: Int, of owner: ObjectIdentifier, end: @escaping @Sendable (Int) -> Void
    ) {
      (self.number, self.owner, self.end) = (number, owner, end)
    }

    deinit { end(number) }

    fileprivate func isOf(_ object: AnyObject) -> Bool { owner == ObjectIdentifier(object) }
  }

  private struct Change {
    let number: Int
    var apply: (inout Value) -> Void
    /// Settles the change, if its operation has an outcome. Nil once that is done.
    var takeOutcome: (() -> Void)?
    /// The number of its success, nil as long as its operation has no outcome.
    var success: Int?
  }

  /// The confirmed value, with every change that is not settled on top. Only changes and
  /// ``confirm(_:since:)`` set it.
  ///
  /// Observers are not told when the value is `Equatable` and hasn't changed: `==` has to compare all
  /// that a view shows.
  public private(set) var value: Value

  /// The value as the server has it, as far as it is known.
  public private(set) var confirmed: Value

  /// Whether a change has no outcome yet.
  public private(set) var isPending = false

  /// Whether the server may have a change that is not shown: its operation, or a call in its body, was
  /// cancelled or timed out while its body ran. It is so until the next ``confirm(_:since:)``.
  public private(set) var isUncertain = false

  /// The error of the last change that has failed; `nil` once a change that was asked for later has
  /// succeeded after that.
  public private(set) var error: (any Error)?

  /// The changes that are not part of the confirmed value, in the order of the calls. The first has no
  /// outcome yet.
  @ObservationIgnored private var changes: [Change] = []
  /// The changes that the confirmed value has, and that it got since the oldest mark.
  @ObservationIgnored private var successes: [Change] = []
  /// The numbers of the marks that are kept.
  @ObservationIgnored private var marks: [Int] = []
  @ObservationIgnored private var asked = 0
  @ObservationIgnored private var succeeded = 0
  /// The number of the change that has failed last.
  @ObservationIgnored private var failed = 0

  /// Creates a value that the server has confirmed.
  ///
  /// - Parameter confirmed: The value, without any change.
  public init(_ confirmed: Value) {
    (value, self.confirmed) = (confirmed, confirmed)
  }

  /// Shows a change until its operation has an outcome, and then makes it part of the confirmed value
  /// or takes it back.
  ///
  /// The change is visible when this returns. If the operation has its outcome already, such as one
  /// that its queue has dropped, the change is settled before this returns.
  ///
  /// - Parameters:
  ///   - operation: The operation that makes the change on the server.
  ///   - apply: Makes the change. It is called many times, whenever the value below it may differ.
  ///   - confirmed: Makes the change in place of `apply` once there is the response: with the id that
  ///     the server has given, or the price that it has rounded.
  /// - Returns: The operation.
  /// - Complexity: O(*n*) in the number of changes that are not settled.
  @discardableResult
  public func change<Request, Response>(
    _ operation: UseCaseOperation<Request, Response>, _ apply: @escaping (inout Value) -> Void,
    confirmed: ((inout Value, Response) -> Void)? = nil
  ) -> UseCaseOperation<Request, Response> {
    asked += 1
    let number = asked
    let takeOutcome = { [weak self] in
      guard let self, let outcome = operation.outcome else { return }
      switch outcome {
      case .success(let response):
        succeed(number, confirmed.map { confirmed in { confirmed(&$0, response) } })
      case .failure(let error): fail(number, error, isCertain: !operation.core.wasInterrupted)
      case .cancelled: fail(number, nil, isCertain: !operation.core.wasInterrupted)
      }
    }
    changes.append(Change(number: number, apply: apply, takeOutcome: takeOutcome))
    let isEarly = operation.settle { [weak self] _ in
      takeOutcome()
      self?.show()
      return self != nil
    }
    if !isEarly {
      takeOutcome()
      operation.core.failureIsHandled()
    }
    show()
    return operation
  }

  /// Takes a mark before a reload begins, for ``confirm(_:since:)``. First it settles each change whose
  /// operation has its outcome, as `confirm` does.
  ///
  /// - Returns: The mark. Keep it until the answer of the reload is there.
  public func mark() -> Mark {
    takeOutcomes()
    show()
    marks.append(succeeded)
    return Mark(succeeded, of: ObjectIdentifier(self)) { [weak self] number in
      Task.detached { @MainActor in self?.markEnds(number) }
    }
  }

  /// Takes the server's word: the answer of a reload, or a push.
  ///
  /// The new value is taken to have every change that has succeeded by then. With a mark, the changes
  /// that have succeeded after it are applied to the new value again. Changes without an outcome stay
  /// on top.
  ///
  /// ```swift
  /// let mark = rows.mark()
  /// load.execute().then { list in rows.confirm(list, since: mark) }
  /// ```
  ///
  /// - Parameters:
  ///   - value: The value as the server has it.
  ///   - mark: A mark that was taken before the server was asked, `nil` if no change can have
  ///     succeeded meanwhile. A mark of another value is a programmer error and traps.
  /// - Complexity: O(*n* log *n*) in the number of changes that are not settled, and of those settled
  ///   since the oldest mark that you keep.
  public func confirm(_ value: Value, since mark: Mark? = nil) {
    guard mark?.isOf(self) ?? true else {
      fatalError("A value is confirmed since a mark of its own: take it by its `mark()`.")
    }
    takeOutcomes()
    let known = mark?.number ?? succeeded
    // A later confirm may be since an older mark: no success since the oldest one is forgotten.
    let all = (successes + changes).sorted { $0.number < $1.number }
    let isKnown = { (change: Change) in change.success.map { $0 <= known } ?? false }
    successes = all.filter(isKnown)
    changes = all.filter { !isKnown($0) }
    confirmed = value
    isUncertain = false
    takeSettled()
    show()
  }

  /// Settles what has an outcome already: the handlers that do it may be waiting for the main actor.
  private func takeOutcomes() {
    for change in changes { change.takeOutcome?() }
  }

  /// The numbers of the changes that are not settled.
  var unsettled: [Int] { changes.filter { $0.success == nil }.map(\.number) }

  private func index(_ number: Int) -> Int? {
    changes.firstIndex { $0.number == number && $0.success == nil }
  }

  private func succeed(_ number: Int, _ apply: ((inout Value) -> Void)?) {
    guard let index = index(number) else { return }
    succeeded += 1
    (changes[index].success, changes[index].takeOutcome) = (succeeded, nil)
    if let apply { changes[index].apply = apply }
    if number > failed { error = nil }
    takeSettled()
  }

  private func fail(_ number: Int, _ error: (any Error)?, isCertain: Bool) {
    guard let index = index(number) else { return }
    changes.remove(at: index)
    if let error { (self.error, failed) = (error, number) }
    if !isCertain { isUncertain = true }
    takeSettled()
  }

  /// The first changes become part of the confirmed value, up to one that has no outcome.
  private func takeSettled() {
    let count = changes.firstIndex { $0.success == nil } ?? changes.count
    if count > 0 {
      var value = confirmed
      for change in changes[..<count] { change.apply(&value) }
      confirmed = value
      successes += changes[..<count]
      changes.removeFirst(count)
    }
    forgetSuccesses()
  }

  private func markEnds(_ number: Int) {
    if let index = marks.firstIndex(of: number) { marks.remove(at: index) }
    forgetSuccesses()
  }

  /// Lets go of the successes that each later confirm has.
  private func forgetSuccesses() {
    let oldest = marks.min() ?? succeeded
    successes.removeAll { $0.success.map { $0 <= oldest } ?? true }
  }

  private func show() {
    var newest = confirmed
    for change in changes { change.apply(&newest) }
    // Nobody is told of an equal value, which may differ in what `==` does not compare.
    if isEqual(newest, value) { _value = newest } else { value = newest }
    if isPending == changes.isEmpty { isPending = !changes.isEmpty }
  }
}

private func isEqual<Value>(_ value: Value, _ other: Value) -> Bool {
  func isEqual<Known: Equatable>(_ value: Known) -> Bool { value == other as? Known }
  return (value as? any Equatable).map { isEqual($0) } ?? false
}
