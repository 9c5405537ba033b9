import UseCase

/// A queue that knows only the rule: an operation is in its queue until its body has returned and
/// its handlers have run.
///
/// It is written with arrays and loops. Time is counted in seconds.
struct ReferenceQueue {
  /// A policy, and what it says.
  struct Policy: Sendable {
    enum WhenBusy: Sendable { case wait, cancelPrevious, cancelPreviousAndWait, drop, keepLatest }

    let policy: UseCaseQueue.Policy
    var limit: Int?
    var whenBusy = WhenBusy.wait
    var places: Int?
    var pause = 0
    var longestPause: Int?
    var starts: Int?
    var interval = 0

    var onlyNewestDeliver: Bool {
      whenBusy == .cancelPrevious || whenBusy == .cancelPreviousAndWait
    }
  }

  enum Handler: Sendable { case then, `catch`, common, onCancel, finally }

  enum Outcome: Equatable { case success, failure, timeout, cancelled(UseCaseCancellation) }

  enum Stage { case waiting, running, returned, gone }

  struct Operation {
    let isTimed: Bool
    var handlers: [Handler]
    var begun: Set<Int> = []
    var stage = Stage.waiting
    var outcome: Outcome?
    /// Why the handlers for the outcome are left out.
    var silence: UseCaseCancellation?
    var pauseEnds = 0
    var isFlushed = false
    /// The operation in whose handler it was executed: it waits until that has left.
    var maker: Int?
    var started: Int?
    /// Its body has run, or runs.
    var hasSlot: Bool { started != nil }

    var isCancelled: Bool {
      if case .cancelled = outcome { return true }
      return silence != nil
    }

    /// The handlers that run when there is an outcome.
    func isForOutcome(_ handler: Handler) -> Bool {
      switch handler {
      case .then: !isCancelled && outcome == .success
      case .catch: !isCancelled && (outcome == .failure || outcome == .timeout)
      case .common: !isCancelled
      case .onCancel: isCancelled
      case .finally: false
      }
    }

    func next(where isMeant: (Handler) -> Bool) -> Int? {
      handlers.indices.first { !begun.contains($0) && isMeant(handlers[$0]) }
    }
  }

  static let timeout = 3

  let policy: Policy
  private(set) var operations: [Operation] = []
  private(set) var line: [Int] = []
  private(set) var isSuspended = false
  private(set) var isClosed = false
  private(set) var now = 0
  private(set) var isInHandler: Int?
  private var starts: [Int] = []
  private var beginOfBurst: Int?
  /// Older operations no longer deliver.
  private var floor = 0

  init(_ policy: Policy) { self.policy = policy }

  // MARK: What a client sees

  private var slots: [Int] {
    operations.indices.filter { [.running, .returned].contains(operations[$0].stage) }
  }

  var activity: UseCaseActivity {
    var activity = UseCaseActivity(running: slots.count, waiting: line.count)
    for operation in operations where operation.stage == .gone {
      switch operation.outcome {
      case .success: activity.succeeded += 1
      case .failure, .timeout: activity.failed += 1
      case .cancelled, nil: activity.cancelled += 1
      }
    }
    return activity
  }

  func fate(_ id: Int) -> Character {
    switch operations[id].outcome {
    case .success: "+"
    case .failure, .timeout: "F"
    case .cancelled(.requested): "C"
    case .cancelled(.superseded): "S"
    case .cancelled(.dropped): "D"
    case .cancelled(.scopeEnded): "E"
    case .cancelled(.thrown): "T"
    case .cancelled(.closed): "L"
    case nil: operations[id].stage == .waiting ? "W" : "R"
    }
  }

  var fates: String { String(operations.indices.map(fate)) }

  /// The operations whose bodies have begun.
  var started: Set<Int> { Set(operations.indices.filter { operations[$0].hasSlot }) }

  /// The operations whose bodies run.
  var running: [Int] { operations.indices.filter { operations[$0].stage == .running } }

  /// The operations whose time goes on, and how long it still does.
  var timeouts: [Int] {
    operations.filter { $0.isTimed && $0.outcome == nil && $0.stage == .running }
      .map { ($0.started ?? now) + Self.timeout - now }
  }

