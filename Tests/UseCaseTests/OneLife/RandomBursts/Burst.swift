import TestSupport
import Testing
import UseCase
import UseCaseTesting

/// Does to a queue and to its reference what a seed says, and compares them after each step.
///
/// All handlers are for the main actor. It is held during most steps, so that answers, cancellations
/// and newcomers meet handlers that are on their way; now and then it lets them run.
@MainActor
final class Burst {
  private struct Work: UseCase {
    let queue: UseCaseQueue
    let timeout: Duration
    let begun: Log<Int>
    let gates: Watched<[Int: Gate]>
    let failing: Watched<Set<Int>>

    func main(_ request: Int) async throws -> Int {
      begun.append(request)
      await gates.update { $0[request] }?.passIgnoringCancellation()
      if failing.value.contains(request) { throw Refused() }
      return request
    }
  }

  /// Numbers that are the same for the same seed.
  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  private static let handlers: [[ReferenceQueue.Handler]] = [
    [], [.then, .catch, .onCancel, .finally],
    [.common, .then, .onCancel, .catch, .then, .finally, .finally], [.finally],
    [.finally, .common, .onCancel], [.then, .finally],
  ]

  private let policy: ReferenceQueue.Policy
  private let seed: UInt64
  private var dice: Dice
  private var reference: ReferenceQueue
  private var operations: [UseCaseOperation<Int, Int>] = []
  private var trace: [String] = []
  private(set) var failure: String?
  /// A difference that lasts this long is one, also on a busy machine.
  private let patience = Duration.seconds(20)

  private let clock = ManualClock()
  private let queue: UseCaseQueue
  private let (plain, timed): (Work, Work)

  init(_ policy: ReferenceQueue.Policy, seed: UInt64) {
    self.policy = policy
    self.seed = seed
    dice = Dice(state: seed)
    reference = ReferenceQueue(policy)
    let queue = UseCaseQueue(policy.policy, clock: clock)
    self.queue = queue
    let (begun, gates) = (Log<Int>(), Watched<[Int: Gate]>([:]))
    let failing = Watched<Set<Int>>([])
    let works = [UseCaseTimeout.never, .seconds(ReferenceQueue.timeout)].map {
      Work(queue: queue, timeout: $0, begun: begun, gates: gates, failing: failing)
    }
    (plain, timed) = (works[0], works[1])
  }

  /// With two newest ones, and with a leading edge, some things are left open by the rule.
  private var countsNewest: Bool { policy.onlyNewestDeliver && policy.limit != 1 }
  private var hasLeadingEdge: Bool { policy.whenBusy == .drop && policy.starts != nil }

  /// Whether a handler may execute while the body of its operation still runs: elsewhere the rule
  /// says what the newcomer gets, and not what others find there meanwhile.
  private var mayRetryEarly: Bool {
    switch policy.whenBusy {
    case .wait: policy.places == nil && policy.limit == 1
    case .drop: policy.limit == 1
    case .cancelPreviousAndWait: policy.pause == 0
    case .keepLatest, .cancelPrevious: false
    }
  }

  // MARK: A session

  /// Takes that many steps, and then ends what is left.
  func run(steps: Int) async {
    for step in 0..<steps where failure == nil {
      await take(step, of: steps)
    }
    await end()
  }

  private func take(_ step: Int, of steps: Int) async {
    switch Int.random(in: 0..<100, using: &dice) {
    case 0..<30: execute()
    case 30..<50: finish()
    case 50..<58: cancel()
    case 58..<70: tick()
    case 70..<86: return await settle()
    case 86..<88 where !hasLeadingEdge: suspend()
    case 88..<93: resume()
    case 93..<95: flush()
    case 95..<98: attachLate()
    case 98 where !countsNewest: cancelAll()
    case 99 where step > steps * 3 / 4: close()
    default: return
    }
    check()
  }

  private func end() async {
    guard failure == nil else { return }
    while failure == nil, reference.activity.running + reference.activity.waiting > 0 {
      await settle()
      // A handler may have suspended the queue.
      resume()
      if reference.running.isEmpty { tick() } else { finish() }
      check()
    }
    await settle()
    guard failure == nil else { return }
    await queue.idle()
    for operation in operations { await operation.ended() }
    check()
  }

  // MARK: Steps

  private func execute() {
    let isTimed = !countsNewest && Int.random(in: 0..<4, using: &dice) == 0
    let handlers = Int.random(in: 0..<Self.handlers.count, using: &dice)
    execute(Self.handlers[handlers], isTimed: isTimed)
  }

  private func execute(_ handlers: [ReferenceQueue.Handler], isTimed: Bool) {
    let id = operations.count
    plain.gates.update { $0[id] = Gate() }
    let operation = (isTimed ? timed : plain).execute(id)
    operations.append(operation)
    let number = reference.execute(handlers, isTimed: isTimed)
    note("execute \(number)\(isTimed ? " timed" : "") \(handlers)")
    for (index, handler) in handlers.enumerated() { attach(handler, index, to: operation, id) }
    // Refused or not is decided before `execute` returns.
    let isRefused = ["D", "L"].contains(reference.fate(id))
    if isRefused != ["D", "L"].contains(operation.fate) {
      fail("\(id) is \(operation.fate) when execute returns, not \(reference.fate(id))")
    }
  }

