import TestSupport
import Testing

@testable import UseCase

/// Random bursts from several threads. The model is the rule, and nothing else: an operation is in
/// its queue until its body has returned and its handlers have run.
@Suite(.serialized, .mustEnd)
struct RandomBurstTests {
  static let policies: [UseCaseQueue.Policy] = [
    .unlimited, .serial, .serial.byPriority, .limit(2), .limit(1, waiting: 2),
    .limit(2, waiting: 0), .dropWhileBusy, .init(limit: 2, whenBusy: .drop), .keepLatest,
    .init(limit: 2, whenBusy: .keepLatest), .cancelPrevious,
    .init(limit: 2, whenBusy: .cancelPrevious), .cancelPreviousAndWait,
    .cancelPrevious(debounce: .seconds(2)),
    .keepLatest.debounced(by: .seconds(2), atMost: .seconds(5)),
    .cancelPreviousAndWait.debounced(by: .seconds(1)), .throttle(.seconds(3)),
    .serial.rate(2, per: .seconds(3)), .limit(2).rate(1, per: .seconds(2)),
    .dropWhileBusy.spaced(by: .seconds(2)), .cancelPrevious.spaced(by: .seconds(2)),
  ]

  @Test(arguments: policies)
  func `an operation is in its queue until it has ended, whatever happens`(
    policy: UseCaseQueue.Policy
  ) async {
    let first = tries("BURST_SEED", or: 1)
    for seed in first..<first + tries("BURSTS", or: 20) {
      let burst = Burst(policy, seed: UInt64(seed))
      let events = await burst.run()
      let broken = BurstRules(policy, events).broken
      guard broken.isEmpty else {
        Issue.record(
          """
          \(policy), seed \(seed): \(broken)
          \(events.map { "\($0)" }.joined(separator: "\n"))
          """)
        return
      }
    }
  }
}

/// An event of a burst, with the number of its operation.
enum BurstEvent: Sendable {
  case executing(Int, inHandlerOf: Int?, isStart: Bool)
  case executed(Int, UseCaseOperationID, onMain: Bool)
  case bodyBegins(Int)
  case bodyReturns(Int)
  case handlerBegins(Int, BurstHandler, onMain: Bool)
  case handlerReturns(Int)
  case suspended
  case resuming
  case closing
  case closed
  /// The last event of each operation.
  case over(Int, UseCaseOutcome<Int>)
}

enum BurstHandler: Sendable {
  case then, `catch`, common, onCancel, start
  /// With the outcome that it was told.
  case finally(UseCaseOutcome<Int>)
}

/// Executes, cancels, answers, suspends, flushes and closes, as a seed says, from the main actor and
/// from two other tasks.
private final class Burst: Sendable {
  private struct Work: UseCase {
    let burst: Burst
    let queue: UseCaseQueue
    let timeout: Duration

    func main(_ number: Int) async throws -> Int { try await burst.body(number) }
  }

  private struct State: Sendable {
    var count = 0
    var operations: [Int: Operation] = [:]
    var gates: [Int: Gate] = [:]
    var areGatesOpen = false
    /// How many handlers have not run that always do.
    var finals = 0

    /// The gates of the bodies whose handlers are attached.
    var openable: [Gate] { operations.keys.compactMap { gates[$0] } }
  }

  private let seed: UInt64
  private let clock = ManualClock()
  private let queue: UseCaseQueue
  private let state = Watched(State())
  private let log = Log<BurstEvent>()
  private let lifetime = Lifetime()
  private static let most = 60

  init(_ policy: UseCaseQueue.Policy, seed: UInt64) {
    self.seed = seed
    queue = UseCaseQueue(policy, clock: clock)
  }

  func run() async -> [BurstEvent] {
    await withTaskGroup { group in
      group.addTask { await self.drive(1) { await self.stepOfTheMainActor(&$0) } }
      for driver in UInt64(2)...3 {
        group.addTask { await self.drive(driver) { self.step(&$0) } }
      }
    }
    await end()
    return log.elements
  }

  private func drive(
    _ driver: UInt64, _ step: @Sendable (inout SeededGenerator) async -> Void
  ) async {
    var random = SeededGenerator(seed: seed &* 10 &+ driver)
    for _ in 0..<25 {
      await step(&random)
      for _ in 0..<Int.random(in: 0..<4, using: &random) { await Task.yield() }
    }
  }