  /// How long the first in line still pauses, if that is what it waits for.
  var pause: Int? {
    guard !isSuspended, let first = line.first, mayStartBesides(slots.count) else { return nil }
    let end = startTime(of: first)
    return end > now ? end - now : nil
  }

  var hasHandlersToRun: Bool {
    var copy = self
    return operations.indices.contains { copy.nextHandler(of: $0) != nil }
  }

  // MARK: Handlers

  /// The handler that may begin now. Where only the newest deliver, this is when an older one is
  /// found to be too old.
  private mutating func nextHandler(of id: Int) -> Int? {
    if operations[id].outcome == nil { return nil }
    if id < floor, !operations[id].isCancelled {
      let isAsked = operations[id].handlers.contains(where: operations[id].isForOutcome)
      let isLeft = operations[id].next(where: operations[id].isForOutcome) != nil
      let isLast = operations[id].next { $0 == .finally } != nil && hasReturned(id)
      if isLeft || !isAsked && isLast { operations[id].silence = .superseded }
    }
    if let next = operations[id].next(where: operations[id].isForOutcome) { return next }
    return hasReturned(id) ? operations[id].next { $0 == .finally } : nil
  }

  private func hasReturned(_ id: Int) -> Bool {
    operations[id].stage == .returned || operations[id].stage == .gone
  }

  /// A handler begins.
  ///
  /// - Parameters:
  ///   - handler: Its place among the handlers of the operation.
  ///   - id: The operation.
  ///   - isToldCancellation: What a `finally` with the outcome is told.
  /// - Returns: What is wrong with that.
  mutating func begin(_ handler: Int, of id: Int, isToldCancellation: Bool?) -> String? {
    let next = nextHandler(of: id)
    operations[id].begun.insert(handler)
    isInHandler = id
    if next != handler {
      let due = next.map { "\(operations[id].handlers[$0])" } ?? "none"
      return "\(operations[id].handlers[handler]) of \(id) begins, but \(due) is due"
    }
    if let isToldCancellation, isToldCancellation != operations[id].isCancelled {
      return "finally of \(id) is told \(isToldCancellation ? "a" : "no") cancellation"
    }
    return nil
  }

  mutating func endHandler(of id: Int) {
    isInHandler = nil
    leaveIfOver(id)
  }

  mutating func attach(_ handler: Handler, to id: Int) { operations[id].handlers.append(handler) }

  // MARK: Admission

  /// The slots that are held and the line, as an incoming operation finds them: in a handler the
  /// operation has left, and whoever is next has its slot already.
  private func found() -> (held: Int, line: [Int], lastStarts: [Int]) {
    var (held, line, starts) = (slots.count, line, starts)
    guard let own = isInHandler, slots.contains(own) else { return (held, line, starts) }
    held -= 1
    while !isSuspended, let first = line.first, isBelowLimit(held),
      startTime(of: first, after: starts) <= now
    {
      line.removeFirst()
      held += 1
      starts.append(now)
    }
    return (held, line, starts)
  }

  private func isBelowLimit(_ held: Int) -> Bool { policy.limit.map { held < $0 } ?? true }

  private func mayStartBesides(_ held: Int) -> Bool {
    policy.whenBusy == .cancelPrevious || isBelowLimit(held)
  }

  private func windowEnds(after starts: [Int]) -> Int {
    guard let count = policy.starts, starts.count >= count else { return 0 }
    return starts[starts.count - count] + policy.interval
  }

  private func startTime(of id: Int, after starts: [Int]? = nil) -> Int {
    if operations[id].isFlushed { return 0 }
    return max(operations[id].pauseEnds, windowEnds(after: starts ?? self.starts))
  }

