/// The way of one operation to its slot and back.
///
///     assumed → occupied → free → givenBack
///     assumed → waiting → granted → occupied → free → givenBack
///
/// The queue can grant a slot before the operation has heard that it waits: `assumed → granted`.
/// A dropped operation gets none: `assumed → givenBack`. An operation that is cancelled before its
/// body begins goes on to `free` from each state.
/// `Waiter` is the task of the body while it waits for the slot.
struct SlotLife<Waiter: Sendable>: Sendable {
  private enum State {
    /// The operation is assumed to have a slot. If the queue starts it at once, it has one, and
    /// next is `occupied`, when the body begins. Otherwise `wait`, `drop` or `grant` is about to
    /// follow.
    case assumed
    /// The operation has no slot. Its task may have parked. Next is `granted`, or `free`.
    case waiting(parked: Waiter?)
    /// The operation has a slot after a wait. Next is `occupied`, or `free`.
    case granted
    /// This many bodies run in the slot: its own, and guests. Next is `free`.
    case occupied(bodies: Int32)
    /// No body runs in the slot any more, and the queue is about to get it back. Next is
    /// `givenBack`.
    case free(hasRun: Bool)
    /// The queue has the slot back, or has never given one. Final.
    case givenBack
  }

  private var state = State.assumed

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
    case .occupied, .free(hasRun: true): true
    case .assumed, .waiting, .granted, .free, .givenBack: false
    }
  }

  /// Whether the queue has the slot back, or has never given one.
  var isGivenBack: Bool {
    if case .givenBack = state { true } else { false }
  }

  /// The queue lets the operation wait.
  mutating func wait() {
    switch state {
    case .assumed: state = .waiting(parked: nil)
    case .granted: break  // Another thread has given a slot back meanwhile.
    case .waiting, .occupied, .free, .givenBack:
      preconditionFailure("The queue lets an operation wait that is \(state).")
    }
  }

  /// The queue drops the operation.
  mutating func drop() {
    guard case .assumed = state else {
      preconditionFailure("The queue drops an operation that is \(state).")
    }
    state = .givenBack
  }

  /// The operation has a slot. Returns the task that has waited for it.
  mutating func grant() -> Waiter? {
    switch state {
    case .assumed, .waiting:
      let parked = takeParked()
      state = .granted
      return parked
    case .free, .givenBack: return nil  // A cancellation has come at the same moment.
    case .granted, .occupied:
      preconditionFailure("The queue grants a slot to an operation that is \(state).")
    }
  }

  /// The task of the body waits for the slot. Returns it if it need not wait.
  mutating func park(_ waiter: Waiter) -> Waiter? {
    guard case .waiting(nil) = state else { return waiter }
    state = .waiting(parked: waiter)
    return nil
  }

  /// Returns the task that waits for the slot, and keeps none.
  mutating func takeParked() -> Waiter? {
    guard case .waiting(let parked?) = state else { return nil }
    state = .waiting(parked: nil)
    return parked
  }

  /// The body begins.
  mutating func start() {
    switch state {
    case .assumed, .granted: state = .occupied(bodies: 1)
    case .waiting, .occupied, .free, .givenBack:
      preconditionFailure("A body begins in a slot that is \(state).")
    }
  }

  /// A guest enters the slot. Returns false if no body runs in it any more.
  mutating func enter() -> Bool {
    guard case .occupied(let bodies) = state else { return false }
    state = .occupied(bodies: bodies + 1)
    return true
  }

  /// A body exits the slot: it has returned, or it is the own one and will never begin. Returns
  /// whether the slot is free.
  @inline(__always) mutating func exit() -> Bool {
    switch state {
    case .occupied(let bodies) where bodies > 1:
      state = .occupied(bodies: bodies - 1)
      return false
    case .occupied:
      state = .free(hasRun: true)
      return true
    case .assumed, .waiting, .granted:
      state = .free(hasRun: false)
      return true
    case .free, .givenBack:
      preconditionFailure("A body exits a slot that is \(state).")
    }
  }

  /// The queue has the slot back.
  mutating func wasGivenBack() {
    guard case .free = state else {
      preconditionFailure("The queue gets back a slot that is \(state).")
    }
    state = .givenBack
  }
}