  /// Lets all come to their ends.
  private func end() async {
    log.append(.resuming)
    queue.resume()
    let gates = state.update { state in
      state.areGatesOpen = true
      return state.openable
    }
    for gate in gates { gate.open() }
    // A handler may execute once more, on a queue that pauses.
    while state.value.finals > 0 || !operations.allSatisfy({ $0.value.state == .finished }) {
      await clock.advance(by: .seconds(10))
      await Task.yield()
    }
    await queue.idle()
    for (number, operation) in operations {
      log.append(.over(number, await operation.ended()))
    }
    let activity = queue.activity
    #expect(activity.isIdle && activity.executed == operations.count)
    state.update { $0 = State() }
    await lifetime.over()
  }

  private var operations: [Int: Operation] { state.value.operations }

  // MARK: Steps

  @MainActor private func stepOfTheMainActor(_ random: inout SeededGenerator) async {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<10 where !queue.isSuspended:
      queue.suspend()
      log.append(.suspended)
    case 0..<25 where queue.isSuspended:
      log.append(.resuming)
      queue.resume()
    case 98...:
      log.append(.closing)
      queue.close()
      log.append(.closed)
    default: step(&random)
    }
  }

  private func step(_ random: inout SeededGenerator) {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<40: execute(&random)
    case 40..<70: state.value.openable.randomElement(using: &random)?.open()
    case 70..<80: operations.randomElement(using: &random)?.value.cancel()
    case 80..<90:
      let seconds = Int.random(in: 1...3, using: &random)
      Task { [clock] in await clock.advance(by: .seconds(seconds)) }
    case 90..<95: queue.flush()
    case 95: queue.cancelAll()
    default: operations.randomElement(using: &random)?.value.raise(to: .high)
    }
  }

  private func execute(
    _ random: inout SeededGenerator, inHandlerOf maker: Int? = nil, isStart: Bool = false
  ) {
    let gate = Gate()
    let number = state.update { state -> Int? in
      guard state.count < Self.most else { return nil }
      state.count += 1
      state.gates[state.count] = gate
      return state.count
    }
    guard let number else { return }
    let timeout = [UseCaseTimeout.never, .seconds(2)].randomElement(using: &random)
    let work = Work(burst: self, queue: queue, timeout: timeout ?? UseCaseTimeout.never)
    log.append(.executing(number, inHandlerOf: maker, isStart: isStart))
    let operation = work.execute(number)
    log.append(.executed(number, operation.id, onMain: isOnMainActor()))
    attach(Int.random(in: 0..<4, using: &random), to: operation, number)
    let isOpen = state.update { state in
      state.operations[number] = operation
      return state.areGatesOpen
    }
    if isOpen || Bool.random(using: &random) { gate.open() }
  }

  // MARK: The body

  private func body(_ number: Int) async throws -> Int {
    log.append(.bodyBegins(number))
    defer { log.append(.bodyReturns(number)) }
    await state.value.gates[number]?.passIgnoringCancellation()
    switch number % 8 {
    case 0: throw Refused()
    case 1: throw CancellationError()
    case 2: return try await AnyUseCase(queue: queue) { $0 }(number)
    case 3:
      await Task.yield()
      return number
    default: return number
    }
  }

  // MARK: Handlers

  private func attach(_ kind: Int, to operation: Operation, _ number: Int) {
    state.update { $0.finals += [0, 1, 1, 2][kind] }
    switch kind {
    case 0: break
    case 1: attachOnMain(to: operation, number)
    case 2: attachOnNone(to: operation, number)
    default:
      attachOnNone(to: operation, number)
      attachOnMain(to: operation, number)
    }
  }

  private func attachOnMain(to operation: Operation, _ number: Int) {
    operation
      .then { @MainActor _ in self.handle(number, .then) }
      .catch { @MainActor _ in self.handle(number, .catch) }
      .common { @MainActor in self.handle(number, .common) }
      .onCancel { @MainActor _ in self.handle(number, .onCancel) }
      .finally { @MainActor outcome in self.handle(number, .finally(outcome)) }
  }

  private func attachOnNone(to operation: Operation, _ number: Int) {
    operation
      .onStart { [token = lifetime.track()] in
        self.handle(number, .start)
        withExtendedLifetime(token) {}
      }
      .then { _ in self.handle(number, .then) }
      .common { self.handle(number, .common) }
      .catch { _ in self.handle(number, .catch) }
      .onCancel { _ in self.handle(number, .onCancel) }
      .finally { outcome in self.handle(number, .finally(outcome)) }
  }

  private func handle(_ number: Int, _ kind: BurstHandler) {
    log.append(.handlerBegins(number, kind, onMain: isOnMainActor()))
    var random = SeededGenerator(seed: seed &* 1_000 &+ UInt64(log.count))
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1: execute(&random, inHandlerOf: number, isStart: kind.isStart)
    case 2: state.value.operations[number]?.cancel()
    case 3: operations.randomElement(using: &random)?.value.cancel()
    default: break
    }
    log.append(.handlerReturns(number))
    if kind.isFinally { state.update { $0.finals -= 1 } }
  }
}