  /// Admits an operation with these handlers.
  ///
  /// - Returns: Its number.
  mutating func execute(_ handlers: [Handler], isTimed: Bool) -> Int {
    let id = operations.count
    operations.append(Operation(isTimed: isTimed, handlers: handlers))
    if isClosed {
      end(id, .cancelled(.closed))
      return id
    }
    let found = found()
    switch policy.whenBusy {
    case .wait, .drop:
      let places = policy.whenBusy == .drop ? 0 : policy.places
      if let places, let limit = policy.limit {
        let isClosed = windowEnds(after: found.lastStarts) > now && !isSuspended
        if (isClosed ? 0 : found.held - limit) + found.line.count >= places {
          end(id, .cancelled(.dropped))
          return id
        }
      }
    case .keepLatest:
      for older in found.line { giveWay(older) }
    case .cancelPrevious, .cancelPreviousAndWait:
      var live = operations.indices.filter { older in
        older != id && older != isInHandler && !operations[older].isCancelled
          && [.waiting, .running, .returned].contains(operations[older].stage)
      }
      while let limit = policy.limit, live.count >= limit { giveWay(live.removeFirst()) }
      let newest = operations.indices.filter { !operations[$0].isCancelled }
      floor = max(floor, newest.suffix(policy.limit ?? 1).first ?? 0)
    }
    if policy.pause > 0 {
      let begin = beginOfBurst ?? now
      beginOfBurst = begin
      operations[id].pauseEnds = min(
        now + policy.pause, begin + (policy.longestPause ?? policy.pause * 1_000))
    }
    if let own = isInHandler, slots.contains(own) { operations[id].maker = own }
    line.append(id)
    fill()
    return id
  }

  /// An operation that has its outcome already is below the floor, and keeps it.
  private mutating func giveWay(_ id: Int) {
    if operations[id].outcome == nil { end(id, .cancelled(.superseded)) }
  }

  private mutating func fill() {
    while !isSuspended, let first = line.first(where: { !waitsForMaker($0) }),
      mayStartBesides(slots.count), startTime(of: first) <= now
    {
      line.removeAll { $0 == first }
      operations[first].stage = .running
      operations[first].started = now
      starts.append(now)
      beginOfBurst = nil
    }
    if line.isEmpty { beginOfBurst = nil }
  }

  private func waitsForMaker(_ id: Int) -> Bool {
    operations[id].maker.map { slots.contains($0) } ?? false
  }

  // MARK: Ends

  private mutating func end(_ id: Int, _ outcome: Outcome) {
    operations[id].outcome = outcome
    line.removeAll { $0 == id }
    if operations[id].stage == .waiting { operations[id].stage = .gone }
  }

  private mutating func leaveIfOver(_ id: Int) {
    guard operations[id].stage == .returned, isInHandler != id, nextHandler(of: id) == nil else {
      return
    }
    operations[id].stage = .gone
    fill()
  }

  mutating func bodyReturns(_ id: Int, fails: Bool) {
    operations[id].stage = .returned
    if operations[id].outcome == nil { operations[id].outcome = fails ? .failure : .success }
    leaveIfOver(id)
  }

  mutating func cancel(_ id: Int) {
    let operation = operations[id]
    switch operation.outcome {
    case nil:
      end(id, .cancelled(.requested))
      fill()
    case .cancelled: break
    case .success, .failure, .timeout:
      guard !operation.isCancelled else { return }
      let isLeft = operation.next(where: operation.isForOutcome) != nil
      let isAsked = operation.handlers.contains(where: operation.isForOutcome)
      let isLast = operation.next { $0 == .finally } != nil
      let hasFinallyBegun = operation.begun.contains { operation.handlers[$0] == .finally }
      if isLeft || !isAsked && isLast && !hasFinallyBegun {
        operations[id].silence = .requested
      }
    }
  }

  mutating func cancelAll() {
    let all = slots + line
    for id in all where operations[id].stage == .waiting { end(id, .cancelled(.requested)) }
    for id in all { cancel(id) }
    fill()
  }

  mutating func suspend() { isSuspended = true }

  mutating func resume() {
    isSuspended = false
    fill()
  }

  mutating func close() { isClosed = true }

  mutating func flush() {
    for id in line { operations[id].isFlushed = true }
    fill()
  }

  /// A second passes.
  mutating func tick() {
    now += 1
    for id in operations.indices
    where operations[id].isTimed && operations[id].stage == .running
      && operations[id].outcome == nil
      && (operations[id].started ?? now) + Self.timeout <= now
    {
      operations[id].outcome = .timeout
    }
    fill()
  }
}
