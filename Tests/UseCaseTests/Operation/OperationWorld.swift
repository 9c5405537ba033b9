import TestSupport

@testable import UseCase

/// One operation as a value, and all that drive it. An act stands for one hold of the lock in the
/// library, and throws when a promise is not kept.
struct OperationWorld: ActedWorld {
  struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  /// A verdict that can be compared.
  enum Fate: Hashable {
    case success, failure, timeout, cancelled(UseCaseCancellation)
  }

  /// The plan of a body, and the threads that come with it.
  struct Body: Hashable {
    var fate = Fate.success
    var reports = 0
    var hasTimer = false
    var hasGuest = false
  }

  /// The act of a handler on its own operation.
  enum Reaction: Hashable {
    case cancel, supersede, attach([HandlerBranch])
  }

  indirect enum Act: Hashable {
    case execute(Admission, Body, then: [Act] = [])
    case spawn(then: [Act])
    case grant, resume([Int], then: [Act] = [])
    case attach([HandlerBranch], then: [Act] = [])
    case attachListed(HandlerBranch)
    case start(Body), arrive(Body), park(Body), await(Body), run(Body)
    case enter, exit, giveBack
    case end(Fate, then: [Act] = [])
    case hold(Int, mayLeave: Bool = false), wake(Int), abandon(Int), listen(Int)
    case deliver, receive([Int]), begin(Int, HandlerBranch), forget
    case attachStart(then: [Act] = []), handle, tellFailure
    case admit(then: [Act]), tell(goesOn: Bool, then: [Act])
  }

  private var parts: OperationParts
  let isObserved: Bool
  /// Whether handlers run on no actor, and begin in the step that takes them.
  let isFree: Bool
  /// Whether the queue lets only the newest deliver.
  let deliversOnlyNewest: Bool
  /// Whether failures that nobody handles are told.
  let tellsFailures: Bool

  /// The reactions of handlers of these branches when they run, once.
  var reactions: [HandlerBranch: Reaction] = [:]

  var fate: Fate?
  var isEarly = false
  var isJobCancelled = false
  var isGranted = false
  var mustWait = false
  var hasRun = false
  var hasReturned = false
  var hasEnded = false
  /// Whether no handler was attached since the end.
  var isOver = false
  var holders = 0
  var hasJob = false
  var kept: Set<Int> = []
  var holding: [Int] = []
  /// The keys of the tasks that await the value.
  var keys: [Int: Int32] = [:]
  var resumed: Set<Int> = []

  var isDelivering = false
  /// The handlers that have not begun, in the order in which they were attached.
  var waiting: [Int: HandlerBranch] = [:]
  /// How often the queue lists the operation.
  var listings: Int32 = 0
  var attached = Tally()
  var begun = Tally()
  /// Whether updates are on their way.
  var isReceiving = false
  var reported = 0
  var received = 0
  var dropped = 0
  var silence: UseCaseCancellation?
  var isSilencedLate = false
  var listeners: [Int] = []
  /// Whether somebody listens for a failure.
  var isHandled = false
  var isTold = false

  var events: [UseCaseEvent.Kind] = []
  var isTelling = false
  var isAdmitted = false

  init(
    isObserved: Bool = false, tellsFailures: Bool = false, isFree: Bool = false,
    reactions: [HandlerBranch: Reaction] = [:], deliversOnlyNewest: Bool = false
  ) {
    parts = OperationParts(isObserved: isObserved)
    self.isObserved = isObserved
    self.isFree = isFree
    self.deliversOnlyNewest = deliversOnlyNewest
    self.tellsFailures = tellsFailures
    self.reactions = reactions
  }

  var machine: OperationMachine<Int, Int, Int, Int> {
    get { parts.machine }
    _modify { yield &parts.machine }
  }

}

/// How many handlers there are for each branch.
struct Tally: Hashable {
  private var counts: [HandlerBranch: Int] = [:]

  subscript(branch: HandlerBranch) -> Int {
    get { counts[branch, default: 0] }
    set { counts[branch] = newValue }
  }

  /// How many there are for the branches that only a cancellation keeps back.
  subscript(fate: OperationWorld.Fate?) -> Int {
    switch fate {
    case .success: self[.success] + self[.common]
    case .failure, .timeout: self[.failure] + self[.common]
    case .cancelled, nil: 0
    }
  }

  var isEmpty: Bool { counts.isEmpty }

  var total: Int { counts.values.reduce(0, +) }
}

extension OperationWorld.Fate {
  init(_ verdict: Verdict) {
    self =
      switch verdict {
      case .success: .success
      case .failure(let error): error is UseCaseTimeout ? .timeout : .failure
      case .cancelled(let reason): .cancelled(reason)
      }
  }

