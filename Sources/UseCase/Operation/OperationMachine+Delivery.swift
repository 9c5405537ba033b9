// What is delivered: updates, handlers, the end, and events to the observer.

extension OperationMachine {
  /// What is there for some operations only.
  struct Extras: Sendable {
    var updates: [Update] = []
    var marks: [Mark] = []
  }

  var extra: Extras {
    get { extras.first ?? Extras() }
    _modify {
      if extras.isEmpty { extras = [Extras()] }
      yield &extras[0]
    }
  }

  /// A handler was attached. Returns whether the caller is to deliver.
  mutating func attach(_ branch: OperationBranch) -> Bool {
    left += 1
    switch branch {
    case .success: attached.success += 1
    case .failure: attached.failure += 1
    case .common:
      attached.success += 1
      attached.failure += 1
    case .cancellation, .always, .update, .none: break
    }
    return stage == .returned && beginDelivery()
  }

  /// The body reports. Returns whether the caller is to deliver.
  mutating func report(_ update: Update) -> Bool {
    guard verdict == nil else { return false }
    extra.updates.append(update)
    return beginDelivery()
  }

  mutating func beginDelivery() -> Bool {
    guard !isDelivering else { return false }
    isDelivering = true
    return true
  }

  /// What the one who delivers does next.
  ///
  /// - Parameter take: Takes the next handler for a verdict.
  /// - Returns: What to do.
  mutating func next(
    take: (Verdict.Kind, _ isLast: Bool) -> OperationHandler
  ) -> OperationDelivery<Update, Mark> {
    if !extras.isEmpty, !extra.updates.isEmpty {
      defer { extra.updates = [] }
      return .updates(extra.updates)
    }
    guard stage == .returned, let kind = verdict?.kind else {
      isDelivering = false
      return .pause
    }
    let current = silence == nil ? kind : .cancelled
    if left > 0 {
      let isIsolated: Bool
      switch take(current, left == 1) {
      case .free(let branch):
        isIsolated = false
        _ = begin(branch)
      case .isolated: isIsolated = true
      case .passed:
        hasEnded = true
        return .tidy
      }
      left -= 1
      return .handler(current, isIsolated: isIsolated, isLast: left == 0)
    }
    hasEnded = true
    // When the observer hears of it, the handlers that were passed over are forgotten.
    if !isEndAnnounced { announce(.ended) }
    isEndAnnounced = true
    if !extras.isEmpty, !extra.marks.isEmpty {
      defer { extra.marks = [] }
      return .marks(extra.marks)
    }
    isDelivering = false
    return .end
  }

  /// The last handler has run. Returns whether that was all: else `next` says what is left to do.
  mutating func finish() -> Bool {
    guard left == 0, extras.isEmpty, !isObserved else { return false }
    hasEnded = true
    isDelivering = false
    return true
  }

  /// Those that were passed over are forgotten.
  mutating func forgot(left: Int) {
    self.left = Int32(left)
  }

  /// The verdict that a handler is given: the silence for those that are treated as cancelled, else
  /// that of the operation, which there is as soon as a handler was taken.
  func verdict(of kind: Verdict.Kind) -> Verdict? {
    if kind == .cancelled, let silence { return .cancelled(silence) }
    return verdict
  }

  /// A handler is about to begin on its isolation. Returns whether it may.
  mutating func begin(_ branch: OperationBranch) -> Bool {
    switch branch {
    case .success, .failure, .common:
      begun += 1
      return silence == nil
    case .cancellation, .always, .none:
      return true
    case .update:
      if case .cancelled? = verdict { return false }
      return silence == nil
    }
  }

  /// Somebody wants to be told of the end. Returns the mark if there is nothing to wait for.
  mutating func mark(_ mark: Mark) -> Mark? {
    guard !hasEnded || isDelivering else { return mark }
    extra.marks.append(mark)
    return nil
  }
}

// MARK: - Events

extension OperationMachine {
  mutating func announce(_ event: OperationEvents) {
    if isObserved { announced.insert(event) }
  }

  /// The next event to tell, and the task whose body may begin since the last one has been told.
  ///
  /// One at a time tells, and goes on until there is nothing left: who comes meanwhile leaves it
  /// to them. The one who executes goes on from the start.
  @inline(__always)
  mutating func tell(goesOn: Bool) -> (event: UseCaseEvent.Kind?, ready: Waiter?) {
    guard isObserved, goesOn || told.isEmpty && !announced.isEmpty else { return (nil, nil) }
    let ready = told == .running && stage == .granted ? makeReady() : nil
    told = announced.first
    announced.subtract(told)
    return (kind(of: told), ready)
  }

  private func kind(of event: OperationEvents) -> UseCaseEvent.Kind? {
    switch event {
    case .waiting: .waiting
    case .running: .running
    case .ended: .ended
    case .outcome:
      switch verdict {
      case .success: .succeeded
      case .failure: .failed
      case .cancelled(let reason): .cancelled(reason)
      case nil: nil
      }
    default: nil
    }
  }
}

/// Which outcome a handler is for.
@usableFromInline
enum OperationBranch: Equatable, Sendable {
  case success, failure, common, cancellation, always, update, none
}

/// Events for the observer. Each comes once, in this order.
struct OperationEvents: OptionSet, Hashable {
  let rawValue: UInt8

  static let admission = Self(rawValue: 1)
  static let waiting = Self(rawValue: 2)
  static let running = Self(rawValue: 4)
  static let outcome = Self(rawValue: 8)
  static let ended = Self(rawValue: 16)

  var first: Self { Self(rawValue: rawValue & (~rawValue &+ 1)) }
}

/// The next handler of an operation for its verdict.
@usableFromInline
enum OperationHandler: Equatable, Sendable {
  /// It runs on no actor, and begins at once.
  case free(OperationBranch)
  /// It runs on an actor, where it asks `begin` first.
  case isolated
  /// There is none: those that are left are passed over.
  case passed
}

/// What the one who delivers does next.
@usableFromInline
enum OperationDelivery<Update: Sendable, Mark: Sendable>: Sendable {
  /// Deliver these, each if `begin(.update)` says so.
  case updates([Update])
  /// Run the handler that was taken, with the verdict of this kind, on its isolation if it has one.
  /// After the last one, ask `finish` first.
  case handler(Verdict.Kind, isIsolated: Bool, isLast: Bool)
  /// Everything has run. Forget the handlers that were passed over, then ask again.
  case tidy
  /// All is delivered and forgotten: tell these.
  case marks([Mark])
  /// All is told. Who brings more begins the next delivery.
  case end
  /// The body has more to say. Who brings it begins the next delivery.
  case pause
}