  private func attach(
    _ handler: ReferenceQueue.Handler, _ index: Int, to operation: UseCaseOperation<Int, Int>,
    _ id: Int
  ) {
    switch handler {
    case .then: operation.then { _ in self.run(index, of: id) }
    case .catch: operation.catch { _ in self.run(index, of: id) }
    case .common: operation.common { self.run(index, of: id) }
    case .onCancel: operation.onCancel { _ in self.run(index, of: id) }
    case .finally:
      operation.finally { outcome in
        if case .cancelled = outcome {
          self.run(index, of: id, isToldCancellation: true)
        } else {
          self.run(index, of: id, isToldCancellation: false)
        }
      }
    }
  }

  private func finish() {
    guard let id = reference.running.randomElement(using: &dice) else { return }
    let fails = Int.random(in: 0..<4, using: &dice) == 0
    note("body of \(id) \(fails ? "fails" : "returns")")
    if fails { plain.failing.update { _ = $0.insert(id) } }
    reference.bodyReturns(id, fails: fails)
    plain.gates.update { $0[id] }?.open()
  }

  private func cancel() {
    guard let id = operations.indices.suffix(12).randomElement(using: &dice) else { return }
    if countsNewest, reference.operations[id].outcome != nil { return }
    note("cancel \(id)")
    operations[id].cancel()
    reference.cancel(id)
  }

  private func cancelAll() {
    note("cancelAll")
    queue.cancelAll()
    reference.cancelAll()
  }

  private func suspend() {
    note("suspend")
    queue.suspend()
    reference.suspend()
  }

  private func resume() {
    note("resume")
    queue.resume()
    reference.resume()
  }

  private func flush() {
    note("flush")
    queue.flush()
    reference.flush()
  }

  private func close() {
    note("close")
    queue.close()
    reference.close()
  }

  /// The handler of an operation that is over.
  private func attachLate() {
    let over = operations.indices.filter {
      let operation = reference.operations[$0]
      return operation.stage == .gone && operation.outcome == .success
        && operation.handlers.count < 2
    }
    guard let id = over.randomElement(using: &dice) else { return }
    note("attach then to \(id)")
    let index = reference.operations[id].handlers.count
    reference.attach(.then, to: id)
    attach(.then, index, to: operations[id], id)
  }

  /// A second passes, once everything sleeps that should.
  private func tick() {
    var asleep: [Duration: Int] = [:]
    for seconds in reference.timeouts + [reference.pause].compactMap(\.self) {
      asleep[clock.now.offset + .seconds(seconds), default: 0] += 1
    }
    let areAsleep = comes {
      let deadlines = clock.deadlines
      return asleep.allSatisfy { due in
        deadlines.count { $0.offset == due.key } >= due.value
      }
    }
    guard areAsleep else { return fail("nobody sleeps until \(asleep)") }
    note("tick")
    let isOver = Watched(false)
    Task.detached { [clock] in
      await clock.advance(by: .seconds(1))
      isOver.update { $0 = true }
    }
    guard comes({ isOver.value }) else { return fail("the clock does not advance") }
    reference.tick()
  }

  // MARK: Handlers

  private func run(_ index: Int, of id: Int, isToldCancellation: Bool? = nil) {
    guard failure == nil else { return }
    note("handler \(index) of \(id)")
    let wrong = reference.begin(index, of: id, isToldCancellation: isToldCancellation)
    if let wrong { fail(wrong) }
    act(in: index, of: id)
    reference.endHandler(of: id)
  }

  /// What a handler does depends on it alone, since handlers of two operations may come in either
  /// order.
  private func act(in index: Int, of id: Int) {
    var dice = Dice(state: seed &+ UInt64(id) &* 1_000 &+ UInt64(index))
    let operation = reference.operations[id]
    switch Int.random(in: 0..<100, using: &dice) {
    case 0..<25:
      guard operation.stage != .running || mayRetryEarly, operations.count < 400 else { return }
      let handlers = Int.random(in: 0..<Self.handlers.count, using: &dice)
      execute(Self.handlers[handlers], isTimed: false)
    case 25..<32 where !countsNewest:
      note("cancel itself")
      operations[id].cancel()
      reference.cancel(id)
    case 32..<38 where !countsNewest:
      let other = Int.random(in: max(0, operations.count - 5)..<operations.count, using: &dice)
      note("cancel \(other)")
      operations[other].cancel()
      reference.cancel(other)
    case 38..<41 where !hasLeadingEdge: suspend()
    case 41..<45: resume()
    case 45..<47: flush()
    default: break
    }
  }

  // MARK: Comparison

  private var isAsExpected: Bool {
    let begun = plain.begun.elements
    return queue.activity == reference.activity && fates(operations) == reference.fates
      && begun.count == reference.started.count && Set(begun) == reference.started
      && queue.isSuspended == reference.isSuspended && queue.isClosed == reference.isClosed
  }

  /// Compares while the main actor is held.
  private func check() {
    guard failure == nil, !comes(within: patience, { isAsExpected }) else { return }
    fail("while the main actor is held")
  }

  /// Lets the handlers run, and compares.
  private func settle() async {
    guard failure == nil else { return }
    note("settle")
    let isSettled = await isReached(within: patience) {
      failure != nil || !reference.hasHandlersToRun && isAsExpected
    }
    if !isSettled { fail("when the handlers should have run") }
  }

  private func note(_ line: String) { trace.append(line) }

  private func fail(_ reason: String) {
    guard failure == nil else { return }
    failure = """
      \(reason)
      policy \(policy.policy), seed \(seed)
      expected \(reference.fates) \(reference.activity) begun \(reference.started.sorted())
      but      \(fates(operations)) \(queue.activity) begun \(plain.begun.elements.sorted())
      handlers to run: \(reference.hasHandlersToRun)
      after \(trace.suffix(150).joined(separator: "\n      "))
      """
  }
}