/// The rules that the events of a burst have broken.
private struct BurstRules {
  private(set) var broken: [String] = []
  private let policy: UseCaseQueue.Policy
  private let events: [BurstEvent]
  private var outcomes: [Int: UseCaseOutcome<Int>] = [:]
  private var ids: [Int: UseCaseOperationID] = [:]
  private var bodies: Set<Int> = []
  private var silenced: Set<Int> = []

  init(_ policy: UseCaseQueue.Policy, _ events: [BurstEvent]) {
    (self.policy, self.events) = (policy, events)
    for event in events {
      switch event {
      case .over(let number, let outcome): outcomes[number] = outcome
      case .executed(let number, let id, _): ids[number] = id
      case .bodyBegins(let number): bodies.insert(number)
      case .handlerBegins(let number, .finally(.cancelled), _): silenced.insert(number)
      case .executing, .bodyReturns, .handlerBegins, .handlerReturns, .suspended, .resuming,
        .closing, .closed:
        break
      }
    }
    checkLives()
    checkSlots()
    checkNewest()
    checkSuspension()
    checkReasons()
    checkOwnHandlers()
  }

  private mutating func require(_ isKept: Bool, _ rule: @autoclosure () -> String) {
    if !isKept { broken.append(rule()) }
  }

  private func isCancelled(_ number: Int) -> Bool {
    if case .cancelled? = outcomes[number] { true } else { silenced.contains(number) }
  }

  private func reason(_ number: Int) -> UseCaseCancellation? {
    if case .cancelled(let reason)? = outcomes[number] { reason } else { nil }
  }

  /// Each body runs once at the most, and each handler at its moment.
  private mutating func checkLives() {
    var begun: [Int: Int] = [:]
    var returned: Set<Int> = []
    var finals: Set<Int> = []
    for event in events {
      switch event {
      case .bodyBegins(let number):
        begun[number, default: 0] += 1
        require(begun[number] == 1, "the body of \(number) begins twice")
      case .bodyReturns(let number): returned.insert(number)
      case .handlerBegins(let number, let kind, _):
        check(kind, of: number, hasReturned: returned.contains(number), &finals)
      case .executing, .executed, .handlerReturns, .suspended, .resuming, .closing, .closed, .over:
        break
      }
    }
  }

  private mutating func check(
    _ kind: BurstHandler, of number: Int, hasReturned: Bool, _ finals: inout Set<Int>
  ) {
    let isEarly: Bool =
      switch outcomes[number] {
      case .success: false
      case .failure(let error): error is UseCaseTimeout
      case .cancelled, nil: true
      }
    let needsReturn = bodies.contains(number) && (!isEarly || kind.isFinally)
    require(
      kind.isStart || !needsReturn || hasReturned,
      "\(kind) of \(number) comes before its body returns")
    // Without a body, it may have ended before its handlers were attached.
    let isBehind = bodies.contains(number) && finals.contains(number)
    require(kind.isFinally || !isBehind, "\(kind) of \(number) is behind finally")
    switch (kind, outcomes[number]) {
    case (.then, .success), (.catch, .failure), (.common, .success), (.common, .failure),
      (.start, _):
      break
    case (.onCancel, _): require(isCancelled(number), "onCancel of \(number) that was not")
    case (.finally(let told), let outcome?):
      finals.insert(number)
      require(
        told.isLike(outcome) || told.isCancellation, "finally of \(number): \(told), not \(outcome)"
      )
    default: broken.append("\(kind) of \(number) with \(String(describing: outcomes[number]))")
    }
  }

