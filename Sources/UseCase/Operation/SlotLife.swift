/// The way of one operation to its slot and back.
///
///     undecided → occupied → leaving → returned
///     undecided → waiting → granted → occupied → leaving → returned
///
/// The queue can grant a slot before the operation has heard that it waits: `undecided → granted`.
/// A dropped operation gets none: `undecided → returned`. An operation that is cancelled before its
/// body begins goes on to `leaving` from each state.
/// `Waiter` is the task of the body while it waits for the slot.
struct SlotLife<Waiter: Sendable>: Sendable {
  private enum State {
    /// The queue decides at this moment. The operation has a slot, unless `wait` or `drop` follows.
    case undecided
    /// The operation has no slot. Its task may have parked. Next is `granted`, or `leaving`.
    case waiting(parked: Waiter?)
    /// The operation has a slot after a wait. Next is `occupied`, or `leaving`.
    case granted
    /// This many bodies run in the slot: its own, and guests. Next is `leaving`.
    case occupied(bodies: Int32)
    /// No body runs in the slot any more, and the queue is about to get it back. Next is
    /// `returned`.
    case leaving(hasRun: Bool)
    /// The queue has the slot back, or has never given one. Final.
    case returned
  }

  private var state = State.undecided

  var isWaiting: Bool {
    if case .waiting = state { true } else { false }
  }

  /// Whether code runs in the slot.
  var isOccupied: Bool {
    if case .occupied = state { true } else { false }
  }

  /// Whether the body has begun and the slot is not given back.
  var hasBegun: Bool {
    switch state {
    case .occupied, .leaving(hasRun: true): true
    case .undecided, .waiting, .granted, .leaving, .returned: false
    }
  }

  var isReturned: Bool {
    if case .returned = state { true } else { false }
  }

  /// The queue lets the operation wait.
  mutating func wait() {
    switch state {
    case .undecided: state = .waiting(parked: nil)
    case .granted: break  // Another thread has given a slot back meanwhile.
    case .waiting, .occupied, .leaving, .returned:
      preconditionFailure("The queue decides once, before the task of the body exists.")
    }
  }

  /// The queue drops the operation.
  mutating func drop() {
    guard case .undecided = state else { preconditionFailure("The queue decides once.") }
    state = .returned
  }

  /// The operation has a slot. Returns the task that has waited for it.
  mutating func grant() -> Waiter? {
    switch state {
    case .undecided, .waiting:
      let parked = takeParked()
      state = .granted
      return parked
    case .leaving, .returned: return nil  // It was cancelled, and has left, at the same moment.
    case .granted, .occupied: preconditionFailure("An operation gets one slot.")
    }
  }

  /// The task of the body waits for the slot. Returns it if it need not wait.
  mutating func park(_ waiter: Waiter) -> Waiter? {
    guard case .waiting(nil) = state else { return waiter }
    state = .waiting(parked: waiter)
    return nil
  }

  /// Returns the task that waits for the slot, which is not going to.
  mutating func takeParked() -> Waiter? {
    guard case .waiting(let parked?) = state else { return nil }
    state = .waiting(parked: nil)
    return parked
  }

  /// The body begins.
  mutating func start() {
    switch state {
    case .undecided, .granted: state = .occupied(bodies: 1)
    case .waiting, .occupied, .leaving, .returned:
      preconditionFailure("The body of an operation runs once, in its slot.")
    }
  }

  /// A guest enters the slot. Returns false if no body runs in it any more.
  mutating func admitGuest() -> Bool {
    guard case .occupied(let bodies) = state else { return false }
    state = .occupied(bodies: bodies + 1)
    return true
  }

  /// A body in the slot has returned, or the own one will never begin. Returns whether the slot is
  /// free.
  @inline(__always) mutating func leave() -> Bool {
    switch state {
    case .occupied(let bodies) where bodies > 1:
      state = .occupied(bodies: bodies - 1)
      return false
    case .occupied:
      state = .leaving(hasRun: true)
      return true
    case .undecided, .waiting, .granted:
      state = .leaving(hasRun: false)
      return true
    case .leaving, .returned:
      preconditionFailure("No body runs in the slot, so none can return.")
    }
  }

  /// The queue has the slot back.
  mutating func giveBack() {
    guard case .leaving = state else {
      preconditionFailure("A slot is given back when it is free.")
    }
    state = .returned
  }
}
