/// The events of one operation on their way to the observer of its queue.
///
/// One thread at a time tells, outside of any lock, and goes on until no event is left. If another
/// thread announces an event meanwhile, the telling thread tells it. So the events stay in order.
struct EventLine: Sendable {
  /// Each event comes once, in this order.
  enum Event: UInt8 {
    case waiting, running, outcome, ended
  }

  private enum Teller {
    /// The queue has no observer.
    case unobserved
    /// No thread tells.
    case nobody
    /// A thread tells. At first this is the thread that executes, because the observer hears of the
    /// decision of the queue before anything else.
    case thread
  }

  private var teller: Teller
  /// A bit for each event that was announced, and for each that is left to tell.
  private var (announced, pending) = (UInt8(0), UInt8(0))

  init(isObserved: Bool) {
    teller = isObserved ? .thread : .unobserved
  }

  /// An event has happened. The observer is to hear of it, if there is one.
  @inline(__always)
  mutating func announce(_ event: Event) {
    let event = UInt8(1) << event.rawValue
    guard teller != .unobserved, announced & event == 0 else { return }
    pending |= event
    announced |= event
  }

  /// Returns the event to tell, if there is one and no other thread tells.
  mutating func begin() -> Event? {
    guard teller == .nobody, pending != 0 else { return nil }
    teller = .thread
    return next()
  }

  /// Returns the next event for the thread that tells, nil if it is done.
  mutating func next() -> Event? {
    guard teller == .thread else { preconditionFailure("A thread tells once it has begun to.") }
    guard let event = Event(rawValue: UInt8(pending.trailingZeroBitCount)) else {
      teller = .nobody
      return nil
    }
    pending &= ~(1 << event.rawValue)
    return event
  }
}

extension EventLine.Event {
  /// Returns the event for the observer. That of an outcome needs its verdict.
  func kind(for verdict: Verdict?) -> UseCaseEvent.Kind {
    switch (self, verdict) {
    case (.waiting, _): .waiting
    case (.running, _): .running
    case (.ended, _): .ended
    case (.outcome, .success): .succeeded
    case (.outcome, .failure): .failed
    case (.outcome, .cancelled(let reason)): .cancelled(reason)
    case (.outcome, nil): preconditionFailure("An outcome is announced with its verdict.")
    }
  }
}
