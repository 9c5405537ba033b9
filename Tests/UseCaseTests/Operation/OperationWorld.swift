import TestSupport

@testable import UseCase

/// One operation as a value, and everything that drives it. An act stands for one hold of the lock
/// in the library, and throws if a promise is not kept.
struct OperationWorld: ActedWorld {
  typealias Machine = OperationMachine<Int, Int, Int>

  /// A verdict that can be compared.
  enum Fate: Hashable {
    case success, failure, timeout, cancelled(UseCaseCancellation)
  }

  enum Decision: Hashable {
    case start, wait, refuse
  }

  /// The plan of a body, and the threads that come with it.
  struct Body: Hashable {
    var fate = Fate.success
    var reports = 0
    var hasTimer = false
    /// Whether a guest, or an attempt of an interceptor that nobody awaits, enters the slot.
    var hasGuest = false
  }

  /// The act of a handler on its own operation.
  enum Reaction: Hashable {
    case cancel, supersede, attach([HandlerBranch])
  }

  indirect enum Act: Hashable {
    case execute(Decision, Body, then: [Act] = [])
    case spawn(then: [Act]), arrive(Body), park(Body), await(Body), start(Body), run(Body)
    case grant, enter, exit
    case end(Fate, then: [Act] = []), supersede(then: [Act] = [])
    case attach([HandlerBranch], then: [Act] = []), attachFirst, attachStart(then: [Act] = [])
    case listen(Int, Machine.Moment, mayLeave: Bool = false), wake(Int), abandon(Int)
    case resume([Int], then: [Act] = [])
    case deliver, receive([Int]), begin(Int, HandlerBranch), leave, handle, tellFailure
    case admit(then: [Act]), tell(then: [Act])
  }

  /// Something that waits for a moment, and how many handlers were attached before it.
  struct Listener: Hashable {
    let moment: Machine.Moment
    let key: Int32
    let attached: Int
  }

  var parts: Compared<Machine>
  let isObserved: Bool
  /// Whether handlers run on no actor, and begin in the step that takes them.
  let isFree: Bool
  /// Whether failures that nobody handles are told.
  let tellsFailures: Bool
  /// The reactions of handlers of these branches when they run, once.
  var reactions: [HandlerBranch: Reaction]

  var fate: Fate?
  var isEarly = false
  var isJobCancelled = false
  var isGranted = false
  var mustWait = false
  /// Whether the body has begun, and how many bodies hold the slot.
  var hasRun = false
  var bodies = 0
  var hasLeft = false
  var hasJob = false

  /// Whether no newer operation has been admitted that alone may deliver.
  var mayDeliver = true
  var silence: UseCaseCancellation?
  var isDelivering = false
  var attached = 0
  /// The handlers that have not begun.
  var waiting: [Int: HandlerBranch] = [:]
  /// Whether a handler has begun that a silence would keep back.
  var hasBegun = false
  var updates = (reported: 0, received: 0, dropped: 0)

  var listeners: [Int: Listener] = [:]
  var kept: Set<Int> = []
  var resumed: Set<Int> = []
  /// Whether somebody listens for a failure.
  var isHandled = false
  var isTold = false

  var events: [UseCaseEvent.Kind] = []
  var isTelling = false
  var isAdmitted = false

  init(
    isObserved: Bool = false, tellsFailures: Bool = false, isFree: Bool = false,
    reactions: [HandlerBranch: Reaction] = [:]
  ) {
    parts = Compared(Machine(isObserved: isObserved))
    self.isObserved = isObserved
    self.isFree = isFree
    self.tellsFailures = tellsFailures
    self.reactions = reactions
  }

