// What is delivered: updates, handlers, the end, and events to the observer.

extension OperationMachine {
  /// A handler was attached. Returns whether the caller is to deliver.
  mutating func attach(_ branch: OperationBranch) -> Bool {
    switch branch {
    case .success: attached.success += 1
    case .failure: attached.failure += 1
    case .common:
      attached.success += 1
      attached.failure += 1
    case .cancellation, .always, .update: break
    }
    hasUnread = true
    return stage == .returned && beginDelivery()
  }

  /// The body reports. Returns whether the caller is to deliver.
  mutating func report(_ update: Update) -> Bool {
    guard verdict == nil else { return false }
    updates.append(update)
    return beginDelivery()
  }

  @usableFromInline var hasUnreadCancellation: Bool { hasUnread && silence != nil }

  mutating func beginDelivery() -> Bool {
    guard !isDelivering else { return false }
    isDelivering = true
    return true
  }

  /// What the one who delivers does next. `isTidy` says whether no handler has been passed over.
  mutating func next(isTidy: () -> Bool) -> OperationDelivery<Update, Mark> {
    guard updates.isEmpty else {
      defer { updates = [] }
      return .updates(updates)
    }
    guard stage == .returned, let verdict else {
      isDelivering = false
      return .pause
    }
    if hasUnread {
      hasUnread = false
      wasRead = true
      return .handlers(silence.map(Verdict.cancelled) ?? verdict)
    }
    if wasRead {
      wasRead = false
      if !hasEnded { announce(.ended) }
      hasEnded = true
      if isObserved || !isTidy() { return .tidy }
    }
    isDelivering = false
    defer { marks = [] }
    return .end(marks)
  }

  /// A handler is about to begin on its isolation. Returns whether it may.
  mutating func begin(_ branch: OperationBranch) -> Bool {
    switch branch {
    case .success, .failure, .common:
      begun += 1
      return silence == nil
    case .cancellation, .always:
      return true
    case .update:
      if case .cancelled? = verdict { return false }
      return silence == nil
    }
  }

  /// Somebody wants to be told of the end. Returns the mark if there is nothing to wait for.
  mutating func mark(_ mark: Mark) -> Mark? {
    guard !hasEnded || isDelivering else { return mark }
    marks.append(mark)
    return nil
  }
}

// MARK: - Events

extension OperationMachine {
  mutating func announce(outcome verdict: Verdict) {
    switch verdict {
    case .success: announce(.succeeded)
    case .failure: announce(.failed)
    case .cancelled(let reason): announce(.cancelled(reason))
    }
  }

  mutating func announce(_ event: UseCaseEvent.Kind) {
    if isObserved { events.append(event) }
  }

  /// The next event to tell, and the task whose body may begin since the last one has been told.
  ///
  /// One at a time tells, and goes on until there is nothing left: who comes meanwhile leaves it
  /// to them. The one who executes goes on from the start.
  mutating func tell(goesOn: Bool) -> (event: UseCaseEvent.Kind?, ready: Waiter?) {
    guard isObserved, goesOn || !isTelling else { return (nil, nil) }
    let ready = told == .running && stage == .granted ? makeReady() : nil
    told = toldCount < events.count ? events[Int(toldCount)] : nil
    isTelling = told != nil
    if isTelling { toldCount += 1 }
    return (told, ready)
  }
}

/// Which outcome a handler is for.
@usableFromInline
enum OperationBranch: Equatable, Sendable {
  case success, failure, common, cancellation, always, update
}

/// What the one who delivers does next.
@usableFromInline
enum OperationDelivery<Update: Sendable, Mark: Sendable>: Sendable {
  /// Deliver these, each if `begin(.update)` says so.
  case updates([Update])
  /// Look through the handlers for those of this verdict.
  case handlers(Verdict)
  /// Everything has run. Forget the handlers that were passed over, then ask again.
  case tidy
  /// All is told and forgotten: tell these. Who brings more begins the next delivery.
  case end([Mark])
  /// The body has more to say. Who brings it begins the next delivery.
  case pause
}
