/// Decides who rides one shared run, what each rider hears, and when the run is cancelled.
///
///     making → riding → left
///
/// A rider is an execution that shares the run. It boards when it is executed, and leaves once,
/// when it is cancelled or its body has returned. The first rider makes the run. When the last one
/// has left, the run is cancelled if it has no outcome. A rider with handlers is *kept* until these
/// have run, because they deliver the outcome of the run.
///
/// The machine decides, and its owner acts once the lock is released. `Member` is the operation that
/// the riders share, or that of a rider; `Waiter` the body of a rider that waits for the execution of
/// the run; and `Listener` the receiver of the updates in a rider.
struct RunMachine<
  Member: Sendable, Waiter: Sendable, Update: Sendable, Listener: Sendable
>: Sendable {
  private enum State {
    /// The first rider makes the run, and executes it. All riders may leave meanwhile. Next is
    /// `riding`, or `left`.
    case making(waiters: [Waiter])
    /// The run is executed, and there are riders. Next is `left`.
    case riding
    /// All riders have left. Final.
    case left
  }

  fileprivate struct Rider: Sendable {
    enum Stage: Sendable {
      /// The body has not begun. These updates are kept for it.
      case coming([Update])
      /// The body receives the updates as they come.
      case listening(Listener)
      /// The rider is about to board. It may be too late, and ride another run.
      case boarding
      /// The rider has left.
      case ashore
    }

    var stage = Stage.ashore
    /// The operation of the rider, as long as it is kept.
    private(set) var member: Member?
    /// How often it is kept.
    private(set) var count = 0

    var isAboard: Bool {
      switch stage {
      case .coming, .listening: true
      case .boarding, .ashore: false
      }
    }

    /// The operation, if the rider is kept, and not only about to board.
    var keptMember: Member? {
      if case .boarding = stage { nil } else { member }
    }

    mutating func keep(_ member: Member) {
      self.member = member
      count += 1
    }

    mutating func release() {
      count -= 1
      if count == 0 { member = nil }
    }
  }

  /// The remains of a rider that leaves. Let all of them go.
  struct Departure: Sendable {
    /// The run, if this was its last rider. Cancel it unless it has an outcome.
    var run: Member?
    fileprivate let rider: Rider?
    fileprivate var newest: Update?
  }

  private var state = State.making(waiters: [])
  /// The run, once it is made.
  private(set) var run: Member?
  private var riders: [UseCaseOperationID: Rider] = [:]
  private var aboard = 0
  /// Whether a newer operation has superseded the run. Nobody boards then.
  private var isSuperseded = false
  private var newest: Update?

  /// The run, from when it has been executed until the last rider has left.
  var executed: Member? {
    if case .riding = state { run } else { nil }
  }

  /// The riders that are kept, the oldest first.
  var kept: [Member] {
    riders.sorted { $0.key < $1.key }.compactMap(\.value.keptMember)
  }

  /// The run is superseded. Returns the riders that give way with it.
  mutating func supersede() -> [Member] {
    isSuperseded = true
    return kept
  }

  func isAboard(_ id: UseCaseOperationID) -> Bool { riders[id]?.isAboard ?? false }

  /// A rider has handlers, or is about to board. Returns the run, once it is made: it has one more of
  /// them.
  mutating func keep(
    _ id: UseCaseOperationID, _ member: Member, isBoarding: Bool = false
  ) -> Member? {
    riders[id, default: Rider(stage: isBoarding ? .boarding : .ashore)].keep(member)
    return run
  }

  /// The handlers of one `keep` have run. Returns the rider, to be let go, and the run, once it is
  /// made: it has one less of them. Nil if the rider was not kept.
  mutating func release(_ id: UseCaseOperationID) -> (rider: Member, run: Member?)? {
    guard let index = riders.index(forKey: id), let member = riders.values[index].member
    else { return nil }
    riders.values[index].release()
    forget(at: index)
    return (member, run)
  }

  /// A rider boards. Returns false if it is too late: the rider looks for another run.
  mutating func board(_ id: UseCaseOperationID) -> Bool {
    if case .left = state { return false }
    if isSuperseded { return false }
    riders[id, default: Rider()].stage = .coming(newest.map { [$0] } ?? [])
    aboard += 1
    return true
  }

  /// The run is made, and is about to be executed. Returns how often riders are kept.
  mutating func made(_ run: Member) -> Int {
    guard self.run == nil else {
      preconditionFailure("A run is made once, and not when it is \(state).")
    }
    self.run = run
    return riders.values.reduce(0) { $0 + $1.count }
  }

  /// Returns the waiter if there is nothing to wait for.
  ///
  /// It waits until the queue of the run has decided: only then it shows whether the run waits for
  /// a slot that the waiter holds.
  mutating func awaitExecution(_ waiter: Waiter) -> Waiter? {
    guard case .making(let waiters) = state else { return waiter }
    state = .making(waiters: waiters + [waiter])
    return nil
  }

  /// The run is executed. Returns those to resume, and the run, to be cancelled, if all riders have left.
  mutating func started() -> (waiters: [Waiter], unwanted: Member?) {
    guard case .making(let waiters) = state, let run else {
      preconditionFailure("A run is executed once, after it is made, and not when it is \(state).")
    }
    state = aboard == 0 ? .left : .riding
    return (waiters, aboard == 0 ? run : nil)
  }

  /// A rider leaves, if it is aboard.
  mutating func leave(_ id: UseCaseOperationID) -> Departure {
    guard let index = riders.index(forKey: id), riders.values[index].isAboard
    else { return Departure(rider: nil) }
    var departure = Departure(rider: riders.values[index])
    riders.values[index].stage = .ashore
    forget(at: index)
    aboard -= 1
    if aboard == 0, case .riding = state {
      state = .left
      departure.run = run
      swap(&departure.newest, &newest)
    }
    return departure
  }

  /// Forgets a rider that is neither aboard nor kept.
  private mutating func forget(at index: Dictionary<UseCaseOperationID, Rider>.Index) {
    if !riders.values[index].isAboard, riders.values[index].count == 0 { riders.remove(at: index) }
  }

  /// The run reports. Returns those to tell, and the update before, to be let go.
  mutating func report(_ update: Update) -> (listeners: [Listener], old: Update?) {
    let listeners = riders.values.compactMap {
      if case .listening(let listener) = $0.stage { listener } else { nil }
    }
    let old = newest
    newest = update
    for (id, rider) in riders {
      if case .coming(let updates) = rider.stage { riders[id]?.stage = .coming(updates + [update]) }
    }
    return (listeners, old)
  }

  /// The body of a rider has begun. Returns the updates that were kept for it. As long as there are
  /// any, a listener is to ask again when it has received them.
  mutating func listen(_ id: UseCaseOperationID, _ listener: Listener) -> [Update] {
    guard case .coming(let updates)? = riders[id]?.stage else { return [] }
    riders[id]?.stage = updates.isEmpty ? .listening(listener) : .coming([])
    return updates
  }
}