  static func == (lhs: Self, rhs: Self) -> Bool {
    // The machine has the rest.
    lhs.parts == rhs.parts && lhs.reactions == rhs.reactions && lhs.waiting == rhs.waiting
      && lhs.mayDeliver == rhs.mayDeliver && lhs.listeners == rhs.listeners
      && lhs.kept == rhs.kept && lhs.resumed == rhs.resumed && lhs.updates == rhs.updates
      && lhs.isTold == rhs.isTold && lhs.isHandled == rhs.isHandled && lhs.events == rhs.events
      && lhs.isGranted == rhs.isGranted && lhs.isTelling == rhs.isTelling
      && lhs.hasBegun == rhs.hasBegun && lhs.isDelivering == rhs.isDelivering
      && lhs.isAdmitted == rhs.isAdmitted && lhs.hasRun == rhs.hasRun
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(parts)
    // Worlds with the same hash are compared in full, which takes far longer.
    hasher.combine(waiting)
    hasher.combine(resumed)
    hasher.combine(kept)
    hasher.combine(listeners)
    hasher.combine(events.count)
    hasher.combine(reactions.count)
    let numbers = updates.reported << 16 | updates.received << 8 | updates.dropped
    hasher.combine(numbers)
    for fact in [
      mayDeliver, isTold, isHandled, isGranted, isTelling, hasBegun, isDelivering, hasRun,
    ] {
      hasher.combine(fact)
    }
  }

  // MARK: - Facts

  var isOver: Bool { isAdmitted && bodies == 0 }
  var isSilenced: Bool { silence != nil }

  /// The fate as the handlers that have not begun are told of it.
  var told: Fate? { silence.map(Fate.cancelled) ?? fate }

  /// Whether the handler is to begin before any `finally`.
  func isDue(_ branch: HandlerBranch) -> Bool {
    branch == .settlement || told?.kind.takes(branch) ?? false
  }

  var mustTell: Bool {
    tellsFailures && fate?.kind == .failure && !isHandled && !isSilenced
  }

  /// From a cancellation on no handler of the outcome begins, unless all of them have begun.
  mutating func silence(_ reason: UseCaseCancellation) {
    guard let kind = fate?.kind, kind != .cancelled, !isSilenced else { return }
    let isLeft = waiting.values.contains { $0 != .settlement && kind.takes($0) }
    // Once everything has run, a handler that comes later is kept back by a newer operation only.
    let mayComeLater = !hasBegun && (reason == .superseded || !hasLeft || isDelivering)
    if isLeft || mayComeLater { silence = reason }
  }

  // MARK: - Acts

  func isReady(_ act: Act) -> Bool {
    switch act {
    case .await: resumed.contains(0)
    case .wake(let waiter): resumed.contains(waiter)
    default: true
    }
  }

  /// Does the act, and looks at what must always be so.
  mutating func take(_ act: Act) throws -> [Act] {
    defer { parts.describe() }
    let next = try perform(act)
    let fate = parts.machine.verdict.map(Fate.init)
    try demand(self.fate == nil || self.fate == fate, "the first verdict stays")
    self.fate = fate
    let state: UseCaseOperationState =
      fate != nil ? .finished : mustWait && !isGranted ? .waiting : .running
    try demand(parts.machine.state == state, "it is \(state)")
    return next
  }

  func checkEnd() throws {
    try demand(fate != nil, "there is a verdict")
    try demand(isOver && !parts.machine.isOccupied, "no body runs")
    try demand(hasLeft, "it has left its queue")
    try demand(!hasJob, "the job is handed back")
    try demand(resumed == kept, "nobody waits for ever")
    try demand(!isDelivering, "nobody delivers any more")
    try demand(waiting.isEmpty, "every handler has run, or was let go")
    try demand(
      updates.reported == updates.received + updates.dropped,
      "every update was received or dropped")
    try demand(isTold || !mustTell, "a failure that nobody handles is told")
    guard isObserved else { return }
    var copy = parts.machine
    try demand(copy.beginTelling() == nil, "every event was told")
    try demand(events.contains(.waiting) == mustWait, "waiting is told")
    try demand(events.last == .ended, "the end is told last")
    try demand(events.contains { $0.rank == 2 }, "the outcome is told")
    try demand(events.contains(.running) || !hasRun, "running is told")
  }
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

  var kind: Verdict.Kind { verdict.kind }
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

  /// Whether the event tells of this fate.
  func tells(of fate: OperationWorld.Fate?) -> Bool {
    switch (self, fate) {
    case (.succeeded, .success), (.failed, .failure), (.failed, .timeout): true
    case (.cancelled(let told), .cancelled(let reason)): told == reason
    default: false
    }
  }
}
