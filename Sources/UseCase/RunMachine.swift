/// Decides which operations ride one shared run, and when the run is cancelled.
///
///     fresh → starting → riding → left
///
/// A rider is an operation that shares the run. It boards when it is admitted, and leaves once,
/// when it is cancelled or its body has returned. The first rider starts the run, and later riders
/// ride along. When the last rider has left, the run is cancelled if it has no outcome.
///
/// The machine decides, and its owner acts once the lock is released.
struct RunMachine<Run: Sendable, Rider: Sendable>: Sendable {
  private enum State {
    /// Nobody has boarded. Next is `starting`.
    case fresh
    /// The first rider makes the run and executes it. All riders may leave meanwhile. Next is
    /// `riding`, or `left`.
    case starting(Run?)
    /// There is a run, and there are riders. Next is `left`.
    case riding(Run)
    /// All riders have left. Final.
    case left
  }

  /// The next act of a rider that wants to board.
  enum Boarding: Equatable {
    /// It makes the run and executes it, and says so by `made` and `started`.
    case start
    /// It rides along.
    case ride
    /// It looks for another run: this one is over.
    case tooLate
  }

  private var state = State.fresh
  private var aboard: [UseCaseOperationID: Rider] = [:]
  /// The call that starts the run, if a call does.
  private(set) var firstCall: UseCaseOperationID?

  /// The riders, in no order.
  var riders: [Rider] { Array(aboard.values) }

  /// The run, from when it is made until the last rider has left.
  var run: Run? {
    switch state {
    case .starting(let run): run
    case .riding(let run): run
    case .fresh, .left: nil
    }
  }

  var hasLeft: Bool {
    if case .left = state { true } else { false }
  }

  mutating func board(_ rider: Rider, id: UseCaseOperationID, isCall: Bool) -> Boarding {
    switch state {
    case .fresh:
      state = .starting(nil)
      firstCall = isCall ? id : nil
      aboard[id] = rider
      return .start
    case .starting, .riding:
      aboard[id] = rider
      return .ride
    case .left: return .tooLate
    }
  }

  /// The run is about to be executed. Its body may ask for it before `started` is heard.
  mutating func made(_ run: Run) {
    guard case .starting(nil) = state else { preconditionFailure("A run is made once.") }
    state = .starting(run)
  }

  /// The run is executed. Returns it if it is to be cancelled, because all riders have left.
  mutating func started() -> Run? {
    guard case .starting(let run?) = state else {
      preconditionFailure("A run is executed once, after it is made.")
    }
    state = aboard.isEmpty ? .left : .riding(run)
    return aboard.isEmpty ? run : nil
  }

  /// A rider leaves, if it is aboard. Returns it, to be let go, and the run if it was the last one.
  mutating func leave(_ id: UseCaseOperationID) -> (rider: Rider?, run: Run?) {
    let rider = aboard.removeValue(forKey: id)
    guard aboard.isEmpty, case .riding(let run) = state else { return (rider, nil) }
    state = .left
    return (rider, run)
  }

  /// Returns the run that this operation rides.
  func run(of id: UseCaseOperationID) -> Run? { aboard[id] == nil ? nil : run }
}