  var verdict: Verdict {
    switch self {
    case .success: .success
    case .failure: .failure(UseCaseDeadlock())
    case .timeout: .failure(UseCaseTimeout(duration: .zero))
    case .cancelled(let reason): .cancelled(reason)
    }
  }

  var isCancelled: Bool {
    if case .cancelled = self { true } else { false }
  }
}

// MARK: - Promises

extension OperationWorld {
  func demand(_ condition: Bool, _ promise: String) throws {
    guard condition else { throw Broken(description: "not so: \(promise)") }
  }

  func isReady(_ act: Act) -> Bool {
    switch act {
    case .await: resumed.contains(0)
    case .wake(let waiter): resumed.contains(waiter)
    default: true
    }
  }

  /// Does the act, and looks at what must always be so.
  mutating func take(_ act: Act) throws -> [Act] {
    let next = try perform(act)
    parts.refresh()
    let fate = machine.verdict.map(Fate.init)
    try demand(self.fate == nil || self.fate == fate, "the first verdict stays")
    self.fate = fate
    let state: UseCaseOperationState =
      fate != nil ? .finished : mustWait && !isGranted ? .waiting : .running
    try demand(machine.state == state, "it is \(state)")
    return next
  }

  var isCancelled: Bool { fate?.isCancelled ?? false }
  var hasFailed: Bool { fate == .failure || fate == .timeout }
  var mustTell: Bool { tellsFailures && hasFailed && !isHandled && !isSilenced }
  var isSilenced: Bool { silence != nil }

  /// From a cancel on no handler of the verdict begins, unless all of them have. An operation that
  /// is superseded after its verdict gives way if there is something left to deliver, or if it has
  /// succeeded and handlers may not run yet.
  mutating func silence(_ reason: UseCaseCancellation) {
    let isDone =
      begun[fate] == attached[fate]
      && (reason == .superseded
        ? reported == received + dropped && !isReceiving
          && (isEarly || hasReturned || fate != .success)
        : begun[fate] + begun[.always] > 0 || isOver)
    guard !isDone, !isCancelled, !isSilenced, !isOver else { return }
    silence = reason
    isSilencedLate = hasEnded
  }

  mutating func resume(_ waiters: [Int]) throws {
    for waiter in waiters {
      try demand(kept.contains(waiter), "only a waiter is resumed")
      let isFirst = resumed.insert(waiter).inserted
      try demand(isFirst, "a waiter is resumed once")
    }
  }

  /// Returns the act of the task that delivers.
  mutating func deliver(_ delivers: Bool) throws -> [Act] {
    guard delivers else { return [] }
    try demand(!isDelivering, "one delivers at a time")
    isDelivering = true
    return [.deliver]
  }

  /// Whether an incoming operation finds the handlers that are left.
  var isFound: Bool {
    isSilenced || begun[fate] == attached[fate] || listings > 0 || !(isEarly || hasReturned)
  }

  func demandAllDelivered() throws {
    try demand(begun[.always] == attached[.always], "every finally has run once")
    try demand(
      isSilenced || begun[fate] == attached[fate], "every handler of the verdict has run once")
    try demand(
      isSilencedLate
        || begun[.cancellation] == (isCancelled || isSilenced ? attached[.cancellation] : 0),
      "every onCancel has run once if it was cancelled, else none")
  }

  func demandEnd() throws {
    try demand(hasEnded, "the end is told after the end")
    try demandAllDelivered()
  }

  func checkEnd() throws {
    try demand(fate != nil, "there is a verdict")
    try demand(!machine.isOccupied, "the slot is free")
    try demand(!hasJob, "the job is handed back")
    try demand(resumed == kept, "nobody waits for ever")
    try demand(!isDelivering, "nobody delivers any more")
    try demandAllDelivered()
    try demand(listeners.isEmpty, "every listener is told")
    try demand(listings == 0, "the queue does not list it for ever")
    try demand(reported == received + dropped, "every update was received or dropped")
    try demand(isTold || !mustTell, "a failure that nobody handles is told")
    guard isObserved else { return }
    var copy = machine
    try demand(copy.beginTelling() == nil, "every event was told")
    try demand(events.contains(.waiting) == mustWait, "waiting is told")
    try demand(events.last == .ended, "the end is told last")
    try demand(events.contains { $0.rank == 2 }, "the outcome is told")
    try demand(events.contains(.running) || !hasRun, "running is told")
  }
}

extension UseCaseEvent.Kind {
  var rank: Int {
    switch self {
    case .waiting: 0
    case .running: 1
    case .succeeded, .failed, .cancelled: 2
    case .ended: 3
    }
  }

  var fate: OperationWorld.Fate? {
    switch self {
    case .succeeded: .success
    case .failed: .failure
    case .cancelled(let reason): .cancelled(reason)
    case .waiting, .running, .ended: nil
    }
  }
}