  /// A body and its handlers hold a slot to their end, and bodies begin in the order of the calls.
  private mutating func checkSlots() {
    var left: [Int: Int] = [:]
    for event in events {
      switch event {
      case .bodyReturns(let number), .handlerReturns(let number): left[number, default: 0] += 1
      case .executing, .executed, .bodyBegins, .handlerBegins, .suspended, .resuming, .closing,
        .closed, .over:
        break
      }
    }
    var holders: Set<Int> = []
    var last: UseCaseOperationID?
    for event in events {
      switch event {
      case .bodyBegins(let number):
        holders.insert(number)
        if policy.whenBusy != .cancelPrevious {
          require(holders.count <= policy.limit, "\(holders.sorted()) hold slots")
          if policy.limit == 1, !policy.isByPriority, let id = ids[number] {
            require(last.map { $0 < id } ?? true, "\(number) begins out of order")
            last = id
          }
        }
      case .bodyReturns(let number), .handlerReturns(let number):
        left[number, default: 0] -= 1
        if left[number] == 0 { holders.remove(number) }
      case .executing, .executed, .handlerBegins, .suspended, .resuming, .closing, .closed, .over:
        break
      }
    }
  }

  /// Where only the newest deliver, no older one does so on the main actor once the main actor has
  /// executed the newer ones.
  private mutating func checkNewest() {
    guard policy.whenBusy == .cancelPrevious || policy.whenBusy == .cancelPreviousAndWait else {
      return
    }
    var admitted: [UseCaseOperationID] = []
    for event in events {
      switch event {
      case .executed(let number, let id, true):
        let counts = policy.limit == 1 ? reason(number) != .closed : !isCancelled(number)
        if counts { admitted.append(id) }
      case .handlerBegins(let number, .then, true), .handlerBegins(let number, .catch, true),
        .handlerBegins(let number, .common, true):
        guard let id = ids[number] else { continue }
        let newer = admitted.count { $0 > id }
        require(newer < policy.limit, "\(number) delivers, and \(newer) are newer")
      case .executing, .executed, .bodyBegins, .bodyReturns, .handlerBegins, .handlerReturns,
        .suspended, .resuming, .closing, .closed, .over:
        break
      }
    }
  }

  /// A suspended queue starts nothing that comes, and a closed one refuses it.
  private mutating func checkSuspension() {
    var held: Set<Int> = []
    var (isSuspended, isClosing, isClosed) = (false, false, false)
    var late: Set<Int> = []
    for event in events {
      switch event {
      case .suspended: isSuspended = true
      case .resuming: (isSuspended, held) = (false, [])
      case .bodyBegins(let number):
        require(!held.contains(number), "\(number) begins in a suspended queue")
      case .closing: isClosing = true
      case .closed: isClosed = true
      case .executing(let number, _, _):
        if isClosed { late.insert(number) }
        if isSuspended { held.insert(number) }
      case .executed(let number, _, _):
        if late.contains(number) {
          require(reason(number) == .closed, "\(number) comes into a closed queue")
        }
        require(isClosing || reason(number) != .closed, "\(number) is refused by an open queue")
      case .bodyReturns, .handlerBegins, .handlerReturns, .over: break
      }
    }
  }

  /// Each cancellation has a reason that there is.
  private mutating func checkReasons() {
    let supersedes: [UseCaseQueue.Policy.WhenBusy] = [
      .cancelPrevious, .cancelPreviousAndWait, .keepLatest,
    ]
    let refuses = policy.waitingLimit < .max
    for number in outcomes.keys {
      switch reason(number) {
      case .superseded:
        require(supersedes.contains(policy.whenBusy), "\(number) is superseded")
      case .dropped: require(refuses, "\(number) is dropped")
      case .scopeEnded: broken.append("\(number) has no scope")
      case .requested, .thrown, .closed, nil: break
      }
    }
  }

  /// In a handler of an operation that has its outcome, the operation is over: the first that is
  /// executed there finds room.
  private mutating func checkOwnHandlers() {
    let isSuspended = events.contains { if case .suspended = $0 { true } else { false } }
    guard policy == .dropWhileBusy, !isSuspended else { return }
    var makers: Set<Int> = []
    for event in events {
      guard case .executing(let number, let maker?, let isStart) = event, bodies.contains(maker),
        makers.insert(maker).inserted, !isStart
      else { continue }
      require(reason(number) != .dropped, "\(number) is dropped in a handler of \(maker)")
    }
  }
}

extension BurstHandler {
  fileprivate var isStart: Bool { if case .start = self { true } else { false } }
  fileprivate var isFinally: Bool { if case .finally = self { true } else { false } }
}

extension UseCaseOutcome<Int> {
  fileprivate var isCancellation: Bool { if case .cancelled = self { true } else { false } }

  fileprivate func isLike(_ other: Self) -> Bool {
    switch (self, other) {
    case (.success(let first), .success(let second)): first == second
    case (.failure, .failure): true
    case (.cancelled(let first), .cancelled(let second)): first == second
    default: false
    }
  }
}
