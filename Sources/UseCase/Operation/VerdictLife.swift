/// The verdict of one operation, which is concluded once.
///
///     open → concluded
///     open → concludedEarly
///
/// `Job` is the task of the body. It is kept as long as there is no verdict.
struct VerdictLife<Job: Sendable>: Sendable {
  private enum State {
    /// There is no verdict yet. The job is nil until the task exists.
    case open(job: Job?)
    /// The body has returned or thrown, or the queue has dropped the operation. Final.
    case concluded(Verdict)
    /// The outcome came early, before the body had returned. Final.
    case concludedEarly(Verdict, isJobCancelled: Bool)
  }

  private var state = State.open(job: nil)

  // Queries are inlined: the compiler calls one that is not with a copy of the whole machine.

  @inline(__always) var verdict: Verdict? {
    switch state {
    case .open: nil
    case .concluded(let verdict), .concludedEarly(let verdict, _): verdict
    }
  }

  /// The task of the body, as long as there is no verdict.
  var job: Job? {
    if case .open(let job) = state { job } else { nil }
  }

  @inline(__always) var isOpen: Bool {
    if case .open = state { true } else { false }
  }

  @inline(__always) var isEarly: Bool {
    if case .concludedEarly = state { true } else { false }
  }

  /// Whether an early outcome cancels the job.
  @inline(__always) var isJobCancelled: Bool {
    if case .concludedEarly(_, isJobCancelled: true) = state { true } else { false }
  }

  /// The job exists. Takes it as long as there is no verdict. Returns whether the caller, who still
  /// has it otherwise, is to cancel it.
  mutating func keep(_ job: inout Job?) -> Bool {
    if isOpen { state = .open(job: job.take()) }
    return isJobCancelled
  }

  /// Gives the operation, which is open, its verdict. Returns the job.
  @inline(__always)
  mutating func conclude(_ verdict: Verdict) -> Job? { conclude(.concluded(verdict)) }

  /// Does the same before the body has returned.
  mutating func concludeEarly(_ verdict: Verdict, cancelsJob: Bool) -> Job? {
    conclude(.concludedEarly(verdict, isJobCancelled: cancelsJob))
  }

  @inline(__always)
  private mutating func conclude(_ state: State) -> Job? {
    guard case .open(let job) = self.state else {
      preconditionFailure("An operation concludes once.")
    }
    self.state = state
    return job
  }
}
