/// Decides who rides one shared run, what each rider hears, and when the run is cancelled.
///
///     making → riding → left
///
/// A rider is an execution that shares the run. It boards when it is executed, and leaves once,
/// when it is cancelled or its body has returned. The first rider makes the run. When the last one
/// has left, the run is cancelled if it has no outcome.
///
/// The machine decides, and its owner acts once the lock is released. `Run` is the operation that
/// the riders share, `Waiter` the body of a rider that waits for its execution, and `Listener` the
/// receiver of the updates in a rider.
struct RunMachine<
  Run: Sendable, Waiter: Sendable, Update: Sendable, Listener: Sendable
>: Sendable {
  private enum State {
    /// The first rider makes the run, if there is none yet, and executes it. All riders may leave
    /// meanwhile. Next is `riding`, or `left`.
    case making(Run?, waiters: [Waiter])
    /// There is a run, and there are riders. Next is `left`.
    case riding(Run)
    /// All riders have left. Final.
    case left
  }

  fileprivate enum Rider {
    /// The body has not begun. These updates are kept for it.
    case coming([Update])
    /// The body receives the updates as they come.
    case listening(Listener)
  }

  /// The consequences of the execution.
  struct Start: Sendable {
    /// Resume these.
    let waiters: [Waiter]
    /// Cancel this: all riders have left.
    let unwanted: Run?
  }

  /// The consequences of an update. Let `old` go.
  struct Report: Sendable {
    let listeners: [Listener]
    let old: Update?
  }

  /// The remains of a rider that leaves. Let all of them go.
  struct Departure: Sendable {
    /// The run, if this was its last rider. Cancel it unless it has an outcome.
    var run: Run?
    fileprivate var rider: Rider?
  }

  private var state = State.making(nil, waiters: [])
  private var riders: [UseCaseOperationID: Rider]
  private var newest: Update?

  /// Creates the machine of a run that `first` is about to make.
  init(first: UseCaseOperationID) {
    riders = [first: .coming([])]
  }

  /// The run, from when it is made until the last rider has left.
  var run: Run? {
    switch state {
    case .making(let run, _): run
    case .riding(let run): run
    case .left: nil
    }
  }

  /// The run, from when it has been executed until the last rider has left.
  var executed: Run? {
    if case .riding(let run) = state { run } else { nil }
  }

  /// A rider boards. Returns false if it is too late: the rider looks for another run.
  mutating func board(_ id: UseCaseOperationID) -> Bool {
    if case .left = state { return false }
    riders[id] = .coming(newest.map { [$0] } ?? [])
    return true
  }

  /// The run is made, and is about to be executed.
  mutating func made(_ run: Run) {
    guard case .making(nil, let waiters) = state else {
      preconditionFailure("A run is made once, and not when it is \(state).")
    }
    state = .making(run, waiters: waiters)
  }

  /// Returns the waiter if there is nothing to wait for.
  ///
  /// It waits until the queue of the run has decided: only then it shows whether the run waits for
  /// a slot that the waiter holds.
  mutating func awaitExecution(_ waiter: Waiter) -> Waiter? {
    guard case .making(let run, var waiters) = state else { return waiter }
    waiters.append(waiter)
    state = .making(run, waiters: waiters)
    return nil
  }

  /// The run is executed.
  mutating func started() -> Start {
    guard case .making(let run?, let waiters) = state else {
      preconditionFailure("A run is executed once, after it is made, and not when it is \(state).")
    }
    state = riders.isEmpty ? .left : .riding(run)
    return Start(waiters: waiters, unwanted: riders.isEmpty ? run : nil)
  }

  /// A rider leaves, if it is aboard.
  mutating func leave(_ id: UseCaseOperationID) -> Departure {
    var departure = Departure(rider: riders.removeValue(forKey: id))
    if departure.rider != nil, riders.isEmpty, case .riding(let run) = state {
      state = .left
      departure.run = run
    }
    return departure
  }

  /// The run reports.
  mutating func report(_ update: Update) -> Report {
    let report = Report(
      listeners: riders.values.compactMap {
        if case .listening(let listener) = $0 { listener } else { nil }
      }, old: newest)
    newest = update
    for (id, rider) in riders {
      if case .coming(let updates) = rider { riders[id] = .coming(updates + [update]) }
    }
    return report
  }

  /// The body of a rider has begun. Returns the updates that were kept for it. As long as there are
  /// any, a listener is to ask again when it has received them.
  mutating func listen(_ id: UseCaseOperationID, _ listener: Listener) -> [Update] {
    guard case .coming(let updates)? = riders[id] else { return [] }
    riders[id] = updates.isEmpty ? .listening(listener) : .coming([])
    return updates
  }
}
