/// The notice of a failure that nobody handles, for `UseCaseQueue.unhandledFailure`.
///
///     none → due ⇄ sending → over
///
/// If somebody handles the failure, `over` follows each state.
struct FailureNotice: Sendable {
  private enum State {
    /// The operation has not failed, or nobody wants to know of failures.
    case none
    /// The notice is to be sent when everything has run.
    case due
    /// A task is about to send it.
    case sending
    /// The failure is handled, or the notice is sent. Final.
    case over
  }

  private var state = State.none

  var isDue: Bool {
    if case .due = state { true } else { false }
  }

  /// The operation has failed.
  mutating func fail() {
    if case .none = state { state = .due }
  }

  /// Somebody handles the failure, if there is one.
  mutating func handle() { state = .over }

  /// Everything has run. Returns whether a task is to send the notice.
  mutating func beginSending() -> Bool {
    guard isDue else { return false }
    state = .sending
    return true
  }

  /// Returns whether the notice is to be sent now. If handlers run again, one of them may handle
  /// the failure. So the notice is due once more when they have run.
  mutating func send(isDelivering: Bool) -> Bool {
    guard case .sending = state else { return false }
    state = isDelivering ? .due : .over
    return !isDelivering
  }
}
